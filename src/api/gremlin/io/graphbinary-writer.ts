/** Writes responses in GraphBinary 1. */
import { CODES, malformedRequest } from '../errors.ts';
import { GremlinMap, GremlinSet } from '../model/collections.ts';
import { Edge, Path, Property, Vertex, VertexProperty } from '../model/elements.ts';
import { type GremlinNumber, isNumber, kindOf, toDouble } from '../model/number.ts';
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
import { ENUM_TYPES, TYPES, VERSION } from './graphbinary-types.ts';
import type { GremlinResponse } from './message.ts';

const CODE_OF_ENUM: ReadonlyMap<string, number> = new Map(
  [...ENUM_TYPES].map(([code, name]) => [name, code]),
);

export function graphbinaryResponse(response: GremlinResponse): Uint8Array {
  const writer = new GraphbinaryWriter();
  const { requestId, code, message, attributes, data } = response;
  writer.byte(VERSION);
  if (requestId === undefined) writer.byte(1);
  else {
    writer.byte(0);
    writer.uuid(requestId);
  }
  writer.int(code);
  writer.byte(0);
  writer.text(message);
  writer.map([...attributes]);
  writer.map([]);
  writer.any(data === null ? null : data);
  return writer.finish();
}

class GraphbinaryWriter {
  #bytes = Buffer.allocUnsafe(512);
  #length = 0;

  finish(): Uint8Array {
    return this.#bytes.subarray(0, this.#length);
  }

  /** The position of so many new bytes. */
  #grow(count: number): number {
    const at = this.#length;
    if (at + count > this.#bytes.length) {
      const larger = Buffer.allocUnsafe(Math.max(this.#bytes.length * 2, at + count));
      this.#bytes.copy(larger, 0, 0, at);
      this.#bytes = larger;
    }
    this.#length += count;
    return at;
  }

  byte(value: number): void {
    const at = this.#grow(1);
    this.#bytes[at] = value;
  }

  int(value: number): void {
    const at = this.#grow(4);
    this.#bytes.writeInt32BE(value, at);
  }

  #long(value: bigint): void {
    const at = this.#grow(8);
    this.#bytes.writeBigInt64BE(value, at);
  }

  text(value: string): void {
    const length = Buffer.byteLength(value);
    this.int(length);
    const at = this.#grow(length);
    this.#bytes.write(value, at);
  }

  uuid(text: string): void {
    const hex = text.replaceAll('-', '');
    const at = this.#grow(16);
    this.#bytes.fill(0, at, at + 16);
    this.#bytes.write(hex.slice(0, 32), at, 'hex');
  }

  map(entries: readonly (readonly [GremlinValue, GremlinValue])[]): void {
    this.int(entries.length);
    for (const [key, value] of entries) {
      this.any(key);
      this.any(value);
    }
  }

