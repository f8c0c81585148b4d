/** Loads of queries: a filter that no range serves against the peer, and point reads during a query that takes seconds. */
import { type Contender, compare, DATABASE, type Figures, medianOf } from './compare.ts';
import type { Comparison } from './report/report.ts';
import type { BenchServer, LoadClient } from './servers/processes.ts';

export const FILTERED_ITEMS = 100_000;
export const FILTERED_CONTAINER = 'hundred';

/** One query takes the peer more than a second. */
const FILTER_LOAD = { connections: 1, rounds: 3, warmUpMs: 500, measureMs: 8000 } as const;
const READ_LOAD = { connections: 16, warmUpMs: 500, measureMs: 3000 } as const;
const ROUNDS = 3;
/** The long query runs before the reads count and after. */
const AROUND_MS = 1000;

export async function filterLoad(
  client: LoadClient,
  servers: readonly BenchServer[],
): Promise<Comparison> {
  const contenders = servers.map((server): Contender => {
    const { name: label } = server;
    return { label, server, container: FILTERED_CONTAINER, itemCount: FILTERED_ITEMS };
  });
  const figures = await compare(client, contenders, { operation: 'filter', ...FILTER_LOAD });
  return { title: 'filter over 100 k items', figures };
}

/** Reads of the small container while another client repeats a query over the large one. */
export async function besideLoad(
  reader: LoadClient,
  asker: LoadClient,
  ours: BenchServer,
  small: { readonly container: string; readonly itemCount: number },
): Promise<Comparison> {
  const read = () =>
    reader.measure(ours, {
      operation: 'read',
      database: DATABASE,
      ...small,
      firstNewItem: 0,
      ...READ_LOAD,
    });
  const query = () =>
    asker.measure(ours, {
      operation: 'long',
      database: DATABASE,
      container: FILTERED_CONTAINER,
      itemCount: FILTERED_ITEMS,
      firstNewItem: 0,
      connections: 1,
      warmUpMs: 0,
      measureMs: READ_LOAD.warmUpMs + READ_LOAD.measureMs + AROUND_MS,
    });
  const alone: Awaited<ReturnType<typeof read>>[] = [];
  const during: Awaited<ReturnType<typeof read>>[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    alone.push(await read());
    const running = query();
    await new Promise((resolve) => setTimeout(resolve, AROUND_MS / 2));
    during.push(await read());
    await running;
  }
  return {
    title: 'read, 16 connections, beside a query of seconds',
    figures: [figuresOf('ours, reads alone', alone), figuresOf('ours, both', during)],
  };
}

function figuresOf(
  label: string,
  results: readonly Awaited<ReturnType<LoadClient['measure']>>[],
): Figures {
  for (const { failures } of results)
    if (Object.keys(failures).length > 0) throw new Error(`${label}: ${JSON.stringify(failures)}`);
  return {
    label,
    cpuUs: medianOf(results.map(({ cpuMs, operations }) => (cpuMs * 1000) / operations)),
    operationsPerSec: medianOf(
      results.map(({ operations, elapsedMs }) => (operations * 1000) / elapsedMs),
    ),
    p50Ms: medianOf(results.map(({ p50Ms }) => p50Ms)),
    p99Ms: medianOf(results.map(({ p99Ms }) => p99Ms)),
  };
}
