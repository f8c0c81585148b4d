/** Everything that a traversal can hold, take as an argument or return. */
import type { Bytes } from '../../../base/index.ts';
import type { GremlinMap, GremlinSet } from './collections.ts';
import type { Edge, Path, Property, Vertex, VertexProperty } from './elements.ts';
import type { TypedNumber } from './number.ts';
import type { SubGraph, TraversalMetrics } from './structures.ts';
import type { BulkedResult, Bytecode, EnumValue, Lambda, Predicate, Strategy } from './terms.ts';

/** Sixteen bytes in their usual text, in lower case. */
export class Uuid {
  readonly text: string;

  constructor(text: string) {
    this.text = text.toLowerCase();
  }
}

export type GremlinValue =
  | null
  | boolean
  | number
  | string
  | TypedNumber
  | Uuid
  | Date
  | Bytes
  | readonly GremlinValue[]
  | GremlinSet
  | GremlinMap
  | Vertex
  | Edge
  | VertexProperty
  | Property
  | Path
  | SubGraph
  | TraversalMetrics
  | EnumValue
  | Bytecode
  | Predicate
  | Strategy
  | Lambda
  | BulkedResult;
