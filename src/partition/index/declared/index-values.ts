/**
 * What an index of the bson collation tells without its items: how many keep some limits, and which values there are.
 *
 * An index without marks has one entry of every item in it, and no entry of an object, a pattern or an array with
 * elements within an array. So the entries within limits of its first parts are as many as the items that keep them.
 */
import { type Bytes, prefixEnd } from '../../../base/index.ts';
import type { KeyRange } from '../../../engine/index.ts';
import { KEY_TAGS, KeyReader, printPath } from '../../../value/index.ts';
import { EMPTY_LIST_TAG, markedRanges } from './bson-entries.ts';
import type { PartLimit, PreparedIndex } from './declared-indexes.ts';
import { flippedIf, rangesOf } from './limited-ranges.ts';

export interface CountableRanges {
  readonly marks: KeyRange;
  readonly ranges: readonly KeyRange[];
  /** Instead of the ranges, where the limits are single values of all parts. */
  readonly termPrefixes: readonly Bytes[] | undefined;
}

/**
 * @param limits - of the bson collation, those that the index can use.
 * @param count - of all limits: the index has to use each.
 */
export function countableRanges(
  index: PreparedIndex,
  limits: ReadonlyMap<string, PartLimit>,
  count: number,
): CountableRanges | undefined {
  const found = rangesOf(index, limits);
  if (found === undefined || found.partCount !== count) return undefined;
  const { marks } = markedRanges(index.prefix, undefined);
  return { marks, ranges: found.ranges, termPrefixes: termPrefixes(index, limits) };
}

/** The entries of single values of all parts; several of the last one are possible. */
function termPrefixes(
  { paths, prefix, end }: PreparedIndex,
  limits: ReadonlyMap<string, PartLimit>,
): readonly Bytes[] | undefined {
  let found: readonly Bytes[] = [prefix];
  for (const { path, isDescending } of paths) {
    const ranges = limits.get(printPath(path))?.ranges;
    const [before] = found;
    if (ranges === undefined || before === undefined || found.length > 1) return undefined;
    if (!ranges.every(({ isPoint }) => isPoint)) return undefined;
    found = ranges.map(({ start }) => Buffer.concat([before, flippedIf(start, isDescending)]));
  }
  return found.map((bytes) => Buffer.concat([bytes, end]));
}

export interface ValuesInIndex {
  readonly unordered: KeyRange;
  readonly values: readonly KeyRange[];
  /** Entries that do not tell the value: of items without one, with null, or with an empty array, also within another. */
  readonly absent: KeyRange;
  valueEnd(entry: string): number;
}

const { null: NULL, minKey: MIN_KEY } = KEY_TAGS.bson;

/** The values of the first part, which is ascending in every stored index. */
export function valuesInIndex({ prefix }: PreparedIndex): ValuesInIndex {
  const at = (tag: number): Bytes => Buffer.concat([prefix, Uint8Array.of(tag)]);
  return {
    unordered: markedRanges(prefix, undefined).unordered,
    values: [
      { start: at(MIN_KEY), end: at(EMPTY_LIST_TAG) },
      { start: at(NULL + 1), end: prefixEnd(prefix) },
    ],
    absent: { start: at(EMPTY_LIST_TAG), end: at(NULL + 1) },
    valueEnd(entry) {
      const reader = new KeyReader(Buffer.from(entry, 'latin1'), prefix.length);
      reader.value();
      return reader.position;
    },
  };
}
