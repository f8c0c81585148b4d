/** What the executor needs of a partition: one moment of its index and its items. Partitions implement it. */
import type { Bytes, MaybePromise } from '../base/index.ts';
import type { KeyRange, KeyScanOptions } from '../engine/index.ts';
import type { Path, TRUNCATED, Value } from '../value/index.ts';
import type { Search, SearchAccess } from './search.ts';

/** A stored item, as far as queries look at it. */
export interface Candidate {
  readonly rid: number;
  readonly primary: Bytes;
  readonly body: Bytes;
}

export interface IndexEntries {
  /** In order, one character per byte. */
  readonly entries: readonly string[];
  readonly rest: KeyRange | undefined;
}

export interface ItemReader {
  readonly itemCount: number;
  /** Whether items are stored that are not to be read: those outside of a part, and those that are gone. */
  readonly excludes: { readonly others: boolean; readonly hidden: boolean };
  /** Items in rid order from this rid on; `next` is the rid to go on from. */
  scanItems(
    from: number,
    limit: number,
  ): MaybePromise<{ readonly items: readonly Candidate[]; readonly next: number | undefined }>;
  /** One result per rid, in the order asked. */
  readMany(rids: readonly number[]): MaybePromise<readonly (Candidate | undefined)[]>;
  scanIndex(range: KeyRange, options: KeyScanOptions): MaybePromise<IndexEntries>;
  /**
   * The rids of all entries that begin so, ascending: those of one value, for a fraction of what its entries cost. Undefined
   * where there are more than `limit`, or of those in memory more than `knownLimit`.
   */
  readonly ridsOf?:
    | ((
        stem: Bytes,
        limit: number,
        knownLimit: number,
      ) => MaybePromise<ArrayLike<number> | undefined>)
    | undefined;
  /** Of all items without a value at an indexed path, which no entry tells of, ascending; and maybe of others. */
  ridsWithout(path: Path): MaybePromise<readonly number[]>;
  /**
   * How much of an entry it shares with those of all texts that begin like one of its own, which is too long to be held
   * whole: such entries stand together, yet not in the order of their texts. Undefined where the entry has its place.
   * @param composite - undefined for the entry of a term.
   */
  cutAt(entry: string, composite: CompositeMatch | undefined): number | undefined;
  /** Where the entries of a path begin; undefined where it is not indexed, or not yet. */
  termsOf(path: Path): Bytes | undefined;
  /** Where the entries of a composite index begin that serves this order as it is or reversed. */
  compositeOf(parts: readonly CompositeOrder[]): CompositeMatch | undefined;
  ridOf(entry: string): number;
  /** The value of a term entry; TRUNCATED where the entry does not hold all of it. */
  valueOf(entry: string): Value | typeof TRUNCATED;
  /** Whether two term entries hold the same value of the same path. */
  isSameTerm(a: string, b: string): boolean;
  /** The values of an item as encoded in a composite entry, one after the other. */
  compositeKey(match: CompositeMatch, values: readonly Value[]): Bytes;
  decode(item: Candidate): Value;
  /** Whether the words of the texts at a path are indexed. */
  hasTextIndex?(path: Path): boolean;
  /** The index made for this search, caught up with the partition; undefined where there is none. */
  searchIndex?(search: Search): Promise<SearchAccess | undefined>;
  /** True where the item lies in the part of the hash space that is asked for. */
  isWithin(item: Candidate): boolean;
}

export interface CompositeOrder {
  readonly path: Path;
  readonly isDescending: boolean;
}

export interface CompositeMatch {
  readonly prefix: Bytes;
  readonly isReversed: boolean;
  /** Direction of each part as stored. */
  readonly isDescending: readonly boolean[];
}
