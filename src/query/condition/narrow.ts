/**
 * The part of an index that a condition allows. Only the first paths of the index narrow it: up to the first one that
 * the condition does not fix to one value.
 */
import { append, type Bytes, concatBytes, ENTRY_KEPT_BYTES, prefixEnd } from '../../base/index.ts';
import type { KeyRange } from '../../engine/index.ts';
import { type Path, printPath } from '../../value/index.ts';
import type { CompositeOrder } from '../reader.ts';
import type { Condition } from './condition.ts';
import { intersectionOfRanges, unionOfRanges, type ValueRange } from './value-ranges.ts';

/** Key ranges in order, without overlaps. Parts stored in descending order do not narrow: their bits are flipped. */
export function narrowed(
  prefix: Bytes,
  parts: readonly CompositeOrder[],
  condition: Condition,
): readonly KeyRange[] {
  let start = prefix;
  let ranges: readonly KeyRange[] = [{ start, end: prefixEnd(start) }];
  for (const { path, isDescending } of parts) {
    const values = isDescending ? undefined : rangesOf(condition, path);
    // Entries have no more bytes of their values.
    if (values === undefined || start.length + longest(values) > ENTRY_KEPT_BYTES) return ranges;
    const only = values.length === 1 ? values[0] : undefined;
    if (only?.isPoint !== true)
      return values.map((range) => ({
        start: concatBytes(start, range.start),
        end: concatBytes(start, range.end),
      }));
    start = concatBytes(start, only.start);
    ranges = [{ start, end: prefixEnd(start) }];
  }
  return ranges;
}

function longest(ranges: readonly ValueRange[]): number {
  let bytes = 0;
  for (const { start, end } of ranges) bytes = Math.max(bytes, start.length, end.length);
  return bytes;
}

/** True where the condition names no other path: then an index of these paths applies all of the condition. */
export function coversPaths(condition: Condition, paths: readonly Path[]): boolean {
  switch (condition.kind) {
    case 'term':
    case 'declared':
      return paths.some((path) => printPath(path) === printPath(condition.path));
    case 'all':
    case 'any':
      return condition.of.every((part) => coversPaths(part, paths));
    case 'text':
      return false;
    default:
      return true;
  }
}

/** True where the condition allows no item without a value at the path. */
export function isLimited(condition: Condition, path: Path): boolean {
  return rangesOf(condition, path) !== undefined;
}

/** The values that the condition allows under a path, ascending and disjoint; undefined where it limits none. */
function rangesOf(condition: Condition, path: Path): readonly ValueRange[] | undefined {
  switch (condition.kind) {
    case 'term':
      return printPath(condition.path) === printPath(path)
        ? unionOfRanges(condition.ranges)
        : undefined;
    case 'all': {
      let common: readonly ValueRange[] | undefined;
      for (const part of condition.of) {
        const ranges = rangesOf(part, path);
        if (ranges !== undefined)
          common = common === undefined ? ranges : intersectionOfRanges(common, ranges);
      }
      return common;
    }
    case 'any': {
      const all: ValueRange[] = [];
      for (const part of condition.of) {
        const ranges = rangesOf(part, path);
        if (ranges === undefined) return undefined;
        append(all, ranges);
      }
      return unionOfRanges(all);
    }
    case 'nothing':
      return [];
    case 'text':
    case 'anything':
      return undefined;
  }
}
