/**
 * Internal functions of clients and of the service's other APIs. They must bind and run, because clients send rewritten
 * texts back. They have no documentation beyond their names; these implementations follow the names.
 */
import { compareValues, isList, isMap, type Value } from '../../../../value/index.ts';
import { valueKey } from '../run/value-key.ts';
import { arrayContains } from './array.ts';
import { define, defineTotal, type SystemFunction } from './function.ts';
import { toText } from './string.ts';

const ANY_COUNT = Number.POSITIVE_INFINITY;

const comparisons = {
  _M_EVAL_EQ: (order: number) => order === 0,
  _M_EVAL_NEQ: (order: number) => order !== 0,
  _M_EVAL_LT: (order: number) => order < 0,
  _M_EVAL_LTE: (order: number) => order <= 0,
  _M_EVAL_GT: (order: number) => order > 0,
  _M_EVAL_GTE: (order: number) => order >= 0,
} as const;

/** Typed constants of the Cassandra API: the value itself, where it has the type. */
const constants: Readonly<Record<string, (value: Value) => Value>> = {
  C_BINARY: (value) => value,
  C_GUID: (value) => value,
  C_UDT: (value) => value,
  C_FLOAT32: (value) => (typeof value === 'number' ? Math.fround(value) : undefined),
  C_FLOAT64: (value) => (typeof value === 'number' ? value : undefined),
  C_INT8: (value) => wholeWithin(value, -(2 ** 7), 2 ** 7 - 1),
  C_INT16: (value) => wholeWithin(value, -(2 ** 15), 2 ** 15 - 1),
  C_INT32: (value) => wholeWithin(value, -(2 ** 31), 2 ** 31 - 1),
  C_INT64: (value) => wholeWithin(value, -(2 ** 63), 2 ** 63),
  C_UINT32: (value) => wholeWithin(value, 0, 2 ** 32 - 1),
};

export const internalFunctions: readonly SystemFunction[] = [
  ...Object.entries(comparisons).map(([name, test]) =>
    defineTotal(name, 2, (left, right) => test(compareValues(left, right))),
  ),
  defineTotal('_M_EVAL_IN', 2, (value, list) =>
    isList(list) ? arrayContains(list, value) : undefined,
  ),
  defineTotal('_M_EVAL_NIN', 2, (value, list) =>
    isList(list) ? !arrayContains(list, value) : undefined,
  ),
  define('_COMPARE_OBJECTS', 2, (left, right) => compareValues(left, right)),
  define('_COMPARE_BSON_BINARYDATA', 2, (left, right) => compareValues(left, right)),
  define('_PROXY_PROJECTION', [1, ANY_COUNT], (value) => value),
  define('HASH', [1, ANY_COUNT], (...values) => hash(toText(values) as string)),
  ...Object.entries(constants).map(([name, convert]) => define(name, 1, convert)),
  ...['C_LIST', 'C_SET', 'C_TUPLE', 'C_MAP'].map((name) =>
    define(name, [0, ANY_COUNT], (...items) => items),
  ),
  ...['C_LISTCONTAINS', 'C_SETCONTAINS', 'C_MAPCONTAINSVALUE'].map((name) =>
    define(name, 2, (collection, value) => {
      const values = isMap(collection) ? Object.values(collection) : collection;
      return isList(values) ? arrayContains(values, value) : undefined;
    }),
  ),
  define('C_MAPCONTAINSKEY', 2, (map, key) =>
    isMap(map) && typeof key === 'string' ? Object.hasOwn(map, key) : undefined,
  ),
  define('C_MAPCONTAINS', 3, (map, key, value) =>
    isMap(map) && typeof key === 'string' && Object.hasOwn(map, key)
      ? valueKey(map[key]) === valueKey(value)
      : false,
  ),
];

function wholeWithin(value: Value, min: number, max: number): Value {
  const isWithin =
    typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max;
  return isWithin ? value : undefined;
}

/** FNV-1a over UTF-16 units: small, stable, and uniform enough for a bucket number. */
function hash(text: string): number {
  let state = 0x811c9dc5;
  for (let at = 0; at < text.length; at++)
    state = Math.imul(state ^ text.charCodeAt(at), 0x01000193);
  return state >>> 0;
}
