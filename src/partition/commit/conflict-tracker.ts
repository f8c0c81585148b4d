/**
 * A transaction that reads a logical partition and writes to it later has to know whether others wrote there meanwhile.
 * A tracker notes their keys as soon as their writes are decided.
 */
import { type Bytes, bytesToLatin1, WATCHED_CHANGES_MAX } from '../../base/index.ts';
import type { Item, Lsn } from '../item/item.ts';

export interface ConflictTracker {
  /** Keys written since the tracker was opened, as texts. */
  readonly writtenKeys: ReadonlySet<string>;
  /** Idempotent. */
  close(): void;
}

/** The writes of a range of keys, for a transaction that has queried it. */
export interface RangeWatch {
  /** Whether others have written an item that was of interest, or is now. */
  hasChanged(isOfInterest: (item: Item) => boolean): boolean;
  /** Idempotent. */
  close(): void;
}

interface OpenWatch {
  readonly low: string;
  readonly high: string;
  /** Written items, before and after each write. */
  readonly items: Item[];
  /** Set where more was written than is examined. */
  isLost: boolean;
}

interface OpenTracker extends ConflictTracker {
  readonly prefix: string;
  readonly writtenKeys: Set<string>;
}

export class ConflictTrackers {
  readonly #open = new Set<OpenTracker>();
  readonly #watches = new Set<OpenWatch>();
  /** Nothing more is published: nobody waits for it. */
  #hasFailed = false;
  #waiting: { readonly lsn: Lsn; readonly resolve: () => void }[] = [];

  /** Mostly true; one test for every write. */
  get isEmpty(): boolean {
    return this.#open.size === 0 && this.#watches.size === 0;
  }

  /**
   * Opens a tracker; resolves when all writes that were decided before can be read.
   * @param prefix - of the keys to track, as text.
   */
  async open(prefix: string, at: { decided: Lsn; published: Lsn }): Promise<ConflictTracker> {
    const tracker: OpenTracker = {
      prefix,
      writtenKeys: new Set(),
      close: () => {
        this.#open.delete(tracker);
      },
    };
    this.#open.add(tracker);
    await this.untilPublished(at);
    return tracker;
  }

  /** Opens a watch; resolves when all writes that were decided before can be read. */
  async watch(
    range: { readonly start: Bytes; readonly end: Bytes },
    at: { decided: Lsn; published: Lsn },
  ): Promise<RangeWatch> {
    const [low, high] = [bytesToLatin1(range.start), bytesToLatin1(range.end)];
    const watch: OpenWatch = { low, high, items: [], isLost: false };
    this.#watches.add(watch);
    await this.untilPublished(at);
    return {
      hasChanged: (isOfInterest) => watch.isLost || watch.items.some(isOfInterest),
      close: () => {
        this.#watches.delete(watch);
      },
    };
  }

  /** Resolves when all writes that were decided before can be read. */
  async untilPublished({ decided, published }: { decided: Lsn; published: Lsn }): Promise<void> {
    if (decided > published && !this.#hasFailed)
      await new Promise<void>((resolve) => {
        this.#waiting.push({ lsn: decided, resolve });
      });
  }

  /** Notes a write, with the item before and after it. */
  note(key: string, previous: Item | undefined, item: Item | undefined): void {
    for (const { prefix, writtenKeys } of this.#open)
      if (key.startsWith(prefix)) writtenKeys.add(key);
    for (const watch of this.#watches) {
      if (key < watch.low || key >= watch.high || watch.isLost) continue;
      if (previous !== undefined) watch.items.push(previous);
      if (item !== undefined) watch.items.push(item);
      if (watch.items.length <= WATCHED_CHANGES_MAX) continue;
      watch.isLost = true;
      watch.items.length = 0;
    }
  }

  /** Notes that all keys of a range were written. */
  noteRange({ start, end }: { readonly start: Bytes; readonly end: Bytes }): void {
    const [low, high] = [bytesToLatin1(start), bytesToLatin1(end)];
    for (const { prefix, writtenKeys } of this.#open)
      if (prefix >= low && prefix < high) writtenKeys.add(prefix);
    for (const watch of this.#watches)
      if (watch.low < high && low < watch.high) watch.isLost = true;
  }

  /** Writes up to this LSN can be read; Infinity after a failure, when the others are lost. */
  published(lsn: Lsn): void {
    this.#hasFailed ||= lsn === Number.POSITIVE_INFINITY;
    if (this.#waiting.length === 0) return;
    const reached = this.#waiting.filter((waiting) => waiting.lsn <= lsn);
    this.#waiting = this.#waiting.filter((waiting) => waiting.lsn > lsn);
    for (const { resolve } of reached) resolve();
  }
}
