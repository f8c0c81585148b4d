/** A consistent view of one partition for a query: index entries in order, records by rid. */
import { andThen, assert, type Bytes, keyAfter, type MaybePromise } from '../base/index.ts';
import type { KeyRange, KeyScanOptions, Snapshot } from '../engine/index.ts';
import type { Path, Value } from '../value/index.ts';
import type { IndexPage, IndexView } from './index/read/index-view.ts';
import type { ItemsWithout } from './index/read/items-without.ts';
import type { RidLimits } from './index/read/posting-list-cache.ts';
import type { RidPage } from './index/read/rid-pages.ts';
import type { Indexing } from './index/terms/indexing.ts';
import type { Item, Lsn, Rid } from './item/item.ts';
import { recordKey, ridOfBytes } from './item/keyspace.ts';
import { decodeRecord } from './item/record.ts';
import type { InvisibleItems } from './lifetime/invisible-items.ts';
import { type EpkRange, type ItemPage, type ItemScan, scanByRid } from './read/scan.ts';
import type { CachedItems } from './read/stored-items.ts';

interface ReaderContext {
  readonly lsn: Lsn;
  readonly etagSalt: number;
  readonly indexing: Indexing;
  /** False while the index is being built, or where the policy has none. */
  readonly isIndexReady: boolean;
  /** Ids of the declared indexes that are complete. */
  readonly readyIndexes: ReadonlySet<number>;
  readonly itemCount: number;
  /** Undefined where all stored items are visible. */
  readonly invisible: InvisibleItems | undefined;
}

interface PartitionReaderParts {
  readonly snapshot: Snapshot;
  readonly index: IndexView;
  readonly cached: CachedItems;
  readonly without: ItemsWithout;
  readonly context: ReaderContext;
  readonly onRelease: () => void;
}

/** A read of more items than this reads most of them once: they are not offered to the cache. */
const CACHED_READ_MAX = 1000;

/** Primary keys of one read: about a millisecond. */
const RID_PAGE = { limit: 1000, bytesMax: 1024 * 1024 };

export class PartitionReader {
  readonly context: ReaderContext;
  readonly #snapshot: Snapshot;
  readonly #index: IndexView;
  readonly #cached: CachedItems;
  readonly #without: ItemsWithout;
  #onRelease: (() => void) | undefined;

  constructor({ snapshot, index, cached, without, context, onRelease }: PartitionReaderParts) {
    this.#onRelease = onRelease;
    this.#without = without;
    this.#snapshot = snapshot;
    this.#index = index;
    this.#cached = cached;
    this.context = context;
  }

  scanIndex(range: KeyRange, options: KeyScanOptions): MaybePromise<IndexPage> {
    return this.#index.scan(range, options);
  }

  /** The rids of one term prefix, ascending; undefined where there are more than the limits allow. */
  ridsOf(termPrefix: Bytes, limits: RidLimits): MaybePromise<ArrayLike<Rid> | undefined> {
    return this.#index.rids(termPrefix, limits);
  }

  /** A page of the rids of one term prefix, from a rid on. */
  ridsFrom(termPrefix: Bytes, from: Rid): MaybePromise<RidPage> {
    return this.#index.ridsFrom(termPrefix, from);
  }

  /** The rids of all items without a value at an indexed path, ascending; possibly some with one. */
  ridsWithout(path: Path): MaybePromise<readonly Rid[]> {
    const { lsn, itemCount, indexing } = this.context;
    const terms = indexing.termsOf(path);
    assert(terms !== undefined, 'the path is indexed');
    const source = {
      lsn,
      itemCount,
      indexing,
      snapshot: this.#snapshot,
      index: this.#index,
      readMany: (rids: readonly Rid[]) => this.readMany(rids),
    };
    return this.#without.find(source, terms);
  }

  /** One result per rid, in the order of the rids; undefined where there is no such item. */
  readMany(rids: readonly Rid[]): MaybePromise<readonly (Item | undefined)[]> {
    const items: (Item | undefined)[] = [];
    const missing: number[] = [];
    for (let at = 0; at < rids.length; at++) {
      const item = this.#cached.find(rids[at] as Rid);
      items.push(item && this.#visible(item));
      if (item === undefined) missing.push(at);
    }
    if (missing.length === 0) return items;
    const keys = missing.map((at) => recordKey(rids[at] as Rid));
    return andThen(this.#snapshot.getMany(keys), (records) => {
      for (let at = 0; at < records.length; at++) {
        const record = records[at];
        if (record === undefined) continue;
        const item = decodeRecord(record, this.context.etagSalt);
        if (rids.length <= CACHED_READ_MAX) this.#cached.offer(item);
        items[missing[at] as number] = this.#visible(item);
      }
      return items;
    });
  }

  /** A page of the rids of a range of primary keys, in the order of the keys, and the rest of the range. */
  ridsOfKeys(range: KeyRange): MaybePromise<{
    readonly rids: readonly Rid[];
    readonly rest: KeyRange | undefined;
  }> {
    return andThen(this.#snapshot.scan(range, RID_PAGE), ({ entries, more }) => {
      const last = entries.at(-1);
      return {
        rids: entries.map(({ value }) => ridOfBytes(value)),
        rest: more && last ? { start: keyAfter(last.key), end: range.end } : undefined,
      };
    });
  }

  scanByRid(scan: ItemScan, within: EpkRange | undefined): MaybePromise<ItemPage> {
    const { etagSalt, invisible } = this.context;
    const page = scanByRid(this.#snapshot, etagSalt, scan, within);
    if (invisible === undefined) return page;
    return andThen(page, ({ items, next }) => ({
      items: items.filter((item) => invisible.visible(item) !== undefined),
      next,
    }));
  }

  #visible(item: Item): Item | undefined {
    const { invisible } = this.context;
    return invisible === undefined ? item : invisible.visible(item);
  }

  decode(item: Item): Value {
    return this.context.indexing.options.codec.decode(item.body);
  }

  /** Idempotent. */
  release(): void {
    this.#snapshot.release();
    this.#onRelease?.();
    this.#onRelease = undefined;
  }
}
