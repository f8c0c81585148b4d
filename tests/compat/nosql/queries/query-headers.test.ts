// Goal: what a query says about itself is true: metrics, indexes, charges, progress. Method: raw requests, headers read.
import type { Container, Database } from '@azure/cosmos';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Account, startAccount } from '../harness.ts';
import { type RawReply, sendRaw } from '../raw-request.ts';

const COUNT = 200;
let account: Account;
let database: Database;
let container: Container;

beforeAll(async () => {
  account = await startAccount();
  ({ database } = await account.client().databases.create({ id: 'db' }));
  ({ container } = await database.containers.create({
    id: 'c',
    partitionKey: '/pk',
    indexingPolicy: { includedPaths: [{ path: '/*' }], excludedPaths: [{ path: '/dark/*' }] },
  }));
  for (let n = 0; n < COUNT; n++)
    await container.items.create({ id: `${n}`, pk: `${n % 4}`, n, dark: n % 2 });
});
afterAll(async () => {
  expect(account.failures).toEqual([]);
  await account.close();
});

function query(text: string, headers: Record<string, string> = {}): Promise<RawReply> {
  return sendRaw(account, {
    method: 'POST',
    path: '/dbs/db/colls/c/docs',
    headers: {
      'x-ms-documentdb-isquery': 'true',
      'x-ms-documentdb-query-enablecrosspartition': 'true',
      'content-type': 'application/query+json',
      'x-ms-max-item-count': '-1',
      ...headers,
    },
    body: { query: text },
  });
}

async function metricsOf(text: string): Promise<Record<string, number>> {
  const { headers } = await query(text, { 'x-ms-documentdb-populatequerymetrics': 'true' });
  const fields = String(headers['x-ms-documentdb-query-metrics']).split(';');
  return Object.fromEntries(
    fields.map((field) => {
      const [name, value] = field.split('=');
      return [name, Number(value)];
    }),
  );
}

test('metrics are the figures of the work', async () => {
  const equal = await metricsOf('SELECT * FROM c WHERE c.n = 7');
  expect(equal).toMatchObject({
    retrievedDocumentCount: 1,
    outputDocumentCount: 1,
    indexUtilizationRatio: 1,
  });
  expect(equal.retrievedDocumentSize).toBe(equal.outputDocumentSize);
  const scan = await metricsOf('SELECT VALUE c.id FROM c WHERE c.dark = 1');
  expect(scan).toMatchObject({ retrievedDocumentCount: COUNT, outputDocumentCount: COUNT / 2 });
  expect(scan.totalExecutionTimeInMs).toBeGreaterThanOrEqual(scan.documentLoadTimeInMs as number);
  expect(Object.values(scan).every((value) => Number.isFinite(value))).toBe(true);
});

test('an aggregate tells how many of the items it read it is about', async () => {
  const half = await metricsOf('SELECT VALUE COUNT(1) FROM c WHERE c.dark = 1');
  expect(half).toMatchObject({ retrievedDocumentCount: COUNT, indexUtilizationRatio: 0.5 });
  const all = await metricsOf('SELECT c.pk, SUM(c.n) AS n FROM c WHERE c.n < 8 GROUP BY c.pk');
  expect(all).toMatchObject({ retrievedDocumentCount: 8, indexUtilizationRatio: 1 });
});

test('items are counted by the index, those of one key too', async () => {
  const metrics = { 'x-ms-documentdb-populatequerymetrics': 'true' };
  const key = { 'x-ms-documentdb-partitionkey': '["3"]' };
  for (const [text, headers, expected] of [
    ['SELECT VALUE COUNT(1) FROM c', {}, COUNT],
    ['SELECT VALUE COUNT(1) FROM c WHERE c.n < 8', {}, 8],
    ['SELECT VALUE COUNT(1) FROM c', key, COUNT / 4],
    ['SELECT VALUE COUNT(1) FROM c WHERE c.n < 8', key, 2],
  ] as const) {
    const { json, headers: returned } = await query(text, { ...metrics, ...headers });
    expect(json.Documents).toEqual([expected]);
    expect(returned['x-ms-documentdb-query-metrics']).toContain('retrievedDocumentCount=0;');
  }
});

