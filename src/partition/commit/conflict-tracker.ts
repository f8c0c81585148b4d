/**
 * A transaction that reads a logical partition and writes to it later has to know whether others wrote there meanwhile.
 * A tracker notes their keys as soon as their writes are decided.
 */
import { type Bytes, bytesToLatin1 } from '../../base/index.ts';
import type { Lsn } from '../item/item.ts';

export interface ConflictTracker {
  /** Keys written since the tracker was opened, as texts. */
  readonly touched: ReadonlySet<string>;
  /** Idempotent. */
  close(): void;
}

interface OpenTracker extends ConflictTracker {
  readonly prefix: string;
  readonly touched: Set<string>;
}

export class ConflictTrackers {
  readonly #open = new Set<OpenTracker>();
  #waiting: { readonly lsn: Lsn; readonly resolve: () => void }[] = [];

  /** Mostly true; one test for every write. */
  get isEmpty(): boolean {
    return this.#open.size === 0;
  }

  /**
   * Opens a tracker; resolves when all writes that were decided before can be read.
   * @param prefix - of the keys to track, as text.
   */
  async open(prefix: string, at: { decided: Lsn; published: Lsn }): Promise<ConflictTracker> {
    const tracker: OpenTracker = {
      prefix,
      touched: new Set(),
      close: () => {
        this.#open.delete(tracker);
      },
    };
    this.#open.add(tracker);
    const lsn = at.decided;
    if (lsn > at.published)
      await new Promise<void>((resolve) => {
        this.#waiting.push({ lsn, resolve });
      });
    return tracker;
  }

  note(key: string): void {
    for (const { prefix, touched } of this.#open) if (key.startsWith(prefix)) touched.add(key);
  }

  /** Notes that all keys of a range were written. */
  noteRange({ start, end }: { readonly start: Bytes; readonly end: Bytes }): void {
    const [low, high] = [bytesToLatin1(start), bytesToLatin1(end)];
    for (const { prefix, touched } of this.#open)
      if (prefix >= low && prefix < high) touched.add(prefix);
  }

  /** Writes up to this LSN can be read; Infinity after a failure, when the others are lost. */
  published(lsn: Lsn): void {
    if (this.#waiting.length === 0) return;
    const reached = this.#waiting.filter((waiting) => waiting.lsn <= lsn);
    this.#waiting = this.#waiting.filter((waiting) => waiting.lsn > lsn);
    for (const { resolve } of reached) resolve();
  }
}
