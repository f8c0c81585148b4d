/**
 * How elements become documents. The service's graphs have a partition key and texts as ids; graphs without a key keep
 * ids and values of any type.
 */
import type { Value, ValueMap } from '../../../value/index.ts';
import type { Edge, Vertex } from '../model/elements.ts';
import type { GremlinValue } from '../model/value.ts';

export interface Flavour {
  readonly kind: 'service' | 'tinkerpop';
  /** The property of documents that is the partition key. */
  readonly partitionKey: string;
  /** The property of vertices that is the partition key; undefined where the graph keeps it itself. */
  readonly partitionProperty: string | undefined;
  /** The key of a vertex's document. Throws where no element can have the id. */
  vertexKey(id: GremlinValue): string;
  edgeKey(id: GremlinValue): string;
  /** The partition of a vertex whose key is known; undefined where only its property tells. */
  partitionOfKey(key: string): Value;
  /** The property of documents for a property of elements. */
  fieldOf(key: string): string;
  /** Throws where no property can have the name or the value. */
  checkProperty(key: string, value: GremlinValue, isEdge: boolean): void;
  vertexOf(document: ValueMap): Vertex;
  /** Puts the properties of the document into a vertex of which only the address was known. */
  fillVertex(vertex: Vertex, document: ValueMap): void;
  edgeOf(document: ValueMap): Edge;
  vertexDocument(vertex: Vertex): ValueMap;
  edgeDocument(edge: Edge): ValueMap;
}

export function isEdgeDocument(document: ValueMap): boolean {
  return document._isEdge === true;
}
