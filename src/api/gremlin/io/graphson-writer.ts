/** Writes GraphSON 2 and 3 with types. The text is made directly: JSON.stringify has no integers beyond 2^53. */
import { CODES, malformedRequest } from '../errors.ts';
import { GremlinMap, GremlinSet } from '../model/collections.ts';
import { Edge, Path, Property, Vertex, VertexProperty } from '../model/elements.ts';
import {
  type GremlinNumber,
  isNumber,
  kindOf,
  numberOf,
  TypedNumber,
  toDouble,
} from '../model/number.ts';
import {
  BulkSet,
  bulksOf,
  metricsMap,
  SubGraph,
  TraversalMetrics,
  Tree,
} from '../model/structures.ts';
import { BulkedResult, EnumValue } from '../model/terms.ts';
import { type GremlinValue, Uuid } from '../model/value.ts';
import { keyText } from './key-text.ts';
import type { GremlinResponse } from './message.ts';

const NUMBER_TYPES = {
  byte: 'gx:Byte',
  short: 'gx:Int16',
  int: 'g:Int32',
  long: 'g:Int64',
  float: 'g:Float',
  double: 'g:Double',
  bigInteger: 'gx:BigInteger',
  bigDecimal: 'gx:BigDecimal',
} as const;

export class GraphsonWriter {
  /** Version 3 has lists, sets and maps with types, so that keys can be any value. */
  readonly #hasCollections: boolean;

  constructor(version: 2 | 3) {
    this.#hasCollections = version === 3;
  }

  response({ requestId, code, message, attributes, data }: GremlinResponse): string {
    const status = `{"message":${JSON.stringify(message)},"code":${code},"attributes":${this.#map([
      ...attributes,
    ])}}`;
    const result = `{"data":${data === null ? 'null' : this.#list(data)},"meta":${this.#map([])}}`;
    return `{"requestId":${JSON.stringify(requestId ?? null)},"status":${status},"result":${result}}`;
  }

  value(value: GremlinValue): string {
    if (value === null || typeof value === 'string' || typeof value === 'boolean')
      return JSON.stringify(value);
    if (isNumber(value)) return this.#number(value);
    if (value instanceof BulkSet) return this.#bulkSet(value);
    if (Array.isArray(value)) return this.#list(value);
    if (value instanceof GremlinSet) return this.#set([...value]);
    if (value instanceof Tree) return this.#tree(value);
    if (value instanceof GremlinMap) return this.#map([...value]);
    if (value instanceof BulkedResult)
      return typed(
        'g:Traverser',
        `{"bulk":${typed('g:Int64', String(value.bulk))},"value":${this.value(value.value)}}`,
      );
    if (value instanceof Uuid) return typed('g:UUID', JSON.stringify(value.text));
    if (value instanceof Date)
      return typed('gx:OffsetDateTime', JSON.stringify(value.toISOString()));
    if (value instanceof Uint8Array)
      return typed('gx:ByteBuffer', JSON.stringify(Buffer.from(value).toString('base64')));
    if (value instanceof EnumValue) return typed(`g:${value.type}`, JSON.stringify(value.name));
    return this.#element(value);
  }

  #element(value: GremlinValue): string {
    if (value instanceof Vertex) return typed('g:Vertex', this.#vertex(value));
    if (value instanceof Edge) return typed('g:Edge', this.#edge(value));
    if (value instanceof VertexProperty)
      return typed('g:VertexProperty', this.#vertexProperty(value));
    if (value instanceof Property) return this.#property(value.key, value.value);
    if (value instanceof SubGraph) return this.#graph(value);
    if (value instanceof TraversalMetrics) return this.#metrics(value);
    if (value instanceof Path)
      return typed(
        'g:Path',
        `{"labels":${this.#list(value.labels.map((labels) => new GremlinSet(labels)))},"objects":${this.#list(value.objects)}}`,
      );
    throw malformedRequest('The result has a value that cannot be sent.', CODES.unserializable);
  }

  #bulkSet(values: BulkSet): string {
    if (!this.#hasCollections) return this.#list([...values]);
    const members = [...bulksOf(values)].flatMap(([value, bulk]) => [
      this.value(value),
      typed('g:Int64', String(bulk)),
    ]);
    return typed('g:BulkSet', `[${members.join()}]`);
  }

  #tree(tree: Tree): string {
    const members = [...tree].map(
      ([key, inner]) => `{"key":${this.value(key)},"value":${this.value(inner)}}`,
    );
    return typed('g:Tree', `[${members.join()}]`);
  }

  #graph({ vertices, edges }: SubGraph): string {
    const list = (values: Iterable<GremlinValue>): string =>
      `[${[...values].map((value) => this.value(value)).join()}]`;
    const members = `{"vertices":${list(vertices.values())},"edges":${list(edges.values())}}`;
    return typed('tinker:graph', members);
  }

