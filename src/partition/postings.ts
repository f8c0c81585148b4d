/**
 * Index entries by what they have in common. An entry is a stem (prefix, path, value) with a rid behind it; most values
 * are those of many items, so that memory keeps every stem once and a list of numbers beside it.
 */
import type { Value } from '../value/index.ts';
import type { Rid } from './item.ts';
import { KnownTexts } from './known-texts.ts';

/** Of one stem, ascending. */
export interface RidChanges {
  readonly rids: readonly Rid[];
  /** One per rid: false where the entry is no more. Undefined where all of them are there. */
  readonly isThere: readonly boolean[] | undefined;
}

/** Never changed. */
const NO_RIDS: Rid[] = [];

/** What happened to the entries of one stem. */
export class Posting {
  readonly stem: string;
  /** Added, ascending: nearly always all there is to say. */
  #rids: Rid[] = NO_RIDS;
  /** Set once something was removed or came out of order. */
  #changes: Map<Rid, boolean> | undefined;

  constructor(stem: string) {
    this.stem = stem;
  }

  add(rid: Rid): void {
    if (this.#changes !== undefined) {
      this.#changes.set(rid, true);
      return;
    }
    const rids = this.#rids;
    // Most values are those of one item: a list that grows would begin with room for many.
    if (rids.length === 0) {
      this.#rids = [rid];
      return;
    }
    const last = rids[rids.length - 1] as Rid;
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

/** What a path may hold, as far as an index tells. */
export type TermValue = Value | typeof ANY_ARRAY | typeof ANY_OBJECT;

/** Values of one path whose postings are known: finding one so needs no key to be written. */
export class KnownValues {
  readonly #postings = new Map<TermValue, Posting>();
  /** Neighbours are alike: many values come again in the next item. */
  #lastValue: TermValue;
  #lastPosting: Posting | undefined;

  get(value: TermValue): Posting | undefined {
    if (value === this.#lastValue) return this.#lastPosting;
    const posting = this.#postings.get(value);
    if (posting !== undefined) {
      this.#lastValue = value;
      this.#lastPosting = posting;
    }
    return posting;
  }

  set(value: TermValue, posting: Posting): void {
    this.#postings.set(value, posting);
    this.#lastValue = value;
    this.#lastPosting = posting;
  }
}

/** Where the entries of one item belong, repetitions among them: found before the item is durable, changed when it is. */
export interface Terms {
  /** Whoever made them, and by what rules. */
  readonly owner: Postings;
  readonly indexing: unknown;
  readonly postings: readonly Posting[];
  /** Of values that hardly another item has. Only for an item whose rid was never noted here before. */
  readonly stems: readonly string[];
}

export class Postings {
  readonly #byStem = new Map<string, Posting>();
  /** Of rare values, each with the rid at the same place; older than all that is said of the same entry elsewhere. */
  readonly #rareStems: string[] = [];
  readonly #rareRids: Rid[] = [];
  #byPath: KnownValues[] = [];
  /** The same for values of texts. */
  readonly texts = new KnownTexts();
  #paths: unknown;
  /** Changes so far, repetitions among them. */
  size = 0;

  /** The entries of an item are there. */
  add({ owner, postings, stems }: Terms, rid: Rid): void {
    for (let at = 0; at < postings.length; at++) {
      const posting = postings[at] as Posting;
      // What was found before somebody took the owner away is known by its stem.
      (owner === this ? posting : this.of(posting.stem)).add(rid);
    }
    for (let at = 0; at < stems.length; at++) this.addRare(stems[at] as string, rid);
    this.size += postings.length + stems.length;
  }

  /** As `stems` of `add`. Its size is the caller's to count. */
  addRare(stem: string, rid: Rid): void {
    this.#rareStems.push(stem);
    this.#rareRids.push(rid);
  }

  /** The entry is there, or is no more. */
  change(stem: string, rid: Rid, isThere: boolean): void {
    this.size++;
    if (isThere) this.of(stem).add(rid);
    else this.of(stem).remove(rid);
  }

  /** Empty, where nothing of it is known. */
  of(stem: string): Posting {
    let posting = this.#byStem.get(stem);
    if (posting === undefined) {
      posting = new Posting(stem);
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
      known = new KnownValues();
      this.#byPath[pathId] = known;
    }
    return known;
  }

  /** Stems in order, each with what happened to it. */
  sorted(): [string, Posting][] {
    return [...this.#byStem].sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  }

  /** Stems of rare values in order, and of each the rids that have it. */
  rareSorted(): { readonly stems: readonly string[]; readonly rids: readonly Rid[][] } {
    const stems = this.#rareStems;
    const rids = this.#rareRids;
    const order: number[] = [];
    for (let at = 0; at < stems.length; at++) order.push(at);
    order.sort((a, b) => {
      const left = stems[a] as string;
      const right = stems[b] as string;
      if (left === right) return (rids[a] as Rid) - (rids[b] as Rid);
      return left < right ? -1 : 1;
    });
    const sorted: string[] = [];
    const own: Rid[][] = [];
    for (let place = 0; place < order.length; place++) {
      const at = order[place] as number;
      const stem = stems[at] as string;
      const rid = rids[at] as Rid;
      const last = own[own.length - 1];
      if (last === undefined || sorted[sorted.length - 1] !== stem) {
        sorted.push(stem);
        own.push([rid]);
      } else if (last[last.length - 1] !== rid) last.push(rid);
    }
    return { stems: sorted, rids: own };
  }
}

export function isKnowable(value: Value): boolean {
  if (typeof value === 'string') return value.length <= KNOWN_TEXT_LENGTH_MAX;
  return typeof value !== 'object' || value === null;
}
