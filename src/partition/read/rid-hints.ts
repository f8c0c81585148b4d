/**
 * Rids of a partition's items by the hashes of their keys. Who knows the rid of a key reads its record at once instead of
 * looking the key up among all keys first, which is the longer half of the way.
 *
 * It is right about most keys and certain of none: it forgets one for another where there is no room, and it takes keys
 * with like hashes for each other. Who asks looks whose record it got.
 */
import { KEY_HASHES, type Rid } from '../item/item.ts';
import type { MemoryBudget } from './memory-budget.ts';

/** A key has its place in one of the slots of a bucket, which share a line of the CPU's cache. */
const BUCKET_SLOTS = 4;
/** A slot: the mark of a hash in 11 bits and a rid in 53. */
const SLOT_WORDS = 2;
const BUCKET_WORDS = BUCKET_SLOTS * SLOT_WORDS;
const BUCKET_BYTES = BUCKET_WORDS * Uint32Array.BYTES_PER_ELEMENT;
const RID_HIGH_BITS = 21;
const RID_HIGH_MASK = 2 ** RID_HIGH_BITS - 1;
/** The mark of an empty slot; no hash has it. */
const FREE = 0;
const MARKS = 2 ** (32 - RID_HIGH_BITS);

/** So many that a mark has no bit of a hash in common with the number of a bucket. */
const BUCKETS_MAX = KEY_HASHES / MARKS;
const BUCKETS_MIN = 64;

/** A bucket has room for twice as many keys as come to it on average: one key in fifty finds it full. */
const KEYS_PER_BUCKET = BUCKET_SLOTS / 2;

export class RidHints {
  readonly #words: Uint32Array;
  readonly #bucketMask: number;

  /** @param keys - that there are to be room for. */
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
    const mark = markOf(hash);
    for (let at = first; at < first + BUCKET_WORDS; at += SLOT_WORDS) {
      const high = words[at] as number;
      if (high >>> RID_HIGH_BITS === mark)
        return (high & RID_HIGH_MASK) * 2 ** 32 + (words[at + 1] as number);
    }
    return undefined;
  }

  set(hash: number, rid: Rid): void {
    const words = this.#words;
    const first = (hash & this.#bucketMask) * BUCKET_WORDS;
    const mark = markOf(hash);
    // Where all slots are taken any will do.
    let slot = first + (rid % BUCKET_SLOTS) * SLOT_WORDS;
    for (let at = first; at < first + BUCKET_WORDS; at += SLOT_WORDS) {
      const taken = (words[at] as number) >>> RID_HIGH_BITS;
      if (taken !== mark && taken !== FREE) continue;
      slot = at;
      break;
    }
    words[slot] = mark * 2 ** RID_HIGH_BITS + Math.floor(rid / 2 ** 32);
    words[slot + 1] = rid >>> 0;
  }
}

/** An empty one for so many keys in the place of `old`; undefined where it would not be larger, or there is no room. */
export function grownRidHints(
  keys: number,
  old: RidHints | undefined,
  room: MemoryBudget,
): RidHints | undefined {
  const more = bucketsFor(keys) * BUCKET_BYTES - (old?.bytes ?? 0);
  return more > 0 && room.reserve(more) ? new RidHints(keys) : undefined;
}

function markOf(hash: number): number {
  const mark = Math.floor(hash / BUCKETS_MAX);
  return mark === FREE ? 1 : mark;
}

function bucketsFor(keys: number): number {
  const wanted = 2 ** Math.ceil(Math.log2(Math.max(1, keys / KEYS_PER_BUCKET)));
  return Math.min(Math.max(wanted, BUCKETS_MIN), BUCKETS_MAX);
}
