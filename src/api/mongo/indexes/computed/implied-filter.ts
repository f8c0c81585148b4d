/**
 * Whether a filter lets no document pass that a partial index lacks. What is not sure counts as no. A test is about
 * some value under its field: where the filter asks for a value that passes the test, that value passes it.
 */
import {
  type Bson,
  compareBson,
  Extended,
  isArray,
  isDocument,
  typeRank,
} from '../../../../value/index.ts';
import type { CompareBson } from '../../query/collation.ts';
import { conjuncts, type FieldTest, type Filter } from '../../query/filter.ts';
import { compileFilter, isBeyondTypes } from '../../query/filter-test.ts';
import { askedBy, isText } from './leading-fields.ts';

/** @param parts - of a conjunction. */
export function implies(parts: readonly Filter[], wanted: Filter, compare: CompareBson): boolean {
  if (wanted.kind === 'and') return wanted.of.every((part) => implies(parts, part, compare));
  if (wanted.kind === 'or' && wanted.of.some((part) => implies(parts, part, compare))) return true;
  if (wanted.kind !== 'field' && wanted.kind !== 'or') return false;
  return parts.some((part) => {
    if (part.kind === 'or')
      return part.of.length > 0 && part.of.every((one) => implies(conjuncts(one), wanted, compare));
    return (
      wanted.kind === 'field' &&
      part.kind === 'field' &&
      part.path.join('.') === wanted.path.join('.') &&
      testImplies(part.test, wanted.test, compare)
    );
  });
}

function testImplies(test: FieldTest, wanted: FieldTest, compare: CompareBson): boolean {
  if (wanted.kind === 'exists') return wanted.wants && needsValue(test);
  if (wanted.kind === 'type')
    return test.kind === 'type' && [...test.types].every((type) => wanted.types.has(type));
  const asked = askedBy(test);
  if (asked !== undefined) return asked.every((value) => isPassing(value, wanted, compare));
  return isTighter(test, wanted);
}

/** Whether only a value that is there passes. */
function needsValue(test: FieldTest): boolean {
  switch (test.kind) {
    case 'exists':
      return test.wants;
    case 'eq':
      return test.value !== null;
    case 'gt':
    case 'gte':
    case 'lt':
    case 'lte':
      return test.value !== null && !isBeyondTypes(test.value);
    case 'in':
      return !test.values.includes(null);
    case 'type':
    case 'regex':
    case 'geo':
    case 'near':
      return true;
    default:
      return false;
  }
}

/** Whether every value that equals this one passes. */
function isPassing(value: Bson, wanted: FieldTest, compare: CompareBson): boolean {
  const isComparison = COMPARISONS.has(wanted.kind) || wanted.kind === 'in';
  const isClear = value !== null && !isArray(value) && !isDocument(value);
  // Texts that count as equal need not be the same text.
  if (!isComparison || !isClear || (compare !== compareBson && isText(value))) return false;
  return compileFilter({ kind: 'field', path: ['value'], test: wanted })(
    new Map([['value', value]]),
  );
}

const COMPARISONS: ReadonlySet<FieldTest['kind']> = new Set(['eq', 'gt', 'gte', 'lt', 'lte']);

/** Whether both are bounds of one side, and the first leaves no more than the second. */
function isTighter(test: FieldTest, wanted: FieldTest): boolean {
  const isLower = (kind: string): boolean => kind === 'gt' || kind === 'gte';
  const isUpper = (kind: string): boolean => kind === 'lt' || kind === 'lte';
  if (!('value' in test) || !('value' in wanted)) return false;
  const areLower = isLower(test.kind) && isLower(wanted.kind);
  if (!areLower && !(isUpper(test.kind) && isUpper(wanted.kind))) return false;
  if (!isOrdered(test.value) || !isOrdered(wanted.value)) return false;
  if (typeRank(test.value) !== typeRank(wanted.value)) return false;
  const order = compareBson(test.value, wanted.value) * (areLower ? 1 : -1);
  return order > 0 || (order === 0 && (wanted.kind.endsWith('e') || !test.kind.endsWith('e')));
}

/** Numbers and dates: texts have the order of a collation. */
function isOrdered(value: Bson): boolean {
  if (typeof value === 'number' || typeof value === 'bigint') return true;
  return value instanceof Extended && value.payload.kind === 'date';
}
