/** Results that are structures of their own: trees of the ways of traversers, and parts of a graph. */
import { GremlinMap } from './collections.ts';
import { addressKey, type Edge, type Vertex } from './elements.ts';
import { valueKey } from './equality.ts';
import { numberOf } from './number.ts';
import type { GremlinValue } from './value.ts';

/** What aggregate() collects: a list that counts as a set, because its members are kept with their numbers. */
export class BulkSet extends Array<GremlinValue> {}

/** A map whose values are trees. */
export class Tree extends GremlinMap {}

/** Elements that subgraph() has collected. */
export class SubGraph {
  readonly vertices = new Map<string, Vertex>();
  readonly edges = new Map<string, Edge>();

  add(edge: Edge): void {
    this.edges.set(addressKey(edge), edge);
    for (const end of [edge.outVertex, edge.inVertex]) this.vertices.set(addressKey(end), end);
  }
}

/** Different members with their numbers. */
export function bulksOf(values: BulkSet): Iterable<readonly [GremlinValue, number]> {
  const counts = new Map<string, [GremlinValue, number]>();
  for (const value of values) {
    const known = counts.get(valueKey(value));
    if (known === undefined) counts.set(valueKey(value), [value, 1]);
    else known[1]++;
  }
  return counts.values();
}

/** What one step of a traversal did. */
export interface StepMetrics {
  readonly id: string;
  readonly name: string;
  readonly durationMs: number;
  /** Traversers that left the step, and how many they stand for. */
  readonly traversers: number;
  readonly elements: number;
  /** Request units, documents that were read and their bytes, calls to partitions. */
  readonly charge: number;
  readonly documents: number;
  readonly bytes: number;
  readonly partitionCalls: number;
}

/** The result of profile(). */
export class TraversalMetrics {
  readonly durationMs: number;
  readonly steps: readonly StepMetrics[];

  constructor(durationMs: number, steps: readonly StepMetrics[]) {
    this.durationMs = durationMs;
    this.steps = steps;
  }
}

/** A step's figures under the names that clients know. */
export function metricsMap(step: StepMetrics): GremlinMap {
  return new GremlinMap([
    ['id', step.id],
    ['name', step.name],
    ['dur', numberOf('double', step.durationMs)],
    [
      'counts',
      new GremlinMap([
        ['traverserCount', numberOf('long', step.traversers)],
        ['elementCount', numberOf('long', step.elements)],
      ]),
    ],
    [
      'annotations',
      new GremlinMap([
        ['requestCharge', numberOf('double', step.charge)],
        ['documents', numberOf('long', step.documents)],
        ['partitionCalls', numberOf('long', step.partitionCalls)],
      ]),
    ],
    ['metrics', []],
  ]);
}
