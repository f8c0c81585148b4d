/** Equality of values: numbers by value, elements by identity, collections by their members. */
import { toHex } from '../../../base/index.ts';
import { GremlinMap, GremlinSet, MapEntry } from './collections.ts';
import { addressKey, Edge, Path, Property, Vertex, VertexProperty } from './elements.ts';
import { compareGremlinNumbers, isNumber, numberKey } from './number.ts';
import { BulkedResult, Bytecode, EnumValue, Lambda, Predicate, Strategy } from './terms.ts';
import { type GremlinValue, Uuid } from './value.ts';

/** The same text for equal values, and different texts for others. */
export function valueKey(value: GremlinValue): string {
  if (typeof value === 'string') return `s${value.length}:${value}`;
  if (value === null) return 'null';
  if (typeof value === 'boolean') return String(value);
  if (isNumber(value)) return `n${numberKey(value)};`;
  if (value instanceof Vertex) return `v${elementKey(value)}`;
  if (value instanceof Edge) return `e${elementKey(value)}`;
  return compoundKey(value);
}

function compoundKey(value: GremlinValue): string {
  if (Array.isArray(value)) return `[${value.map(valueKey).join(',')}]`;
  if (value instanceof GremlinSet) return `{${[...value].map(valueKey).sort().join(',')}}`;
  if (value instanceof GremlinMap)
    return `(${[...value]
      .map(([key, member]) => `${valueKey(key)}=${valueKey(member)}`)
      .sort()
      .join(',')})`;
  if (value instanceof VertexProperty) return `p${valueKey(value.vertex)}${valueKey(value.id)}`;
  if (value instanceof Property) return `q${valueKey(value.key)}${valueKey(value.value)}`;
  if (value instanceof Path) return `path${valueKey(value.objects)}`;
  if (value instanceof Uuid) return `u${value.text}`;
  if (value instanceof Date) return `d${value.getTime()}`;
  if (value instanceof EnumValue) return `t${value.type}.${value.name}`;
  if (value instanceof Uint8Array) return `b${toHex(value)}`;
  return termKey(value);
}

function termKey(value: GremlinValue): string {
  if (value instanceof Bytecode || value instanceof Lambda) return `code${JSON.stringify(value)}`;
  if (value instanceof Predicate) return `P${value.name}${valueKey(value.values)}`;
  if (value instanceof Strategy) return `strategy${value.name}`;
  if (value instanceof BulkedResult) return `r${value.bulk}${valueKey(value.value)}`;
  return String(value);
}

/** An element that a client sent is known by its id alone. */
function elementKey(element: Vertex | Edge): string {
  return element.key === '' ? valueKey(element.id) : addressKey(element);
}

/** Numbers of different kinds are equal where their values are; not a number is equal to nothing. */
export function areEqual(a: GremlinValue, b: GremlinValue): boolean {
  if (typeof a === 'string' || typeof b === 'string') return a === b;
  if (isNumber(a)) return isNumber(b) && compareGremlinNumbers(a, b) === 0;
  if (a === b) return true;
  if (a === null || b === null) return false;
  if (Array.isArray(a)) return Array.isArray(b) && areEqualLists(a, b);
  if (a instanceof Path) return b instanceof Path && areEqualLists(a.objects, b.objects);
  if (a instanceof GremlinSet) return b instanceof GremlinSet && areEqualSets([...a], [...b]);
  if (a instanceof MapEntry && b instanceof MapEntry)
    return areEqual(a.key, b.key) && areEqual(a.value, b.value);
  if (a instanceof GremlinMap)
    return (
      b instanceof GremlinMap && areEqualSets([...a] as GremlinValue[], [...b] as GremlinValue[])
    );
  if (a instanceof Vertex && b instanceof Vertex) return areEqualElements(a, b);
  if (a instanceof Edge && b instanceof Edge) return areEqualElements(a, b);
  if (a instanceof Property && b instanceof Property)
    return a.key === b.key && areEqual(a.value, b.value);
  return valueKey(a) === valueKey(b);
}

function areEqualElements(a: Vertex | Edge, b: Vertex | Edge): boolean {
  if (a.key === '' || b.key === '') return areEqual(a.id, b.id);
  return addressKey(a) === addressKey(b);
}

function areEqualLists(a: readonly GremlinValue[], b: readonly GremlinValue[]): boolean {
  return a.length === b.length && a.every((member, at) => areEqual(member, b[at] as GremlinValue));
}

/** Each member of one has a member of the other for itself. */
function areEqualSets(a: readonly GremlinValue[], b: readonly GremlinValue[]): boolean {
  if (a.length !== b.length) return false;
  const left = [...b];
  return a.every((member) => {
    const at = left.findIndex((other) => areEqual(member, other));
    if (at >= 0) left.splice(at, 1);
    return at >= 0;
  });
}
