/** Figures of an execution: time, traversers and request units of every step. */
import type { StoreUsage } from '../graph/document-store.ts';
import { GremlinMap } from '../model/collections.ts';
import { numberOf } from '../model/number.ts';
import { type StepMetrics, TraversalMetrics } from '../model/structures.ts';
import type { GremlinValue } from '../model/value.ts';
import type { Batches } from './step.ts';

interface Measured {
  readonly name: string;
  /** All of these include the steps before. */
  timeMs: number;
  charge: number;
  documents: number;
  bytes: number;
  partitionCalls: number;
  traversers: number;
  elements: number;
}

export class Profiler {
  readonly #usage: StoreUsage;
  readonly #steps: Measured[] = [];

  constructor(usage: StoreUsage) {
    this.#usage = usage;
  }

  readonly measure = (output: Batches, name: string): Batches => {
    const step: Measured = {
      name,
      timeMs: 0,
      charge: 0,
      documents: 0,
      bytes: 0,
      partitionCalls: 0,
      traversers: 0,
      elements: 0,
    };
    this.#steps.push(step);
    const usage = this.#usage;
    return (async function* () {
      const iterator = output[Symbol.asyncIterator]();
      for (;;) {
        const startedMs = performance.now();
        const before = { ...usage };
        const { value, done } = await iterator.next();
        step.timeMs += performance.now() - startedMs;
        step.charge += usage.charge - before.charge;
        step.documents += usage.documentsLoaded - before.documentsLoaded;
        step.bytes += usage.bytesLoaded - before.bytesLoaded;
        step.partitionCalls += usage.partitionCalls - before.partitionCalls;
        if (done === true) return;
        step.traversers += value.length;
        for (const { bulk } of value) step.elements += bulk;
        yield value;
      }
    })();
  };

  /** What each step added to those before it. */
  metrics(): TraversalMetrics {
    let before: Measured | undefined;
    const steps: StepMetrics[] = [];
    for (const [at, step] of this.#steps.entries()) {
      // Labels are not steps of their own.
      if (step.name !== '')
        steps.push({
          id: `${at}.0.0()`,
          name: step.name,
          durationMs: Math.max(0, step.timeMs - (before?.timeMs ?? 0)),
          traversers: step.traversers,
          elements: step.elements,
          charge: Math.max(0, step.charge - (before?.charge ?? 0)),
          documents: step.documents - (before?.documents ?? 0),
          bytes: step.bytes - (before?.bytes ?? 0),
          partitionCalls: step.partitionCalls - (before?.partitionCalls ?? 0),
        });
      before = step;
    }
    return new TraversalMetrics(before?.timeMs ?? 0, steps);
  }
}

/** The service's names for what steps do. */
const OPERATORS: Readonly<Record<string, string>> = {
  V: 'GetVertices',
  E: 'GetEdges',
  out: 'GetNeighborVertices',
  in: 'GetNeighborVertices',
  both: 'GetNeighborVertices',
  outV: 'GetNeighborVertices',
  inV: 'GetNeighborVertices',
  bothV: 'GetNeighborVertices',
  otherV: 'GetNeighborVertices',
  outE: 'GetEdges',
  inE: 'GetEdges',
  bothE: 'GetEdges',
  coalesce: 'Coalesce',
  inject: 'ConstantSourceOperator',
  constant: 'ProjectOperator',
  project: 'ProjectOperator',
  select: 'ProjectOperator',
  values: 'ProjectOperator',
  valueMap: 'ProjectOperator',
  union: 'CartesianProductOperator',
  count: 'ProjectAggregation',
  sum: 'ProjectAggregation',
  min: 'ProjectAggregation',
  max: 'ProjectAggregation',
  mean: 'ProjectAggregation',
  fold: 'ProjectAggregation',
  group: 'ProjectAggregation',
  groupCount: 'ProjectAggregation',
};

/** The result of executionProfile(), in the service's form. */
export function executionProfile(gremlin: string, metrics: TraversalMetrics): GremlinValue {
  const { durationMs, steps } = metrics;
  return new GremlinMap([
    ['gremlin', gremlin],
    ['totalTime', Math.round(durationMs)],
    [
      'metrics',
      steps.map((step) => {
        const kind = step.name.slice(0, step.name.indexOf('('));
        const map = new GremlinMap([
          ['name', OPERATORS[kind] ?? kind],
          ['time', Math.round(step.durationMs)],
          ['annotations', new GremlinMap([['percentTime', percent(step.durationMs, durationMs)]])],
          ['counts', new GremlinMap([['resultCount', step.elements]])],
        ]);
        if (step.partitionCalls > 0)
          map.set('storeOps', [
            new GremlinMap([
              ['fanoutFactor', step.partitionCalls],
              ['count', step.documents],
              ['size', step.bytes],
              ['requestCharge', rounded(step.charge)],
              ['time', rounded(step.durationMs)],
            ]),
          ]);
        return map;
      }),
    ],
  ]);
}

function percent(part: number, whole: number): GremlinValue {
  return rounded(whole === 0 ? 0 : (100 * part) / whole);
}

function rounded(value: number): GremlinValue {
  return numberOf('double', Math.round(value * 100) / 100);
}
