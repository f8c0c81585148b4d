/**
 * Filters that an index decides alone. What has to hold for that:
 *
 * - Every part of the filter is about one field, by equality, a list of values or a bound. Null is not among them: an index
 *   has null for missing fields and old types too.
 * - The keys of the values are exact: NaN, which no bound reaches, is left out of ranges of numbers, and a text with bounds
 *   is short enough to be whole in a key. Equal keys mean equal values, of whatever kind of number or text.
 * - No document has several values under a field: then both bounds are met by the same value, and an index has one entry
 *   of it. The index knows whether that is so (its marks), partition by partition.
 */
import {
  comparedTo,
  equalTo,
  type IndexLimit,
  intersectionOfRanges,
  isWholeInKey,
  unionOfRanges,
  type ValueRange,
} from '../../../query/index.ts';
import { type Bson, Double, Extended, isNumeric } from '../../../value/index.ts';
import { conjuncts, type FieldTest, type Filter } from '../query/filter.ts';
import { arrayIndex } from '../query/path.ts';
import { COMPARISONS, indexValue } from './filter-condition.ts';

/** One limit for each field; undefined where an index cannot decide the filter. Texts are compared exactly. */
export function exactLimits(filter: Filter): readonly IndexLimit[] | undefined {
  const limits = new Map<string, IndexLimit>();
  for (const part of conjuncts(filter)) {
    if (part.kind !== 'field' || part.path.some((step) => arrayIndex(step) !== undefined))
      return undefined;
    const ranges = exactRanges(part.test);
    if (ranges === undefined) return undefined;
    const { path } = part;
    const name = path.join('.');
    const other = limits.get(name)?.ranges;
    const common = other === undefined ? ranges : intersectionOfRanges(other, ranges);
    limits.set(name, { path, ranges: common });
  }
  return [...limits.values()];
}

/** Ascending, without overlaps. */
function exactRanges(test: FieldTest): readonly ValueRange[] | undefined {
  switch (test.kind) {
    case 'eq':
      return isExact(test.value) ? [equalTo(indexValue(test.value))] : undefined;
    case 'in': {
      if (test.regexes.length > 0 || !test.values.every(isExact)) return undefined;
      return unionOfRanges(test.values.map((value) => equalTo(indexValue(value))));
    }
    case 'gt':
    case 'gte':
    case 'lt':
    case 'lte': {
      const { value } = test;
      const key = indexValue(value);
      if (!isExact(value) || typeof value === 'boolean') return undefined;
      if (typeof key === 'string' && !isWholeInKey(key)) return undefined;
      const range = comparedTo(COMPARISONS[test.kind], key);
      return isNumeric(key) ? intersectionOfRanges([range], [NUMBERS]) : [range];
    }
    default:
      return undefined;
  }
}

/** Numbers without NaN, which sorts first. */
const NUMBERS = comparedTo('>', Number.NaN);

const EXACT_KINDS: ReadonlySet<string> = new Set(['objectId', 'date', 'decimal']);

/** Whether the key of a value is that of equal values only, and these are all equal in a filter. */
function isExact(value: Bson): boolean {
  if (value instanceof Double) return !Number.isNaN(value.value);
  if (value instanceof Extended) {
    const { payload } = value;
    if (payload.kind === 'decimal' && payload.digits.endsWith('NaN')) return false;
    return EXACT_KINDS.has(payload.kind);
  }
  return ['boolean', 'string', 'number', 'bigint'].includes(typeof value);
}
