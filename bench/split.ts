/**
 * The effect of splits on clients: the same creates on two servers, alternating, one whose partitions split at 1 MB and one
 * whose partitions never do, both with four partitions to begin with; and how long writers of a partition waited.
 */
import { Agent } from 'node:http';
import { join } from 'node:path';
import { type Contender, compare, DATABASE, type Figures } from './compare.ts';
import { getJson } from './http.ts';
import { openData, seed } from './seed.ts';
import { type BenchServer, LoadClient, startOurs } from './servers/processes.ts';

const CONTAINER = 'splitting';
/** RU/s of four partitions, and items that fill them. */
const THROUGHPUT = 40_000;
const ITEMS = 3000;

export interface SplitFigures {
  readonly figures: readonly Figures[];
  readonly splitCount: number;
  readonly pauseP50Ms: number;
  readonly pauseP99Ms: number;
  readonly pauseMaxMs: number;
}

export interface SplitPace {
  readonly rounds: number;
  readonly warmUpMs: number;
  readonly measureMs: number;
}

export async function measureSplits(folder: string, pace: SplitPace): Promise<SplitFigures> {
  await using running = new AsyncDisposableStack();
  const start = async (name: string, flags: readonly string[]): Promise<BenchServer> => {
    const data = join(folder, name);
    const { service, close } = await openData(data);
    await seed(
      service,
      { database: DATABASE, container: CONTAINER, throughput: THROUGHPUT },
      ITEMS,
    );
    await close();
    return running.adopt(await startOurs(data, flags), (server) => server.stop());
  };
  const still = await start('still', []);
  const splitting = await start('split', [
    '--partition-storage-limit',
    '1m',
    '--logical-partition-limit',
    '1g',
  ]);
  const client = running.adopt(new LoadClient(), (started) => started.stop());
  const contenders = [
    { label: 'no splits', server: still },
    { label: 'splits at 1 MB', server: splitting },
  ].map((one): Contender => ({ ...one, container: CONTAINER, itemCount: ITEMS }));
  const pauses = new Map<string, number>();
  const rounds: (readonly Figures[])[] = [];
  for (let round = 0; round < pace.rounds; round++) {
    rounds.push(
      await compare(client, contenders, {
        operation: 'create',
        connections: 16,
        rounds: 1,
        warmUpMs: pace.warmUpMs,
        measureMs: pace.measureMs,
      }),
    );
    // The server tells of the last twenty only.
    await notePauses(splitting, pauses);
  }
  const sorted = [...pauses.values()].sort((a, b) => a - b);
  const at = (share: number): number => sorted[Math.floor(sorted.length * share)] ?? 0;
  return {
    figures: contenders.map(({ label }, index) => medians(label, rounds, index)),
    splitCount: sorted.length,
    pauseP50Ms: at(0.5),
    pauseP99Ms: at(0.99),
    pauseMaxMs: sorted.at(-1) ?? 0,
  };
}

function medians(label: string, rounds: readonly (readonly Figures[])[], at: number): Figures {
  const median = (pick: (figures: Figures) => number): number => {
    const values = rounds.map((figures) => pick(figures[at] as Figures)).sort((a, b) => a - b);
    return values[values.length >>> 1] ?? 0;
  };
  return {
    label,
    cpuUs: median(({ cpuUs }) => cpuUs),
    operationsPerSec: median(({ operationsPerSec }) => operationsPerSec),
    p50Ms: median(({ p50Ms }) => p50Ms),
    p99Ms: median(({ p99Ms }) => p99Ms),
  };
}

interface Split {
  readonly state: string;
  readonly children: readonly string[];
  readonly pauseMs: number | null;
}

async function notePauses(server: BenchServer, pauses: Map<string, number>): Promise<void> {
  const agent = new Agent();
  const query = `db=${DATABASE}&container=${CONTAINER}`;
  const report = await getJson(server.port, agent, ['_mesocosm', 'partitions'], query);
  agent.destroy();
  for (const { state, children, pauseMs } of (report as { splits: readonly Split[] }).splits) {
    if (state === 'failed') throw new Error('a split failed');
    if (pauseMs !== null) pauses.set(children.join(), pauseMs);
  }
}
