/** The reader: one snapshot of a partition's index and items, as the executor needs it. Partitions implement it. */
import type { Bytes, MaybePromise } from '../base/index.ts';
import type { KeyRange, KeyScanOptions } from '../engine/index.ts';
import type { Collation, Path, TRUNCATED, Value } from '../value/index.ts';
import type { ValueRange } from './condition/value-ranges.ts';
import type { Search, SearchAccess } from './search.ts';

/** A stored item, with what queries read of it. */
export interface Candidate {
  readonly rid: number;
  readonly primary: Bytes;
  /** Differs for every write of the item. */
  readonly version: { readonly salt: number; readonly lsn: number; readonly operation: number };
  readonly timestampSec: number;
  /** Exactly what the home API stored. */
  readonly body: Bytes;
}

export interface IndexEntries {
  /** In order, one character per byte. */
  readonly entries: readonly string[];
  readonly rest: KeyRange | undefined;
}

export interface ItemReader {
  readonly itemCount: number;
  /** Whether the store has items that must not be read: `others` of another hash range, or `invisible` ones. */
  readonly excludes: { readonly others: boolean; readonly invisible: boolean };
  /** Items in rid order from this rid on; `next` is the rid to continue from. */
  scanItems(
    from: number,
    limit: number,
  ): MaybePromise<{ readonly items: readonly Candidate[]; readonly next: number | undefined }>;
  /** One result per rid, in the order asked. */
  readMany(rids: readonly number[]): MaybePromise<readonly (Candidate | undefined)[]>;
  scanIndex(range: KeyRange, options: KeyScanOptions): MaybePromise<IndexEntries>;
  /**
   * The rids of one value, ascending, at a fraction of the cost of its entries. Undefined where there are more than
   * `limit`, or more than `cachedLimit` if they are cached.
   */
  readonly ridsOf?:
    | ((
        termPrefix: Bytes,
        limit: number,
        cachedLimit: number,
      ) => MaybePromise<ArrayLike<number> | undefined>)
    | undefined;
  /** A page of the rids of one value, ascending, from a rid on, and where the next begins: for lists of any length. */
  ridsFrom(
    termPrefix: Bytes,
    from: number,
  ): MaybePromise<{ readonly rids: ArrayLike<number>; readonly next: number | undefined }>;
  /**
   * A page of the rids of one partition key, in any order, and where the next begins. Undefined where the reader covers
   * more than one.
   */
  ridsOfKey?(
    from: KeyRange | undefined,
  ): MaybePromise<
    { readonly rids: readonly number[]; readonly rest: KeyRange | undefined } | undefined
  >;
  /** The rids of all items without a value at an indexed path, and maybe of others, ascending. */
  ridsWithout(path: Path): MaybePromise<readonly number[]>;
  /**
   * The length of the part of an entry up to the end of a truncated text; undefined where no text is truncated. Entries
   * that share this part are neighbours, but not in the order of their texts.
   * @param composite - undefined for the entry of a term.
   */
  truncatedAt(entry: string, composite: CompositeMatch | undefined): number | undefined;
  /** The prefix of the entries of a path; undefined where it is not indexed, or not yet. */
  termsOf(path: Path): Bytes | undefined;
  /**
   * A declared index that has this order, as it is or reversed.
   * @param limits - where they give one value of each of its first parts, the order may be that of the rest.
   */
  compositeOf(
    parts: readonly CompositeOrder[],
    limits?: readonly IndexLimit[],
  ): CompositeMatch | undefined;
  /** A declared index as read in an order of its own; undefined where it does not have it, or not yet. */
  indexInOrder?(
    id: number,
    parts: readonly CompositeOrder[],
    limits: readonly IndexLimit[],
  ): IndexInOrder | undefined;
  /** Ranges of a declared index that hold every item within the limits. */
  declaredWithin?(limits: readonly IndexLimit[]): DeclaredRanges | undefined;
  /** Ranges of a declared index with the items within the limits and no others, where no item is marked. */
  countableWithin?(limits: readonly IndexLimit[]): CountableRanges | undefined;
  /** The values of a path as the first part of a declared index has them. */
  valuesIn?(path: Path): ValuesInIndex | undefined;
  ridOf(entry: string): number;
  /** The value of a term entry; TRUNCATED where the entry does not hold all of it. */
  valueOf(entry: string): Value | typeof TRUNCATED;
  /** Whether two term entries hold the same value of the same path. */
  isSameTerm(a: string, b: string): boolean;
  /** The values of an item as a composite entry encodes them. */
  compositeKey(match: CompositeMatch, values: readonly Value[]): Bytes;
  decode(item: Candidate): Value;
  /** Whether a full text index has the path. */
  hasTextIndex?(path: Path): boolean;
  /** The search index that serves this search, as new as the partition; undefined where there is none. */
  searchIndex?(search: Search): Promise<SearchAccess | undefined>;
  /** True where the item lies in the hash range asked for. */
  isWithin(item: Candidate): boolean;
}

/** Limits on one path, as ranges of encoded values. */
export interface IndexLimit {
  readonly path: Path;
  readonly ranges: readonly ValueRange[];
  /** True where elements of arrays count as values: an array in a range is one within an array, and not empty. */
  readonly isOfElements?: boolean;
}

/** A declared index that may have several entries of an item, with marks of the items for which that matters. */
export interface IndexInOrder {
  readonly match: CompositeMatch;
  /** All marks, those of items that the index has not in order, those of several values at the first part. */
  readonly marks: KeyRange;
  readonly unordered: KeyRange;
  readonly several: KeyRange;
  /** The entries to read, ascending: without limits of the first part, and with them where no item is marked. */
  readonly all: readonly KeyRange[];
  readonly limited: readonly KeyRange[];
  /** The paths whose limits `limited` keeps. */
  readonly applied: readonly { readonly path: Path }[];
  /** The entry of an item whose sort keys have these values. */
  entryOf(values: readonly Value[], rid: number): string;
}

export interface DeclaredRanges {
  readonly ranges: readonly KeyRange[];
  /** How many parts of the index are limited. */
  readonly partCount: number;
  readonly text: string;
}

/** Where a declared index has one entry of every item within some limits, unless an item is marked. */
export interface CountableRanges {
  readonly marks: KeyRange;
  readonly ranges: readonly KeyRange[];
  /** Term prefixes instead of the ranges, where the limits are single values of all parts. */
  readonly termPrefixes: readonly Bytes[] | undefined;
}

/** A declared index as a list of the values of its first part. */
export interface ValuesInIndex {
  /** Marks of items whose entries do not tell their values. */
  readonly unordered: KeyRange;
  /** Entries of values, ascending, and those of items without a value or with null. */
  readonly values: readonly KeyRange[];
  readonly absent: KeyRange;
  /** The length of an entry up to the end of its first value. */
  valueEnd(entry: string): number;
}

export interface CompositeOrder {
  readonly path: Path;
  readonly isDescending: boolean;
}

/** A composite index that serves an order. */
export interface CompositeMatch {
  readonly prefix: Bytes;
  readonly isReversed: boolean;
  /** The stored direction of each part. */
  readonly isDescending: readonly boolean[];
  /** Cosmos where it is absent. */
  readonly collation?: Collation;
}
