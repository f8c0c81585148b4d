/**
 * A declared index of the bson collation as an order of items: which entries to read, and which marks (see
 * `bson-entries.ts`) name the items that have no place in that order.
 */
import {
  type Bytes,
  bytesToLatin1,
  compareBytes,
  ENTRY_KEPT_BYTES,
  prefixEnd,
} from '../../../base/index.ts';
import type { KeyRange } from '../../../engine/index.ts';
import { printPath, type Value } from '../../../value/index.ts';
import { ridText } from '../memory/index-run.ts';
import { markedRanges } from './bson-entries.ts';
import type { CompositeMatch, OrderedPath, PartLimit, PreparedIndex } from './declared-indexes.ts';
import { compositePart } from './declared-values.ts';
import { flippedIf, isTooLong, partRange } from './limited-ranges.ts';
import { boundedEntry } from './long-entries.ts';

export interface IndexInOrder {
  readonly match: CompositeMatch;
  /** All marks of the index. */
  readonly marks: KeyRange;
  /** The marks of items without a place in the order, such as those with an object. */
  readonly unordered: KeyRange;
  /** The marks of items with several values at the first part of the order. */
  readonly several: KeyRange;
  /** The entries of the equal values before the order. */
  readonly all: readonly KeyRange[];
  /** Those of them within the limits of the order's first part, ascending; valid where nothing is in `several`. */
  readonly limited: readonly KeyRange[];
  /** The paths whose limits all of these entries satisfy. */
  readonly applied: readonly OrderedPath[];
  /** The entry of an item with these values at the parts of the order. */
  entryOf(values: readonly Value[], rid: number): string;
}

/**
 * How the index serves an order; undefined where its own is another one.
 * @param parts - the order; it must be that of the last parts of the index, forwards or backwards.
 * @param limits - of the bson collation; one value of each part before them.
 */
export function inOrder(
  index: PreparedIndex,
  parts: readonly OrderedPath[],
  limits: ReadonlyMap<string, PartLimit>,
): IndexInOrder | undefined {
  const count = index.paths.length - parts.length;
  const rest = index.paths.slice(count);
  const [first] = rest;
  if (count < 0 || first === undefined) return undefined;
  const isReversed = parts[0]?.isDescending !== first.isDescending;
  for (let at = 0; at < rest.length; at++) {
    const [own, wanted] = [rest[at] as OrderedPath, parts[at] as OrderedPath];
    if (printPath(own.path) !== printPath(wanted.path)) return undefined;
    if (own.isDescending !== (wanted.isDescending !== isReversed)) return undefined;
  }
  const prefix = equalityPrefix(index, count, limits);
  if (prefix === undefined) return undefined;
  const ranges = markedRanges(index.prefix, prefixEnd(index.prefix));
  const all = count === 0 ? ranges.values : { start: prefix, end: prefixEnd(prefix) };
  const limit = limits.get(printPath(first.path));
  const isLimited = limit !== undefined && !isTooLong(prefix, limit);
  const limited = isLimited
    ? limit.ranges.map((range) => partRange(prefix, range, first.isDescending))
    : [all];
  const isDescending = rest.map((part) => part.isDescending);
  return {
    match: { id: index.id, prefix, isReversed, isDescending, collation: 'bson' },
    marks: ranges.marks,
    unordered: ranges.unordered,
    several: ranges.several(count),
    all: [all],
    limited: limited.toSorted((a, b) => compareBytes(a.start, b.start)),
    applied: index.paths.slice(0, isLimited ? count + 1 : count),
    entryOf: (values, rid) => {
      const bytes = values.map((value, at) =>
        compositePart(value, isDescending[at] === true, 'bson'),
      );
      const entry = bytesToLatin1(Buffer.concat([prefix, ...bytes, index.end]));
      return boundedEntry(entry) + ridText(rid);
    },
  };
}

/** The prefix of the entries whose first parts equal the values that the limits ask for; each must be one value. */
function equalityPrefix(
  { paths, prefix }: PreparedIndex,
  count: number,
  limits: ReadonlyMap<string, PartLimit>,
): Bytes | undefined {
  const points: Bytes[] = [prefix];
  for (const { path, isDescending } of paths.slice(0, count)) {
    const ranges = limits.get(printPath(path))?.ranges ?? [];
    const [only] = ranges;
    if (ranges.length !== 1 || only?.isPoint !== true) return undefined;
    points.push(flippedIf(only.start, isDescending));
  }
  const whole = Buffer.concat(points);
  return whole.length > ENTRY_KEPT_BYTES ? undefined : whole;
}
