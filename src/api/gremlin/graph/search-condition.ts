/** Conditions of steps as conditions on documents, so that an index finds the elements. */
import {
  ANYTHING,
  allOf,
  anyOf,
  type Comparison,
  type Condition,
  comparedTo,
  equalTo,
  intersectionOfRanges,
  startingWith,
  term,
  unionOfRanges,
  type ValueRange,
} from '../../../query/index.ts';
import { ARRAY_ELEMENT, type Value } from '../../../value/index.ts';
import { TypedNumber, toDouble } from '../model/number.ts';
import { Predicate } from '../model/terms.ts';
import { type GremlinValue, Uuid } from '../model/value.ts';
import type { Flavour } from './flavour.ts';
import { ID_KEY, LABEL_KEY, type SearchCondition } from './graph.ts';
import { VALUE_FIELD } from './service-documents.ts';
import { SYSTEM_FIELDS } from './system-properties.ts';

export function documentCondition(
  conditions: readonly SearchCondition[],
  kind: 'vertex' | 'edge',
  flavour: Flavour,
): Condition {
  const isService = flavour.kind === 'service';
  return allOf(
    ...conditions.map(({ key: name, condition, isProperty }) => {
      const ranges = rangesOf(condition, !isService);
      const isToken = !isProperty || (isService && (name === ID_KEY || name === LABEL_KEY));
      // What the server keeps is not in the index.
      if (SYSTEM_FIELDS.has(name)) return ANYTHING;
      // Ids that are no texts are not stored as such.
      if (ranges === undefined || (isToken && name === ID_KEY && !isService)) return ANYTHING;
      const key = isToken ? name : flavour.fieldOf(name);
      const plain = term([key], ranges);
      if (kind === 'edge' || isToken) return plain;
      return anyOf(term([key, ARRAY_ELEMENT, VALUE_FIELD], ranges), plain);
    }),
  );
}

/** The values that a condition names one by one; undefined where it allows others. */
export function valuesNamed(condition: GremlinValue): readonly GremlinValue[] | undefined {
  if (!(condition instanceof Predicate)) return [condition];
  return condition.name === 'eq' || condition.name === 'within' ? condition.values : undefined;
}

/** The same as documents have them. */
export function namedValues(condition: GremlinValue): readonly Value[] | undefined {
  const values = valuesNamed(condition);
  const stored = values?.map(plainValue);
  return stored?.every((value) => value !== undefined) ? stored : undefined;
}

/** Undefined where no index narrows it. */
function rangesOf(condition: GremlinValue, isInexact: boolean): readonly ValueRange[] | undefined {
  // Stored numbers may be less exact than the values that they stand for: their bounds are included.
  const [below, above] = isInexact ? (['<=', '>='] as const) : (['<', '>'] as const);
  const named = namedValues(condition);
  if (named !== undefined) return named.map(equalTo);
  if (!(condition instanceof Predicate)) return undefined;
  const { name, values } = condition;
  const [first = null, second = null] = values;
  switch (name) {
    case 'lt':
      return compared(below, first);
    case 'lte':
      return compared('<=', first);
    case 'gt':
      return compared(above, first);
    case 'gte':
      return compared('>=', first);
    case 'between':
      return common(compared('>=', first), compared(below, second));
    case 'inside':
      return common(compared(above, first), compared(below, second));
    case 'startingWith':
      return typeof first === 'string' ? [startingWith(first)] : undefined;
    // Conditions on a property with several values may hold for different ones, so `and` is not narrowed by both.
    case 'and':
      return rangesOf(first, isInexact) ?? rangesOf(second, isInexact);
    case 'or': {
      const [left, right] = [rangesOf(first, isInexact), rangesOf(second, isInexact)];
      return left === undefined || right === undefined
        ? undefined
        : unionOfRanges([...left, ...right]);
    }
    default:
      return undefined;
  }
}

function compared(comparison: Comparison, bound: GremlinValue): readonly ValueRange[] | undefined {
  const value = plainValue(bound);
  return value === undefined ? undefined : [comparedTo(comparison, value)];
}

function common(
  a: readonly ValueRange[] | undefined,
  b: readonly ValueRange[] | undefined,
): readonly ValueRange[] | undefined {
  return a === undefined || b === undefined ? undefined : intersectionOfRanges(a, b);
}

/** The stored form of a value; undefined for one that no property can have. */
function plainValue(value: GremlinValue): Value {
  if (typeof value === 'string' || typeof value === 'boolean') return value;
  if (typeof value === 'number' || value instanceof TypedNumber) {
    const number = toDouble(value);
    return Number.isFinite(number) ? number : undefined;
  }
  return value instanceof Uuid ? value.text : undefined;
}
