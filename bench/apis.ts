/**
 * Point read and insert through each API, by its stock client, on one server on SQLite: what a protocol costs beside the
 * NoSQL API. The loads alternate within one run; what counts is the CPU time of the server per operation, all its
 * threads. The clients run in this process and differ in their own cost, so throughput is not compared.
 *
 *   node bench/apis.ts [--quick]
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { CosmosClient } from '@azure/cosmos';
import cassandra from 'cassandra-driver';
import gremlin from 'gremlin';
import { MongoClient } from 'mongodb';
import { alternate, medianOf } from './compare.ts';
import { type ApiServer, cpuMsOf, startApis } from './servers/processes.ts';

const { values: flags } = parseArgs({ options: { quick: { type: 'boolean', default: false } } });
const ROUNDS = flags.quick ? 3 : 7;
const ROUND_MS = flags.quick ? 1000 : 2000;
const CONCURRENCY = 16;
const ITEMS = 1000;
const TEXT = 'x'.repeat(900);

/** One API with its client. Items 0 to ITEMS - 1 exist before reads. */
interface Contender {
  readonly name: string;
  readonly insert: (number: number) => Promise<unknown>;
  readonly read: (number: number) => Promise<unknown>;
  close(): Promise<unknown>;
}

const keyOf = (number: number): string => `p${number % 100}`;

async function nosql({ endpoints, key }: ApiServer): Promise<Contender> {
  const client = new CosmosClient({ endpoint: endpoints.nosql, key });
  const { database } = await client.databases.create({ id: 'bench' });
  const { container } = await database.containers.create({
    id: 'items',
    partitionKey: { paths: ['/pk'] },
    throughput: 1000,
  });
  return {
    name: 'NoSQL',
    insert: (number) => container.items.create({ id: `${number}`, pk: keyOf(number), text: TEXT }),
    read: (number) => container.item(`${number}`, keyOf(number)).read(),
    close: async () => client.dispose(),
  };
}

async function mongo({ endpoints, account, key }: ApiServer): Promise<Contender> {
  const { host } = new URL(endpoints.mongo);
  const login = `${account}:${encodeURIComponent(key)}`;
  const client = await MongoClient.connect(`mongodb://${login}@${host}/?directConnection=true`, {
    maxPoolSize: CONCURRENCY,
  });
  const database = client.db('documents');
  await database.command({ shardCollection: 'documents.documents', key: { pk: 'hashed' } });
  const collection = database.collection<{ _id: number; pk: string; text: string }>('documents');
  return {
    name: 'MongoDB',
    insert: (number) => collection.insertOne({ _id: number, pk: keyOf(number), text: TEXT }),
    read: (number) => collection.findOne({ _id: number, pk: keyOf(number) }),
    close: () => client.close(),
  };
}

async function cql({ endpoints, account, key }: ApiServer): Promise<Contender> {
  const client = new cassandra.Client({
    contactPoints: [endpoints.cassandra],
    localDataCenter: 'datacenter1',
    credentials: { username: account, password: key },
  });
  await client.connect();
  await client.execute(
    "CREATE KEYSPACE keyspace_1 WITH replication = { 'class': 'SimpleStrategy', 'replication_factor': 1 }",
  );
  await client.execute(
    'CREATE TABLE keyspace_1.rows (pk text, id int, text text, PRIMARY KEY ((pk), id))',
  );
  const options = { prepare: true };
  return {
    name: 'Cassandra',
    insert: (number) =>
      client.execute(
        'INSERT INTO keyspace_1.rows (pk, id, text) VALUES (?, ?, ?)',
        [keyOf(number), number, TEXT],
        options,
      ),
    read: (number) =>
      client.execute(
        'SELECT * FROM keyspace_1.rows WHERE pk = ? AND id = ?',
        [keyOf(number), number],
        options,
      ),
    close: () => client.shutdown(),
  };
}

async function graph({ endpoints, key }: ApiServer): Promise<Contender> {
  const cosmos = new CosmosClient({ endpoint: endpoints.nosql, key });
  const { database } = await cosmos.databases.createIfNotExists({ id: 'graphs' });
  await database.containers.create({ id: 'g', partitionKey: { paths: ['/pk'] }, throughput: 1000 });
  const clients = Array.from({ length: 4 }, () => {
    const authenticator = new gremlin.driver.auth.PlainTextSaslAuthenticator(
      '/dbs/graphs/colls/g',
      key,
    );
    return new gremlin.driver.Client(`${endpoints.gremlin}gremlin`, {
      authenticator,
      traversalSource: 'g',
      mimeType: 'application/vnd.gremlin-v2.0+json',
    });
  });
  const submit = (number: number, script: string, bindings: object): Promise<unknown> =>
    (clients[number % clients.length] as (typeof clients)[number]).submit(script, bindings);
  return {
    name: 'Gremlin',
    insert: (number) =>
      submit(
        number,
        "g.addV('item').property('id', id).property('pk', pk).property('text', text)",
        { id: `${number}`, pk: keyOf(number), text: TEXT },
      ),
    read: (number) => submit(number, 'g.V([pk, id])', { id: `${number}`, pk: keyOf(number) }),
    close: () => Promise.all(clients.map((client) => client.close())),
  };
}

/** Runs an operation for a while and returns microseconds of the server's CPU time for each. */
async function measure(pid: number, ms: number, run: () => Promise<unknown>): Promise<number> {
  const beforeMs = cpuMsOf(pid);
  const end = performance.now() + ms;
  let count = 0;
  const worker = async (): Promise<void> => {
    while (performance.now() < end) {
      await run();
      count++;
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, worker));
  return ((cpuMsOf(pid) - beforeMs) * 1000) / count;
}

const folder = mkdtempSync(join(tmpdir(), 'mesocosm-bench-apis-'));
const server = await startApis(folder);
const contenders = [
  await nosql(server),
  await mongo(server),
  await cql(server),
  await graph(server),
];
for (const contender of contenders)
  for (let number = 0; number < ITEMS; number++) await contender.insert(number);
const loads = contenders.flatMap(({ name, insert, read }) => [
  { kind: 'insert', name, run: (number: number) => insert(ITEMS + number) },
  { kind: 'read', name, run: (number: number) => read(number % ITEMS) },
]);
const figures = await alternate(loads, ROUNDS, ({ run }, nextNumber) =>
  measure(server.pid, ROUND_MS, () => run(nextNumber())),
);
for (const contender of contenders) await contender.close();
await server.stop();
rmSync(folder, { recursive: true });

console.log(`CPU us per operation of the server, median of ${ROUNDS} rounds, load ${loadavg()[0]}`);
const medians = loads.map((load, at) => ({ ...load, cpuUs: medianOf(figures[at] ?? []) }));
for (const kind of ['read', 'insert']) {
  const ofKind = medians.filter((load) => load.kind === kind);
  for (const { name, cpuUs } of ofKind) {
    const ratio = cpuUs / (ofKind[0]?.cpuUs ?? 0);
    console.log(`| ${kind} | ${name} | ${cpuUs.toFixed(0)} | ${ratio.toFixed(2)} |`);
  }
}
process.exit(0);
