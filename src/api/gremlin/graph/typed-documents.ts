/**
 * Elements of graphs without a partition key, as documents: ids and values of any type, several properties under a key.
 * The property `_vertexId` is the partition key: the id of a vertex, and in an edge that of its source, with which it
 * lies. A value that JSON does not hold exactly stands there as near as JSON can have it, for indexes and other APIs, and
 * again in GraphSON under `_typed`. Ids are the same if their texts are.
 */
import { isList, isMap, type Value, type ValueMap } from '../../../value/index.ts';
import { runtimeError } from '../errors.ts';
import { readGraphson } from '../io/graphson-reader.ts';
import { graphson3 } from '../io/graphson-writer.ts';
import { GremlinMap, GremlinSet } from '../model/collections.ts';
import { Edge, Vertex, VertexProperty } from '../model/elements.ts';
import {
  isNumber,
  kindOf,
  type NumberKind,
  numberOf,
  TypedNumber,
  toDouble,
} from '../model/number.ts';
import { EnumValue } from '../model/terms.ts';
import { type GremlinValue, Uuid } from '../model/value.ts';
import type { Flavour } from './flavour.ts';

/** The partition key of graphs that keep it themselves. */
export const VERTEX_ID_FIELD = '_vertexId';

/** Keys of edges begin so: edges and vertices share the ids of documents. */
const EDGE_PREFIX = 'edge~';

/** Names of documents that properties cannot have; those of properties get a prefix instead. */
const RESERVED = /^(?:id|label|ttl)$|^_/;
const ESCAPE = '_.';

export const TYPED_FLAVOUR: Flavour = {
  kind: 'tinkerpop',
  partitionKey: VERTEX_ID_FIELD,
  partitionProperty: undefined,
  vertexKey: (id) => escaped(idText(id)),
  edgeKey: (id) => `${EDGE_PREFIX}${escaped(idText(id))}`,
  partitionOfKey: (key) => key,
  fieldOf,
  checkProperty: (_, value) => {
    projected(value);
  },
  vertexOf: (document) => {
    const vertex = new Vertex(
      {
        partition: document[VERTEX_ID_FIELD],
        key: String(document.id),
        id: idOf(document.id, document._idType),
      },
      typeof document.label === 'string' ? document.label : 'vertex',
      undefined,
    );
    fillVertex(vertex, document);
    return vertex;
  },
  fillVertex,
  edgeOf,
  vertexDocument,
  edgeDocument,
};

function fieldOf(key: string): string {
  return RESERVED.test(key) ? `${ESCAPE}${key}` : key;
}

/** The property of a field; undefined for fields of the document itself. */
function keyOf(field: string): string | undefined {
  if (field.startsWith(ESCAPE)) return field.slice(ESCAPE.length);
  return RESERVED.test(field) ? undefined : field;
}

function idText(id: GremlinValue): string {
  if (typeof id === 'string' && id !== '') return id;
  if (isNumber(id)) return typeof id === 'number' ? String(id) : String(id.value);
  if (id instanceof Uuid) return id.text;
  throw runtimeError('Expected an id that is a text, a number or a UUID.');
}

