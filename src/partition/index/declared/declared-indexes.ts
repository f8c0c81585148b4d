/**
 * Declared indexes: entries of several values of an item in one order.
 *
 *   21 index  number · value · value … · rid8 → ∅     descending parts with their bits flipped; very long ones are cut
 *                                                     (long-entries.ts)
 *
 * The number is the id of the index for life, in four bytes; in containers of index format 1 it is its place in the
 * policy, in two bytes. A last part that descends is followed by 01: flipped, the end of a text and an escaped zero
 * begin alike, and a rid begins with zeros. Index format 1 lacks it. A multikey index has an entry for every element of
 * an array, and for every combination of them where several parts are arrays; in the bson collation it has marks too
 * (bson-entries.ts). A sparse one has none for items that have none of its values; one with a filter has only the items
 * that pass. The entries of a computed one are those that the home API makes of an item; their parts never descend.
 */
import {
  append,
  type Bytes,
  bytesToLatin1,
  EMPTY_BYTES,
  ENTRY_KEPT_BYTES,
} from '../../../base/index.ts';
import type { KeyRange } from '../../../engine/index.ts';
import {
  type Collation,
  KeyWriter,
  type Path,
  parsePath,
  printPath,
  readPath,
  type Value,
} from '../../../value/index.ts';
import { bsonRanges, marksOf, sortedValues } from './bson-entries.ts';
import { beginningAscending, type CompositePart } from './composite-parts.ts';
import { type ComputedEntries, computedPrefixes } from './computed-entries.ts';
import { compositePart, type IndexFilterTest, multikeyValues, passes } from './declared-values.ts';
import { type IndexInOrder, inOrder } from './index-in-order.ts';
import {
  type CountableRanges,
  countableRanges,
  type ValuesInIndex,
  valuesInIndex,
} from './index-values.ts';
import {
  flippedIf,
  inBson,
  isImplied,
  isLimited,
  partRange,
  rangesOf,
  usableLimits,
} from './limited-ranges.ts';
import { boundedEntry } from './long-entries.ts';

const PREFIX_DECLARED = 0x21;
const PREFIX_DECLARED_BLOCK = 0x25;
const AFTER_DESCENDING = Uint8Array.of(0x01);

export interface OrderedPath {
  readonly path: Path;
  readonly isDescending: boolean;
}

/** An index as the partitions of a container have it. */
export interface DeclaredIndex {
  /** Undefined: it belongs to the policy and is built with it (index format 1). */
  readonly id: number | undefined;
  readonly parts: readonly CompositePart[];
  readonly collation?: Collation;
  readonly isMultikey?: boolean;
  readonly isSparse?: boolean;
  readonly filter?: readonly IndexFilterTest[];
  /** Makes its entries, where they do not follow from the values of its parts. */
  readonly computed?: ComputedEntries;
  /** False where only its uniqueness is wanted. */
  readonly servesQueries?: boolean;
  /** True where it has its entries, and queries do not use them. */
  readonly isHidden?: boolean;
}

/** An index whose entries have the order of a query. */
export interface CompositeMatch {
  readonly id: number | undefined;
  readonly prefix: Bytes;
  readonly isReversed: boolean;
  /** Direction of each part as stored. */
  readonly isDescending: readonly boolean[];
  /** Cosmos where it is absent. */
  readonly collation?: Collation;
}

/** Limits on one path of an index, as ranges of encoded values. */
export interface PartLimit {
  readonly path: Path;
  readonly ranges: readonly {
    readonly start: Bytes;
    readonly end: Bytes;
    readonly isPoint: boolean;
  }[];
  /** True where elements of arrays count as values: an array in a range is one within an array, and not empty. */
  readonly isOfElements?: boolean;
}

/** Index ranges that hold every item within some limits. */
export interface DeclaredRanges {
  readonly id: number | undefined;
  readonly ranges: readonly KeyRange[];
  /** How many parts of the index are limited. */
  readonly partCount: number;
  readonly text: string;
}

export interface PreparedIndex extends DeclaredIndex {
  readonly prefix: Bytes;
  /** Bytes between the last value and the rid. */
  readonly end: Bytes;
  readonly text: string;
  readonly paths: readonly OrderedPath[];
}

const writer = new KeyWriter(1024);

export class DeclaredIndexes {
  readonly #indexes: readonly PreparedIndex[];
  /** Those of them that are not hidden: what queries may use. */
  readonly #visible: readonly PreparedIndex[];
  readonly #computed: readonly PreparedIndex[];
  /** Results by the order objects of queries. */
  readonly #matches = new WeakMap<readonly OrderedPath[], readonly CompositeMatch[]>();

  constructor(indexes: readonly DeclaredIndex[]) {
    const serving = indexes.map(prepared).filter(({ servesQueries }) => servesQueries !== false);
    this.#indexes = serving.filter(({ computed }) => computed === undefined);
    this.#visible = this.#indexes.filter(({ isHidden }) => isHidden !== true);
    this.#computed = serving.filter(({ computed }) => computed !== undefined);
  }

  get count(): number {
    return this.#indexes.length + this.#computed.length;
  }

