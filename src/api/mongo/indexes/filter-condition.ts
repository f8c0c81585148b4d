/**
 * What indexes can decide of a filter: values that fields must equal or lie between. An array stands for its elements,
 * and two bounds may be met by two of them, so only one test of each field counts. Everything else allows anything.
 */
import { append } from '../../../base/index.ts';
import {
  ANYTHING,
  allOf,
  anyOf,
  type Condition,
  comparedTo,
  equalTo,
  ofType,
  term,
  type ValueRange,
} from '../../../query/index.ts';
import {
  type Bson,
  BsonSymbol,
  Double,
  Extended,
  isArray,
  isDocument,
  type Value,
  valueOfBson,
} from '../../../value/index.ts';
import { conjuncts, type FieldTest, type Filter } from '../query/filter.ts';
import { arrayIndex, type FieldPath } from '../query/path.ts';

/** Filters of more parts are not narrowed by an index: each part is an argument, and the stack has an end. */
const PARTS_MAX = 10_000;

/**
 * @param isCollated - texts that are not the same may count as equal, so that indexes know nothing of them.
 * @param more - what else is known of the documents that pass all parts of a conjunction.
 */
export function filterCondition(
  filter: Filter,
  isCollated = false,
  more: (parts: readonly Filter[]) => Condition = () => ANYTHING,
): Condition {
  const seen = new Set<string>();
  const all = conjuncts(filter);
  const parts: Condition[] = [];
  for (const part of all) {
    if (parts.length === PARTS_MAX) break;
    if (part.kind === 'or' && part.of.length <= PARTS_MAX)
      parts.push(anyOf(...part.of.map((inner) => filterCondition(inner, isCollated, more))));
    if (part.kind !== 'field' || seen.has(part.path.join('.'))) continue;
    if (isCollated && hasTexts(part.test)) continue;
    const ranges = testRanges(part.test);
    if (ranges === undefined || part.path.some((step) => arrayIndex(step) !== undefined)) continue;
    seen.add(part.path.join('.'));
    parts.push(fieldCondition(part.path, ranges));
  }
  if (all.length > 0 && all.length <= PARTS_MAX) parts.push(more(all));
  return allOf(...parts);
}

function hasTexts(test: FieldTest): boolean {
  const values = 'values' in test ? test.values : 'value' in test ? [test.value] : [];
  return values.some((value) => typeof value === 'string' || value instanceof BsonSymbol);
}

/** `_id` is never an array, so that the automatic index of a sharded collection has it too. */
function fieldCondition(path: FieldPath, ranges: readonly ValueRange[]): Condition {
  if (path.length === 1 && path[0] === '_id') return term(path, ranges);
  return { kind: 'declared', path, ranges };
}

export const COMPARISONS = { gt: '>', gte: '>=', lt: '<', lte: '<=' } as const;

/** Where values that pass a test are; undefined where an index does not know. */
export function testRanges(test: FieldTest): readonly ValueRange[] | undefined {
  switch (test.kind) {
    case 'eq':
      return equalRanges([test.value]);
    case 'in':
      return test.regexes.length > 0 ? undefined : equalRanges(test.values);
    case 'gt':
    case 'gte':
    case 'lt':
    case 'lte': {
      const value = indexValue(test.value);
      return value === undefined ? undefined : [comparedTo(COMPARISONS[test.kind], value)];
    }
    default:
      return undefined;
  }
}

/** Values that equal one of those sent, and maybe others. */
function equalRanges(sent: readonly Bson[]): readonly ValueRange[] | undefined {
  const ranges: ValueRange[] = [];
  for (const value of sent) {
    const own = rangesOfValue(value);
    if (own === undefined) return undefined;
    append(ranges, own);
  }
  return ranges;
}

/** Null is asked of documents without the field as well. */
const ABSENT = [equalTo(null), equalTo(undefined)];
const ANY_DOCUMENT = ofType({});
const ANY_LIST = ofType([]);

function rangesOfValue(value: Bson): readonly ValueRange[] | undefined {
  if (value === null) return ABSENT;
  if (isDocument(value)) return [ANY_DOCUMENT];
  if (!isArray(value)) {
    const key = indexValue(value);
    return key === undefined ? undefined : [equalTo(key)];
  }
  // An array is the whole value, which has entries of its elements, or an element itself. An empty one may have none.
  const [first] = value;
  if (first === undefined) return undefined;
  if (isArray(first)) return [ANY_LIST];
  const own = rangesOfValue(first);
  return own && [...own, ANY_LIST];
}

/** The value in an index; undefined for values that an index does not have as they are. */
export function indexValue(value: Bson): Value {
  if (value === null || value instanceof BsonSymbol) return undefined;
  if (value instanceof Double) return Number.isNaN(value.value) ? undefined : value.value;
  if (typeof value !== 'object') return valueOfBson(value);
  if (!(value instanceof Extended)) return undefined;
  const { kind } = value.payload;
  return kind === 'objectId' || kind === 'date' || kind === 'decimal' || kind === 'timestamp'
    ? value
    : undefined;
}
