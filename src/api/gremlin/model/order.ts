/**
 * The two orders of the language. Predicates compare values of one kind only; order() has a place for every value:
 * first by type, then within the type.
 */
import { GremlinMap, GremlinSet } from './collections.ts';
import { Edge, Path, Property, Vertex, VertexProperty } from './elements.ts';
import { valueKey } from './equality.ts';
import { compareGremlinNumbers, isNumber, toDouble } from './number.ts';
import { EnumValue } from './terms.ts';
import { type GremlinValue, Uuid } from './value.ts';

/** Below, at or above zero; undefined where the values cannot be compared. */
export function comparePredicate(a: GremlinValue, b: GremlinValue): number | undefined {
  if (isNumber(a) && isNumber(b)) return compareGremlinNumbers(a, b);
  if (rankOf(a) !== rankOf(b)) return undefined;
  if (Array.isArray(a)) return comparePairs(a, b as readonly GremlinValue[]);
  if (a instanceof Path) return comparePairs(a.objects, (b as Path).objects);
  if (a instanceof GremlinSet)
    return comparePairs(inOrder([...a]), inOrder([...(b as GremlinSet)]));
  if (a instanceof GremlinMap) return comparePairs(pairsInOrder(a), pairsInOrder(b as GremlinMap));
  return compareWithin(a, b);
}

function inOrder(values: GremlinValue[]): GremlinValue[] {
  return values.sort(compareOrder);
}

function pairsInOrder(map: GremlinMap): GremlinValue[] {
  return inOrder([...map].map(([key, value]) => [key, value]));
}

function comparePairs(a: readonly GremlinValue[], b: readonly GremlinValue[]): number | undefined {
  for (let at = 0; at < Math.min(a.length, b.length); at++) {
    const compared = comparePredicate(a[at] as GremlinValue, b[at] as GremlinValue);
    if (compared !== 0) return compared;
  }
  return a.length - b.length;
}

/** A total order over all values. */
export function compareOrder(a: GremlinValue, b: GremlinValue): number {
  const ranks = rankOf(a) - rankOf(b);
  if (ranks !== 0) return ranks;
  if (isNumber(a) && isNumber(b)) return compareGremlinNumbers(a, b) ?? compareNotNumbers(a, b);
  return compareWithin(a, b);
}

/** The order of types: null, boolean, number, date, text, uuid, then elements, properties, paths and collections. */
function rankOf(value: GremlinValue): number {
  if (value === null) return 0;
  if (typeof value === 'boolean') return 1;
  if (isNumber(value)) return 2;
  if (value instanceof Date) return 3;
  if (typeof value === 'string' || value instanceof EnumValue) return 4;
  if (value instanceof Uuid) return 5;
  if (value instanceof Vertex) return 6;
  if (value instanceof Edge) return 7;
  if (value instanceof VertexProperty) return 8;
  if (value instanceof Property) return 9;
  if (value instanceof Path) return 10;
  if (value instanceof GremlinSet) return 11;
  if (Array.isArray(value)) return 12;
  return value instanceof GremlinMap ? 13 : 14;
}

function compareWithin(left: GremlinValue, right: GremlinValue): number {
  const a = left instanceof EnumValue ? left.name : left;
  const b = right instanceof EnumValue ? right.name : right;
  if (typeof a === 'string' && typeof b === 'string') return compareText(a, b);
  if (typeof a === 'boolean') return Number(a) - Number(b);
  if (a instanceof Date && b instanceof Date) return a.getTime() - b.getTime();
  if (Array.isArray(a) && Array.isArray(b)) return compareLists(a, b);
  if (a instanceof Path && b instanceof Path) return compareLists(a.objects, b.objects);
  if ((a instanceof Vertex || a instanceof Edge) && (b instanceof Vertex || b instanceof Edge))
    return compareOrder(a.id, b.id);
  if (a instanceof VertexProperty && b instanceof VertexProperty) return compareOrder(a.id, b.id);
  if (a instanceof Property && b instanceof Property)
    return compareText(a.key, b.key) || compareOrder(a.value, b.value);
  if (a instanceof GremlinSet && b instanceof GremlinSet)
    return compareLists(inOrder([...a]), inOrder([...b]));
  if (a instanceof GremlinMap && b instanceof GremlinMap)
    return compareLists(pairsInOrder(a), pairsInOrder(b));
  if (a instanceof Uuid && b instanceof Uuid) return compareText(a.text, b.text);
  return compareText(valueKey(a), valueKey(b));
}

function compareLists(a: readonly GremlinValue[], b: readonly GremlinValue[]): number {
  for (let at = 0; at < Math.min(a.length, b.length); at++) {
    const compared = compareOrder(a[at] as GremlinValue, b[at] as GremlinValue);
    if (compared !== 0) return compared;
  }
  return a.length - b.length;
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}

/** Not a number comes after all numbers. */
function compareNotNumbers(a: GremlinValue, b: GremlinValue): number {
  return Number(isNotNumber(a)) - Number(isNotNumber(b));
}

function isNotNumber(value: GremlinValue): boolean {
  return isNumber(value) && Number.isNaN(toDouble(value));
}