/** Document ids have no slashes and such. */
function escaped(text: string): string {
  return text.replace(
    /[%/\\?#]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16).padStart(2, '0')}`,
  );
}

function unescaped(text: string): string {
  return text.replace(/%([0-9a-f]{2})/g, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
}

/** The type of an id where it is no text. */
function idType(id: GremlinValue): string | undefined {
  if (isNumber(id)) return kindOf(id);
  return id instanceof Uuid ? 'uuid' : undefined;
}

function idOf(key: Value, type: Value): GremlinValue {
  const text = unescaped(String(key).startsWith(EDGE_PREFIX) ? String(key).slice(5) : String(key));
  if (type === 'uuid') return new Uuid(text);
  return typeof type === 'string' ? numberOf(type as NumberKind, text) : text;
}

/** What JSON has instead of the value. Indexes order it as the language does. */
function projected(value: GremlinValue): Value {
  if (typeof value === 'string' || typeof value === 'boolean') return value;
  if (isNumber(value)) {
    const number = toDouble(value);
    if (Number.isNaN(number)) return 'NaN';
    return Math.max(-Number.MAX_VALUE, Math.min(Number.MAX_VALUE, number));
  }
  if (value instanceof Uuid) return value.text;
  if (value instanceof Date) return value.toISOString();
  if (Array.isArray(value)) return value.map(projected);
  if (value instanceof GremlinSet) return [...value].map(projected);
  if (value instanceof GremlinMap)
    return Object.fromEntries([...value].map(([key, each]) => [keyText(key), projected(each)]));
  if (value === null) return null;
  if (value instanceof EnumValue) return value.name;
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64');
  throw runtimeError(
    `Property value [${String(value)}] is of type ${typeof value} is not supported`,
  );
}

function keyText(key: GremlinValue): string {
  return typeof key === 'string' ? key : JSON.stringify(projected(key));
}

/** Whether JSON holds the value as it is. */
function isPlain(value: GremlinValue): boolean {
  return (
    typeof value === 'string' ||
    typeof value === 'boolean' ||
    (typeof value === 'number' && Number.isFinite(value))
  );
}

function typedOf(value: GremlinValue): Value {
  return JSON.parse(graphson3(value)) as Value;
}

function readStored(plain: Value, typed: Value): GremlinValue {
  if (typed !== undefined) return readGraphson(typed);
  return isPlain(plain as GremlinValue) ? (plain as GremlinValue) : readGraphson(plain ?? null);
}

function fillVertex(vertex: Vertex, document: ValueMap): void {
  const properties = new Map<string, VertexProperty[]>();
  for (const [field, value] of Object.entries(document)) {
    const key = keyOf(field);
    if (key === undefined) continue;
    const members = isList(value) ? value : [{ _value: value }];
    const found = members.flatMap((member, at) =>
      isMap(member) ? [propertyOf(vertex, key, member, at)] : [],
    );
    if (found.length > 0) properties.set(key, found);
  }
  vertex.properties = properties;
  vertex.stored = { etag: typeof document._etag === 'string' ? document._etag : undefined };
}

function propertyOf(vertex: Vertex, key: string, member: ValueMap, at: number): VertexProperty {
  const { id, _idType, _value, _typed, _meta, _metaTyped } = member;
  const meta = isMap(_meta) ? flatProperties(_meta, _metaTyped) : new Map();
  return new VertexProperty(vertex, {
    id: id === undefined ? `${vertex.key}|${key}|${at}` : idOf(id, _idType),
    key,
    value: readStored(_value, _typed),
    meta,
  });
}

function flatProperties(values: ValueMap, typed: Value): Map<string, GremlinValue> {
  const types = isMap(typed) ? typed : {};
  return new Map(
    Object.entries(values).map(([key, value]) => [key, readStored(value, types[key])] as const),
  );
}

/** Plain values, and those of them again with types that JSON does not hold. */
function flatDocuments(
  properties: ReadonlyMap<string, GremlinValue>,
  nameOf: (key: string) => string,
): readonly [ValueMap, ValueMap | undefined] {
  const plain: Record<string, Value> = {};
  const typed: Record<string, Value> = {};
  for (const [key, value] of properties) {
    plain[nameOf(key)] = projected(value);
    if (!isPlain(value)) typed[nameOf(key)] = typedOf(value);
  }
  return [plain, Object.keys(typed).length === 0 ? undefined : typed];
}

function edgeOf(document: ValueMap): Edge {
  const { id, label, _idType, _vertexId, _vertexIdType, _vertexLabel, _types } = document;
  const { _sink, _sinkType, _sinkLabel, _etag } = document;
  const types = isMap(_types) ? _types : {};
  const properties = new Map<string, GremlinValue>();
  for (const [field, value] of Object.entries(document)) {
    const key = keyOf(field);
    if (key !== undefined) properties.set(key, readStored(value, types[field]));
  }
  return new Edge(
    { id: idOf(id, _idType), key: String(id) },
    typeof label === 'string' ? label : 'edge',
    { from: end(_vertexId, _vertexIdType, _vertexLabel), to: end(_sink, _sinkType, _sinkLabel) },
    properties,
    { etag: typeof _etag === 'string' ? _etag : undefined },
  );
}

function end(key: Value, type: Value, label: Value): Vertex {
  const name = typeof label === 'string' ? label : 'vertex';
  return new Vertex({ partition: key, key: String(key), id: idOf(key, type) }, name, undefined);
}

function vertexDocument({ id, key, label, properties }: Vertex): ValueMap {
  const document: Record<string, Value> = { id: key, label, [VERTEX_ID_FIELD]: key };
  const type = idType(id);
  if (type !== undefined) document._idType = type;
  for (const [name, values] of properties ?? [])
    if (values.length > 0) document[fieldOf(name)] = values.map(propertyDocument);
  return document;
}

function propertyDocument({ id, value, meta }: VertexProperty): Value {
  const document: Record<string, Value> = {
    id: id instanceof TypedNumber || typeof id === 'number' ? idText(id) : String(id),
    _value: projected(value),
  };
  const type = idType(id);
  if (type !== undefined) document._idType = type;
  if (!isPlain(value)) document._typed = typedOf(value);
  if (meta.size === 0) return document;
  const [plain, typed] = flatDocuments(meta, (name) => name);
  document._meta = plain;
  if (typed !== undefined) document._metaTyped = typed;
  return document;
}

function edgeDocument({ id, key, label, outVertex, inVertex, properties }: Edge): ValueMap {
  const [plain, typed] = flatDocuments(properties, fieldOf);
  const document: Record<string, Value> = {
    id: key,
    label,
    _isEdge: true,
    [VERTEX_ID_FIELD]: outVertex.key,
    _vertexLabel: outVertex.label,
    _sink: inVertex.key,
    _sinkLabel: inVertex.label,
    ...plain,
  };
  if (typed !== undefined) document._types = typed;
  const types = { _idType: id, _vertexIdType: outVertex.id, _sinkType: inVertex.id };
  for (const [name, each] of Object.entries(types)) {
    const type = idType(each);
    if (type !== undefined) document[name] = type;
  }
  return document;
}
