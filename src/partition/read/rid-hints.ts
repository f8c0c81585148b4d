/**
 * Likely rids of a partition's items by the hashes of their keys. A read with a rid gets the record at once, without
 * the lookup of the primary key, which is the larger half of the cost.
 *
 * A hint is a guess: a full bucket drops keys, and keys with equal tags share a hint. So the caller checks whose record
 * it got.
 */
import { KEY_HASHES, type Rid } from '../item/item.ts';
import type { MemoryBudget } from './memory-budget.ts';

/** A key is in one of the slots of its bucket, which share a line of the CPU cache. */
const BUCKET_SLOTS = 4;
/** A slot has the tag of a hash in 11 bits and a rid in 53. */
const SLOT_WORDS = 2;
const BUCKET_WORDS = BUCKET_SLOTS * SLOT_WORDS;
const BUCKET_BYTES = BUCKET_WORDS * Uint32Array.BYTES_PER_ELEMENT;
const RID_HIGH_BITS = 21;
const RID_HIGH_MASK = 2 ** RID_HIGH_BITS - 1;
/** The tag of an empty slot; no hash has it. */
const FREE = 0;
const TAGS = 2 ** (32 - RID_HIGH_BITS);

/** With at most this many buckets, the tag and the bucket number use different bits of the hash. */
const BUCKETS_MAX = KEY_HASHES / TAGS;
const BUCKETS_MIN = 64;

/** A bucket has twice as many slots as it gets keys on average: one key in fifty finds it full. */
const KEYS_PER_BUCKET = BUCKET_SLOTS / 2;

export class RidHints {
  readonly #words: Uint32Array;
  readonly #bucketMask: number;

  /** @param keys - number of keys to make budget for. */
  constructor(keys: number) {
    const buckets = bucketsFor(keys);
    this.#words = new Uint32Array(buckets * BUCKET_WORDS);
    this.#bucketMask = buckets - 1;
  }

  get bytes(): number {
    return this.#words.byteLength;
  }

  get(hash: number): Rid | undefined {
    const words = this.#words;
    const first = (hash & this.#bucketMask) * BUCKET_WORDS;
    const tag = tagOf(hash);
    for (let at = first; at < first + BUCKET_WORDS; at += SLOT_WORDS) {
      const high = words[at] as number;
      if (high >>> RID_HIGH_BITS === tag)
        return (high & RID_HIGH_MASK) * 2 ** 32 + (words[at + 1] as number);
    }
    return undefined;
  }

  set(hash: number, rid: Rid): void {
    const words = this.#words;
    const first = (hash & this.#bucketMask) * BUCKET_WORDS;
    const tag = tagOf(hash);
    // A full bucket drops any of its keys.
    let slot = first + (rid % BUCKET_SLOTS) * SLOT_WORDS;
    for (let at = first; at < first + BUCKET_WORDS; at += SLOT_WORDS) {
      const taken = (words[at] as number) >>> RID_HIGH_BITS;
      if (taken !== tag && taken !== FREE) continue;
      slot = at;
      break;
    }
    words[slot] = tag * 2 ** RID_HIGH_BITS + Math.floor(rid / 2 ** 32);
    words[slot + 1] = rid >>> 0;
  }
}

/** An empty table to replace `old`; undefined where it would not be larger, or the budget is used up. */
export function grownRidHints(
  keys: number,
  old: RidHints | undefined,
  budget: MemoryBudget,
): RidHints | undefined {
  const more = bucketsFor(keys) * BUCKET_BYTES - (old?.bytes ?? 0);
  return more > 0 && budget.reserve(more) ? new RidHints(keys) : undefined;
}

function tagOf(hash: number): number {
  const tag = Math.floor(hash / BUCKETS_MAX);
  return tag === FREE ? 1 : tag;
}

function bucketsFor(keys: number): number {
  const wanted = 2 ** Math.ceil(Math.log2(Math.max(1, keys / KEYS_PER_BUCKET)));
  return Math.min(Math.max(wanted, BUCKETS_MIN), BUCKETS_MAX);
}
