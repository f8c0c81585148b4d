/**
 * Vertices and edges as the documents of the service. A vertex has its properties as lists of `{id, _value, _meta}`; the
 * id, the label, the partition key and what other APIs wrote are plain. An edge is plain, lies with its source and knows
 * where its target is.
 */
import { isList, isMap, type Value, type ValueMap } from '../../../value/index.ts';
import { runtimeError } from '../errors.ts';
import { Edge, Vertex, VertexProperty } from '../model/elements.ts';
import { TypedNumber, toDouble } from '../model/number.ts';
import { type GremlinValue, Uuid } from '../model/value.ts';
import type { Flavour } from './flavour.ts';
import { SYSTEM_FIELDS } from './system-properties.ts';

/** Names in edge documents, which their properties cannot have. */
const EDGE_FIELDS: ReadonlySet<string> = new Set([
  'id',
  'label',
  '_isEdge',
  '_vertexId',
  '_vertexLabel',
  '_sink',
  '_sinkLabel',
  '_sinkPartition',
  '_isPkEdgeProperty',
]);

/** The path of a vertex property's values, for indexes. */
export const VALUE_FIELD = '_value';

/** The graphs of the service: ids are texts, and a property of vertices is the partition key. */
export function serviceFlavour(partitionKey: string): Flavour {
  return {
    kind: 'service',
    partitionKey,
    partitionProperty: partitionKey,
    vertexKey: idText,
    edgeKey: idText,
    partitionOfKey: () => undefined,
    fieldOf: (key) => key,
    checkProperty: (key, value, isEdge) => {
      checkPropertyName(key, isEdge);
      toStored(value);
    },
    vertexOf: (document) => vertexOf(document, partitionKey),
    fillVertex,
    edgeOf: (document) => edgeOf(document, partitionKey),
    vertexDocument: (vertex) => vertexDocument(vertex, partitionKey),
    edgeDocument: (edge) => edgeDocument(edge, partitionKey),
  };
}

