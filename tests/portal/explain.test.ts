// Goal: an explanation accounts for every request unit, by the stages and steps of each language. Method: queries of all
// five languages through the portal's own route, on containers of three partitions.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ChildServer } from '../server/child-server.ts';

const HOOK_MS = 300_000;
const THREE_PARTITIONS = 3000;
let server: ChildServer;

beforeAll(async () => {
  server = await ChildServer.start(['--memory', '--partition-throughput-limit', '1000']);
  await seedGraph();
  await seedCollection();
  await seedTable();
}, HOOK_MS);

afterAll(() => server?.[Symbol.asyncDispose]());

// biome-ignore lint/suspicious/noExplicitAny: tests know what they asked for.
async function send(path: string, body: object, headers: object = {}): Promise<any> {
  const response = await fetch(new URL(path, String(server.ready.endpoints.portal)), {
    method: 'POST',
    headers: { 'x-mesocosm-portal': '1', ...headers },
    body: JSON.stringify(body),
  });
  return response.json();
}

async function run(api: string, name: string, text: string) {
  const [db, container] = name.split('/');
  const result = await send('/portal/api/run', { api, db, container, text, explain: true });
  expect(result).not.toHaveProperty('error');
  return result;
}

/** Rounded to hundredths each, so a little may be missing. */
function expectAccounted({ charge, explain }: Awaited<ReturnType<typeof run>>): void {
  const sum = explain.operators.reduce(
    (all: number, { requestUnits }: { requestUnits: number }) => all + requestUnits,
    0,
  );
  expect(Math.abs(sum - charge)).toBeLessThan(0.1);
}

async function seedGraph(): Promise<void> {
  await send('/portal/api/nosql/dbs', { id: 'social' });
  await send(
    '/portal/api/nosql/dbs/social/colls',
    { id: 'people', partitionKey: { paths: ['/city'], kind: 'Hash', version: 2 } },
    { 'x-ms-offer-throughput': String(THREE_PARTITIONS) },
  );
  for (let at = 0; at < 8; at++)
    await run(
      'gremlin',
      'social/people',
      `g.addV('person').property('id','p${at}').property('city','c${at % 4}')`,
    );
  for (let at = 1; at < 8; at++)
    await run('gremlin', 'social/people', `g.V('p${at}').addE('knows').to(g.V('p${at >> 1}'))`);
}

async function seedCollection(): Promise<void> {
  await run(
    'mongo',
    'shop/orders',
    `db.runCommand({customAction: "CreateCollection", collection: "orders", offerThroughput: ${THREE_PARTITIONS}, shardKey: "customer"})`,
  );
  const orders = Array.from({ length: 40 }, (_, at) => `{_id: ${at}, customer: "c${at % 9}"}`);
  await run('mongo', 'shop/orders', `db.orders.insertMany([${orders.join()}])`);
}

async function seedTable(): Promise<void> {
  await run(
    'cassandra',
    'system/local',
    "CREATE KEYSPACE ks WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
  );
  await run(
    'cassandra',
    'ks/readings',
    `CREATE TABLE ks.readings (device text, at int, value int, PRIMARY KEY (device, at)) WITH cosmosdb_provisioned_throughput=${THREE_PARTITIONS}`,
  );
  for (let at = 0; at < 20; at++)
    await run(
      'cassandra',
      'ks/readings',
      `INSERT INTO readings (device, at, value) VALUES ('d${at % 5}', ${at}, ${at})`,
    );
}

test('every step of a traversal has its request units, and says where it fanned out', async () => {
  const result = await run(
    'gremlin',
    'social/people',
    "g.V().hasLabel('person').out('knows').values('city').dedup()",
  );
  const names = result.explain.operators.map(({ name }: { name: string }) => name);
  expect(names).toEqual(expect.arrayContaining(['out(knows)', 'dedup()']));
  expect(result.explain.operators[0].detail).toMatch(/^fan-out: \d+ partition calls, 8 rows/);
  expect(result.explain.fanOut).toEqual({ read: 3, of: 3 });
  expectAccounted(result);
});

test('what a traversal writes is accounted for', async () => {
  const result = await run(
    'gremlin',
    'social/people',
    "g.addV('person').property('id','new').property('city','c1')",
  );
  expect(result.explain.operators.at(-1)).toMatchObject({ name: 'other' });
  expectAccounted(result);
});

test('every stage of a pipeline has its request units', async () => {
  const result = await run(
    'mongo',
    'shop/orders',
    `db.orders.aggregate([
      {$match: {_id: {$gte: 10}}},
      {$lookup: {from: "orders", localField: "customer", foreignField: "customer", as: "same"}},
      {$group: {_id: "$customer", orders: {$sum: 1}}},
      {$sort: {orders: 1}}])`,
  );
  const { operators } = result.explain;
  expect(operators.map(({ name }: { name: string }) => name)).toEqual([
    '$match',
    '$lookup',
    '$group',
    '$sort',
  ]);
  const [match, lookup, group] = operators;
  expect(match.detail).toMatch(/^30 rows/);
  expect(match.requestUnits).toBeGreaterThan(0);
  expect(lookup.requestUnits).toBeGreaterThan(0);
  expect(group).toMatchObject({ requestUnits: 0, detail: expect.stringMatching(/^9 rows/) });
  expectAccounted(result);
});

test('a find is explained by its condition and by the kinds of its work', async () => {
  const result = await run('mongo', 'shop/orders', 'db.orders.find({customer: "c1"})');
  expect(result.explain.fanOut).toEqual({ read: 1, of: 3 });
  expect(result.explain.facts).toContainEqual(['condition', '/customer = "c1"']);
  expectAccounted(result);
  expectAccounted(await run('mongo', 'shop/orders', 'db.orders.find({})'));
});

test('CQL tells one partition from a range of tokens, and what filtering costs', async () => {
  const one = await run('cassandra', 'ks/readings', "SELECT * FROM readings WHERE device = 'd1'");
  expect(one.explain.isOneKey).toBe(true);
  expect(one.explain.operators[0].name).toBe('scan of one key');
  expectAccounted(one);
  const filtered = await run(
    'cassandra',
    'ks/readings',
    'SELECT * FROM readings WHERE value = 7 ALLOW FILTERING',
  );
  expect(filtered.explain.isOneKey).toBe(false);
  expect(filtered.explain.operators[0].name).toBe('scan of a hash range');
  expect(filtered.explain.hints[0]).toMatch(/^ALLOW FILTERING: 20 rows were read and 1 returned/);
  expectAccounted(filtered);
});
