/** What elements, properties and maps have: ids, labels, keys, values. */
import { ID_KEY, LABEL_KEY } from '../graph/graph.ts';
import { SYSTEM_FIELDS } from '../graph/system-properties.ts';
import { GremlinMap, GremlinSet, MapEntry } from '../model/collections.ts';
import { Edge, Path, Property, Vertex, VertexProperty } from '../model/elements.ts';
import type { GremlinValue } from '../model/value.ts';

/** The values under a key of a loaded element. The id and the label are read like properties, as the service does. */
export function propertyValues(
  element: Vertex | Edge | VertexProperty,
  key: string,
): readonly GremlinValue[] {
  if (element instanceof Vertex) {
    const found = element.properties?.get(key);
    if (found !== undefined) return found.map(({ value }) => value);
  } else {
    const properties = element instanceof Edge ? element.properties : element.meta;
    const found = properties.get(key);
    if (found !== undefined) return [found];
  }
  if (key === ID_KEY) return [element.id];
  if (key === LABEL_KEY) return [labelOf(element)];
  const isSystem = SYSTEM_FIELDS.has(key) && !(element instanceof VertexProperty);
  const system = isSystem ? element.stored.system?.[key] : undefined;
  return system === undefined ? [] : [system as GremlinValue];
}

export function isElementValue(value: GremlinValue): value is Vertex | Edge | VertexProperty {
  return value instanceof Vertex || value instanceof Edge || value instanceof VertexProperty;
}

/** The property objects of a loaded element, of all keys or of these. */
export function propertiesOf(
  element: Vertex | Edge | VertexProperty,
  keys: readonly string[],
): (VertexProperty | Property)[] {
  const isWanted = (key: string): boolean => keys.length === 0 || keys.includes(key);
  if (element instanceof Vertex)
    return [...(element.properties ?? [])].flatMap(([key, values]) =>
      isWanted(key) ? values : [],
    );
  const properties = element instanceof Edge ? element.properties : element.meta;
  return [...properties]
    .filter(([key]) => isWanted(key))
    .map(([key, value]) => new Property(key, value, element));
}

function labelOf(element: Vertex | Edge | VertexProperty): string {
  return element instanceof VertexProperty ? element.key : element.label;
}

/** T.id, T.label, T.key and T.value of a value; undefined where it has none. */
export function tokenOf(value: GremlinValue, name: string): GremlinValue | undefined {
  const isElement =
    value instanceof Vertex || value instanceof Edge || value instanceof VertexProperty;
  if (name === 'id') return isElement ? value.id : undefined;
  if (name === 'label') return isElement ? labelOf(value) : undefined;
  if (value instanceof Property || value instanceof VertexProperty)
    return name === 'key' ? value.key : value.value;
  return undefined;
}

/** The keys or values of a map; of one entry, its key or its value. */
export function columnOf(value: GremlinValue, name: string): GremlinValue | undefined {
  if (value instanceof MapEntry) return name === 'keys' ? value.key : value.value;
  if (value instanceof GremlinMap)
    return name === 'keys' ? new GremlinSet(value.keys()) : value.values();
  if (value instanceof Path)
    return name === 'keys' ? value.labels.map((labels) => new GremlinSet(labels)) : value.objects;
  return undefined;
}

/** Members of a collection; the value itself where it is none. */
export function membersOf(value: GremlinValue): readonly GremlinValue[] {
  if (Array.isArray(value)) return value;
  if (value instanceof GremlinSet) return [...value];
  if (value instanceof GremlinMap)
    return [...value].map(([key, member]) => new MapEntry(key, member));
  return value instanceof Path ? value.objects : [value];
}
