/**
 * Hot items of all partitions of the process, bounded in bytes. A partition has one owner, so what the committer
 * publishes keeps the cache exact; a hit saves the engine call, which is most of what a point read costs below HTTP.
 */
import { LRUCache } from 'lru-cache';
import { RECORD_CACHE_BYTES } from '../base/index.ts';
import type { Item } from './item.ts';

/** What an entry costs beside key and body: map slots, the Item object, list links. */
const ENTRY_OVERHEAD_BYTES = 300;

export class RecordCache {
  readonly #items: LRUCache<string, Item>;
  #owners = 0;

  constructor(bytesMax = RECORD_CACHE_BYTES) {
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
      delete: (keyText) => void items.delete(prefix + keyText),
    };
  }
}

export interface PartitionCache {
  get(keyText: string): Item | undefined;
  set(keyText: string, item: Item): void;
  delete(keyText: string): void;
}
