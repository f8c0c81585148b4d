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
/** Fewer are read as quickly as they are found here, and would take the place of those that matter. */
const LIST_RIDS_MIN = 32;
/** What an entry takes beside its rids, in rids. */
const LIST_OVERHEAD = 32;

export class KnownRids {
  /** By stem: all of them, or a number that there are more than. Older first. */
  readonly #lists = new Map<string, Uint32Array | number>();
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
    if (typeof found !== 'number') {
      if (found.length < LIST_RIDS_MIN || found.length > RIDS_MAX / 2) return;
      if ((found[found.length - 1] as Rid) >= 2 ** 32) return;
    }
    this.#drop(stem);
    const kept = typeof found === 'number' ? found : Uint32Array.from(found);
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

function sizeOf(known: Uint32Array | number): number {
  return LIST_OVERHEAD + (typeof known === 'number' ? 0 : known.length);
}