  /** Prefixes of the entries of an item, of one index or of all. */
  entryPrefixesOf(value: Value, body: Bytes, only?: number): readonly string[] {
    const prefixes: string[] = [];
    for (const index of this.#indexes)
      if (only === undefined || index.id === only) addPrefixes(index, value, prefixes);
    for (const index of this.#computed)
      if (only === undefined || index.id === only)
        append(prefixes, computedPrefixes(index, value, body));
    return prefixes;
  }

  /** The common prefix of the entries of a computed index; undefined where there is none with this id. */
  prefixOf(id: number): Bytes | undefined {
    return this.#computed.find((index) => index.id === id)?.prefix;
  }

  /** Where an index has the entries of some values of its first part, of whichever items are in it. */
  entriesWithin(id: number, ranges: PartLimit['ranges']): readonly KeyRange[] {
    const index = [...this.#indexes, ...this.#computed].find((each) => each.id === id);
    if (index === undefined) return [];
    const isBson = index.collation === 'bson' && index.computed === undefined;
    const own = isBson ? (bsonRanges(ranges) ?? []) : ranges;
    // The first part is ascending in every stored index.
    return own.map((range) => partRange(index.prefix, range, false));
  }

  /**
   * The index with this order, forwards or backwards, among those that are ready.
   * @param limits - where they give one value of each of its first parts, the order may be that of the rest.
   */
  match(
    parts: readonly OrderedPath[],
    isReady: (id: number) => boolean,
    limits: readonly PartLimit[] = [],
  ): CompositeMatch | undefined {
    if (this.#visible.length === 0) return undefined;
    const whole = this.#wholeMatch(parts, isReady);
    if (whole !== undefined || limits.length === 0) return whole;
    const byPath = limitsByPath(limits);
    for (const index of this.#visible) {
      if (!hasEveryItem(index) || (index.id !== undefined && !isReady(index.id))) continue;
      const found = matchBehindPoints(index, parts, byPath);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  #wholeMatch(
    parts: readonly OrderedPath[],
    isReady: (id: number) => boolean,
  ): CompositeMatch | undefined {
    let matches = this.#matches.get(parts);
    if (matches === undefined) {
      matches = this.#matchesOf(parts);
      this.#matches.set(parts, matches);
    }
    return matches.find(({ id }) => id === undefined || isReady(id));
  }

  #matchesOf(parts: readonly OrderedPath[]): readonly CompositeMatch[] {
    const wanted = textOf(parts);
    const found: CompositeMatch[] = [];
    for (const index of this.#visible) {
      const { id, paths, text, prefix } = index;
      if (text !== wanted || !hasEveryItem(index)) continue;
      const isReversed = paths[0]?.isDescending !== parts[0]?.isDescending;
      const isMatch = paths.every(
        ({ isDescending }, at) => isDescending === (parts[at]?.isDescending !== isReversed),
      );
      const isDescending = paths.map((path) => path.isDescending);
      if (isMatch) found.push({ id, prefix, isReversed, isDescending });
    }
    return found;
  }

  /** Ranges of the ready index that uses most of the limits: equal values of its first parts, then a range. */
  rangesWithin(
    limits: readonly PartLimit[],
    isReady: (id: number) => boolean,
  ): DeclaredRanges | undefined {
    let best: DeclaredRanges | undefined;
    const byPath = limitsByPath(limits);
    for (const index of this.#visible) {
      if (index.id !== undefined && !isReady(index.id)) continue;
      if (!isImplied(index, byPath)) continue;
      const found = rangesOf(index, usableLimits(index, byPath));
      if (found !== undefined && found.partCount > (best?.partCount ?? 0)) best = found;
    }
    return best;
  }

  /** Ranges of a ready index that has one entry of every item within the limits, as long as it has no marks. */
  countable(
    limits: readonly PartLimit[],
    isReady: (id: number) => boolean,
  ): CountableRanges | undefined {
    const byPath = limitsByPath(limits);
    for (const index of this.#visible) {
      if (!isMarkedIndex(index) || !isReady(index.id as number)) continue;
      if (!isImplied(index, byPath)) continue;
      const found = countableRanges(index, usableLimits(index, byPath), byPath.size);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  /** The values of a path in a ready index that has all of them; one of nothing else where there is one. */
  valuesIn(path: Path, isReady: (id: number) => boolean): ValuesInIndex | undefined {
    const text = printPath(path);
    const found = this.#visible.filter(
      (index) =>
        isMarkedIndex(index) &&
        isReady(index.id as number) &&
        index.filter === undefined &&
        printPath(index.paths[0]?.path ?? []) === text,
    );
    const index = found.find(({ paths }) => paths.length === 1) ?? found[0];
    return index && valuesInIndex(index);
  }

  /** An index of the bson collation as read in the order of its last parts. */
  inOrder(
    id: number,
    parts: readonly OrderedPath[],
    limits: readonly PartLimit[],
  ): IndexInOrder | undefined {
    const index = this.#visible.find((each) => each.id === id);
    if (index?.collation !== 'bson' || !index.isMultikey) return undefined;
    const byPath = limitsByPath(limits);
    const hasAll = isImplied(index, byPath) && (!index.isSparse || isLimited(index, byPath));
    return hasAll ? inOrder(index, parts, inBson(byPath)) : undefined;
  }
}

/** Whether its entries are those of bson-entries.ts, with marks of the items that have several. */
function isMarkedIndex({ id, collation, isMultikey }: PreparedIndex): boolean {
  return id !== undefined && collation === 'bson' && isMultikey === true;
}

/** Whether its entries name every item once, in the order of values that queries have. */
function hasEveryItem({ isMultikey, isSparse, filter, collation }: PreparedIndex): boolean {
  return !isMultikey && !isSparse && filter === undefined && collation !== 'bson';
}

function limitsByPath(limits: readonly PartLimit[]): ReadonlyMap<string, PartLimit> {
  return new Map(limits.map((limit) => [printPath(limit.path), limit]));
}

/** The index as ordered by its last parts, where the limits give one value of each part before them. */
function matchBehindPoints(
  { id, paths, prefix }: PreparedIndex,
  parts: readonly OrderedPath[],
  limits: ReadonlyMap<string, PartLimit>,
): CompositeMatch | undefined {
  const count = paths.length - parts.length;
  if (count < 1) return undefined;
  const rest = paths.slice(count);
  const isReversed = parts[0]?.isDescending === true;
  // Read backwards, rows of equal values come in descending rid order, as a descending first part wants them.
  const isMatch =
    textOf(rest) === textOf(parts) &&
    rest.every(({ isDescending }, at) => isDescending === (parts[at]?.isDescending !== isReversed));
  if (!isMatch) return undefined;
  const points: Bytes[] = [prefix];
  for (const { path, isDescending } of paths.slice(0, count)) {
    const ranges = limits.get(printPath(path))?.ranges ?? [];
    const [only] = ranges;
    if (ranges.length !== 1 || only?.isPoint !== true) return undefined;
    points.push(flippedIf(only.start, isDescending));
  }
  const start = Buffer.concat(points);
  if (start.length > ENTRY_KEPT_BYTES) return undefined;
  return {
    id,
    prefix: start,
    isReversed,
    isDescending: rest.map((path) => path.isDescending),
  };
}

/** Where all stored entries of an index are, single ones and blocks. */
export function rangesOfIndex(id: number): readonly KeyRange[] {
  return [PREFIX_DECLARED, PREFIX_DECLARED_BLOCK].map((first) => ({
    start: writer.reset().u8(first).u32(id).take(),
    end: writer
      .reset()
      .u8(first)
      .u32(id + 1)
      .take(),
  }));
}

function prepared(index: DeclaredIndex, place: number): PreparedIndex {
  const parts = beginningAscending(index.parts);
  const paths = parts.map(({ path, isDescending }) => ({ path: parsePath(path), isDescending }));
  writer.reset().u8(PREFIX_DECLARED);
  const prefix = (index.id === undefined ? writer.u16(place) : writer.u32(index.id)).take();
  const isMarked = index.id !== undefined && paths.at(-1)?.isDescending === true;
  const end = isMarked ? AFTER_DESCENDING : EMPTY_BYTES;
  return { ...index, parts, paths, prefix, end, text: textOf(paths) };
}

function addPrefixes(index: PreparedIndex, item: Value, prefixes: string[]): void {
  if (!index.isMultikey && !index.isSparse && !index.filter) {
    writer.reset().raw(index.prefix);
    for (const { path, isDescending } of index.paths)
      writePart(readPath(item, path), isDescending, index.collation);
    prefixes.push(boundedEntry(writer.raw(index.end).takeText()));
    return;
  }
  if (index.filter !== undefined && !passes(index.filter, item, index.collation)) return;
  const some = index.paths.map(({ path }) =>
    index.isMultikey === true ? multikeyValues(item, path) : [readPath(item, path)],
  );
  if (index.isSparse === true && some.every(([value]) => value === undefined)) return;
  const isMarked = index.collation === 'bson' && index.isMultikey === true;
  const values = isMarked ? index.paths.map(({ path }) => sortedValues(item, path)) : some;
  if (isMarked)
    for (const mark of marksOf(values))
      prefixes.push(bytesToLatin1(Buffer.concat([index.prefix, mark])));
  let keys: Bytes[] = [index.prefix];
  values.forEach((alternatives, at) => {
    const isDescending = index.paths[at]?.isDescending === true;
    const encoded = alternatives.map((value) =>
      compositePart(value, isDescending, index.collation).slice(),
    );
    keys = keys.flatMap((key) => encoded.map((bytes) => Buffer.concat([key, bytes])));
  });
  const end = bytesToLatin1(index.end);
  for (const key of new Set(keys.map(bytesToLatin1))) prefixes.push(boundedEntry(key + end));
}

function writePart(value: Value, isDescending: boolean, collation: Collation | undefined): void {
  // Most are ascending texts, which need no buffer of their own.
  if (typeof value === 'string' && !isDescending) writer.value(value, collation);
  else writer.raw(compositePart(value, isDescending, collation));
}

function textOf(parts: readonly OrderedPath[]): string {
  return parts.map(({ path }) => printPath(path)).join('\n');
}
