/**
 * Index entries by what they have in common. An entry is a stem (prefix, path, value) with a rid behind it; most values
 * are those of many items, so that memory keeps every stem once and a list of numbers beside it.
 */
import type { Value } from '../../value/index.ts';
import type { Rid } from '../item/item.ts';
import { ValueBytesCache } from './value-bytes-cache.ts';

/** Of one stem, ascending. */
export interface RidChanges {
  readonly rids: readonly Rid[];
  /** One per rid: false where the entry is no more. Undefined where all of them are there. */
  readonly isThere: readonly boolean[] | undefined;
}

/** Never changed. */
const NO_RIDS: Rid[] = [];

/** What happened to the entries of one stem. */
export class PostingList {
  readonly termPrefix: string;
  /** Added, ascending: nearly always all there is to say. */
  #rids: Rid[] = NO_RIDS;
  /** Set once something was removed or came out of order. */
  #changes: Map<Rid, boolean> | undefined;

  constructor(stem: string) {
    this.termPrefix = stem;
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
class ValueLists {
  readonly #postings = new Map<TermValue, PostingList>();
  /** Neighbours are alike: many values come again in the next item. */
  #lastValue: TermValue;
  #lastPosting: PostingList | undefined;

  get(value: TermValue): PostingList | undefined {
    if (value === this.#lastValue) return this.#lastPosting;
    const posting = this.#postings.get(value);
    if (posting !== undefined) {
      this.#lastValue = value;
      this.#lastPosting = posting;
    }
    return posting;
  }

  set(value: TermValue, posting: PostingList): void {
    this.#postings.set(value, posting);
    this.#lastValue = value;
    this.#lastPosting = posting;
  }
}

/** Where the entries of one item belong, repetitions among them: found before the item is durable, changed when it is. */
export interface Terms {
  /** Whoever made them, and by what rules. */
  readonly owner: PostingLists;
  readonly indexing: unknown;
  readonly postings: readonly PostingList[];
  /** Of values that hardly another item has. Only for an item whose rid was never noted here before. */
  readonly termPrefixes: readonly string[];
}

export class PostingLists {
  readonly #byTermPrefix = new Map<string, PostingList>();
  /** Of rare values, each with the rid at the same place; older than all that is said of the same entry elsewhere. */
  readonly #uniquePrefixes: string[] = [];
  readonly #uniqueRids: Rid[] = [];
  #byPath: ValueLists[] = [];
  /** The same for values of texts. */
  readonly texts = new ValueBytesCache();
  #paths: unknown;
  /** Changes so far, repetitions among them. */
  size = 0;

  /** The entries of an item are there. */
  add({ owner, postings, termPrefixes }: Terms, rid: Rid): void {
    for (let at = 0; at < postings.length; at++) {
      const posting = postings[at] as PostingList;
      // What was found before somebody took the owner away is known by its stem.
      (owner === this ? posting : this.of(posting.termPrefix)).add(rid);
    }
    for (let at = 0; at < termPrefixes.length; at++)
      this.addUnique(termPrefixes[at] as string, rid);
    this.size += postings.length + termPrefixes.length;
  }

  /** As `stems` of `add`. Its size is the caller's to count. */
  addUnique(stem: string, rid: Rid): void {
    this.#uniquePrefixes.push(stem);
    this.#uniqueRids.push(rid);
  }

  /** The entry is there, or is no more. */
  change(stem: string, rid: Rid, isThere: boolean): void {
    this.size++;
    if (isThere) this.of(stem).add(rid);
    else this.of(stem).remove(rid);
  }

  /** Empty, where nothing of it is known. */
  of(stem: string): PostingList {
    let posting = this.#byTermPrefix.get(stem);
    if (posting === undefined) {
      posting = new PostingList(stem);
      this.#byTermPrefix.set(stem, posting);
    }
    return posting;
  }

  /** `paths` owns the number: with another owner, everything known is forgotten. */
  valueLists(paths: unknown, pathId: number): ValueLists {
    if (this.#paths !== paths) {
      this.#paths = paths;
      this.#byPath = [];
    }
    let known = this.#byPath[pathId];
    if (known === undefined) {
      known = new ValueLists();
      this.#byPath[pathId] = known;
    }
    return known;
  }

  /** Stems in order, each with what happened to it. */
  sorted(): [string, PostingList][] {
    return [...this.#byTermPrefix].sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  }

  /** Stems of rare values in order, and of each the rids that have it. */
  uniqueSorted(): { readonly stems: readonly string[]; readonly rids: readonly Rid[][] } {
    const stems = this.#uniquePrefixes;
    const rids = this.#uniqueRids;
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

export function isCacheable(value: Value): boolean {
  if (typeof value === 'string') return value.length <= KNOWN_TEXT_LENGTH_MAX;
  return typeof value !== 'object' || value === null;
}
