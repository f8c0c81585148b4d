/**
 * Entries of multikey indexes in the bson collation: those that MongoDB's sorts can be read from.
 *
 *   21 id 3e · rid8            mark: the item has an object, an array within an array, a pattern or a long binary under
 *                              one of the parts, of which an entry holds less than their order needs
 *   21 id 3f part1 · rid8      mark: the item has several values under the part with this number
 *   21 id value · value …      declared-indexes.ts; an empty array is 41, before null and missing
 *
 * A sort takes the least or the greatest of several values, which has an entry like the others. Marks tell where a
 * reader has to look for that, and where it may not narrow a range: nearly all indexes have none.
 */
import { type Bytes, compareBytes, KEY_TEXT_BYTES_MAX } from '../../../base/index.ts';
import type { KeyRange } from '../../../engine/index.ts';
import { Extended, isList, isMap, KEY_TAGS, type Path, type Value } from '../../../value/index.ts';

const { bson, cosmos } = KEY_TAGS;
const MARK_UNORDERED = 0x3e;
const MARK_SEVERAL = 0x3f;
/** The first byte of values. */
const VALUES = bson.minKey;
/** Between minKey and null, as MongoDB sorts it. */
export const EMPTY_LIST_TAG = 0x41;

/** The values under a path that a sort may take; an empty array stands for itself, null for a missing value. */
export function sortedValues(item: Value, path: Path): readonly Value[] {
  const found: Value[] = [];
  follow(item, path, 0, found);
  return found.length === 0 ? [null] : found;
}

function follow(value: Value, path: Path, at: number, found: Value[]): void {
  if (at === path.length) {
    if (!isList(value) || value.length === 0) found.push(value ?? null);
    else for (const element of value) found.push(element ?? null);
  } else if (isMap(value)) {
    const name = String(path[at]);
    follow(Object.hasOwn(value, name) ? value[name] : undefined, path, at + 1, found);
  } else if (isList(value)) {
    for (const element of value) if (isMap(element)) follow(element, path, at, found);
  } else found.push(null);
}

/** Marks of an item with these values under the parts of an index. */
export function marksOf(values: readonly (readonly Value[])[]): readonly Bytes[] {
  const marks: Bytes[] = [];
  if (values.some((each) => each.some(isUnordered))) marks.push(Uint8Array.of(MARK_UNORDERED));
  for (let part = 0; part < values.length; part++)
    if ((values[part] as readonly Value[]).length > 1)
      marks.push(Uint8Array.of(MARK_SEVERAL, part));
  return marks;
}

function isUnordered(value: Value): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (!(value instanceof Extended)) return !isList(value) || value.length > 0;
  const { payload } = value;
  if (payload.kind === 'binary') return payload.bytes.length > KEY_TEXT_BYTES_MAX;
  return payload.kind === 'regex';
}

/** Ranges of an index with this prefix: all marks, those of items without an order, those of one part, all values. */
interface MarkedRanges {
  readonly marks: KeyRange;
  readonly unordered: KeyRange;
  several(part: number): KeyRange;
  readonly values: KeyRange;
}

export function markedRanges(prefix: Bytes, prefixEnd: Bytes | undefined): MarkedRanges {
  const at = (...bytes: number[]): Bytes => Buffer.concat([prefix, Uint8Array.from(bytes)]);
  return {
    marks: { start: at(MARK_UNORDERED), end: at(VALUES) },
    unordered: { start: at(MARK_UNORDERED), end: at(MARK_SEVERAL) },
    several: (part) => ({ start: at(MARK_SEVERAL, part), end: at(MARK_SEVERAL, part + 1) }),
    values: { start: at(VALUES), end: prefixEnd },
  };
}

/** The class of an object or an array, which is all that an entry has of it. */
export function classOf(value: Value): Bytes {
  if (!isList(value)) return Uint8Array.of(bson.object);
  return Uint8Array.of(value.length === 0 ? EMPTY_LIST_TAG : bson.array);
}

interface ValueRange {
  readonly start: Bytes;
  readonly end: Bytes;
  readonly isPoint: boolean;
}

type Kind = keyof typeof cosmos;

/** Kinds with the same bytes behind their tag in both collations. */
const ALIKE: ReadonlySet<Kind> = new Set<Kind>([
  ...(['false', 'true', 'number', 'text', 'objectId', 'date', 'timestamp'] as const),
]);
const KINDS = Object.keys(cosmos) as readonly Kind[];

/**
 * Ranges of values in the bson collation, ascending and disjoint. Undefined where they hold arrays: entries are about
 * their elements.
 * @param isOfElements - the ranges are about elements as well: the arrays in them are those within arrays.
 */
export function bsonRanges(
  ranges: readonly ValueRange[],
  isOfElements = false,
): readonly ValueRange[] | undefined {
  const found: ValueRange[] = [];
  for (const range of ranges)
    for (const kind of KINDS) {
      const part = partOf(range, kind);
      if (part === undefined) continue;
      if (kind === 'array' && !isOfElements) return undefined;
      found.push(part);
    }
  found.sort((a, b) => compareBytes(a.start, b.start));
  const disjoint: ValueRange[] = [];
  for (const range of found) {
    const last = disjoint.at(-1);
    if (last === undefined || compareBytes(range.start, last.end) >= 0) disjoint.push(range);
    else if (compareBytes(range.end, last.end) > 0)
      disjoint[disjoint.length - 1] = { start: last.start, end: range.end, isPoint: false };
  }
  return disjoint;
}

/** The part of a range that has one kind of values; undefined where it has none. */
function partOf({ start, end, isPoint }: ValueRange, kind: Kind): ValueRange | undefined {
  const [low = 0, high = 0] = [start[0], end[0]];
  const tag = cosmos[kind];
  if (low > tag || high < tag || (high === tag && end.length === 1)) return undefined;
  const own = bson[kind];
  if (!ALIKE.has(kind))
    return { start: Uint8Array.of(own), end: Uint8Array.of(own + 1), isPoint: false };
  return {
    start: withTag(low === tag ? start : Uint8Array.of(tag), own),
    end: high === tag ? withTag(end, own) : Uint8Array.of(own + 1),
    isPoint,
  };
}

function withTag(bytes: Bytes, tag: number): Bytes {
  const copy = Uint8Array.from(bytes);
  copy[0] = tag;
  return copy;
}