test('a page over several partitions tells the session of each', async () => {
  const { container: spread } = await database.containers.create(
    { id: 'spread', partitionKey: '/pk' },
    { offerThroughput: 30_000 },
  );
  for (let n = 0; n < 20; n++) await spread.items.create({ id: `${n}`, pk: `${n}` });
  const { headers } = await sendRaw(account, {
    method: 'POST',
    path: '/dbs/db/colls/spread/docs',
    headers: {
      'x-ms-documentdb-isquery': 'true',
      'x-ms-documentdb-query-enablecrosspartition': 'true',
      'content-type': 'application/query+json',
    },
    body: { query: 'SELECT * FROM c' },
  });
  const token = String(headers['x-ms-session-token']);
  expect(token).toMatch(/^0:-1#\d+,1:-1#\d+,2:-1#\d+$/);
  const written = token.split(',').map((part) => Number(part.split('#')[1]));
  expect(written.reduce((sum, lsn) => sum + lsn)).toBe(20);
});

test('without a request header there are no metrics', async () => {
  const { headers } = await query('SELECT * FROM c');
  expect(headers['x-ms-documentdb-query-metrics']).toBeUndefined();
  expect(headers['x-ms-cosmos-index-utilization']).toBeUndefined();
});

test('the index knows the time of the last write', async () => {
  const { resource } = await container.item('7', '3').read();
  const ts = resource?._ts as number;
  const found = await metricsOf(`SELECT * FROM c WHERE c._ts = ${ts} AND c.id = "7"`);
  expect(found).toMatchObject({ retrievedDocumentCount: 1, outputDocumentCount: 1 });
  const none = await metricsOf(`SELECT * FROM c WHERE c._ts < ${ts - 3600}`);
  expect(none).toMatchObject({ retrievedDocumentCount: 0, outputDocumentCount: 0 });
  const all = await query(`SELECT VALUE COUNT(1) FROM c WHERE c._ts >= ${ts - 3600}`);
  expect(all.json.Documents).toEqual([COUNT]);
});

test('charges follow the work', async () => {
  const charge = async (text: string): Promise<number> =>
    Number((await query(text)).headers['x-ms-request-charge']);
  const one = await charge('SELECT * FROM c WHERE c.n = 7');
  const some = await charge('SELECT * FROM c WHERE c.n < 20');
  const scan = await charge('SELECT * FROM c WHERE c.dark = 1');
  expect(one).toBeLessThan(3);
  expect(some).toBeGreaterThan(one);
  expect(scan).toBeGreaterThan(some);
  expect(await charge('SELECT * FROM c WHERE c.n = 7')).toBe(one);
});

test.each([
  ['SELECT * FROM c WHERE c.n = 1', ['/n/?'], [], [], []],
  ['SELECT * FROM c WHERE c.dark = 1', [], ['/dark/?'], [], []],
  [
    'SELECT * FROM c WHERE c.n > 1 AND c.id = "x"',
    ['/n/?', '/id/?'],
    [],
    [],
    [['/id ASC', '/n ASC']],
  ],
  [
    'SELECT * FROM c WHERE c.id = "x" ORDER BY c.n DESC',
    ['/id/?', '/n/?'],
    [],
    [],
    [['/id ASC', '/n DESC']],
  ],
  ['SELECT * FROM c WHERE c.n = 1 AND c.id = "x"', ['/n/?', '/id/?'], [], [], []],
  ['SELECT * FROM c WHERE c.n > 1 AND c.id > "x"', ['/n/?', '/id/?'], [], [], []],
  ['SELECT * FROM c WHERE c.n = 1 AND c.id = "x" ORDER BY c.id', ['/n/?', '/id/?'], [], [], []],
  [
    'SELECT * FROM c WHERE c.id = "x" AND c.n > 1 ORDER BY c.id',
    ['/n/?', '/id/?'],
    [],
    [],
    [['/id ASC', '/n ASC']],
  ],
  [
    'SELECT c.id FROM c WHERE c.a = 1 AND c.b > 15 AND c.d = 2 AND c.e > 3',
    ['/a/?', '/b/?', '/d/?', '/e/?'],
    [],
    [],
    [
      ['/a ASC', '/d ASC', '/b ASC'],
      ['/a ASC', '/d ASC', '/e ASC'],
    ],
  ],
  ['SELECT * FROM c', [], [], [], []],
])('index metrics of %s', async (text, used, wanted, usedTogether, wantedTogether) => {
  const v2 = await query(text, { 'x-ms-cosmos-populateindexmetrics-V2': 'true' });
  const second = JSON.parse(
    decodeURIComponent(String(v2.headers['x-ms-cosmos-index-utilization'])),
  );
  const specs = (list: { IndexSpec: string }[]) => list.map(({ IndexSpec }) => IndexSpec).sort();
  const lists = (list: { IndexSpecs: string[] }[]) => list.map(({ IndexSpecs }) => IndexSpecs);
  expect(specs(second.UtilizedIndexes.SingleIndexes)).toEqual([...used].sort());
  expect(specs(second.PotentialIndexes.SingleIndexes)).toEqual(wanted);
  expect(lists(second.UtilizedIndexes.CompositeIndexes)).toEqual(usedTogether);
  expect(lists(second.PotentialIndexes.CompositeIndexes)).toEqual(wantedTogether);
  const v1 = await query(text, { 'x-ms-cosmos-populateindexmetrics': 'true' });
  const first = JSON.parse(
    Buffer.from(String(v1.headers['x-ms-cosmos-index-utilization']), 'base64').toString(),
  );
  expect(specs(first.UtilizedSingleIndexes)).toEqual([...used].sort());
  expect(lists(first.PotentialCompositeIndexes)).toEqual(wantedTogether);
});

const utilization = async (text: string): Promise<string> => {
  const { headers } = await query(text, { 'x-ms-cosmos-populateindexmetrics-V2': 'true' });
  return decodeURIComponent(String(headers['x-ms-cosmos-index-utilization']));
};

test('index metrics score what would help', async () => {
  expect(await utilization('SELECT * FROM c WHERE c.id = "1" AND c.n > 1')).toBe(
    '{"UtilizedIndexes":{"SingleIndexes":[{"IndexSpec":"/n/?"},{"IndexSpec":"/id/?"}],"CompositeIndexes":[]},' +
      '"PotentialIndexes":{"SingleIndexes":[],"CompositeIndexes":[{"IndexSpecs":["/id ASC","/n ASC"],"IndexImpactScore":"High"}]}}',
  );
});

test('the client decodes index metrics', async () => {
  const reply = await container.items
    .query('SELECT * FROM c WHERE c.n = 1', { populateIndexMetrics: true })
    .fetchNext();
  expect(JSON.stringify(reply.indexMetrics)).toContain('/n/?');
});

test('a response says where it is from, and how rows of equal keys follow', async () => {
  const { headers } = await query('SELECT * FROM c ORDER BY c.n DESC');
  expect(headers['x-ms-documentdb-partitionkeyrangeid']).toBe('0');
  expect(headers['x-ms-session-token']).toMatch(/^0:-1#\d+$/);
  expect(JSON.parse(String(headers['x-ms-cosmos-query-execution-info']))).toEqual({
    reverseRidEnabled: true,
    reverseIndexScan: true,
  });
});

test('reading a container tells how far its index is', async () => {
  const { headers } = await container.read();
  expect(headers['x-ms-documentdb-collection-index-transformation-progress']).toBe('100');
});

test('a new policy is built while queries go on', async () => {
  await container.replace({
    id: 'c',
    partitionKey: { paths: ['/pk'] },
    indexingPolicy: { includedPaths: [{ path: '/*' }], excludedPaths: [{ path: '/n/*' }] },
  });
  const dark = await query('SELECT VALUE COUNT(1) FROM c WHERE c.dark = 1');
  expect(dark.json.Documents).toEqual([COUNT / 2]);
  const n = await query('SELECT VALUE c.id FROM c WHERE c.n = 7');
  expect(n.json.Documents).toEqual(['7']);
  let progress = 0;
  for (let attempt = 0; attempt < 200 && progress < 100; attempt++)
    progress = Number(
      (await container.read()).headers['x-ms-documentdb-collection-index-transformation-progress'],
    );
  expect(progress).toBe(100);
  const metrics = await metricsOf('SELECT * FROM c WHERE c.dark = 1');
  expect(metrics).toMatchObject({ retrievedDocumentCount: COUNT / 2, indexUtilizationRatio: 1 });
});
