/** Array and set functions. Sets are arrays without duplicates, in the order of first appearance. */
import { draw, listBytes, spend } from '../../../../base/index.ts';
import { compareValues, equalValues, isList, isMap, type Value } from '../../../../value/index.ts';
import { type ValueKey, valueKey } from '../run/value-key.ts';
import { anyOf, define, defineTotal, everyOf, finite, type SystemFunction } from './function.ts';

const ANY_COUNT = Number.POSITIVE_INFINITY;

export const arrayFunctions: readonly SystemFunction[] = [
  define('ARRAY_AVG', 1, (list) => {
    const numbers = numbersOf(list);
    return numbers && numbers.length > 0 ? finite(sum(numbers) / numbers.length) : undefined;
  }),
  define('ARRAY_CONCAT', [2, ANY_COUNT], (...lists) =>
    lists.every(isList) ? concatenated(lists) : undefined,
  ),
  define('ARRAY_CONTAINS', [2, 3], arrayContains),
  define('_TRY_ARRAY_CONTAINS', [2, 3], arrayContains),
  defineTotal('ARRAY_CONTAINS_ALL', [2, ANY_COUNT], (list, ...values) =>
    isList(list) ? everyOf(values, (value) => contains(list, value)) : undefined,
  ),
  defineTotal('ARRAY_CONTAINS_ANY', [2, ANY_COUNT], (list, ...values) =>
    isList(list) ? anyOf(values, (value) => contains(list, value)) : undefined,
  ),
  define('ARRAY_LENGTH', 1, (list) => (isList(list) ? list.length : undefined)),
  define('ARRAY_MAX', 1, (list) => extreme(list, 1)),
  define('ARRAY_MEDIAN', 1, median),
  define('ARRAY_MIN', 1, (list) => extreme(list, -1)),
  define('ARRAY_SLICE', [2, 3], slice),
  define('ARRAY_SUM', 1, (list) => {
    const numbers = numbersOf(list);
    return numbers ? finite(sum(numbers)) : undefined;
  }),
  defineTotal('CHOOSE', [2, ANY_COUNT], (index, ...choices) =>
    typeof index === 'number' ? choices[index - 1] : undefined,
  ),
  define('ObjectToArray', [1, 3], objectToArray),
  define('_ObjectToArray', [1, 3], objectToArray),
  setFunction('SetDifference', (left, right) => without(left, keysOf(right))),
  setFunction('SetEqual', (left, right) => {
    const leftKeys = keysOf(left);
    const rightKeys = keysOf(right);
    return leftKeys.size === rightKeys.size && leftKeys.isSubsetOf(rightKeys);
  }),
  // The documented results come in the order of the second set.
  setFunction('SetIntersect', (left, right) => {
    const leftKeys = keysOf(left);
    return distinct(right).filter((value) => leftKeys.has(valueKey(value)));
  }),
  setFunction('SetUnion', (left, right) => distinct(concatenated([left, right]))),
];

/** Undefined for an undefined value, as its comparison with each element would be. */
function contains(list: readonly Value[], value: Value): Value {
  return value === undefined ? undefined : holds(list, value);
}

function concatenated(lists: readonly (readonly Value[])[]): readonly Value[] {
  let length = 0;
  for (const list of lists) length += list.length;
  draw(listBytes(length));
  spend(length);
  return lists.flat(1);
}

function setFunction(
  name: string,
  compute: (left: readonly Value[], right: readonly Value[]) => Value,
): SystemFunction {
  return define(name, 2, (left, right) =>
    isList(left) && isList(right) ? compute(left, right) : undefined,
  );
}

function keysOf(values: readonly Value[]): Set<ValueKey> {
  chargeKeys(values);
  return new Set(values.map(valueKey));
}

/** Charges the cost of a set: a key, an entry and some hashing per value. */
function chargeKeys(values: readonly Value[]): void {
  draw(32 * values.length);
  spend(20 * values.length);
}

function distinct(values: readonly Value[]): readonly Value[] {
  return without(values, new Set());
}

/** The distinct values whose key is not among the given ones. */
function without(values: readonly Value[], keys: ReadonlySet<ValueKey>): readonly Value[] {
  chargeKeys(values);
  draw(listBytes(keys.size));
  const seen = new Set(keys);
  return values.filter((value) => {
    const key = valueKey(value);
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  });
}

/** With a true third argument an object matches every object that has its properties. */
export function arrayContains(list: Value, value: Value, isPartial: Value = false): Value {
  if (!isList(list) || typeof isPartial !== 'boolean') return undefined;
  if (!isPartial) return holds(list, value);
  spend(5 * list.length);
  return list.some((item) => matchesPartly(item, value));
}

/** Simple values use the built-in search; only numbers, arrays and objects need a comparison of values. */
function holds(list: readonly Value[], value: Value): boolean {
  spend(1 + list.length);
  const isSimple = typeof value === 'string' || typeof value === 'boolean' || value === null;
  return isSimple ? list.includes(value) : list.some((item) => equalValues(item, value));
}

function matchesPartly(item: Value, wanted: Value): boolean {
  if (!isMap(item) || !isMap(wanted)) return equalValues(item, wanted);
  return Object.keys(wanted).every(
    (name) => Object.hasOwn(item, name) && matchesPartly(item[name], wanted[name]),
  );
}

function numbersOf(list: Value): readonly number[] | undefined {
  if (!isList(list)) return undefined;
  spend(1 + list.length / 2);
  return list.every((item) => typeof item === 'number') ? list : undefined;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, next) => total + next, 0);
}

/** By the order of types, as MIN and MAX; arrays and objects have no order. */
function extreme(list: Value, sign: 1 | -1): Value {
  if (!isList(list) || list.length === 0) return undefined;
  spend(3 * list.length);
  if (list.some((item) => typeof item === 'object' && item !== null)) return undefined;
  return list.reduce((best, item) => (sign * compareValues(item, best) > 0 ? item : best));
}

function median(list: Value): Value {
  const numbers = numbersOf(list);
  if (!numbers || numbers.length === 0) return undefined;
  draw(listBytes(numbers.length));
  spend(30 * numbers.length);
  const sorted = numbers.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] as number;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] as number) + upper) / 2;
}

/** A negative start counts from the end. */
function slice(list: Value, start: Value, length: Value = Number.MAX_SAFE_INTEGER): Value {
  if (!isList(list) || typeof start !== 'number' || typeof length !== 'number') return undefined;
  const whole = Math.trunc(start);
  const from = whole < 0 ? Math.max(0, list.length + whole) : whole;
  const count = Math.max(0, Math.trunc(length));
  draw(listBytes(Math.min(count, list.length)));
  return list.slice(from, from + count);
}

function objectToArray(object: Value, keyName: Value = 'k', valueName: Value = 'v'): Value {
  if (!isMap(object) || typeof keyName !== 'string' || typeof valueName !== 'string')
    return undefined;
  const entries = Object.entries(object);
  draw(entries.length * 160);
  spend(10 * entries.length);
  return entries.map(([name, value]) => ({ [keyName]: name, [valueName]: value }));
}
