/**
 * `npm run bench`: our server against a bare HTTP server and the peer, alternating within one run.
 *
 *   --quick     short rounds, to see whether a change is worth a real run; docs/benchmarks.md is left alone
 *   --large     also our server at 10 k and at 1 M items
 *   --no-peer   without the peer, which has to be installed from the network once
 *   --only OP   read, create, replace, batch, queries or script; or split: the effect of splits on clients, written to a section of its own
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type Contender, compare, DATABASE, type Load } from './compare.ts';
import { compareGovernor } from './governor.ts';
import { captureResponses, fillOverHttp } from './http.ts';
import type { Operation } from './load/protocol.ts';
import { besideLoad, FILTERED_CONTAINER, FILTERED_ITEMS, filterLoad } from './query-loads.ts';
import {
  type Comparison,
  describeRun,
  OURS_UNINDEXED,
  printReport,
  writeReport,
} from './report/report.ts';
import { printSplits, writeSplits } from './report/split-report.ts';
import { scriptLoads } from './scripts.ts';
import { openData, seed } from './seed.ts';
import { installPeers } from './servers/peers.ts';
import {
  type BenchServer,
  LoadClient,
  startBare,
  startOurs,
  startPeer,
} from './servers/processes.ts';
import { measureSplits } from './split.ts';
import { measureStart } from './start-figures.ts';

const { values: flags } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    large: { type: 'boolean', default: false },
    'no-peer': { type: 'boolean', default: false },
    only: { type: 'string' },
  },
});

const SMALL = 10_000;
const MILLION = 1_000_000;
/** The container of creates with no path indexed. */
const UNINDEXED = 'unindexed';
/** The container of what scripts create; empty to begin with. */
const SCRIPTED = 'scripted';
/** The container of sums over all items, in which nothing is created: sums shall not grow with the loads before them. */
const SUMMED = 'summed';
const OPERATIONS = (['read', 'create', 'replace'] as const).filter(
  (operation) => flags.only === undefined || flags.only === operation,
);
const HAS_QUERIES = flags.only === 'queries' || (flags.only === undefined && !flags.quick);
const CONNECTIONS = flags.quick ? [16] : [16, 64];
/** There are many loads of scripts, each against itself alone. */
const SCRIPT_ROUNDS = 3;
const PACE = flags.quick
  ? { rounds: 3, warmUpMs: 300, measureMs: 700 }
  : { rounds: 7, warmUpMs: 500, measureMs: 2000 };

/** Items are there before the server starts: filling over HTTP would take minutes. */
async function fillOurs(data: string): Promise<void> {
  const { service, close } = await openData(data);
  await seed(service, { database: DATABASE, container: 'main' }, SMALL);
  const unindexed = { database: DATABASE, container: UNINDEXED, isIndexed: false };
  await seed(service, unindexed, SMALL);
  await seed(service, { database: DATABASE, container: SCRIPTED }, 0);
  await seed(service, { database: DATABASE, container: SUMMED }, SMALL);
  if (HAS_QUERIES)
    await seed(service, { database: DATABASE, container: FILTERED_CONTAINER }, FILTERED_ITEMS);
  if (flags.large) {
    await seed(service, { database: DATABASE, container: 'small' }, SMALL);
    console.log('filling a million items');
    await seed(service, { database: DATABASE, container: 'million' }, MILLION);
  }
  await close();
}

