/**
 * The MongoDB API beside PostgreSQL with JSONB: the same documents, each by its stock driver, every write on disk before
 * it is acknowledged. Alternating within one run; wall time and CPU time of the server, all its threads and processes.
 *
 *   node bench/mongo.ts [--quick]
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { MongoClient } from 'mongodb';
import pg from 'pg';
import { LocalReplicaSet } from '../src/engine/postgres/local/index.ts';
import { alternate, medianOf } from './compare.ts';
import { type ApiServer, cpuMsOf, startApis } from './servers/processes.ts';

const { values: flags } = parseArgs({ options: { quick: { type: 'boolean', default: false } } });
const ROUNDS = flags.quick ? 3 : 5;
const DOCUMENTS = 100_000;
const BATCH = 1000;
const GROUPS = 1000;
/** Operations before the first round, as a multiple of a round: what is measured is compiled code and a warm cache. */
const WARM_UP = 5;
/** Numbers of the documents that they write: none of a round. */
const FIRST_WARM_UP = 400_000;
const CONNECTIONS = 8;
const TEXT = 'x'.repeat(200);

interface Row {
  readonly _id: number;
  readonly city: string;
  readonly group: number;
  readonly score: number;
  readonly text: string;
}

function rowOf(number: number): Row {
  const score = (number * 7919) % 1_000_003;
  return { _id: number, city: `c${number % 50}`, group: number % GROUPS, score, text: TEXT };
}

const rowsFrom = (first: number, count: number): Row[] =>
  Array.from({ length: count }, (_, at) => rowOf(first + at));

/** The result of each operation is the number of documents that came back, which both sides must agree on. */
interface Contender {
  readonly name: string;
  readonly cpuMs: () => number;
  findOne(id: number): Promise<number>;
  insertOne(row: Row): Promise<number>;
  insertMany(rows: Row[]): Promise<number>;
  indexedFind(group: number): Promise<number>;
  sortLimit(): Promise<number>;
  group(): Promise<number>;
  countAll(): Promise<number>;
  countByIndex(group: number): Promise<number>;
  countRange(group: number): Promise<number>;
  distinctByIndex(): Promise<number>;
  lookup(group: number): Promise<number>;
  close(): Promise<unknown>;
}

async function mongo({ endpoints, account, key, pid }: ApiServer): Promise<Contender> {
  const { host } = new URL(endpoints.mongo);
  const login = `${account}:${encodeURIComponent(key)}`;
  const client = await MongoClient.connect(`mongodb://${login}@${host}/?directConnection=true`, {
    maxPoolSize: CONNECTIONS,
  });
  const rows = client.db('bench').collection<Row>('rows');
  await rows.createIndex({ group: 1 });
  return {
    name: 'mesocosm',
    cpuMs: () => cpuMsOf(pid),
    findOne: async (id) => ((await rows.findOne({ _id: id })) === null ? 0 : 1),
    insertOne: async (row) => Number((await rows.insertOne(row)).acknowledged),
    insertMany: async (many) => (await rows.insertMany(many)).insertedCount,
    indexedFind: async (group) => (await rows.find({ group }).limit(100).toArray()).length,
    sortLimit: async () => (await rows.find().sort({ score: -1 }).limit(20).toArray()).length,
    group: async () =>
      (
        await rows
          .aggregate([{ $group: { _id: '$city', count: { $sum: 1 }, total: { $sum: '$score' } } }])
          .toArray()
      ).length,
    countAll: () => rows.countDocuments(),
    countByIndex: (group) => rows.countDocuments({ group }),
    countRange: (group) => rows.countDocuments({ group: { $gte: group, $lt: group + 100 } }),
    distinctByIndex: async () => (await rows.distinct('group')).length,
    lookup: async (group) =>
      (
        await rows
          .aggregate([
            { $match: { group } },
            { $limit: 10 },
            {
              $lookup: {
                from: 'rows',
                let: { own: '$group' },
                pipeline: [{ $match: { $expr: { $eq: ['$group', '$$own'] } } }, { $limit: 3 }],
                as: 'others',
              },
            },
            { $unwind: '$others' },
          ])
          .toArray()
      ).length,
    close: () => client.close(),
  };
}

