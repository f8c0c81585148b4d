/** Values as texts, in the form that the language's own server prints them. */
import { GremlinMap, GremlinSet, MapEntry } from './collections.ts';
import { Edge, Path, Property, Vertex, VertexProperty } from './elements.ts';
import { type GremlinNumber, isNumber, kindOf } from './number.ts';
import { EnumValue } from './terms.ts';
import { type GremlinValue, Uuid } from './value.ts';

export function textOf(value: GremlinValue): string {
  if (typeof value === 'string') return value;
  if (value === null) return 'null';
  if (isNumber(value)) return numberText(value);
  if (value instanceof Uuid) return value.text;
  if (value instanceof Date) return dateText(value);
  if (value instanceof EnumValue) return value.name;
  if (Array.isArray(value) || value instanceof GremlinSet)
    return `[${[...value].map(textOf).join(', ')}]`;
  if (value instanceof MapEntry) return `${textOf(value.key)}=${textOf(value.value)}`;
  if (value instanceof GremlinMap)
    return `{${[...value].map(([key, each]) => `${textOf(key)}=${textOf(each)}`).join(', ')}}`;
  return elementText(value);
}

function elementText(value: GremlinValue): string {
  if (value instanceof Vertex) return `v[${textOf(value.id)}]`;
  if (value instanceof Edge)
    return `e[${textOf(value.id)}][${textOf(value.outVertex.id)}-${value.label}->${textOf(value.inVertex.id)}]`;
  if (value instanceof VertexProperty) return `vp[${value.key}->${textOf(value.value)}]`;
  if (value instanceof Property) return `p[${value.key}->${textOf(value.value)}]`;
  if (value instanceof Path) return `path[${value.objects.map(textOf).join(', ')}]`;
  return String(value);
}

function numberText(value: GremlinNumber): string {
  const kind = kindOf(value);
  const exact = typeof value === 'number' ? value : value.value;
  const text = String(exact);
  const isFraction = kind === 'double' || kind === 'float';
  return isFraction && /^-?\d+$/.test(text) ? `${text}.0` : text;
}

/** Seconds and their fractions are left out where they are zero. */
function dateText(value: Date): string {
  return value.toISOString().replace('.000Z', 'Z').replace(/:00Z$/, 'Z');
}
