/**
 * Index entries by what they have in common. An entry is a stem (prefix, path, value) with a rid behind it; most values
 * are those of many items, so that memory keeps every stem once and a list of numbers beside it.
 */
import type { Value } from '../value/index.ts';
import type { Rid } from './item.ts';

/** Of one stem, ascending. */
export interface RidChanges {
  readonly rids: readonly Rid[];
  /** One per rid: false where the entry is no more. Undefined where all of them are there. */
  readonly isThere: readonly boolean[] | undefined;
}

/** What happened to the entries of one stem. */
export class Posting {
  /** Added, ascending: nearly always all there is to say. */
  #rids: Rid[] = [];
  /** Set once something was removed or came out of order. */
  #changes: Map<Rid, boolean> | undefined;

  add(rid: Rid): void {
    if (this.#changes !== undefined) {
      this.#changes.set(rid, true);
      return;
    }
    const rids = this.#rids;
    const last = rids.length === 0 ? -1 : (rids[rids.length - 1] as Rid);
    if (rid > last) rids.push(rid);
    else if (rid < last) this.#anyOrder().set(rid, true);
  }

  remove(rid: Rid): void {
    this.#anyOrder().set(rid, false);
  }

  changes(): RidChanges {
    const changes = this.#changes;
    if (changes === undefined) return { rids: this.#rids, isThere: undefined };
    const rids = [...changes.keys()].sort((a, b) => a - b);
    return { rids, isThere: rids.map((rid) => changes.get(rid) === true) };
  }

  #anyOrder(): Map<Rid, boolean> {
    this.#changes ??= new Map(this.#rids.map((rid) => [rid, true]));
    return this.#changes;
  }
}

/** Longer texts are not kept to find their posting by: the stem holds no more than a part of them. */
const KNOWN_TEXT_LENGTH_MAX = 1024;

/** What stands for any array, any object among the values of a path. */
export const ANY_ARRAY = Symbol('array');
export const ANY_OBJECT = Symbol('object');

/** Values of one path whose postings are known: finding one so needs no key to be written. */
export type KnownValues = Map<Value | typeof ANY_ARRAY | typeof ANY_OBJECT, Posting>;

export class Postings {
  readonly #byStem = new Map<string, Posting>();
  #byPath: KnownValues[] = [];
  #paths: unknown;
  /** Changes so far, repetitions among them. */
  size = 0;

  /** To be changed by the caller, once. */
  of(stem: string): Posting {
    this.size++;
    let posting = this.#byStem.get(stem);
    if (posting === undefined) {
      posting = new Posting();
      this.#byStem.set(stem, posting);
    }
    return posting;
  }

  /** `paths` owns the number: with another owner, everything known is forgotten. */
  known(paths: unknown, pathId: number): KnownValues {
    if (this.#paths !== paths) {
      this.#paths = paths;
      this.#byPath = [];
    }
    let known = this.#byPath[pathId];
    if (known === undefined) {
      known = new Map();
      this.#byPath[pathId] = known;
    }
    return known;
  }

  /** Stems in order, each with what happened to it. */
  sorted(): [string, Posting][] {
    return [...this.#byStem].sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  }
}

export function isKnowable(value: Value): boolean {
  if (typeof value === 'string') return value.length <= KNOWN_TEXT_LENGTH_MAX;
  return typeof value !== 'object' || value === null;
}