const GROUP = "(doc->>'group')::integer";

/** The CPU time of all processes of a PostgreSQL server: the first one and its children. */
function postgresCpuMs(first: number): number {
  let sum = cpuMsOf(first);
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
      if (Number(stat[1]) === first) sum += cpuMsOf(Number(name));
    } catch {
      // The process has ended.
    }
  }
  return sum;
}

async function postgres(url: string, pid: number): Promise<Contender> {
  const pool = new pg.Pool({ connectionString: url, max: CONNECTIONS });
  // Members that end after a failure end their connections too: the failure itself is to be shown.
  pool.on('error', () => undefined);
  await pool.query('CREATE TABLE rows (id integer PRIMARY KEY, doc jsonb NOT NULL)');
  await pool.query("CREATE INDEX ON rows (((doc->>'group')::integer))");
  const run = async (name: string, text: string, values: unknown[] = []): Promise<number> =>
    (await pool.query({ name, text, values })).rowCount ?? 0;
  const number = async (name: string, text: string, values: unknown[] = []): Promise<number> =>
    (await pool.query({ name, text, values })).rows[0].n;
  return {
    name: 'PostgreSQL',
    cpuMs: () => postgresCpuMs(pid),
    findOne: (id) => run('one', 'SELECT doc FROM rows WHERE id = $1', [id]),
    insertOne: (row) =>
      run('insert', 'INSERT INTO rows VALUES ($1, $2)', [row._id, JSON.stringify(row)]),
    insertMany: (rows) =>
      run(
        'many',
        "INSERT INTO rows SELECT (doc->>'_id')::integer, doc FROM jsonb_array_elements($1::jsonb) AS doc",
        [JSON.stringify(rows)],
      ),
    indexedFind: (group) =>
      run('find', "SELECT doc FROM rows WHERE (doc->>'group')::integer = $1 LIMIT 100", [group]),
    sortLimit: () =>
      run('sort', "SELECT doc FROM rows ORDER BY (doc->>'score')::integer DESC LIMIT 20"),
    group: () =>
      run(
        'group',
        "SELECT doc->>'city', count(*), sum((doc->>'score')::integer) FROM rows GROUP BY 1",
      ),
    countAll: () => number('all', 'SELECT count(*)::integer AS n FROM rows'),
    countByIndex: (group) =>
      number('count', `SELECT count(*)::integer AS n FROM rows WHERE ${GROUP} = $1`, [group]),
    countRange: (group) =>
      number(
        'range',
        `SELECT count(*)::integer AS n FROM rows WHERE ${GROUP} >= $1 AND ${GROUP} < $2`,
        [group, group + 100],
      ),
    distinctByIndex: () => run('distinct', `SELECT DISTINCT ${GROUP} FROM rows`),
    lookup: (group) =>
      run(
        'lookup',
        `SELECT a.doc, b.doc FROM (SELECT doc FROM rows WHERE ${GROUP} = $1 LIMIT 10) a,
           LATERAL (SELECT doc FROM rows
                    WHERE ${GROUP} = (a.doc->>'group')::integer LIMIT 3) b`,
        [group],
      ),
    close: () => pool.end(),
  };
}

interface Load {
  readonly name: string;
  /** Operations of a round, and how many are under way at once. */
  readonly count: number;
  readonly width: number;
  run(contender: Contender, number: number): Promise<number>;
}

/** Numbers of new documents: each contender has its own table, so both may take the same. */
const FIRST_NEW = 1_000_000;
const FIRST_BATCH = 2_000_000;

