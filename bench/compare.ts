/** Rounds of the same load on several servers, alternating, so that other work on the machine affects all of them. */

import type { Operation } from './load/protocol.ts';
import type { BenchServer, LoadClient, Measurement } from './servers/processes.ts';

/** One thing measured against others: a server, or one server with another container. */
export interface Contender {
  readonly label: string;
  readonly server: BenchServer;
  readonly container: string;
  readonly itemCount: number;
}

export interface Load {
  readonly operation: Operation;
  readonly connections: number;
  readonly rounds: number;
  readonly warmUpMs: number;
  readonly measureMs: number;
}

/** Medians over the rounds. */
export interface Figures {
  readonly label: string;
  readonly cpuUs: number;
  readonly operationsPerSec: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

export const DATABASE = 'bench';

/**
 * How much longer the round before the first is: it takes some 50,000 requests until the code of a path as long as that
 * of a create is compiled. In the first seconds ours takes 585 us, after half a minute 190.
 */
const FIRST_ROUND_LENGTH = 5;

/** New items get numbers after all others, and never twice in a run. */
let nextNewItem = 100_000_000;

export async function compare(
  client: LoadClient,
  contenders: readonly Contender[],
  load: Load,
): Promise<readonly Figures[]> {
  const measured = contenders.map((): Measurement[] => []);
  // The first round does not count: our server was filled without requests, so its code is not compiled yet.
  for (let round = -1; round < load.rounds; round++)
    for (let step = 0; step < contenders.length; step++) {
      // The first server of one round is the last of the next.
      const at = (step + round + contenders.length) % contenders.length;
      const { label, server, container, itemCount } = contenders[at] as Contender;
      const result = await client.measure(server, {
        operation: load.operation,
        database: DATABASE,
        container,
        itemCount,
        firstNewItem: nextNewItem,
        connections: load.connections,
        warmUpMs: load.warmUpMs,
        measureMs: round < 0 ? load.measureMs * FIRST_ROUND_LENGTH : load.measureMs,
      });
      nextNewItem = Math.max(nextNewItem, result.lastNewItem) + 1;
      if (Object.keys(result.failures).length > 0)
        throw new Error(`${label} ${load.operation}: ${JSON.stringify(result.failures)}`);
      if (round >= 0) measured[at]?.push(result);
    }
  return contenders.map(({ label }, at) => figures(label, measured[at] ?? []));
}

function figures(label: string, results: readonly Measurement[]): Figures {
  const median = (pick: (result: Measurement) => number): number => medianOf(results.map(pick));
  return {
    label,
    cpuUs: median(({ cpuMs, operations }) => (cpuMs * 1000) / operations),
    operationsPerSec: median(({ operations, elapsedMs }) => (operations * 1000) / elapsedMs),
    p50Ms: median(({ p50Ms }) => p50Ms),
    p99Ms: median(({ p99Ms }) => p99Ms),
  };
}

export function medianOf(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >>> 1;
  const upper = sorted[middle] ?? 0;
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? 0)) / 2;
}

/** The figures of each load over alternating rounds; numbers count up within a load and never come twice. */
export async function alternate<L, F>(
  loads: readonly L[],
  rounds: number,
  measure: (load: L, nextNumber: () => number) => Promise<F>,
): Promise<readonly (readonly F[])[]> {
  const contenders = loads.map((load) => ({ load, number: 0, figures: [] as F[] }));
  for (let round = -1; round < rounds; round++)
    for (const contender of contenders) {
      const figure = await measure(contender.load, () => ++contender.number);
      // The first round only warms up.
      if (round >= 0) contender.figures.push(figure);
    }
  return contenders.map(({ figures }) => figures);
}
