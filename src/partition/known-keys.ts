/**
 * The keys of a partition's items as far as a filter can know them (key-filter.ts): whether a key may be in the store.
 * A partition that was empty when it was opened knows all of its keys. Another one learns them in the background, once
 * it has looked for so many keys in vain that knowing them would have paid.
 */
import type { Bytes } from '../base/index.ts';
import type { KeyRange, Store } from '../engine/index.ts';
import { KeyFilter } from './key-filter.ts';
import { PREFIX_PRIMARY } from './keyspace.ts';

/** Looking for a key in vain costs as much as learning a good dozen keys. */
const KEYS_PER_MISS = 64;
const MISSES_MIN = 16;

/** Keys learnt in one turn of the event loop: a part of a millisecond. */
const PAGE = { limit: 500, bytesMax: 256 * 1024 };

const PRIMARY_KEYS: KeyRange = {
  start: Uint8Array.of(PREFIX_PRIMARY),
  end: Uint8Array.of(PREFIX_PRIMARY + 1),
};

export class KnownKeys {
  readonly #store: Store;
  /** While it is being filled, new keys go to it as well. */
  #filter: KeyFilter | undefined;
  #isComplete: boolean;
  #missesLeft: number;
  #isStopped = false;

  constructor(store: Store, itemCount: number) {
    this.#store = store;
    this.#isComplete = itemCount === 0;
    if (this.#isComplete) this.#filter = new KeyFilter();
    this.#missesLeft = MISSES_MIN + Math.ceil(itemCount / KEYS_PER_MISS);
  }

  /** False: no durable item has this key. */
  mayHave(key: Bytes): boolean {
    return !this.#isComplete || this.#filter === undefined || this.#filter.mayHave(key);
  }

  /** An item of this key is durable. */
  add(key: Bytes): void {
    this.#filter?.add(key);
  }

  /** A key was looked for in the store and not found. */
  missed(): void {
    if (--this.#missesLeft !== 0 || this.#filter !== undefined) return;
    this.#filter = new KeyFilter();
    this.#learn(this.#filter).then(
      () => {
        this.#isComplete = true;
      },
      // The store is closing, or about to say so itself: without the filter everything is as it was.
      () => {
        this.#filter = undefined;
      },
    );
  }

  stop(): void {
    this.#isStopped = true;
  }

  async #learn(filter: KeyFilter): Promise<void> {
    let range = PRIMARY_KEYS;
    for (;;) {
      if (this.#isStopped) throw new Error('the partition is closing');
      const { keys, more } = await this.#store.scanKeys(range, PAGE);
      for (const key of keys) filter.add(Buffer.from(key, 'latin1'));
      const last = keys.at(-1);
      if (!more || last === undefined) return;
      range = { start: Buffer.from(`${last}\u0000`, 'latin1'), end: range.end };
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
}
