/**
 * Posting lists of the store, kept in memory until the next flush: queries repeat the same partition key, kind or
 * country, and reading thousands of rids costs more than the rest of the query.
 */
import type { Rid } from '../../item/item.ts';
import type { MemoryBudget } from '../../read/memory-budget.ts';

/** Ascending, each once. */
export type Rids = ArrayLike<Rid>;

/** The most rids that a caller wants. */
export interface RidLimits {
  /** Limit for a list that has to be read. */
  readonly read: number;
  /** Limit for a cached list; at least `read`. */
  readonly cached: number;
}

/** The result where there are more rids than the limit. */
export const TOO_MANY: unique symbol = Symbol('too many');

/** Rids that every partition may keep: four bytes each, one megabyte. */
const RIDS_MIN = 2 ** 18;
/** Rids that a partition may keep while the shared budget lasts. */
const RIDS_MAX = 2 ** 22;
const RID_BYTES = 4;
/** From here on a rid takes eight bytes: rids begin with the number of the partition that made them. */
const WIDE_RID = 2 ** 32;
/** Shorter lists are read as fast as they are found here. */
const LIST_RIDS_MIN = 32;
/** A longer list would push out most others. */
const LIST_RIDS_MAX = RIDS_MIN / 4;
/** After this many misses a long list is read as a whole, because each miss costs a good part of that. */
const MISSES_TO_READ = 4;
/** Overhead of a list, counted in rids. */
const LIST_OVERHEAD = 32;

export class PostingListCache {
  /** By term prefix; older first. */
  readonly #lists = new Map<string, CachedList>();
  readonly #memory: MemoryBudget;
  #sizeMax = RIDS_MIN;
  #size = 0;
  #isEnded = false;

  constructor(memory: MemoryBudget) {
    this.#memory = memory;
  }

  /** Undefined where the list has to be read: it is not cached, or was missed often. */
  get(termPrefix: string, limits: RidLimits): Rids | typeof TOO_MANY | undefined {
    const list = this.#lists.get(termPrefix);
    if (list === undefined) return undefined;
    if (!(list instanceof LongList)) return list.length > limits.cached ? TOO_MANY : list;
    if (limits.read > list.limit) return undefined;
    if (limits.cached <= list.limit) return TOO_MANY;
    return ++list.misses < MISSES_TO_READ ? TOO_MANY : undefined;
  }

  /** Up to how many rids a list that is not cached is to be read. */
  limitOf(termPrefix: string, limits: RidLimits): number {
    const list = this.#lists.get(termPrefix);
    const isMissed = list instanceof LongList && list.misses >= MISSES_TO_READ;
    return isMissed ? limits.cached : limits.read;
  }

  /** @param found - all rids, or a number where there are more than that. */
  add(termPrefix: string, found: readonly Rid[] | number): void {
    if (this.#isEnded) return;
    if (typeof found !== 'number' && (found.length < LIST_RIDS_MIN || found.length > LIST_RIDS_MAX))
      return;
    this.#drop(termPrefix);
    const list = typeof found === 'number' ? new LongList(found) : packed(found);
    this.#lists.set(termPrefix, list);
    this.#size += sizeOf(list);
    while (this.#size > this.#sizeMax && this.#sizeMax < RIDS_MAX) {
      if (!this.#memory.reserve(RIDS_MIN * RID_BYTES)) break;
      this.#sizeMax += RIDS_MIN;
    }
    for (const oldest of this.#lists.keys()) {
      if (this.#size <= this.#sizeMax) break;
      this.#drop(oldest);
    }
  }

  /** Drops all lists for good: older views read the store from here on. */
  end(): void {
    this.#isEnded = true;
    this.#lists.clear();
    this.#memory.release((this.#sizeMax - RIDS_MIN) * RID_BYTES);
  }

  #drop(termPrefix: string): void {
    const list = this.#lists.get(termPrefix);
    if (list === undefined) return;
    this.#lists.delete(termPrefix);
    this.#size -= sizeOf(list);
  }
}

/** A list of more than `limit` rids. */
class LongList {
  readonly limit: number;
  misses = 0;

  constructor(limit: number) {
    this.limit = limit;
  }
}

type CachedList = Uint32Array | Float64Array | LongList;

/** Whether a list is packed in a way that can also hold this rid. */
export function isPackedFor(rids: Rids, rid: Rid): rids is Uint32Array | Float64Array {
  return rids instanceof Float64Array || (rids instanceof Uint32Array && rid < WIDE_RID);
}

function packed(rids: readonly Rid[]): Uint32Array | Float64Array {
  const last = rids[rids.length - 1] as Rid;
  return last < WIDE_RID ? Uint32Array.from(rids) : Float64Array.from(rids);
}

function sizeOf(list: CachedList): number {
  return LIST_OVERHEAD + (list instanceof LongList ? 0 : list.byteLength / RID_BYTES);
}
