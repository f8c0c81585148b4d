/**
 * CQL beside the NoSQL API: CPU time of the server for each operation, and what it is in point reads and creates of
 * NoSQL. One server on SQLite, the stock drivers in this process, alternating within one run.
 *
 *   node bench/cql.ts [--quick]
 *   node bench/cql.ts --large     CQL alone: 10 k against 1 M rows of a table, 100 against 1 M rows of a partition
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { CosmosClient } from '@azure/cosmos';
import cassandra from 'cassandra-driver';
import { alternate, medianOf } from './compare.ts';
import { type ApiServer, cpuMsOf, startApis } from './servers/processes.ts';

const { values: flags } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    large: { type: 'boolean', default: false },
  },
});
const ROUNDS = flags.quick ? 3 : 7;
const ROUND_MS = flags.quick ? 1000 : 2000;
const CONCURRENCY = 16;
const ITEMS = 1000;
const WIDE_ROWS = 10_000;
const TEXT = 'x'.repeat(900);

/** An operation, and the operation of NoSQL that it is compared with. */
interface Load {
  readonly name: string;
  readonly base: 'read' | 'create' | undefined;
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

async function connect({ endpoints, account, key }: ApiServer): Promise<cassandra.Client> {
  const client = new cassandra.Client({
    contactPoints: [endpoints.cassandra],
    localDataCenter: 'datacenter1',
    credentials: { username: account, password: key },
    socketOptions: { readTimeout: 60_000 },
  });
  await client.connect();
  const strategy = "{ 'class': 'SimpleStrategy', 'replication_factor': 1 }";
  await client.execute(`CREATE KEYSPACE b WITH replication = ${strategy}`);
  return client;
}

async function cqlLoads(server: ApiServer): Promise<readonly Load[]> {
  const client = await connect(server);
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

const ROWS_OF_KEY = 100;

/** The same operations on a small and on a large table, and on a narrow and on a wide partition. */
async function largeLoads(server: ApiServer): Promise<readonly Load[]> {
  const client = await connect(server);
  const run = (text: string, values: readonly unknown[]) =>
    client.execute(text, [...values], { prepare: true });
  const text = 'x'.repeat(100);
  const fill = async (table: string, rows: number, keyOfRow: (row: number) => number) => {
    const insert = `INSERT INTO b.${table} (pk, id, text) VALUES (?, ?, ?)`;
    let from = 0;
    const worker = async (): Promise<void> => {
      while (from < rows) {
        const first = from;
        from += ROWS_OF_KEY;
        const batch = Array.from({ length: Math.min(ROWS_OF_KEY, rows - first) }, (_, at) => ({
          query: insert,
          params: [keyOfRow(first + at), first + at, text],
        }));
        await client.batch(batch, { prepare: true, logged: false });
      }
    };
    await Promise.all(Array.from({ length: 8 }, worker));
  };
  const loads: Load[] = [];
  for (const rows of [10_000, 1_000_000]) {
    const table = `rows_${rows}`;
    await client.execute(
      `CREATE TABLE b.${table} (pk int, id int, text text, PRIMARY KEY (pk, id))`,
    );
    await fill(table, rows, (row) => Math.floor(row / ROWS_OF_KEY));
    const at = (number: number) => (number * 7919) % rows;
    loads.push({
      name: `select, ${rows} rows in the table`,
      base: undefined,
      run: (number) =>
        run(`SELECT * FROM b.${table} WHERE pk = ? AND id = ?`, [
          Math.floor(at(number) / ROWS_OF_KEY),
          at(number),
        ]),
    });
    loads.push({
      name: `insert, ${rows} rows in the table`,
      base: undefined,
      run: (number) =>
        run(`INSERT INTO b.${table} (pk, id, text) VALUES (?, ?, ?)`, [
          Math.floor(at(number) / ROWS_OF_KEY),
          rows + number,
          text,
        ]),
    });
  }
  await client.execute('CREATE TABLE b.wide (pk int, id int, text text, PRIMARY KEY (pk, id))');
  for (const rows of [100, 1_000_000]) {
    await fill('wide', rows, () => rows);
    const at = (number: number) => (number * 7919) % Math.max(1, rows - ROWS_OF_KEY);
    loads.push({
      name: `select, ${rows} rows in the partition`,
      base: undefined,
      run: (number) => run('SELECT * FROM b.wide WHERE pk = ? AND id = ?', [rows, at(number)]),
    });
    loads.push({
      name: `slice of 100 rows, ${rows} rows in the partition`,
      base: undefined,
      run: (number) =>
        run('SELECT * FROM b.wide WHERE pk = ? AND id >= ? LIMIT 100', [rows, at(number)]),
    });
  }
  return loads;
}

interface Figure {
  /** Microseconds of the server's CPU time for each operation. */
  readonly cpu: number;
  /** Microseconds of wall time from request to response, with all clients at work. */
  readonly wall: number;
}

async function measure(pid: number, load: Load, next: () => number): Promise<Figure> {
  const beforeMs = cpuMsOf(pid);
  const begin = performance.now();
  const end = begin + ROUND_MS;
  let count = 0;
  const worker = async (): Promise<void> => {
    while (performance.now() < end) {
      await load.run(next());
      count++;
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, worker));
  return {
    cpu: ((cpuMsOf(pid) - beforeMs) * 1000) / count,
    wall: ((performance.now() - begin) * 1000 * CONCURRENCY) / count,
  };
}

const folder = mkdtempSync(join(tmpdir(), 'mesocosm-bench-cql-'));
const server = await startApis(folder);
const loads = flags.large
  ? await largeLoads(server)
  : [...(await nosqlLoads(server)), ...(await cqlLoads(server))];
const figures = await alternate(loads, ROUNDS, (load, nextNumber) =>
  measure(server.pid, load, nextNumber),
);
await server.stop();
rmSync(folder, { recursive: true });

const load = (loadavg()[0] ?? 0).toFixed(1);
console.log(
  `us per operation, median of ${ROUNDS} rounds, ${CONCURRENCY} requests at once, load ${load}`,
);
console.log('| operation | CPU of the server | wall | CPU in point reads or creates of NoSQL |');
console.log('| --- | --- | --- | --- |');
const cpuOf = (at: number): number => medianOf((figures[at] ?? []).map(({ cpu }) => cpu));
const baseOf = { read: 0, create: 1 };
for (const [at, { name, base }] of loads.entries()) {
  const wall = medianOf((figures[at] ?? []).map((figure) => figure.wall));
  const ratio =
    base === undefined ? '' : `${(cpuOf(at) / cpuOf(baseOf[base])).toFixed(2)} ${base}s`;
  console.log(`| ${name} | ${cpuOf(at).toFixed(0)} | ${wall.toFixed(0)} | ${ratio} |`);
}
process.exit(0);
