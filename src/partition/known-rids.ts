/**
 * Rids of values as they are in the store, from one look to the next: a query asks for the same partition key, kind or
 * country again and again, and reading thousands of rids costs more than all else it does.
 */
import type { Rid } from './item.ts';

/** Ascending, each once. */
export type Rids = ArrayLike<Rid>;

/** Answered where there are more than are wanted. */
export const BEYOND: unique symbol = Symbol('beyond');

/** Kept at most: four bytes each, a megabyte for every partition that is asked much. */
const RIDS_MAX = 2 ** 18;
/** From here on a rid takes twice the room: rids begin with the number of the partition they were made in. */
const WIDE_RID = 2 ** 32;
/** Fewer are read as quickly as they are found here, and would take the place of those that matter. */
const LIST_RIDS_MIN = 32;
/** What an entry takes beside its rids, in rids. */
const LIST_OVERHEAD = 32;

export class KnownRids {
  /** By stem: all of them, or a number that there are more than. Older first. */
  readonly #lists = new Map<string, Known>();
  #size = 0;

  /** Undefined where it is not known. */
  get(stem: string, limit: number): Rids | typeof BEYOND | undefined {
    const known = this.#lists.get(stem);
    if (known === undefined) return undefined;
    if (typeof known === 'number') return limit <= known ? BEYOND : undefined;
    return known.length > limit ? BEYOND : known;
  }

  /** @param found - a number where there are more than that. */
  add(stem: string, found: readonly Rid[] | number): void {
    if (typeof found !== 'number' && (found.length < LIST_RIDS_MIN || found.length > RIDS_MAX / 4))
      return;
    this.#drop(stem);
    const kept = typeof found === 'number' ? found : packed(found);
    this.#lists.set(stem, kept);
    this.#size += sizeOf(kept);
    for (const oldest of this.#lists.keys()) {
      if (this.#size <= RIDS_MAX) break;
      this.#drop(oldest);
    }
  }

  #drop(stem: string): void {
    const known = this.#lists.get(stem);
    if (known === undefined) return;
    this.#lists.delete(stem);
    this.#size -= sizeOf(known);
  }
}

type Known = Uint32Array | Float64Array | number;

/** Whether a list is packed, and in a way that holds this rid as well. */
export function isPackedFor(rids: Rids, rid: Rid): rids is Uint32Array | Float64Array {
  return rids instanceof Float64Array || (rids instanceof Uint32Array && rid < WIDE_RID);
}

function packed(rids: readonly Rid[]): Known {
  const last = rids[rids.length - 1] as Rid;
  return last < WIDE_RID ? Uint32Array.from(rids) : Float64Array.from(rids);
}

function sizeOf(known: Known): number {
  return LIST_OVERHEAD + (typeof known === 'number' ? 0 : known.byteLength / 4);
}
