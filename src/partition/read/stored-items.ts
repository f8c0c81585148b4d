/** The items of a partition as they are stored, invisible ones too: for the committer, movers and the sweeper. */
import { andThen, type Bytes, type MaybePromise } from '../../base/index.ts';
import type { KeyRange, Store } from '../../engine/index.ts';
import type { PendingChange } from '../commit/pending-change.ts';
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
  /** The present number of items. */
  readonly itemCount: () => number;
}

/** Items in memory, for a reader that takes a snapshot next. */
export interface CachedItems {
  /** An item as the snapshot has it; undefined where it has to be read from the snapshot. */
  find(rid: Rid): Item | undefined;
  /** Caches an item that was read from the snapshot, unless it may have changed since. */
  offer(item: Item): void;
}

export class StoredItems {
  readonly #options: StoredItemsOptions;
  readonly #keys: KeyDirectory;
  /** Grows with every published group: a read that began before may have an old state. */
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
    // A rid hint is a guess: the record says whose item it is.
    return andThen(this.readByRid(rid), (item) =>
      item?.isOf(key) === true ? this.#offer(key, item, publishCount) : this.#lookUp(key),
    );
  }

  /** One result per key, in the order of the keys, with at most one look into the store. */
  readMany(keys: readonly ItemKey[]): MaybePromise<readonly (Item | undefined)[]> {
    const { cache, store, etagSalt } = this.#options;
    const items = keys.map((key) => cache.get(key));
    const missing = keys.filter((_, at) => items[at] === undefined);
    if (missing.length === 0) return items;
    const publishCount = this.#publishCount;
    const primaries = missing.map(({ primary }) => primary);
    return andThen(store.dereferenceMany(primaries, PREFIX_ITEM), (records) => {
      let next = 0;
      for (let at = 0; at < items.length; at++) {
        if (items[at] !== undefined) continue;
        const record = records[next++];
        this.#keys.noteLookup(record !== undefined);
        if (record === undefined) continue;
        const item = decodeRecord(record, etagSalt);
        items[at] = this.#offer(keys[at] as ItemKey, item, publishCount);
      }
      return items;
    });
  }

  /** Same as `read`, but mostly without the store where the key is new. */
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

  /** @param publishCount - its value when the read began. */
  #offer(key: ItemKey, item: Item, publishCount: number): Item {
    // An asynchronous engine may respond after a write was published: then this is an old state.
    if (publishCount === this.#publishCount) this.#options.cache.offer(key, item);
    return item;
  }

  /** The item with this rid; undefined where this partition has none. */
  readByRid(rid: Rid): MaybePromise<Item | undefined> {
    const { store, etagSalt } = this.#options;
    return andThen(store.get(recordKey(rid)), (record) =>
      record === undefined ? undefined : decodeRecord(record, etagSalt),
    );
  }

  /** One result per rid, in the order of the rids, with one look into the store. */
  readManyByRid(rids: readonly Rid[]): MaybePromise<readonly (Item | undefined)[]> {
    const { store, etagSalt } = this.#options;
    if (rids.length === 0) return [];
    return andThen(store.getMany(rids.map(recordKey)), (records) =>
      records.map((record) => record && decodeRecord(record, etagSalt)),
    );
  }

  /** @param lsn - LSN of the last published write. */
  cachedAt(lsn: Lsn): CachedItems {
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

  /** Items in primary key order: of a range of the hash space or of primary keys, or with this prefix of their key. */
  scanByKey(scan: ItemScan, within: EpkRange | KeyRange | Bytes): MaybePromise<ItemPage> {
    return scanByKey(this.#options.store, this.#options.etagSalt, scan, within);
  }

  /** Makes durable writes visible to reads. */
  publish(changes: readonly PendingChange[]): void {
    const { cache } = this.#options;
    this.#publishCount++;
    for (const { key, before, after, isBulk } of changes) {
      if (before === undefined && after !== undefined) this.#keys.add(key, after.rid);
      if (after !== undefined && !isBulk) {
        if (before === undefined) cache.offer(key, after);
        else cache.set(key, after);
      }
      // An item that was absent is not in the cache.
      else if (before !== undefined) cache.delete(key);
    }
  }

  /** Ends background reads of keys. */
  stop(): void {
    this.#keys.stop();
  }
}
