/**
 * Who thinks for a while about a logical partition and then writes to it has to know whether others wrote there
 * meanwhile. A watch notes their keys from the moment they are decided.
 */
import { type Bytes, bytesToLatin1 } from '../../base/index.ts';
import type { Lsn } from '../item/item.ts';

export interface ConflictTracker {
  /** Keys written since the watch was opened, as texts. */
  readonly touched: ReadonlySet<string>;
  /** Idempotent. */
  close(): void;
}

interface OpenWatch extends ConflictTracker {
  readonly prefix: string;
  readonly touched: Set<string>;
}

export class ConflictTrackers {
  readonly #open = new Set<OpenWatch>();
  #waiting: { readonly lsn: Lsn; readonly resolve: () => void }[] = [];

  /** One look: nobody watches, which is the rule. */
  get isEmpty(): boolean {
    return this.#open.size === 0;
  }

  /**
   * Notes from now on; resolves when all that was decided before can be read.
   * @param prefix - what the keys begin with, as text.
   */
  async open(prefix: string, at: { decided: Lsn; published: Lsn }): Promise<ConflictTracker> {
    const watch: OpenWatch = {
      prefix,
      touched: new Set(),
      close: () => {
        this.#open.delete(watch);
      },
    };
    this.#open.add(watch);
    const lsn = at.decided;
    if (lsn > at.published)
      await new Promise<void>((resolve) => {
        this.#waiting.push({ lsn, resolve });
      });
    return watch;
  }

  note(key: string): void {
    for (const { prefix, touched } of this.#open) if (key.startsWith(prefix)) touched.add(key);
  }

  /** All keys of a range were written. */
  noteRange({ start, end }: { readonly start: Bytes; readonly end: Bytes }): void {
    const [low, high] = [bytesToLatin1(start), bytesToLatin1(end)];
    for (const { prefix, touched } of this.#open)
      if (prefix >= low && prefix < high) touched.add(prefix);
  }

  /** What was decided up to here can be read; Infinity where it is lost. */
  published(lsn: Lsn): void {
    if (this.#waiting.length === 0) return;
    const reached = this.#waiting.filter((waiting) => waiting.lsn <= lsn);
    this.#waiting = this.#waiting.filter((waiting) => waiting.lsn > lsn);
    for (const { resolve } of reached) resolve();
  }
}
