/** Reads of one moment of a partition: index entries in order, records by rid. What queries are made of. */
import { andThen, type Bytes, type MaybePromise } from '../base/index.ts';
import type { KeyRange, KeyScanOptions, Snapshot } from '../engine/index.ts';
import type { Value } from '../value/index.ts';
import type { HiddenItems } from './hidden.ts';
import type { IndexPage, IndexView } from './index-view.ts';
import type { Indexing } from './indexing.ts';
import type { Item, Lsn, Rid } from './item.ts';
import { recordKey } from './keyspace.ts';
import { decodeRecord } from './record.ts';
import { type EpkRange, type ItemPage, type ItemScan, scanByRid } from './scan.ts';

export interface ReaderContext {
  readonly lsn: Lsn;
  readonly etagSalt: number;
  readonly indexing: Indexing;
  /** False while the index is being built, or where the policy has none. */
  readonly isIndexReady: boolean;
  readonly itemCount: number;
  /** Stored, yet no longer there. */
  readonly hidden: HiddenItems | undefined;
}

export class PartitionReader {
  readonly context: ReaderContext;
  readonly #snapshot: Snapshot;
  readonly #index: IndexView;

  #onRelease: (() => void) | undefined;

  constructor(snapshot: Snapshot, index: IndexView, context: ReaderContext, onRelease: () => void) {
    this.#onRelease = onRelease;
    this.#snapshot = snapshot;
    this.#index = index;
    this.context = context;
  }

  scanIndex(range: KeyRange, options: KeyScanOptions): MaybePromise<IndexPage> {
    return this.#index.scan(range, options);
  }

  /** The rids of the entries of one value, ascending; undefined where there are more than `limit`. */
  ridsOf(stem: Bytes, limit: number): MaybePromise<ArrayLike<Rid> | undefined> {
    return this.#index.rids(stem, limit);
  }

  /** One result per rid, in the order asked; undefined where there is no such item. */
  readMany(rids: readonly Rid[]): MaybePromise<readonly (Item | undefined)[]> {
    return andThen(this.#snapshot.getMany(rids.map(recordKey)), (records) =>
      records.map((record) => (record === undefined ? undefined : this.#shown(record))),
    );
  }

  scanByRid(scan: ItemScan, within: EpkRange | undefined): MaybePromise<ItemPage> {
    const { etagSalt, hidden } = this.context;
    const page = scanByRid(this.#snapshot, etagSalt, scan, within);
    if (hidden === undefined) return page;
    return andThen(page, ({ items, next }) => ({
      items: items.filter((item) => hidden.causeOf(item) === undefined),
      next,
    }));
  }

  #shown(record: Bytes): Item | undefined {
    const { etagSalt, hidden } = this.context;
    const item = decodeRecord(record, etagSalt);
    return hidden === undefined ? item : hidden.shown(item);
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
