/**
 * The Table API beside Azurite, both through the stock client, both keeping what they are given on disk. By turns within
 * one run; what counts is the server's CPU time per operation.
 *
 *   node bench/table.ts [--quick]
 */
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  AzureNamedKeyCredential,
  odata,
  TableClient,
  type TransactionAction,
} from '@azure/data-tables';
import { WELL_KNOWN_KEY, WELL_KNOWN_STORAGE_KEY } from '../src/base/index.ts';
import { medianOf } from './compare.ts';
import { cpuMsOf, startOurs } from './processes.ts';

const ACCOUNT = 'devstoreaccount1';
const isQuick = process.argv.includes('--quick');
const ROUNDS = isQuick ? 3 : 5;
const WRITERS = 16;
/** Partitions of the table read from, and entities of each. */
const PARTITIONS = 20;
const ROWS = isQuick ? 500 : 2500;
const BATCH = 100;

interface Contender {
  readonly name: string;
  readonly pid: number;
  readonly table: TableClient;
  stop(): Promise<void>;
}

interface Load {
  readonly name: string;
  /** Operations of one round. */
  readonly count: number;
  run(table: TableClient, at: number): Promise<unknown>;
}

let nextNew = 0;

function entity(partition: number, row: number): { partitionKey: string; rowKey: string } {
  const text = `${partition}-${row}-`.padEnd(100, 'x');
  return {
    partitionKey: `p${partition}`,
    rowKey: `r${String(row).padStart(6, '0')}`,
    ...{ name: text, count: row % 50, price: row + 0.5, big: BigInt(row), isOn: row % 2 === 0 },
    ...{ when: new Date(1_700_000_000_000 + row), more: text, city: `city ${row % 10}` },
  };
}

const newEntity = () => entity(1_000 + (nextNew++ % PARTITIONS), 100_000 + nextNew);

const LOADS: readonly Load[] = [
  { name: 'insert', count: 800, run: (table) => table.createEntity(newEntity()) },
  {
    name: 'point get',
    count: 1600,
    run: (table, at) =>
      table.getEntity(`p${at % PARTITIONS}`, `r${String(at % ROWS).padStart(6, '0')}`),
  },
  {
    name: 'batch of 100',
    count: 32,
    run(table) {
      const partition = 10_000 + nextNew++;
      const actions = Array.from(
        { length: BATCH },
        (_, row): TransactionAction => ['create', entity(partition, row)],
      );
      return table.submitTransaction(actions);
    },
  },
  {
    name: 'filtered query',
    count: 320,
    async run(table, at) {
      const filter = odata`PartitionKey eq ${`p${at % PARTITIONS}`} and count eq ${at % 50}`;
      const found = [];
      for await (const row of table.listEntities({ queryOptions: { filter } })) found.push(row);
      if (found.length !== ROWS / 50) throw new Error(`query: ${found.length} rows`);
    },
  },
];

function client(endpoint: string, key: string): TableClient {
  const credential = new AzureNamedKeyCredential(ACCOUNT, key);
  return new TableClient(endpoint, 'bench', credential, { allowInsecureConnection: true });
}

async function startContender(folder: string): Promise<Contender> {
  const server = await startOurs(join(folder, 'ours'));
  const { tablePort } = server;
  const table = client(`http://127.0.0.1:${tablePort}/${ACCOUNT}`, WELL_KNOWN_KEY);
  return { name: 'ours', pid: server.pid, table, stop: () => server.stop() };
}

async function startAzurite(folder: string): Promise<Contender> {
  const main = fileURLToPath(
    new URL('./peers/node_modules/azurite/dist/src/table/main.js', import.meta.url),
  );
  if (!existsSync(main)) throw new Error('npm install in bench/peers first');
  const port = await freePort();
  const flags = [
    '--location',
    folder,
    '--tablePort',
    String(port),
    '--silent',
    '--disableTelemetry',
  ];
  const child = spawn(process.execPath, [main, ...flags], { stdio: 'ignore', cwd: folder });
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const table = client(`http://127.0.0.1:${port}/${ACCOUNT}`, WELL_KNOWN_STORAGE_KEY);
  for (let attempt = 0; ; attempt++) {
    const isUp = await fetch(`http://127.0.0.1:${port}/`).then(
      () => true,
      () => false,
    );
    if (isUp) break;
    if (attempt > 200) throw new Error('Azurite did not start');
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return {
    name: 'Azurite',
    pid: child.pid as number,
    table,
    async stop() {
      child.kill('SIGTERM');
      await ended;
    },
  };
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });
}

async function fill(table: TableClient): Promise<void> {
  await table.createTable();
  for (let partition = 0; partition < PARTITIONS; partition++)
    for (let row = 0; row < ROWS; row += BATCH)
      await table.submitTransaction(
        Array.from(
          { length: BATCH },
          (_, at): TransactionAction => ['create', entity(partition, row + at)],
        ),
      );
}

/** Microseconds of server CPU per operation. */
async function measure({ table, pid }: Contender, load: Load): Promise<number> {
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let at = next++; at < load.count; at = next++) await load.run(table, at);
  };
  const before = cpuMsOf(pid);
  await Promise.all(Array.from({ length: WRITERS }, worker));
  return ((cpuMsOf(pid) - before) * 1000) / load.count;
}

const folder = mkdtempSync(join(tmpdir(), 'mesocosm-bench-table-'));
const contenders: Contender[] = [];
try {
  contenders.push(await startContender(folder), await startAzurite(folder));
  for (const { table } of contenders) await fill(table);
  console.log('| load | ours, CPU us/op | Azurite, CPU us/op | ratio |\n|---|---:|---:|---:|');
  for (const load of LOADS) {
    const figures = contenders.map((): number[] => []);
    for (let round = 0; round <= ROUNDS; round++)
      for (const [at, contender] of contenders.entries()) {
        const cpuUs = await measure(contender, load);
        // The first round warms up.
        if (round > 0) figures[at]?.push(cpuUs);
      }
    const [ours = 0, azurite = 0] = figures.map(medianOf);
    console.log(
      `| ${load.name} | ${ours.toFixed(0)} | ${azurite.toFixed(0)} | ${(azurite / ours).toFixed(1)} |`,
    );
  }
} finally {
  for (const contender of contenders) await contender.stop();
  rmSync(folder, { recursive: true, force: true });
}