async function bench(data: string): Promise<readonly Comparison[]> {
  if (!flags['no-peer']) installPeers();
  await fillOurs(data);
  await using running = new AsyncDisposableStack();
  const keep = (server: BenchServer) => running.adopt(server, () => server.stop());
  const ours = keep(await startOurs(data));
  const servers = [ours, keep(await startBare(await captureResponses(ours.port, 'main')))];
  if (!flags['no-peer'])
    for (const mode of ['as shipped', 'tuned'] as const) {
      const peer = keep(await startPeer(mode));
      await fillOverHttp(peer, 'main', SMALL);
      if (HAS_QUERIES && mode === 'tuned')
        await fillOverHttp(peer, FILTERED_CONTAINER, FILTERED_ITEMS);
      servers.push(peer);
    }
  const client = running.adopt(new LoadClient(), (started) => started.stop());
  const comparisons: Comparison[] = [];
  const run = async (title: string, contenders: readonly Contender[], load: Load) => {
    console.log(title);
    comparisons.push({ title, figures: await compare(client, contenders, load) });
  };
  const all = servers.map((server): Contender => {
    return { label: server.name, server, container: 'main', itemCount: SMALL };
  });
  const withUnindexed: readonly Contender[] = [
    ...all,
    { label: OURS_UNINDEXED, server: ours, container: UNINDEXED, itemCount: SMALL },
  ];
  for (const operation of OPERATIONS)
    for (const connections of CONNECTIONS)
      await run(
        `${operation}, ${connections} connections`,
        operation === 'create' ? withUnindexed : all,
        { operation, connections, ...PACE },
      );
  // The peer has no batches, and a bare server nothing to compare. Single creates of many clients share
  // commits, those of few do not, so the gain of a batch depends on the number of clients.
  if (flags.only === undefined || flags.only === 'batch')
    for (const connections of [1, 4, 16])
      for (const operation of ['create', 'batch'] satisfies Operation[]) {
        const what = operation === 'batch' ? 'batch of 100 creates' : operation;
        const load = { operation, connections, ...PACE };
        await run(`${what}, ours alone, ${connections} connections`, all.slice(0, 1), load);
      }
  if (HAS_QUERIES) {
    console.log('queries');
    const filtered = servers.filter(({ name }) => name === 'ours' || name === 'peer tuned');
    comparisons.push(await filterLoad(client, filtered));
    const asker = running.adopt(new LoadClient(), (started) => started.stop());
    const small = { container: 'main', itemCount: SMALL };
    comparisons.push(await besideLoad(client, asker, ours, small));
  }
  if (flags.only === undefined || flags.only === 'script')
    for (const { title, container, load, meanwhile } of await scriptLoads(ours, {
      container: SUMMED,
      written: SCRIPTED,
    })) {
      await using _hostile = meanwhile?.();
      const contender = { label: ours.name, server: ours, container, itemCount: SMALL };
      await run(title, [contender], { ...load, ...PACE, rounds: SCRIPT_ROUNDS });
    }
  if (!flags.large) return comparisons;
  const sizes: Contender[] = [
    { label: '10 k items', server: ours, container: 'small', itemCount: SMALL },
    { label: '1 M items', server: ours, container: 'million', itemCount: MILLION },
  ];
  for (const operation of ['read', 'create'] satisfies Operation[])
    await run(`${operation} at 10 k and 1 M items`, sizes, { operation, connections: 16, ...PACE });
  for (const operation of ['equality', 'range', 'window'] satisfies Operation[])
    await run(`${operation} query at 10 k and 1 M items`, sizes, {
      operation,
      connections: 16,
      ...PACE,
    });
  return comparisons;
}

async function benchSplits(): Promise<void> {
  const pace = flags.quick
    ? { rounds: 3, warmUpMs: 300, measureMs: 2000 }
    : { rounds: 9, warmUpMs: 300, measureMs: 4000 };
  const report = { run, splits: await measureSplits(folder, pace) };
  console.log(printSplits(report));
  if (!flags.quick) writeSplits(report);
}

async function benchGovernor(): Promise<void> {
  console.log(
    printReport({ run, comparisons: await compareGovernor(folder, PACE), start: undefined }),
  );
}

async function benchRequests(): Promise<void> {
  const comparisons = await bench(join(folder, 'data'));
  const start = flags.quick ? undefined : await measureStart();
  console.log(printReport({ run, comparisons, start }));
  if (!flags.quick && flags.only === undefined && !flags['no-peer'])
    writeReport({ run, comparisons, start });
}

const folder = mkdtempSync(join(tmpdir(), 'mesocosm-bench-'));
const run = describeRun();
try {
  if (flags.only === 'split') await benchSplits();
  else if (flags.only === 'governor') await benchGovernor();
  else await benchRequests();
} finally {
  rmSync(folder, { recursive: true });
}
