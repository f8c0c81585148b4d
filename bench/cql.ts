/**
 * CQL beside the NoSQL API: CPU time of the server for each operation, and what it is in point reads and creates of
 * NoSQL. One server on SQLite, the stock drivers in this process, alternating within one run.
 *
 *   node bench/cql.ts [--quick]
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { CosmosClient } from '@azure/cosmos';
import cassandra from 'cassandra-driver';
import { medianOf } from './compare.ts';
import { type ApiServer, cpuMsOf, startApis } from './processes.ts';

const { values: flags } = parseArgs({ options: { quick: { type: 'boolean', default: false } } });
const ROUNDS = flags.quick ? 3 : 7;
const ROUND_MS = flags.quick ? 1000 : 2000;
const CONCURRENCY = 16;
const ITEMS = 1000;
const WIDE_ROWS = 10_000;
const TEXT = 'x'.repeat(900);

/** An operation, and the operation of NoSQL that it is compared with. */
interface Load {
  readonly name: string;
  readonly base: 'read' | 'create';
  run(number: number): Promise<unknown>;
}

const keyOf = (number: number): string => `p${number % 100}`;

async function nosqlLoads({ endpoints, key }: ApiServer): Promise<readonly Load[]> {
  const client = new CosmosClient({ endpoint: endpoints.nosql, key });
  const { database } = await client.databases.create({ id: 'bench' });
  const { container } = await database.containers.create({
    id: 'items',
    partitionKey: { paths: ['/pk'] },
    throughput: 1000,
  });
  const create = (number: number) =>
    container.items.create({ id: `${number}`, pk: keyOf(number), text: TEXT });
  for (let number = 0; number < ITEMS; number++) await create(number);
  return [
    {
      name: 'read',
      base: 'read',
      run: (number) => container.item(`${number % ITEMS}`, keyOf(number % ITEMS)).read(),
    },
    { name: 'create', base: 'create', run: (number) => create(ITEMS + number) },
  ];
}

async function cqlLoads({ endpoints, account, key }: ApiServer): Promise<readonly Load[]> {
  const client = new cassandra.Client({
    contactPoints: [endpoints.cassandra],
    localDataCenter: 'datacenter1',
    credentials: { username: account, password: key },
  });
  await client.connect();
  const strategy = "{ 'class': 'SimpleStrategy', 'replication_factor': 1 }";
  await client.execute(`CREATE KEYSPACE b WITH replication = ${strategy}`);
  await client.execute('CREATE TABLE b.rows (pk text, id int, text text, PRIMARY KEY ((pk), id))');
  await client.execute('CREATE TABLE b.wide (pk text, id int, text text, PRIMARY KEY ((pk), id))');
  await client.execute('CREATE TABLE b.counts (pk text PRIMARY KEY, n counter)');
  const run = (text: string, values: readonly unknown[]) =>
    client.execute(text, [...values], { prepare: true });
  const INSERT = 'INSERT INTO b.rows (pk, id, text) VALUES (?, ?, ?)';
  for (let number = 0; number < ITEMS; number++) await run(INSERT, [keyOf(number), number, TEXT]);
  const wide = 'INSERT INTO b.wide (pk, id, text) VALUES (?, ?, ?)';
  const batchOf = (text: string, pk: string, from: number) =>
    client.batch(
      Array.from({ length: 100 }, (_, at) => ({ query: text, params: [pk, from + at, TEXT] })),
      { prepare: true, logged: false },
    );
  for (let from = 0; from < WIDE_ROWS; from += 100) await batchOf(wide, 'w', from);
  const SELECT = 'SELECT * FROM b.rows WHERE pk = ? AND id = ?';
  const SLICE = 'SELECT * FROM b.wide WHERE pk = ? AND id >= ? LIMIT 100';
  const at = (number: number) => number % ITEMS;
  return [
    { name: 'select', base: 'read', run: (number) => run(SELECT, [keyOf(at(number)), at(number)]) },
    {
      name: 'slice of 100 rows',
      base: 'read',
      run: (number) => run(SLICE, ['w', (number * 37) % (WIDE_ROWS - 100)]),
    },
    {
      name: 'insert',
      base: 'create',
      run: (number) => run(INSERT, [keyOf(number), ITEMS + number, TEXT]),
    },
    {
      name: 'batch of 100 rows',
      base: 'create',
      run: (number) => batchOf(INSERT, `b${number % 100}`, number * 100),
    },
    {
      name: 'counter update',
      base: 'create',
      run: (number) => run('UPDATE b.counts SET n = n + 1 WHERE pk = ?', [keyOf(number)]),
    },
  ];
}

/** Microseconds of the server's CPU time for each operation. */
async function measure(pid: number, load: Load, next: () => number): Promise<number> {
  const beforeMs = cpuMsOf(pid);
  const end = performance.now() + ROUND_MS;
  let count = 0;
  const worker = async (): Promise<void> => {
    while (performance.now() < end) {
      await load.run(next());
      count++;
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, worker));
  return ((cpuMsOf(pid) - beforeMs) * 1000) / count;
}

const folder = mkdtempSync(join(tmpdir(), 'mesocosm-bench-cql-'));
const server = await startApis(folder);
const loads = [...(await nosqlLoads(server)), ...(await cqlLoads(server))];
const numbers = loads.map(() => 0);
const figures = loads.map(() => [] as number[]);
for (let round = -1; round < ROUNDS; round++)
  for (const [at, load] of loads.entries()) {
    const figure = await measure(server.pid, load, () => {
      numbers[at] = (numbers[at] as number) + 1;
      return numbers[at] as number;
    });
    // The first round only warms up.
    if (round >= 0) figures[at]?.push(figure);
  }
await server.stop();
rmSync(folder, { recursive: true });

console.log(`CPU us per operation of the server, median of ${ROUNDS} rounds, load ${loadavg()[0]}`);
const baseOf = { read: medianOf(figures[0] ?? []), create: medianOf(figures[1] ?? []) };
for (const [at, { name, base }] of loads.entries()) {
  const own = medianOf(figures[at] ?? []);
  console.log(`| ${name} | ${own.toFixed(0)} | ${(own / baseOf[base]).toFixed(2)} ${base}s |`);
}
process.exit(0);
