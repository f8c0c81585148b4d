/** The service's own form, which is that of GraphSON 1: JSON without types, elements with a `type`. */
import { CODES, malformedRequest } from '../errors.ts';
import { GremlinMap, GremlinSet } from '../model/collections.ts';
import { Edge, Path, Property, Vertex, VertexProperty } from '../model/elements.ts';
import { isNumber, TypedNumber } from '../model/number.ts';
import { metricsMap, SubGraph, TraversalMetrics } from '../model/structures.ts';
import { BulkedResult, EnumValue } from '../model/terms.ts';
import { type GremlinValue, Uuid } from '../model/value.ts';
import { keyText } from './key-text.ts';
import type { GremlinResponse } from './message.ts';

export function untypedResponse(response: GremlinResponse): string {
  const { requestId, code, message, attributes, data } = response;
  const status = `{"code":${code},"message":${JSON.stringify(message)},"attributes":${object(attributes)}}`;
  const result = `{"data":${data === null ? 'null' : untypedValue(data)},"meta":{}}`;
  return `{"requestId":${JSON.stringify(requestId ?? null)},"status":${status},"result":${result}}`;
}

function untypedValue(value: GremlinValue): string {
  if (value === null || typeof value === 'string' || typeof value === 'boolean')
    return JSON.stringify(value);
  if (isNumber(value)) return numberText(value);
  if (Array.isArray(value)) return list(value);
  if (value instanceof GremlinSet) return list([...value]);
  if (value instanceof GremlinMap) return object(value);
  if (value instanceof BulkedResult)
    return `{"bulk":${value.bulk},"value":${untypedValue(value.value)}}`;
  if (value instanceof Uuid) return JSON.stringify(value.text);
  if (value instanceof Date) return JSON.stringify(value.toISOString());
  if (value instanceof Uint8Array) return JSON.stringify(Buffer.from(value).toString('base64'));
  if (value instanceof EnumValue) return JSON.stringify(value.name);
  return element(value);
}

function element(value: GremlinValue): string {
  if (value instanceof Vertex) return vertex(value);
  if (value instanceof Edge) return edge(value);
  if (value instanceof VertexProperty)
    return `{"id":${untypedValue(value.id)},"value":${untypedValue(value.value)},"label":${JSON.stringify(value.key)}${metaOf(value)}}`;
  if (value instanceof Property)
    return `{"key":${JSON.stringify(value.key)},"value":${untypedValue(value.value)}}`;
  if (value instanceof Path)
    return `{"labels":${list(value.labels.map((labels) => [...labels]))},"objects":${list(value.objects)}}`;
  if (value instanceof SubGraph)
    return `{"vertices":${list([...value.vertices.values()])},"edges":${list([...value.edges.values()])}}`;
  if (value instanceof TraversalMetrics)
    return `{"dur":${value.durationMs},"metrics":${list(value.steps.map(metricsMap))}}`;
  throw malformedRequest('The result has a value that cannot be sent.', CODES.unserializable);
}

function vertex({ id, label, properties }: Vertex): string {
  const head = `{"id":${untypedValue(id)},"label":${JSON.stringify(label)},"type":"vertex"`;
  if (properties === undefined || properties.size === 0) return `${head}}`;
  const members = [...properties].map(([key, values]) => {
    const printed = values.map(
      (property) =>
        `{"id":${untypedValue(property.id)},"value":${untypedValue(property.value)}${metaOf(property)}}`,
    );
    return `${JSON.stringify(key)}:[${printed.join()}]`;
  });
  return `${head},"properties":{${members.join()}}}`;
}

function metaOf({ meta }: VertexProperty): string {
  return meta.size === 0 ? '' : `,"properties":${object(meta)}`;
}

function edge({ id, label, outVertex, inVertex, properties }: Edge): string {
  const ends = `"inVLabel":${JSON.stringify(inVertex.label)},"outVLabel":${JSON.stringify(
    outVertex.label,
  )},"inV":${untypedValue(inVertex.id)},"outV":${untypedValue(outVertex.id)}`;
  const head = `{"id":${untypedValue(id)},"label":${JSON.stringify(label)},"type":"edge",${ends}`;
  return properties.size === 0 ? `${head}}` : `${head},"properties":${object(properties)}}`;
}

function numberText(value: number | TypedNumber): string {
  const text = value instanceof TypedNumber ? String(value.value) : String(value);
  return /NaN|Infinity/.test(text) ? JSON.stringify(text) : text;
}

function list(values: readonly GremlinValue[]): string {
  return `[${values.map(untypedValue).join()}]`;
}

function object(entries: Iterable<readonly [GremlinValue, GremlinValue]>): string {
  const members = [...entries].map(
    ([key, value]) => `${JSON.stringify(keyText(key))}:${untypedValue(value)}`,
  );
  return `{${members.join()}}`;
}
