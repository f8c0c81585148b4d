/**
 * Rids of values as they are in the store, from one look to the next: a query asks for the same partition key, kind or
 * country again and again, and reading thousands of rids costs more than all else it does.
 */
import type { Rid } from '../item/item.ts';
import type { MemoryBudget } from '../read/memory-budget.ts';

/** Ascending, each once. */
export type Rids = ArrayLike<Rid>;

/** How many rids are wanted at most. */
export interface RidLimits {
  /** Of a list that has to be read. */
  readonly read: number;
  /** Of one that is in memory; not fewer. */
  readonly cached: number;
}

/** Answered where there are more than are wanted. */
export const TOO_MANY: unique symbol = Symbol('beyond');

/** Kept at least: four bytes each, a megabyte for every partition that is asked much. */
const RIDS_MIN = 2 ** 18;
/** Kept where there is room. */
const RIDS_MAX = 2 ** 22;
const RID_BYTES = 4;
/** From here on a rid takes twice the room: rids begin with the number of the partition they were made in. */
const WIDE_RID = 2 ** 32;
/** Fewer are read as quickly as they are found here, and would take the place of those that matter. */
const LIST_RIDS_MIN = 32;
/** More than a partition may always keep four of would push out all others. */
const LIST_RIDS_MAX = RIDS_MIN / 4;
/** Doing without a list costs a good part of reading it: whoever does so again and again had better read it once. */
const ASKS_TO_READ = 4;
/** What an entry takes beside its rids, in rids. */
const LIST_OVERHEAD = 32;

export class PostingListCache {
  /** By stem: all of them, or a number that there are more than. Older first. */
  readonly #lists = new Map<string, Known>();
  readonly #room: MemoryBudget;
  #sizeMax = RIDS_MIN;
  #size = 0;
  #isOver = false;

  constructor(room: MemoryBudget) {
    this.#room = room;
  }

  /** Undefined where it is not known, or to be read because it was asked for often. */
  get(stem: string, { read, cached: kept }: RidLimits): Rids | typeof TOO_MANY | undefined {
    const known = this.#lists.get(stem);
    if (known === undefined) return undefined;
    if (!(known instanceof Longer)) return known.length > kept ? TOO_MANY : known;
    if (read > known.limit) return undefined;
    if (kept <= known.limit) return TOO_MANY;
    return ++known.asks < ASKS_TO_READ ? TOO_MANY : undefined;
  }

  /** Up to how many a list is to be read that is not known. */
  limitOf(stem: string, { read, cached: kept }: RidLimits): number {
    const known = this.#lists.get(stem);
    return known instanceof Longer && known.asks >= ASKS_TO_READ ? kept : read;
  }

  /** @param found - a number where there are more than that. */
  add(stem: string, found: readonly Rid[] | number): void {
    if (this.#isOver) return;
    if (typeof found !== 'number' && (found.length < LIST_RIDS_MIN || found.length > LIST_RIDS_MAX))
      return;
    this.#drop(stem);
    const kept = typeof found === 'number' ? new Longer(found) : packed(found);
    this.#lists.set(stem, kept);
    this.#size += sizeOf(kept);
    while (this.#size > this.#sizeMax && this.#sizeMax < RIDS_MAX) {
      if (!this.#room.reserve(RIDS_MIN * RID_BYTES)) break;
      this.#sizeMax += RIDS_MIN;
    }
    for (const oldest of this.#lists.keys()) {
      if (this.#size <= this.#sizeMax) break;
      this.#drop(oldest);
    }
  }

  /** Nothing is known from here on: who still looks at the past learns for himself. */
  end(): void {
    this.#isOver = true;
    this.#lists.clear();
    this.#room.release((this.#sizeMax - RIDS_MIN) * RID_BYTES);
  }

  #drop(stem: string): void {
    const known = this.#lists.get(stem);
    if (known === undefined) return;
    this.#lists.delete(stem);
    this.#size -= sizeOf(known);
  }
}

/** A list of more than `limit` rids. */
class Longer {
  readonly limit: number;
  asks = 0;

  constructor(limit: number) {
    this.limit = limit;
  }
}

type Known = Uint32Array | Float64Array | Longer;

/** Whether a list is packed, and in a way that holds this rid as well. */
export function isPackedFor(rids: Rids, rid: Rid): rids is Uint32Array | Float64Array {
  return rids instanceof Float64Array || (rids instanceof Uint32Array && rid < WIDE_RID);
}

function packed(rids: readonly Rid[]): Uint32Array | Float64Array {
  const last = rids[rids.length - 1] as Rid;
  return last < WIDE_RID ? Uint32Array.from(rids) : Float64Array.from(rids);
}

function sizeOf(known: Known): number {
  return LIST_OVERHEAD + (known instanceof Longer ? 0 : known.byteLength / RID_BYTES);
}
