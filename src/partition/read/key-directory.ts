/**
 * The keys of a partition as far as memory has them: whether a key may be in the store (key-bloom-filter.ts) and its
 * likely rid (rid-hints.ts). A partition that was empty when it was opened has all its keys in the filter. Others read
 * their keys in the background after so many lookups in the store that the read would have paid.
 */
import { keyAfter } from '../../base/index.ts';
import type { KeyRange, Store } from '../../engine/index.ts';
import { type ItemKey, keyHash, type Rid } from '../item/item.ts';
import { PREFIX_PRIMARY, ridOfBytes } from '../item/keyspace.ts';
import { KeyBloomFilter } from './key-bloom-filter.ts';
import type { MemoryBudget } from './memory-budget.ts';
import { grownRidHints, type RidHints } from './rid-hints.ts';

/** A lookup costs as much as reading three or four keys, so reading all costs at most ten times what it may save. */
const KEYS_PER_LOOKUP = 32;
const LOOKUPS_MIN = 16;

/** Keys read in one turn of the event loop: a part of a millisecond. */
const PAGE = { limit: 500, bytesMax: 256 * 1024 };

const PRIMARY_KEYS: KeyRange = {
  start: Uint8Array.of(PREFIX_PRIMARY),
  end: Uint8Array.of(PREFIX_PRIMARY + 1),
};

interface KeyDirectoryOptions {
  readonly store: Store;
  readonly memory: MemoryBudget;
  /** The present number of items. */
  readonly itemCount: () => number;
}

export class KeyDirectory {
  readonly #options: KeyDirectoryOptions;
  /** Gets new keys too while it is being filled. */
  #filter: KeyBloomFilter | undefined;
  #isFilterComplete: boolean;
  #rids: RidHints | undefined;
  #lookupsLeft = 0;
  #isReading = false;
  #isStopped = false;

  constructor(options: KeyDirectoryOptions) {
    this.#options = options;
    this.#isFilterComplete = options.itemCount() === 0;
    if (this.#isFilterComplete) this.#filter = new KeyBloomFilter();
    this.#countLookups();
  }

  /** False: no durable item has this key. */
  mayHave({ primary }: ItemKey): boolean {
    return !this.#isFilterComplete || this.#filter === undefined || this.#filter.mayHave(primary);
  }

  /** The likely rid of a key. The caller has to check that the record is of the key. */
  ridOf({ hash }: ItemKey): Rid | undefined {
    return this.#rids?.get(hash);
  }

  /** Adds the key of a new durable item. */
  add(key: ItemKey, rid: Rid): void {
    this.#filter?.add(key.primary);
    this.#rids?.set(key.hash, rid);
  }

  /** Counts a lookup in the store. A complete filter would not have saved the lookup of an absent key. */
  noteLookup(isFound: boolean): void {
    if (!isFound && this.#isFilterComplete) return;
    if (--this.#lookupsLeft > 0 || this.#isReading || this.#isStopped) return;
    this.#countLookups();
    const { itemCount, memory } = this.#options;
    const larger = grownRidHints(itemCount(), this.#rids, memory);
    if (larger === undefined && this.#isFilterComplete) return;
    this.#rids = larger ?? this.#rids;
    const filter = this.#isFilterComplete ? undefined : new KeyBloomFilter();
    this.#filter ??= filter;
    this.#isReading = true;
    this.#readKeys(filter).then(
      () => {
        this.#isFilterComplete = !this.#isStopped;
        this.#isReading = false;
      },
      // The store is closing or has failed, which its next user reports. Reads work without the directory.
      () => this.stop(),
    );
  }

  stop(): void {
    this.#isStopped = true;
    if (this.#rids !== undefined) this.#options.memory.release(this.#rids.bytes);
    this.#rids = undefined;
  }

  #countLookups(): void {
    this.#lookupsLeft = LOOKUPS_MIN + Math.ceil(this.#options.itemCount() / KEYS_PER_LOOKUP);
  }

  /** @param filter - undefined where the filter has all keys already. */
  async #readKeys(filter: KeyBloomFilter | undefined): Promise<void> {
    let range = PRIMARY_KEYS;
    for (;;) {
      const { entries, more } = await this.#options.store.scan(range, PAGE);
      if (this.#isStopped) return;
      for (const { key, value } of entries) {
        filter?.add(key);
        this.#rids?.set(keyHash(key), ridOfBytes(value));
      }
      const last = entries.at(-1);
      if (!more || last === undefined) return;
      range = { start: keyAfter(last.key), end: range.end };
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
}
