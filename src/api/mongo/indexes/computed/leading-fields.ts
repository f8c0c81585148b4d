/**
 * Plain fields of an index in front of its special one: a search has to ask for one of some values of each.
 *
 * An entry has each value under the field, where an array stands for its elements, and null where there is none. These
 * are the values that a filter tests, but for arrays as a whole and for numbers in paths, which are not asked for here.
 */
import { sortedValues } from '../../../../partition/index.ts';
import { equalTo, type ValueRange } from '../../../../query/index.ts';
import { type Bson, BsonSymbol, compareBson, type Value } from '../../../../value/index.ts';
import type { CompareBson } from '../../query/collation.ts';
import type { FieldTest, Filter } from '../../query/filter.ts';
import { arrayIndex, splitPath } from '../../query/path.ts';
import { indexValue } from '../filter-condition.ts';
import { combined, type EntryValues } from './kind.ts';

/** Undefined where there are too many. */
export function leadingValues(
  fields: readonly string[],
  value: Value,
): readonly EntryValues[] | undefined {
  let lists: readonly EntryValues[] | undefined = [[]];
  for (const field of fields) {
    const values = sortedValues(value, splitPath(field)).map((each) => [each]);
    lists = lists && combined(lists, values);
  }
  return lists;
}

/** The values that the filter asks each field to equal; undefined where it leaves one open. */
export function leadingPoints(
  fields: readonly string[],
  parts: readonly Filter[],
  compare: CompareBson,
): readonly (readonly ValueRange[])[] | undefined {
  const points: (readonly ValueRange[])[] = [];
  for (const field of fields) {
    const own = pointsOf(field, parts, compare);
    if (own === undefined) return undefined;
    points.push(own);
  }
  return points;
}

/** The values that the filter asks a field to equal; undefined where it asks for none, or for what entries do not say. */
export function pointsOf(
  field: string,
  parts: readonly Filter[],
  compare: CompareBson,
): readonly ValueRange[] | undefined {
  for (const test of testsOf(field, parts)) {
    const asked = askedBy(test);
    if (asked === undefined || (compare !== compareBson && asked.some(isText))) continue;
    const values = asked.map((value) => (value === null ? null : indexValue(value)));
    if (!values.includes(undefined)) return values.map(equalTo);
  }
  return undefined;
}

/** What the filter asks of a field whose path has no places of elements. */
export function testsOf(field: string, parts: readonly Filter[]): readonly FieldTest[] {
  if (!isPlainPath(field)) return [];
  return parts.flatMap((part) =>
    part.kind === 'field' && part.path.join('.') === field ? [part.test] : [],
  );
}

/** The values one of which a test wants; undefined where it wants something else. */
export function askedBy(test: FieldTest): readonly Bson[] | undefined {
  if (test.kind === 'eq') return [test.value];
  return test.kind === 'in' && test.regexes.length === 0 ? test.values : undefined;
}

export function isText(value: Bson): value is string | BsonSymbol {
  return typeof value === 'string' || value instanceof BsonSymbol;
}

/** Whether no step of a path may be the place of an element. */
export function isPlainPath(field: string): boolean {
  return splitPath(field).every((step) => arrayIndex(step) === undefined);
}
