/** The items of a partition as they are stored, hidden ones too: what movers, sweepers and the committer look at. */
import { andThen, type Bytes, type MaybePromise } from '../../base/index.ts';
import type { KeyRange, Store } from '../../engine/index.ts';
import type { PendingChange } from '../commit/commit-group.ts';
import type { Item, ItemKey, Lsn, Rid } from '../item/item.ts';
import { PREFIX_ITEM, recordKey } from '../item/keyspace.ts';
import { decodeRecord } from '../item/record.ts';
import { KeyDirectory } from './key-directory.ts';
import type { PartitionCache } from './record-cache.ts';
import { type EpkRange, type ItemPage, type ItemScan, scanByKey, scanByRid } from './scan.ts';

interface StoredItemsOptions {
  readonly store: Store;
  readonly cache: PartitionCache;
  readonly etagSalt: number;
  /** As of now. */
  readonly itemCount: () => number;
}

/** What memory has of the items, for somebody who takes a snapshot of them next. */
export interface RememberedItems {
  /** As the snapshot has it, or as it was just before; undefined where only the snapshot can tell. */
  find(rid: Rid): Item | undefined;
  /** The item was read from the snapshot. */
  offer(item: Item): void;
}

export class StoredItems {
  readonly #options: StoredItemsOptions;
  readonly #keys: KeyDirectory;
  #publishCount = 0;

  constructor(options: StoredItemsOptions) {
    this.#options = options;
    const { store, cache, itemCount } = options;
    this.#keys = new KeyDirectory({ store, itemCount, memory: cache.memory });
  }

  read(key: ItemKey): MaybePromise<Item | undefined> {
    const cached = this.#options.cache.get(key);
    if (cached !== undefined) return cached;
    const rid = this.#keys.ridOf(key);
    if (rid === undefined) return this.#lookUp(key);
    const publishCount = this.#publishCount;
    return andThen(this.readByRid(rid), (item) =>
      item?.isOf(key) === true ? this.#offer(key, item, publishCount) : this.#lookUp(key),
    );
  }

  /** As `read`; that a key is new is mostly known without the store. */
  readBeforeWrite(key: ItemKey): MaybePromise<Item | undefined> {
    return this.#keys.mayHave(key) ? this.read(key) : undefined;
  }

  #lookUp(key: ItemKey): MaybePromise<Item | undefined> {
    const { store, etagSalt } = this.#options;
    const publishCount = this.#publishCount;
    return andThen(store.dereference(key.primary, PREFIX_ITEM), (record) => {
      this.#keys.noteLookup(record !== undefined);
      return record === undefined
        ? undefined
        : this.#offer(key, decodeRecord(record, etagSalt), publishCount);
    });
  }

  /** @param publishCount - when the item was asked for. */
  #offer(key: ItemKey, item: Item, publishCount: number): Item {
    // With an engine that answers later, a write may have been published since: then this is an old state.
    if (publishCount === this.#publishCount) this.#options.cache.offer(key, item);
    return item;
  }

  /** The item of this number; undefined where this partition has none. */
  readByRid(rid: Rid): MaybePromise<Item | undefined> {
    const { store, etagSalt } = this.#options;
    return andThen(store.get(recordKey(rid)), (record) =>
      record === undefined ? undefined : decodeRecord(record, etagSalt),
    );
  }

  /** @param lsn - of the last write that is published. */
  remembered(lsn: Lsn): RememberedItems {
    const { cache } = this.#options;
    const publishCount = this.#publishCount;
    return {
      find: (rid) => {
        const item = cache.getByRid(rid);
        return item !== undefined && item.lsn <= lsn ? item : undefined;
      },
      offer: (item) => {
        if (publishCount === this.#publishCount) cache.offerItem(item);
      },
    };
  }

  /** Items in rid order, of the whole partition or of a part of its hash range. */
  scanByRid(scan: ItemScan, within: EpkRange | undefined): MaybePromise<ItemPage> {
    return scanByRid(this.#options.store, this.#options.etagSalt, scan, within);
  }

  /** Items in primary key order: of a range of hashes or of primary keys, or those whose key begins with these bytes. */
  scanByKey(scan: ItemScan, within: EpkRange | KeyRange | Bytes): MaybePromise<ItemPage> {
    return scanByKey(this.#options.store, this.#options.etagSalt, scan, within);
  }

  /** These writes are durable: reads see them from here on. */
  publish(touched: readonly PendingChange[]): void {
    const { cache } = this.#options;
    this.#publishCount++;
    for (const { key, before, after, isBulk } of touched) {
      if (before === undefined && after !== undefined) this.#keys.add(key, after.rid);
      if (after !== undefined && !isBulk) {
        if (before === undefined) cache.offer(key, after);
        else cache.set(key, after);
      }
      // What was not there is not in the cache.
      else if (before !== undefined) cache.delete(key);
    }
  }
  /** Learns no more of the store. */
  stop(): void {
    this.#keys.stop();
  }
}
