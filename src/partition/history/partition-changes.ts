/** The change feed of a partition, and the changes and history that movers copy. */
import { type Clock, keyAfter, type MaybePromise } from '../../base/index.ts';
import type { Snapshot, Store } from '../../engine/index.ts';
import type { Item, Lsn } from '../item/item.ts';
import { epkOfPrimary } from '../item/keyspace.ts';
import type { ItemVisibility } from '../lifetime/item-visibility.ts';
import type { EpkRange } from '../read/scan.ts';
import { type ChangePage, readChanges } from './change-log.ts';
import { type FeedMode, type FeedRead, type FeedSlice, lsnBefore, readFeed } from './feed.ts';
import type { History } from './history.ts';
import { historyAfter, type MovedHistory } from './moved-history.ts';
import { checkRetained, outsideRetention, type Retention } from './retention.ts';

interface PartitionChangesOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly etagSalt: number;
  readonly history: History;
  /** LSN of the last published write. */
  readonly published: () => Lsn;
  readonly visibility: ItemVisibility;
}

export class PartitionChanges {
  readonly #options: PartitionChangesOptions;

  constructor(options: PartitionChangesOptions) {
    this.#options = options;
  }

  /** The changes after an LSN, in pages, for a mover. */
  after(lsn: Lsn, limit: number): Promise<ChangePage> {
    return this.#inSnapshot((view, published) => readChanges(view, lsn, published, limit));
  }

  /** Tombstones and versions after an LSN, for a mover. */
  historyAfter(lsn: Lsn): Promise<MovedHistory> {
    return this.#inSnapshot((view, published) => historyAfter(view, lsn, published));
  }

  /** A page of the change feed. Does not read the store where nothing was written since. */
  async feed(read: FeedRead): Promise<FeedSlice> {
    const { history, etagSalt, published: lsn } = this.#options;
    if (read.mode === 'all') checkRetained(history.retention, read.after, rangeOf(read));
    if (read.after >= lsn()) return { changes: [], upTo: lsn(), more: false };
    const { visible } = this.#options.visibility;
    const isInvisible = (item: Item) => visible(item) === undefined;
    return this.#inSnapshot((view, published) =>
      readFeed({ view, etagSalt, published, isInvisible }, read),
    );
  }

  /** The LSN after which all writes of a time and later are; see `lsnBefore`. */
  async before(when: { mode: FeedMode; sinceSec: number; orderedFrom: Lsn }): Promise<Lsn> {
    const { history, etagSalt, clock } = this.#options;
    const keptSec = Math.floor(clock.nowMs() / 1000) - history.retentionSec;
    if (when.mode === 'all' && when.sinceSec < keptSec) throw outsideRetention();
    return this.#inSnapshot((view, published) => lsnBefore({ view, etagSalt, published }, when));
  }

  /** Since when versions are kept; undefined where they are not. */
  get retention(): Retention | undefined {
    return this.#options.history.retention;
  }

  /** Keeps versions for this long from the next write on; 0 keeps none. */
  retain(retentionSec: number): void {
    this.#options.history.change(retentionSec);
  }

  /** Takes over the retention of another partition; stored with the next write. */
  importRetention(retention: Retention): void {
    this.#options.history.import(retention);
  }

  /** Writes that are in the store but not published yet are left to the next page, as point reads do not see them. */
  async #inSnapshot<T>(read: (view: Snapshot, published: Lsn) => MaybePromise<T>): Promise<T> {
    const published = this.#options.published();
    const snapshot = await this.#options.store.snapshot();
    try {
      return await read(snapshot, published);
    } finally {
      snapshot.release();
    }
  }
}

/** The part of the hash space that a feed covers; undefined for the whole partition. */
function rangeOf({ within }: FeedRead): EpkRange | undefined {
  if (!(within instanceof Uint8Array)) return within;
  const epk = epkOfPrimary(within);
  return { min: epk, max: keyAfter(epk) };
}