  #head(type: number): void {
    this.byte(type);
    this.byte(0);
  }

  /** A fully qualified value. */
  any(value: GremlinValue): void {
    if (value === null) {
      this.byte(TYPES.unspecifiedNull);
      this.byte(1);
    } else if (typeof value === 'string') {
      this.#head(TYPES.string);
      this.text(value);
    } else if (isNumber(value)) this.#number(value);
    else if (typeof value === 'boolean') {
      this.#head(TYPES.boolean);
      this.byte(Number(value));
    } else if (value instanceof BulkSet) this.#bulkSet(value);
    else if (Array.isArray(value)) this.#list(TYPES.list, value);
    else if (value instanceof GremlinSet) this.#list(TYPES.set, [...value]);
    else if (value instanceof Tree) {
      this.#head(TYPES.tree);
      this.#tree(value);
    } else if (value instanceof GremlinMap) {
      this.#head(TYPES.map);
      this.map([...value]);
    } else if (value instanceof BulkedResult) {
      this.#head(TYPES.traverser);
      this.#long(BigInt(value.bulk));
      this.any(value.value);
    } else this.#scalar(value);
  }

  #scalar(value: GremlinValue): void {
    if (value instanceof Uuid) {
      this.#head(TYPES.uuid);
      this.uuid(value.text);
    } else if (value instanceof Date) this.#date(value);
    else if (value instanceof EnumValue) {
      this.#head(CODE_OF_ENUM.get(value.type) ?? TYPES.string);
      this.any(value.name);
    } else if (value instanceof Uint8Array) {
      this.#head(TYPES.byteBuffer);
      this.int(value.length);
      const at = this.#grow(value.length);
      this.#bytes.set(value, at);
    } else this.#element(value);
  }

  #element(value: GremlinValue): void {
    if (value instanceof Vertex) this.#vertex(value);
    else if (value instanceof Edge) this.#edge(value);
    else if (value instanceof VertexProperty) this.#vertexProperty(value);
    else if (value instanceof Property) this.#property(value.key, value.value);
    else if (value instanceof Path) {
      this.#head(TYPES.path);
      this.#list(
        TYPES.list,
        value.labels.map((labels) => new GremlinSet(labels)),
      );
      this.#list(TYPES.list, value.objects);
    } else if (value instanceof SubGraph) this.#graph(value);
    else if (value instanceof TraversalMetrics) this.#metrics(value);
    else
      throw malformedRequest('The result has a value that cannot be sent.', CODES.unserializable);
  }

  #bulkSet(values: BulkSet): void {
    const members = [...bulksOf(values)];
    this.#head(TYPES.bulkSet);
    this.int(members.length);
    for (const [value, bulk] of members) {
      this.any(value);
      this.#long(BigInt(bulk));
    }
  }

  #tree(tree: Tree): void {
    this.int(tree.size);
    for (const [key, inner] of tree) {
      this.any(key);
      this.#tree(inner as Tree);
    }
  }

  #graph({ vertices, edges }: SubGraph): void {
    this.#head(TYPES.graph);
    this.int(vertices.size);
    for (const { id, label, properties } of vertices.values()) {
      this.any(id);
      this.text(label);
      const all = [...(properties?.values() ?? [])].flat();
      this.int(all.length);
      for (const property of all) {
        this.any(property.id);
        this.text(property.key);
        this.any(property.value);
        this.any(null);
        this.#properties(property.meta);
      }
    }
    this.int(edges.size);
    for (const { id, label, inVertex, outVertex, properties } of edges.values()) {
      this.any(id);
      this.text(label);
      this.any(inVertex.id);
      this.any(null);
      this.any(outVertex.id);
      this.any(null);
      this.any(null);
      this.#properties(properties);
    }
  }

  /** Durations are nanoseconds here. */
  #metrics({ durationMs, steps }: TraversalMetrics): void {
    this.#head(TYPES.traversalMetrics);
    this.#long(nanoseconds(durationMs));
    this.int(steps.length);
    for (const step of steps) {
      const map = metricsMap(step);
      this.#head(TYPES.metrics);
      this.text(step.id);
      this.text(step.name);
      this.#long(nanoseconds(step.durationMs));
      this.map([...(map.get('counts') as GremlinMap)]);
      this.map([...(map.get('annotations') as GremlinMap)]);
      this.int(0);
    }
  }

  #list(type: number, values: readonly GremlinValue[]): void {
    this.#head(type);
    this.int(values.length);
    for (const value of values) this.any(value);
  }

  #vertex({ id, label, properties }: Vertex): void {
    this.#head(TYPES.vertex);
    this.any(id);
    this.text(label);
    this.any(properties === undefined ? null : [...properties.values()].flat());
  }

  #edge({ id, label, inVertex, outVertex, properties }: Edge): void {
    this.#head(TYPES.edge);
    this.any(id);
    this.text(label);
    this.any(inVertex.id);
    this.text(inVertex.label);
    this.any(outVertex.id);
    this.text(outVertex.label);
    this.any(null);
    this.#properties(properties);
  }

  #vertexProperty({ id, key, value, meta }: VertexProperty): void {
    this.#head(TYPES.vertexProperty);
    this.any(id);
    this.text(key);
    this.any(value);
    this.any(null);
    this.#properties(meta);
  }

  #properties(properties: ReadonlyMap<string, GremlinValue>): void {
    this.#head(TYPES.list);
    this.int(properties.size);
    for (const [key, value] of properties) this.#property(key, value);
  }

  #property(key: string, value: GremlinValue): void {
    this.#head(TYPES.property);
    this.text(key);
    this.any(value);
    this.any(null);
  }

  #number(value: GremlinNumber): void {
    const kind = kindOf(value);
    const exact = typeof value === 'number' ? value : value.value;
    this.#head(TYPES[kind]);
    if (kind === 'int') this.int(toDouble(value));
    else if (kind === 'long') this.#long(BigInt(exact));
    else if (kind === 'bigInteger') this.#bigInteger(BigInt(exact));
    else if (kind === 'bigDecimal') this.#bigDecimal(String(exact));
    else this.#fixed(kind, toDouble(value));
  }

  #fixed(kind: 'byte' | 'short' | 'float' | 'double', value: number): void {
    const at = this.#grow({ byte: 1, short: 2, float: 4, double: 8 }[kind]);
    if (kind === 'byte') this.#bytes.writeInt8(value, at);
    else if (kind === 'short') this.#bytes.writeInt16BE(value, at);
    else if (kind === 'float') this.#bytes.writeFloatBE(value, at);
    else this.#bytes.writeDoubleBE(value, at);
  }

  /** Two's complement in as few bytes as hold the sign. */
  #bigInteger(value: bigint): void {
    let bytes = 1;
    while (BigInt.asIntN(bytes * 8, value) !== value) bytes++;
    const hex = BigInt.asUintN(bytes * 8, value)
      .toString(16)
      .padStart(bytes * 2, '0');
    this.int(bytes);
    const at = this.#grow(bytes);
    this.#bytes.write(hex, at, 'hex');
  }

  #bigDecimal(digits: string): void {
    const [mantissa = '0', exponent = '0'] = digits.toLowerCase().split('e');
    const [whole = '0', fraction = ''] = mantissa.split('.');
    this.int(fraction.length - Number(exponent));
    this.#bigInteger(BigInt(`${whole}${fraction}`));
  }

  #date(value: Date): void {
    this.#head(TYPES.offsetDateTime);
    this.int(value.getUTCFullYear());
    this.byte(value.getUTCMonth() + 1);
    this.byte(value.getUTCDate());
    const dayMs = Date.UTC(value.getUTCFullYear(), value.getUTCMonth(), value.getUTCDate());
    this.#long(BigInt(value.getTime() - dayMs) * 1_000_000n);
    this.int(0);
  }
}

function nanoseconds(ms: number): bigint {
  return BigInt(Math.round(ms * 1_000_000));
}
