/** The cost of enforcing throughput for requests that are not refused: the same load enforced and reported, alternating. */
import { join } from 'node:path';
import { type Contender, compare, DATABASE } from './compare.ts';
import type { Comparison } from './report/report.ts';
import { openData, seed } from './seed.ts';
import { type BenchServer, LoadClient, startOurs } from './servers/processes.ts';

const CONTAINER = 'governed';
const ITEMS = 10_000;
/** RU/s: ten partitions, and far more than is used. */
const THROUGHPUT = 100_000;

export async function compareGovernor(
  folder: string,
  pace: { readonly rounds: number; readonly warmUpMs: number; readonly measureMs: number },
): Promise<readonly Comparison[]> {
  await using running = new AsyncDisposableStack();
  const start = async (mode: string): Promise<BenchServer> => {
    const data = join(folder, mode);
    const { service, close } = await openData(data);
    await seed(
      service,
      { database: DATABASE, container: CONTAINER, throughput: THROUGHPUT },
      ITEMS,
    );
    await close();
    return running.adopt(await startOurs(data, ['--throughput', mode]), (server) => server.stop());
  };
  const contenders: Contender[] = [];
  for (const mode of ['report', 'enforce'])
    contenders.push({
      label: mode,
      server: await start(mode),
      container: CONTAINER,
      itemCount: ITEMS,
    });
  const client = running.adopt(new LoadClient(), (started) => started.stop());
  const comparisons: Comparison[] = [];
  for (const operation of ['read', 'create'] as const)
    comparisons.push({
      title: `${operation}, 16 connections`,
      figures: await compare(client, contenders, { operation, connections: 16, ...pace }),
    });
  return comparisons;
}
