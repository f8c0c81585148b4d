/**
 * New index entries by their term prefix. Many items have the same values, so memory keeps every term prefix once, with
 * a list of rids.
 */
import type { Value } from '../../../value/index.ts';
import type { Rid } from '../../item/item.ts';
import { ValueBytesCache } from './value-bytes-cache.ts';

/** Changes of one term prefix, ascending. */
export interface RidChanges {
  readonly rids: readonly Rid[];
  /** One per rid: false where the entry is removed. Undefined where all entries are added. */
  readonly isThere: readonly boolean[] | undefined;
}

/** The empty list, which is never changed. */
const NO_RIDS: Rid[] = [];

/** The changes of one term prefix, while they are collected. */
export class PostingList {
  readonly termPrefix: string;
  /** Added rids, ascending; nearly always there is nothing else. */
  #rids: Rid[] = NO_RIDS;
  /** Set once a rid was removed or came out of order. */
  #changes: Map<Rid, boolean> | undefined;

  constructor(termPrefix: string) {
    this.termPrefix = termPrefix;
  }

  add(rid: Rid): void {
    if (this.#changes !== undefined) {
      this.#changes.set(rid, true);
      return;
    }
    const rids = this.#rids;
    // Most lists have one rid: an array that grows by push would reserve room for many.
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

/** Longer texts are not cached, since the term prefix has only a part of them. */
const CACHED_TEXT_LENGTH_MAX = 1024;

/** Represent any array and any object among the values of a path. */
export const ANY_ARRAY = Symbol('array');
export const ANY_OBJECT = Symbol('object');

/** A value of a path, as the index has it. */
export type TermValue = Value | typeof ANY_ARRAY | typeof ANY_OBJECT;

/** Posting lists of one path by value, so that a repeated value needs no key. */
class ValueLists {
  readonly #lists = new Map<TermValue, PostingList>();
  /** The last value, which the next item often has too. */
  #lastValue: TermValue;
  #lastList: PostingList | undefined;

  get(value: TermValue): PostingList | undefined {
    if (value === this.#lastValue) return this.#lastList;
    const list = this.#lists.get(value);
    if (list !== undefined) {
      this.#lastValue = value;
      this.#lastList = list;
    }
    return list;
  }

  set(value: TermValue, list: PostingList): void {
    this.#lists.set(value, list);
    this.#lastValue = value;
    this.#lastList = list;
  }
}

/** The posting lists of one item, with repetitions: found before the item is durable, changed when it is. */
export interface Terms {
  /** The lists and the policy by which they were found. */
  readonly owner: PostingLists;
  readonly indexing: unknown;
  readonly postings: readonly PostingList[];
  /** Values of high cardinality, without lists. Only for an item whose rid had no entries before. */
  readonly termPrefixes: readonly string[];
}

export class PostingLists {
  readonly #byTermPrefix = new Map<string, PostingList>();
  /** Entries of high cardinality, each with the rid at the same place; older than other changes of the same entry. */
  readonly #uniquePrefixes: string[] = [];
  readonly #uniqueRids: Rid[] = [];
  #byPath: ValueLists[] = [];
  /** The same by the bytes of values in JSON texts. */
  readonly texts = new ValueBytesCache();
  #paths: unknown;
  /** Number of changes so far, with repetitions. */
  size = 0;

  /** Adds the entries of an item. */
  add({ owner, postings, termPrefixes }: Terms, rid: Rid): void {
    for (let at = 0; at < postings.length; at++) {
      const list = postings[at] as PostingList;
      // A list that was found before a view replaced its owner is found again by its term prefix.
      (owner === this ? list : this.of(list.termPrefix)).add(rid);
    }
    for (let at = 0; at < termPrefixes.length; at++)
      this.addUnique(termPrefixes[at] as string, rid);
    this.size += postings.length + termPrefixes.length;
  }

  /** Adds an entry of high cardinality. The caller counts its size. */
  addUnique(termPrefix: string, rid: Rid): void {
    this.#uniquePrefixes.push(termPrefix);
    this.#uniqueRids.push(rid);
  }

  /** Adds or removes an entry. */
  change(termPrefix: string, rid: Rid, isThere: boolean): void {
    this.size++;
    if (isThere) this.of(termPrefix).add(rid);
    else this.of(termPrefix).remove(rid);
  }

  /** The list of a term prefix; a new one where there is none. */
  of(termPrefix: string): PostingList {
    let list = this.#byTermPrefix.get(termPrefix);
    if (list === undefined) {
      list = new PostingList(termPrefix);
      this.#byTermPrefix.set(termPrefix, list);
    }
    return list;
  }

  /** `paths` owns the numbers of paths: with another owner, the lists by value are dropped. */
  valueLists(paths: unknown, pathId: number): ValueLists {
    if (this.#paths !== paths) {
      this.#paths = paths;
      this.#byPath = [];
    }
    let lists = this.#byPath[pathId];
    if (lists === undefined) {
      lists = new ValueLists();
      this.#byPath[pathId] = lists;
    }
    return lists;
  }

  /** Term prefixes in order, each with its list. */
  sorted(): [string, PostingList][] {
    return [...this.#byTermPrefix].sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  }

  /** Entries of high cardinality in order: term prefixes, each with its rids. */
  uniqueSorted(): { readonly termPrefixes: readonly string[]; readonly rids: readonly Rid[][] } {
    const termPrefixes = this.#uniquePrefixes;
    const rids = this.#uniqueRids;
    const order: number[] = [];
    for (let at = 0; at < termPrefixes.length; at++) order.push(at);
    order.sort((a, b) => {
      const left = termPrefixes[a] as string;
      const right = termPrefixes[b] as string;
      if (left === right) return (rids[a] as Rid) - (rids[b] as Rid);
      return left < right ? -1 : 1;
    });
    const sorted: string[] = [];
    const own: Rid[][] = [];
    for (let place = 0; place < order.length; place++) {
      const at = order[place] as number;
      const termPrefix = termPrefixes[at] as string;
      const rid = rids[at] as Rid;
      const last = own[own.length - 1];
      if (last === undefined || sorted[sorted.length - 1] !== termPrefix) {
        sorted.push(termPrefix);
        own.push([rid]);
      } else if (last[last.length - 1] !== rid) last.push(rid);
    }
    return { termPrefixes: sorted, rids: own };
  }
}

export function isCacheable(value: Value): boolean {
  if (typeof value === 'string') return value.length <= CACHED_TEXT_LENGTH_MAX;
  return typeof value !== 'object' || value === null;
}
