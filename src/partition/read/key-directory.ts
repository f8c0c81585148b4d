/**
 * The keys of a partition's items as far as memory can know them: whether a key may be in the store (key-bloom-filter.ts) and
 * which rid it has (rid-hints.ts). A partition that was empty when it was opened knows which keys it has. For the rest,
 * keys are learnt in the background once so many were looked up in the store that knowing them would have paid.
 */
import { keyAfter } from '../../base/index.ts';
import type { KeyRange, Store } from '../../engine/index.ts';
import { type ItemKey, keyHash, type Rid } from '../item/item.ts';
import { PREFIX_PRIMARY, ridOfBytes } from '../item/keyspace.ts';
import { KeyBloomFilter } from './key-bloom-filter.ts';
import type { MemoryBudget } from './memory-budget.ts';
import { grownRidHints, type RidHints } from './rid-hints.ts';

/** Looking a key up costs as much as learning three or four: so learning never costs more than ten times what it might have spared. */
const KEYS_PER_LOOK = 32;
const LOOKS_MIN = 16;

/** Keys learnt in one turn of the event loop: a part of a millisecond. */
const PAGE = { limit: 500, bytesMax: 256 * 1024 };

const PRIMARY_KEYS: KeyRange = {
  start: Uint8Array.of(PREFIX_PRIMARY),
  end: Uint8Array.of(PREFIX_PRIMARY + 1),
};

interface KeyDirectoryOptions {
  readonly store: Store;
  readonly memory: MemoryBudget;
  /** As of now. */
  readonly itemCount: () => number;
}

export class KeyDirectory {
  readonly #options: KeyDirectoryOptions;
  /** While it is being filled, new keys go to it as well. */
  #filter: KeyBloomFilter | undefined;
  #isFilterComplete: boolean;
  #rids: RidHints | undefined;
  #lookupsLeft = 0;
  #isLearning = false;
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

  /** Most likely that of the key, if it is there; whose it is, its record tells. */
  ridOf({ hash }: ItemKey): Rid | undefined {
    return this.#rids?.get(hash);
  }

  /** A new item of this key is durable. */
  add(key: ItemKey, rid: Rid): void {
    this.#filter?.add(key.primary);
    this.#rids?.set(key.hash, rid);
  }

  /** A key was looked up in the store. One that is not there, new keys in a busy container, would not have been known either. */
  noteLookup(isThere: boolean): void {
    if (!isThere && this.#isFilterComplete) return;
    if (--this.#lookupsLeft > 0 || this.#isLearning || this.#isStopped) return;
    this.#countLookups();
    const { itemCount, memory } = this.#options;
    const larger = grownRidHints(itemCount(), this.#rids, memory);
    if (larger === undefined && this.#isFilterComplete) return;
    this.#rids = larger ?? this.#rids;
    const filter = this.#isFilterComplete ? undefined : new KeyBloomFilter();
    this.#filter ??= filter;
    this.#isLearning = true;
    this.#learn(filter).then(
      () => {
        this.#isFilterComplete = !this.#isStopped;
        this.#isLearning = false;
      },
      // The store is closing, or about to say so itself: nothing rests on knowing keys.
      () => this.stop(),
    );
  }

  stop(): void {
    this.#isStopped = true;
    if (this.#rids !== undefined) this.#options.memory.release(this.#rids.bytes);
    this.#rids = undefined;
  }

  #countLookups(): void {
    this.#lookupsLeft = LOOKS_MIN + Math.ceil(this.#options.itemCount() / KEYS_PER_LOOK);
  }

  /** @param filter - undefined where it knows all keys already. */
  async #learn(filter: KeyBloomFilter | undefined): Promise<void> {
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
