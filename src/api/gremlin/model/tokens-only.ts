/** Elements with their id and label alone, anywhere in a result: for clients that ask for no properties. */
import { GremlinMap, GremlinSet } from './collections.ts';
import { Edge, Path, Vertex, VertexProperty } from './elements.ts';
import type { GremlinValue } from './value.ts';

export function tokensOnly(value: GremlinValue): GremlinValue {
  if (value instanceof Vertex) return new Vertex(value, value.label, new Map());
  if (value instanceof Edge)
    return new Edge(value, value.label, { from: value.outVertex, to: value.inVertex }, new Map());
  if (value instanceof VertexProperty)
    return new VertexProperty(value.vertex, { ...value, meta: new Map() });
  if (value instanceof Path) return new Path(value.objects.map(tokensOnly), value.labels);
  if (value instanceof GremlinSet) return new GremlinSet([...value].map(tokensOnly));
  // Trees and entries are maps of their own kinds, and lists may be sets with numbers: they stay what they are.
  if (value?.constructor === GremlinMap)
    return new GremlinMap(
      [...(value as GremlinMap)].map(([key, each]) => [tokensOnly(key), tokensOnly(each)] as const),
    );
  return value?.constructor === Array ? (value as GremlinValue[]).map(tokensOnly) : value;
}