/** Ids are texts; numbers and UUIDs are taken as their text, as the service does. */
function idText(id: GremlinValue): string {
  const stored = toStored(id);
  if (typeof stored === 'boolean' || stored === '' || /[/\\?#]/.test(String(stored)))
    throw runtimeError(`'${String(stored)}' cannot be the id of an element.`);
  return String(stored);
}

/** Throws where a property cannot have the name. */
function checkPropertyName(name: string, isEdge: boolean): void {
  if (
    name === '' ||
    SYSTEM_FIELDS.has(name) ||
    (isEdge ? EDGE_FIELDS.has(name) : name === '_isEdge')
  )
    throw runtimeError(`'${name}' is reserved and cannot be the name of a property.`);
}

function vertexOf(document: ValueMap, partitionKey: string): Vertex {
  const { id, label } = document;
  const vertex = new Vertex(
    { partition: document[partitionKey], id: String(id), key: String(id) },
    typeof label === 'string' ? label : 'vertex',
    undefined,
  );
  fillVertex(vertex, document);
  return vertex;
}

function fillVertex(vertex: Vertex, document: ValueMap): void {
  const properties = new Map<string, VertexProperty[]>();
  const others: Record<string, Value> = {};
  for (const [key, value] of Object.entries(document)) {
    if (key === 'id' || key === 'label' || SYSTEM_FIELDS.has(key)) continue;
    const values = propertiesIn(vertex, key, value);
    if (values === undefined) others[key] = value;
    else properties.set(key, values);
  }
  vertex.properties = properties;
  vertex.stored = { etag: etagOf(document), others, system: document };
}

/** Undefined for a value that is no property: an object or a list that other APIs wrote. */
function propertiesIn(vertex: Vertex, key: string, value: Value): VertexProperty[] | undefined {
  if (isScalar(value)) return [plainProperty(vertex, key, value)];
  if (!isList(value) || value.length === 0) return undefined;
  const found: VertexProperty[] = [];
  for (const member of value) {
    if (!isMap(member) || !isScalar(member[VALUE_FIELD])) return undefined;
    const { id, _value, _meta } = member;
    const meta = new Map<string, GremlinValue>();
    if (isMap(_meta))
      for (const [name, each] of Object.entries(_meta)) if (isScalar(each)) meta.set(name, each);
    found.push(
      new VertexProperty(vertex, { id: String(id), key, value: _value as GremlinValue, meta }),
    );
  }
  return found;
}

/** A property whose value stands in the document by itself. Its id says so. */
export function plainProperty(vertex: Vertex, key: string, value: GremlinValue): VertexProperty {
  return new VertexProperty(vertex, { id: plainId(vertex, key), key, value });
}

function plainId({ key: vertexKey }: Vertex, key: string): string {
  return `${vertexKey}|${key}`;
}

function isScalar(value: Value): value is string | number | boolean {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
}

function etagOf({ _etag }: ValueMap): string | undefined {
  return typeof _etag === 'string' ? _etag : undefined;
}

function vertexDocument(vertex: Vertex, partitionKey: string): ValueMap {
  const { key: id, label, partition, properties, stored } = vertex;
  const document: Record<string, Value> = { id, label };
  if (partition !== undefined) document[partitionKey] = partition;
  for (const [key, values] of properties ?? []) {
    const [first] = values;
    if (key === partitionKey || first === undefined) continue;
    const isPlain = values.length === 1 && first.id === plainId(vertex, key);
    document[key] = isPlain ? toStored(first.value) : values.map(propertyDocument);
  }
  return { ...document, ...stored.others };
}

function propertyDocument({ id, value, meta }: VertexProperty): Value {
  const document = { id: String(id), [VALUE_FIELD]: toStored(value) };
  if (meta.size === 0) return document;
  return {
    ...document,
    _meta: Object.fromEntries([...meta].map(([key, each]) => [key, toStored(each)])),
  };
}

function edgeOf(document: ValueMap, partitionKey: string): Edge {
  const properties = new Map<string, GremlinValue>();
  const others: Record<string, Value> = {};
  for (const [key, value] of Object.entries(document)) {
    if (EDGE_FIELDS.has(key) || SYSTEM_FIELDS.has(key) || key === partitionKey) continue;
    if (isScalar(value)) properties.set(key, value);
    else others[key] = value;
  }
  const { id, label, _vertexId, _vertexLabel, _sink, _sinkLabel, _sinkPartition } = document;
  const from = end(_vertexId, _vertexLabel, document[partitionKey]);
  const to = end(_sink, _sinkLabel, _sinkPartition);
  return new Edge(
    { id: String(id), key: String(id) },
    typeof label === 'string' ? label : 'edge',
    { from, to },
    properties,
    { etag: etagOf(document), others, system: document },
  );
}

function end(id: Value, label: Value, partition: Value): Vertex {
  const name = typeof label === 'string' ? label : 'vertex';
  return new Vertex({ partition, id: String(id), key: String(id) }, name, undefined);
}

function edgeDocument(edge: Edge, partitionKey: string): ValueMap {
  const { key: id, label, outVertex, inVertex, properties, stored } = edge;
  const document: Record<string, Value> = {
    id,
    label,
    _isEdge: true,
    _vertexId: outVertex.key,
    _vertexLabel: outVertex.label,
    _sink: inVertex.key,
    _sinkLabel: inVertex.label,
  };
  if (inVertex.partition !== undefined) document._sinkPartition = inVertex.partition;
  if (outVertex.partition !== undefined) document[partitionKey] = outVertex.partition;
  for (const [key, value] of properties) document[key] = toStored(value);
  return { ...document, ...stored.others };
}

/** Property values are texts, numbers and booleans. Longer integers become doubles, as in all JSON of the service. */
export function toStored(value: GremlinValue): Value {
  if (typeof value === 'string' || typeof value === 'boolean') return value;
  if (typeof value === 'number' || value instanceof TypedNumber) {
    const number = toDouble(value);
    if (!Number.isFinite(number)) throw runtimeError('A property cannot be NaN or infinite.');
    return number;
  }
  if (value instanceof Uuid) return value.text;
  if (value instanceof Date) return value.toISOString();
  if (value === null) throw runtimeError('A property cannot be null.');
  throw runtimeError('A property is a text, a number or a boolean.');
}
