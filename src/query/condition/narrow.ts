/** The part of an index in which every item lies that a condition allows: ranges of the paths it begins with. */
import { append, type Bytes, compareBytes, concatBytes, prefixEnd } from '../../base/index.ts';
import type { KeyRange } from '../../engine/index.ts';
import { type Path, printPath } from '../../value/index.ts';
import type { CompositeOrder } from '../reader.ts';
import type { Condition, ValueRange } from './condition.ts';

/** Key ranges in order, without overlaps. Parts stored in descending order are not narrowed: their bits are flipped. */
export function narrowed(
  prefix: Bytes,
  parts: readonly CompositeOrder[],
  condition: Condition,
): readonly KeyRange[] {
  let start = prefix;
  let ranges: readonly KeyRange[] = [{ start, end: prefixEnd(start) }];
  for (const { path, isDescending } of parts) {
    const values = isDescending ? undefined : rangesOf(condition, path);
    if (values === undefined) return ranges;
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

/** True where the condition asks for nothing but these paths: an index in their order finds all that can be found. */
export function coversPaths(condition: Condition, paths: readonly Path[]): boolean {
  switch (condition.kind) {
    case 'term':
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

/** What the condition allows under a path, sorted and disjoint; undefined for everything. */
function rangesOf(condition: Condition, path: Path): readonly ValueRange[] | undefined {
  switch (condition.kind) {
    case 'term':
      return printPath(condition.path) === printPath(path) ? united(condition.ranges) : undefined;
    case 'all': {
      let common: readonly ValueRange[] | undefined;
      for (const part of condition.of) {
        const ranges = rangesOf(part, path);
        if (ranges !== undefined)
          common = common === undefined ? ranges : intersected(common, ranges);
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
      return united(all);
    }
    case 'nothing':
      return [];
    case 'text':
    case 'anything':
      return undefined;
  }
}

function united(ranges: readonly ValueRange[]): readonly ValueRange[] {
  const sorted = [...ranges].sort((a, b) => compareBytes(a.start, b.start));
  const result: ValueRange[] = [];
  for (const range of sorted) {
    const last = result.at(-1);
    if (last === undefined || compareBytes(last.end, range.start) < 0) {
      result.push(range);
      continue;
    }
    if (compareBytes(range.end, last.end) <= 0) continue;
    result[result.length - 1] = { start: last.start, end: range.end, isPoint: false };
  }
  return result;
}

function intersected(a: readonly ValueRange[], b: readonly ValueRange[]): readonly ValueRange[] {
  const result: ValueRange[] = [];
  for (const left of a)
    for (const right of b) {
      const start = compareBytes(left.start, right.start) >= 0 ? left.start : right.start;
      const end = compareBytes(left.end, right.end) <= 0 ? left.end : right.end;
      if (compareBytes(start, end) < 0)
        result.push({ start, end, isPoint: left.isPoint || right.isPoint });
    }
  return result;
}
