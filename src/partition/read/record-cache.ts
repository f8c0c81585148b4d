/**
 * Hot items of all partitions of the process, bounded in bytes. A partition has one owner, so what the committer
 * publishes keeps the cache exact; a hit saves the engine call, which is most of what a point read costs below HTTP.
 *
 * Once the cache is full, an item comes in when it is asked for the second time; to have been created counts as the first.
 * Where far more items come by than fit, keeping each and dropping another for it would cost half as much as the
 * engine call and save nothing.
 */
import { LRUCache } from 'lru-cache';
import { assert, RECORD_CACHE_BYTES } from '../../base/index.ts';
import { type Item, type ItemKey, KEY_HASHES, keyHash, type Rid } from '../item/item.ts';
import { MemoryBudget } from './memory-budget.ts';

/** What an entry costs beside its record: map slots, the Item object, list links. */
const ENTRY_OVERHEAD_BYTES = 300;

/** A share of the bound: below it there is room for everything. */
const FILLED = 0.95;

/**
 * How many items that were asked for once are remembered, somewhat fewer than a full cache holds: what is read again later
 * would not have stayed either.
 */
const ASKED_ONCE_SLOTS = 2 ** 13;

/** Items that can be found by their rids: all of a full cache, and those of two partitions mostly beside each other. */
const RID_SLOTS = 2 ** 16;

/** Partitions opened in the life of a process. */
const OWNERS_MAX = 2 ** 23;

export class RecordCache {
  /** By owner and hash of the key: of two keys with one hash the later one is kept. */
  readonly #items: LRUCache<number, Item>;
  readonly #bytesMax: number;
  /** Rids, each in the slot of its lowest bits; those of two partitions may be taken for each other, which is harmless. */
  readonly #askedOnce = new Float64Array(ASKED_ONCE_SLOTS);
  /** Where the item of a rid is in the cache, in the slot of the rid's lowest bits; what is there may be another one by now. */
  readonly #places = new Float64Array(RID_SLOTS);
  readonly #memory = new MemoryBudget();
  #owners = 0;

  constructor(bytesMax = RECORD_CACHE_BYTES) {
    this.#bytesMax = bytesMax;
    this.#items = new LRUCache<number, Item>({
      maxSize: bytesMax,
      /** One item may not sweep out a large part of the rest. */
      maxEntrySize: Math.max(1, Math.floor(bytesMax / 16)),
      sizeCalculation: ({ record }) => ENTRY_OVERHEAD_BYTES + record.length,
    });
  }

  /** A part of the cache for one open partition. Never the same twice, so a reopened partition starts cold. */
  forPartition(): PartitionCache {
    const first = this.#owners++ * KEY_HASHES;
    assert(this.#owners <= OWNERS_MAX, 'a process opens so many partitions in its life');
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
    return this.#items.calculatedSize >= this.#bytesMax * FILLED;
  }

  #isWorthIt({ rid }: Item): boolean {
    if (!this.#isFull()) return true;
    const slot = rid % ASKED_ONCE_SLOTS;
    if (this.#askedOnce[slot] === rid) return true;
    this.#askedOnce[slot] = rid;
    return false;
  }
}

export interface PartitionCache {
  get(key: ItemKey): Item | undefined;
  getByRid(rid: Rid): Item | undefined;
  /** The item was written over: what the cache holds is no longer true, and it is likely to be read. */
  set(key: ItemKey, item: Item): void;
  /** The item was read from the store, or it is new. */
  offer(key: ItemKey, item: Item): void;
  /** The same for one who has not asked by its key. */
  offerItem(item: Item): void;
  delete(key: ItemKey): void;
  /** Whether only items that are asked for again find a place. */
  isFull(): boolean;
  /** For rids of items that it does not hold. */
  readonly memory: MemoryBudget;
}