const LOADS: readonly Load[] = [
  { name: 'group over 100 k', count: 3, width: 1, run: (one) => one.group() },
  { name: 'sort of 100 k with limit', count: 3, width: 1, run: (one) => one.sortLimit() },
  { name: 'count of 100 k', count: 10, width: 1, run: (one) => one.countAll() },
  {
    name: 'count of 100 by index',
    count: 300,
    width: CONNECTIONS,
    run: (one, number) => one.countByIndex((number * 37) % GROUPS),
  },
  {
    name: 'count of 10 k by index',
    count: 30,
    width: 1,
    run: (one, number) => one.countRange((number * 37) % (GROUPS - 100)),
  },
  {
    name: 'distinct of 1,000 by index',
    count: 10,
    width: 1,
    run: (one) => one.distinctByIndex(),
  },
  {
    name: 'lookup with $expr, 10 rows',
    count: 3,
    width: 1,
    run: (one, number) => one.lookup((number * 37) % GROUPS),
  },
  {
    name: 'findOne by _id',
    count: 2000,
    width: CONNECTIONS,
    run: (one, number) => one.findOne((number * 7919) % DOCUMENTS),
  },
  {
    name: 'indexed find of 100',
    count: 300,
    width: CONNECTIONS,
    run: (one, number) => one.indexedFind((number * 37) % GROUPS),
  },
  {
    name: 'insertOne',
    count: 1000,
    width: CONNECTIONS,
    run: (one, number) => one.insertOne(rowOf(FIRST_NEW + number)),
  },
  {
    name: 'insertMany of 1,000',
    count: 4,
    width: 1,
    run: (one, number) => one.insertMany(rowsFrom(FIRST_BATCH + number * BATCH, BATCH)),
  },
];

interface Figure {
  readonly wallMs: number;
  readonly cpuMs: number;
  readonly results: number;
}

async function measure(
  contender: Contender,
  load: Load,
  nextNumber: () => number,
): Promise<Figure> {
  const beforeMs = contender.cpuMs();
  const startedMs = performance.now();
  let begun = 0;
  let results = 0;
  const worker = async (): Promise<void> => {
    while (begun < load.count) {
      begun++;
      // The sum is read after the wait: other workers add to it meanwhile.
      const found = await load.run(contender, nextNumber());
      results += found;
    }
  };
  await Promise.all(Array.from({ length: load.width }, worker));
  const wallMs = (performance.now() - startedMs) / load.count;
  return { wallMs, cpuMs: (contender.cpuMs() - beforeMs) / load.count, results };
}

const folder = mkdtempSync(join(tmpdir(), 'mesocosm-bench-mongo-'));
await using members = await LocalReplicaSet.start({ members: 1 });
const server = await startApis(folder, ['--portal-port', 'off']);
const contenders = [
  await mongo(server),
  await postgres(members.url, members.primary.pid as number),
] as const;
for (const contender of contenders) {
  const startedMs = performance.now();
  for (let first = 0; first < DOCUMENTS; first += BATCH)
    await contender.insertMany(rowsFrom(first, BATCH));
  console.log(`${contender.name}: filled in ${Math.round(performance.now() - startedMs)} ms`);
}

const shown = (ms: number): string => (ms < 10 ? ms.toFixed(2) : ms.toFixed(0));
console.log(`median of ${ROUNDS} rounds, load ${loadavg()[0]?.toFixed(1)} before`);
console.log(
  '| operation | ours, ms | CPU ms | PostgreSQL, ms | CPU ms | wall, ours/theirs | CPU |',
);
console.log('|---|---:|---:|---:|---:|---:|---:|');
for (const load of LOADS) {
  for (const contender of contenders) {
    let number = FIRST_WARM_UP;
    await measure(contender, { ...load, count: WARM_UP * load.count }, () => number++);
  }
  const figures = await alternate(contenders, ROUNDS, (contender, nextNumber) =>
    measure(contender, load, nextNumber),
  );
  const [ours, theirs] = figures.map((list) => ({
    wallMs: medianOf(list.map(({ wallMs }) => wallMs)),
    cpuMs: medianOf(list.map(({ cpuMs }) => cpuMs)),
    results: list.reduce((sum, { results }) => sum + results, 0),
  })) as [Figure, Figure];
  if (ours.results !== theirs.results)
    throw new Error(`${load.name}: ${ours.results} documents, ${theirs.results} of PostgreSQL`);
  console.log(
    `| ${load.name} | ${shown(ours.wallMs)} | ${shown(ours.cpuMs)} | ${shown(theirs.wallMs)} | ${shown(theirs.cpuMs)} | ${(ours.wallMs / theirs.wallMs).toFixed(2)} | ${(ours.cpuMs / theirs.cpuMs).toFixed(2)} |`,
  );
}
for (const contender of contenders) await contender.close();
await server.stop();
rmSync(folder, { recursive: true });