  #metrics({ durationMs, steps }: TraversalMetrics): string {
    const metrics = steps.map(metricsMap).map((map) => typed('g:Metrics', this.#map([...map])));
    const list = this.#hasCollections
      ? typed('g:List', `[${metrics.join()}]`)
      : `[${metrics.join()}]`;
    const duration = this.value(numberOf('double', durationMs));
    return typed(
      'g:TraversalMetrics',
      this.#hasCollections
        ? typed('g:Map', `["dur",${duration},"metrics",${list}]`)
        : `{"dur":${duration},"metrics":${list}}`,
    );
  }

  #vertex({ id, label, properties }: Vertex): string {
    const head = `{"id":${this.value(id)},"label":${JSON.stringify(label)}`;
    if (properties === undefined) return `${head}}`;
    const members = [...properties].map(
      ([key, values]) =>
        `${JSON.stringify(key)}:[${values.map((value) => this.value(value)).join()}]`,
    );
    return `${head},"properties":{${members.join()}}}`;
  }

  #edge({ id, label, outVertex, inVertex, properties }: Edge): string {
    const members = [...properties].map(
      ([key, value]) => `${JSON.stringify(key)}:${this.#property(key, value)}`,
    );
    return `{"id":${this.value(id)},"label":${JSON.stringify(label)},"inVLabel":${JSON.stringify(
      inVertex.label,
    )},"outVLabel":${JSON.stringify(outVertex.label)},"inV":${this.value(inVertex.id)},"outV":${this.value(
      outVertex.id,
    )},"properties":{${members.join()}}}`;
  }

  #vertexProperty({ id, key, value, meta }: VertexProperty): string {
    const head = `{"id":${this.value(id)},"value":${this.value(value)},"label":${JSON.stringify(key)}`;
    if (meta.size === 0) return `${head}}`;
    const members = [...meta].map(
      ([name, member]) => `${JSON.stringify(name)}:${this.value(member)}`,
    );
    return `${head},"properties":{${members.join()}}}`;
  }

  #property(key: string, value: GremlinValue): string {
    return typed('g:Property', `{"key":${JSON.stringify(key)},"value":${this.value(value)}}`);
  }

  #number(value: GremlinNumber): string {
    const kind = kindOf(value);
    const text = value instanceof TypedNumber ? String(value.value) : String(value);
    const isDigits = kind === 'long' || kind === 'bigInteger' || Number.isFinite(toDouble(value));
    return typed(NUMBER_TYPES[kind], isDigits ? text : JSON.stringify(text));
  }

  #list(values: readonly GremlinValue[]): string {
    const members = `[${values.map((value) => this.value(value)).join()}]`;
    return this.#hasCollections ? typed('g:List', members) : members;
  }

  #set(values: readonly GremlinValue[]): string {
    const members = `[${values.map((value) => this.value(value)).join()}]`;
    return this.#hasCollections ? typed('g:Set', members) : members;
  }

  #map(entries: readonly (readonly [GremlinValue, GremlinValue])[]): string {
    if (this.#hasCollections) {
      const members = entries.flatMap(([key, value]) => [this.value(key), this.value(value)]);
      return typed('g:Map', `[${members.join()}]`);
    }
    const members = entries.map(
      ([key, value]) => `${JSON.stringify(keyText(key))}:${this.value(value)}`,
    );
    return `{${members.join()}}`;
  }
}

const VERSION_3 = new GraphsonWriter(3);

/** A value in GraphSON 3. */
export function graphson3(value: GremlinValue): string {
  return VERSION_3.value(value);
}

function typed(type: string, text: string): string {
  return `{"@type":"${type}","@value":${text}}`;
}
