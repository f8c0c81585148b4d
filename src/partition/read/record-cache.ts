/**
 * Hot items of all partitions of the process, bounded in bytes. A partition has one owner, so published writes keep the
 * cache exact. A hit saves the engine call, which is most of the cost of a point read below HTTP.
 *
 * A full cache takes an item at its second use; its creation counts as the first. Where far more items are read than
 * fit, replacing one at every read would cost half as much as the engine call and save nothing.
 */
import { LRUCache } from 'lru-cache';
import { assert, RECORD_CACHE_BYTES } from '../../base/index.ts';
import { type Item, type ItemKey, KEY_HASHES, keyHash, type Rid } from '../item/item.ts';
import { MemoryBudget } from './memory-budget.ts';

/** Memory of an entry beside its record: map slots, the Item object, list links. */
const ENTRY_OVERHEAD_BYTES = 300;

/** The cache is full from this share of its bound on. */
const FULL_SHARE = 0.95;

/**
 * Items whose first use is noted: somewhat fewer than a full cache holds, since an item that is read again later would
 * not have stayed in it either.
 */
const USED_ONCE_SLOTS = 2 ** 13;

/** Slots of the table by rid: enough for all items of a full cache, with few collisions between partitions. */
const RID_SLOTS = 2 ** 16;

/** Partitions opened in the life of a process. */
const OWNERS_MAX = 2 ** 23;

export class RecordCache {
  /** By owner and key hash; the later of two keys with one hash is kept. */
  readonly #items: LRUCache<number, Item>;
  readonly #bytesMax: number;
  /** Rids by their lowest bits. Rids of two partitions may be confused, which only affects what is cached. */
  readonly #usedOnce = new Float64Array(USED_ONCE_SLOTS);
  /** Cache keys by the lowest bits of the rid. The item there may be another one by now, so it is checked. */
  readonly #places = new Float64Array(RID_SLOTS);
  readonly #memory = new MemoryBudget();
  #owners = 0;

  constructor(bytesMax = RECORD_CACHE_BYTES) {
    this.#bytesMax = bytesMax;
    this.#items = new LRUCache<number, Item>({
      maxSize: bytesMax,
      /** One item may not push out a large part of the others. */
      maxEntrySize: Math.max(1, Math.floor(bytesMax / 16)),
      sizeCalculation: ({ record }) => ENTRY_OVERHEAD_BYTES + record.length,
    });
  }

  /** The part of the cache for one open partition. A reopened partition gets a new, empty part. */
  forPartition(): PartitionCache {
    const first = this.#owners++ * KEY_HASHES;
    assert(this.#owners <= OWNERS_MAX, 'too many partitions were opened by one process');
    const items = this.#items;
    const places = this.#places;
    const put = (hash: number, item: Item): void => {
      items.set(first + hash, item);
      places[item.rid % RID_SLOTS] = first + hash;
    };
    return {
      get: (key) => {
        const item = items.get(first + key.hash);
        return item?.isOf(key) === true ? item : undefined;
      },
      getByRid: (rid) => {
        const place = places[rid % RID_SLOTS] as number;
        if (place < first || place >= first + KEY_HASHES) return undefined;
        const item = items.get(place);
        return item?.rid === rid ? item : undefined;
      },
      set: (key, item) => put(key.hash, item),
      offer: (key, item) => {
        if (this.#isWorthIt(item)) put(key.hash, item);
      },
      offerItem: (item) => {
        if (this.#isWorthIt(item)) put(keyHash(item.primary), item);
      },
      isFull: () => this.#isFull(),
      delete: (key) => void items.delete(first + key.hash),
      memory: this.#memory,
    };
  }

  #isFull(): boolean {
    return this.#items.calculatedSize >= this.#bytesMax * FULL_SHARE;
  }

  #isWorthIt({ rid }: Item): boolean {
    if (!this.#isFull()) return true;
    const slot = rid % USED_ONCE_SLOTS;
    if (this.#usedOnce[slot] === rid) return true;
    this.#usedOnce[slot] = rid;
    return false;
  }
}

export interface PartitionCache {
  get(key: ItemKey): Item | undefined;
  getByRid(rid: Rid): Item | undefined;
  /** Replaces the item that a write has changed; it is likely to be read. */
  set(key: ItemKey, item: Item): void;
  /** Caches an item that was read from the store or created, where it is worth it. */
  offer(key: ItemKey, item: Item): void;
  /** The same for an item that was not read by its key. */
  offerItem(item: Item): void;
  delete(key: ItemKey): void;
  /** Whether only items that are used again are taken. */
  isFull(): boolean;
  /** Budget for rid hints and posting lists. */
  readonly memory: MemoryBudget;
}
