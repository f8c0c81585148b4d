/**
 * Hot items of all partitions of the process, bounded in bytes. A partition has one owner, so what the committer
 * publishes keeps the cache exact; a hit saves the engine call, which is most of what a point read costs below HTTP.
 *
 * Once the cache is full, an item that was only read comes in at its second read: where far more items are read than
 * fit, keeping each and dropping another for it would cost half as much as the engine call and save nothing.
 */
import { LRUCache } from 'lru-cache';
import { RECORD_CACHE_BYTES } from '../base/index.ts';
import type { Item } from './item.ts';

/** What an entry costs beside key and body: map slots, the Item object, list links. */
const ENTRY_OVERHEAD_BYTES = 300;

/** A share of the bound: below it there is room for everything. */
const FILLED = 0.95;

/**
 * How many items that were read once are remembered, somewhat fewer than a full cache holds: what is read again later
 * would not have stayed either.
 */
const READ_ONCE_SLOTS = 2 ** 13;

export class RecordCache {
  readonly #items: LRUCache<string, Item>;
  readonly #bytesMax: number;
  /** Rids, each in the slot of its lowest bits; those of two partitions may be taken for each other, which is harmless. */
  readonly #readOnce = new Float64Array(READ_ONCE_SLOTS);
  #owners = 0;

  constructor(bytesMax = RECORD_CACHE_BYTES) {
    this.#bytesMax = bytesMax;
    this.#items = new LRUCache<string, Item>({
      maxSize: bytesMax,
      /** One item may not sweep out a large part of the rest. */
      maxEntrySize: Math.max(1, Math.floor(bytesMax / 16)),
      sizeCalculation: (item, key) => ENTRY_OVERHEAD_BYTES + key.length + item.record.length,
    });
  }

  /** A part of the cache for one open partition. Never the same twice, so a reopened partition starts cold. */
  forPartition(): PartitionCache {
    const prefix = `${(this.#owners++).toString(36)}:`;
    const items = this.#items;
    return {
      get: (keyText) => items.get(prefix + keyText),
      set: (keyText, item) => void items.set(prefix + keyText, item),
      offer: (keyText, item) => {
        if (this.#isWorthIt(item)) items.set(prefix + keyText, item);
      },
      delete: (keyText) => void items.delete(prefix + keyText),
    };
  }

  #isWorthIt({ rid, record }: Item): boolean {
    if (this.#items.calculatedSize + record.length < this.#bytesMax * FILLED) return true;
    const slot = rid % READ_ONCE_SLOTS;
    if (this.#readOnce[slot] === rid) return true;
    this.#readOnce[slot] = rid;
    return false;
  }
}

export interface PartitionCache {
  get(keyText: string): Item | undefined;
  /** The item was written: what the cache holds is no longer true, and it is likely to be read. */
  set(keyText: string, item: Item): void;
  /** The item was read from the store. */
  offer(keyText: string, item: Item): void;
  delete(keyText: string): void;
}
