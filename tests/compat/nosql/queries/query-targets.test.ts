// Goal: a query runs where its headers say, and nowhere else. Method: raw requests and the client over several ranges.
import { type Container, type Database, PartitionKeyKind } from '@azure/cosmos';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Account, startAccount } from '../harness.ts';
import { type RawReply, sendRaw } from '../raw-request.ts';

const COUNT = 60;
const PATH = '/dbs/db/colls/things/docs';
const ids = Array.from({ length: COUNT }, (_, at) => `i${at}`);
let account: Account;
let database: Database;
let container: Container;

beforeAll(async () => {
  account = await startAccount({ settings: { partitionThroughputLimit: 6000 } });
  ({ database } = await account.client().databases.create({ id: 'db' }));
  ({ container } = await database.containers.create({
    id: 'things',
    partitionKey: { paths: ['/pk'], version: 2 },
    throughput: 18_000,
  }));
  for (const [at, id] of ids.entries())
    await container.items.create({ id, n: at, ...(at % 10 === 9 ? {} : { pk: keyOf(at) }) });
});
afterAll(async () => {
  expect(account.failures).toEqual([]);
  await account.close();
});

/** Keys of every kind; nine at the end has none. */
function keyOf(at: number): string | number | boolean | null {
  return ['text', 1, 1.5, true, false, null, 'Ünïcode', '', -2][at % 10] ?? null;
}

function query(
  text: string,
  headers: Record<string, string>,
  options: { parameters?: unknown; path?: string } = {},
): Promise<RawReply> {
  const { path = PATH, parameters } = options;
  return sendRaw(account, {
    method: 'POST',
    path,
    headers: {
      'x-ms-documentdb-isquery': 'true',
      'content-type': 'application/query+json',
      ...headers,
    },
    body: { query: text, ...(parameters === undefined ? {} : { parameters }) },
  });
}

/** All pages of two rows. */
async function all(text: string, headers: Record<string, string>, path = PATH): Promise<unknown[]> {
  const rows: unknown[] = [];
  let continuation: string | undefined;
  do {
    const reply = await query(
      text,
      {
        'x-ms-max-item-count': '2',
        ...headers,
        ...(continuation === undefined ? {} : { 'x-ms-continuation': continuation }),
      },
      { path },
    );
    expect(reply.status).toBe(200);
    expect(reply.headers['x-ms-item-count']).toBe(String(reply.json._count));
    expect(reply.json.Documents).toHaveLength(reply.json._count);
    rows.push(...reply.json.Documents);
    continuation = reply.headers['x-ms-continuation'] as string | undefined;
    if (continuation !== undefined) expect(continuation.length).toBeLessThan(1024);
  } while (continuation !== undefined);
  return rows;
}

test.each([0, 1, 2, 3, 4, 5, 6, 7, 8])('a partition key header, kind %i', async (kind) => {
  const key = JSON.stringify([keyOf(kind)]).replace(
    /[^ -~]/g,
    (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  const expected = ids.filter((_, at) => at % 10 === kind);
  const headers = { 'x-ms-documentdb-partitionkey': key };
  expect(await all('SELECT VALUE c.id FROM c', headers)).toEqual(expected);
  expect(await all('SELECT VALUE c.id FROM c ORDER BY c.n DESC', headers)).toEqual(
    [...expected].reverse(),
  );
  expect(await all('SELECT VALUE COUNT(1) FROM c', headers)).toEqual([expected.length]);
  const { resources } = await container.items
    .query('SELECT VALUE c.id FROM c', { partitionKey: keyOf(kind) })
    .fetchAll();
  expect(resources).toEqual(expected);
});

test('a partition key that is missing', async () => {
  const expected = ids.filter((_, at) => at % 10 === 9);
  const headers = { 'x-ms-documentdb-partitionkey': '[{}]' };
  expect(await all('SELECT VALUE c.id FROM c', headers)).toEqual(expected);
  expect(await all('SELECT VALUE c.id FROM c WHERE c.n > 30', headers)).toEqual(
    expected.filter((id) => Number(id.slice(1)) > 30),
  );
});

test('a key is restricted by the header, not by the query', async () => {
  const headers = { 'x-ms-documentdb-partitionkey': '["text"]' };
  expect(await all('SELECT VALUE c.id FROM c WHERE c.pk = 1', headers)).toEqual([]);
});

test('range ids and parts of ranges tile the container', async () => {
  const { resources: ranges } = await container.readPartitionKeyRanges().fetchAll();
  expect(ranges).toHaveLength(3);
  const { resource } = await container.read();
  const found: unknown[] = [];
  for (const { id, minInclusive, maxExclusive } of ranges) {
    const range = { 'x-ms-documentdb-partitionkeyrangeid': `${resource?._rid},${id}` };
    const whole = await all('SELECT VALUE c.id FROM c', range);
    found.push(...whole);
    const middle = `${minInclusive.slice(0, 2) || '00'}FF`;
    const parts = [
      [minInclusive, middle],
      [middle, maxExclusive],
    ];
    const halves: unknown[] = [];
    for (const [start, end] of parts)
      halves.push(
        ...(await all('SELECT VALUE c.id FROM c', {
          ...range,
          'x-ms-read-key-type': 'EffectivePartitionKeyRange',
          'x-ms-start-epk': start as string,
          'x-ms-end-epk': end as string,
        })),
      );
    expect([...halves].sort()).toEqual([...whole].sort());
    const counts = await all('SELECT VALUE COUNT(1) FROM c', range);
    expect(counts).toEqual([whole.length]);
  }
  expect(found.sort()).toEqual([...ids].sort());
});

test('a range of hashes alone goes over partitions', async () => {
  const low = await all('SELECT VALUE c.n FROM c ORDER BY c.n', { 'x-ms-end-epk': '2000' });
  const high = await all('SELECT VALUE c.n FROM c ORDER BY c.n', { 'x-ms-start-epk': '2000' });
  expect([...low, ...high].sort((a, b) => Number(a) - Number(b))).toEqual(ids.map((_, at) => at));
  expect(low).toEqual([...low].sort((a, b) => Number(a) - Number(b)));
});

const DISABLED = /Cross partition query is required but disabled/;

test.each([
  ['SELECT * FROM c', 400, DISABLED],
  ['SELECT * FROM c WHERE c.pk > "a"', 400, DISABLED],
  ['SELECT * FROM c WHERE c.pk = "text" OR c.pk = 1', 400, DISABLED],
  ['SELECT * FROM c WHERE c.pk = "text"', 200, undefined],
  ['SELECT VALUE COUNT(1) FROM c WHERE c.pk = true AND c.n > 3', 200, undefined],
  ['SELECT 1', 200, undefined],
] as const)('without permission to cross partitions: %s', async (text, status, message) => {
  const reply = await query(text, {});
  expect(reply.status).toBe(status);
  if (message !== undefined) expect(reply.json.message).toMatch(message);
});

test('clients that run plans are sent to the plan for a column that no group has', async () => {
  const text = 'SELECT c.pk, MAX(c.nothing) AS most FROM c GROUP BY c.pk';
  const allowed = { 'x-ms-documentdb-query-enablecrosspartition': 'true' };
  const plain = await query(text, allowed);
  expect([plain.status, plain.json._count]).toEqual([200, 10]);
  const sent = await query(text, { ...allowed, 'x-ms-cosmos-correlated-activityid': 'x' });
  expect([sent.status, sent.headers['x-ms-substatus']]).toEqual([400, '1004']);
  expect(JSON.parse(sent.json.additionalErrorInfo).queryInfo.groupByExpressions).toEqual(['c.pk']);
  // Go's client names its queries without being able to run a plan.
  const go = await query(text, {
    ...allowed,
    'x-ms-cosmos-correlated-activityid': 'x',
    'user-agent': 'azsdk-go-azcosmos/v1.5.0 (go1.26.8; linux)',
  });
  expect([go.status, go.json._count]).toEqual([200, 10]);
});

test.each([
  'SELECT c.pk, COUNT(1) AS many FROM c GROUP BY c.pk',
  'SELECT c.pk, MAX(c.id) AS most FROM c GROUP BY c.pk',
  'SELECT c.pk, MAX(c.nothing) AS most FROM c GROUP BY c.pk ORDER BY c.pk',
  'SELECT VALUE COUNT(1) FROM c',
])('everyone gets what needs no rules of a client: %s', async (text) => {
  const headers = {
    'x-ms-documentdb-query-enablecrosspartition': 'true',
    'x-ms-cosmos-correlated-activityid': 'x',
  };
  expect((await query(text, headers)).status).toBe(200);
});

test.each([
  [{ 'x-ms-documentdb-partitionkeyrangeid': '99' }, 410, '1002', /gone/],
  [{ 'x-ms-documentdb-partitionkeyrangeid': 'AAAAAIAAAAE=,0' }, 410, '1000', /replaced/],
  [{ 'x-ms-start-epk': 'nothex' }, 400, undefined, /hexadecimal/],
  [{ 'x-ms-documentdb-partitionkey': '["a","b"]' }, 400, '1001', /doesn't match/],
  [{ 'x-ms-documentdb-partitionkey': 'nonsense' }, 400, undefined, /Partition key/],
  [{ 'x-ms-continuation': 'junk' }, 400, undefined, /Invalid Continuation Token/],
  [{ 'x-ms-continuation': '{"v":1,"given":3}' }, 400, undefined, /Invalid Continuation Token/],
  [{ 'x-ms-max-item-count': '0' }, 400, undefined, /x-ms-max-item-count/],
  [{ 'x-ms-consistency-level': 'Strong' }, 400, undefined, /not stronger than the service/],
] as const)('%j is refused', async (headers, status, substatus, message) => {
  const reply = await query('SELECT * FROM c WHERE c.pk = "text"', headers);
  expect([reply.status, reply.headers['x-ms-substatus']]).toEqual([status, substatus]);
  expect(reply.json.message).toMatch(message);
});

test('hierarchical keys: whole, by prefix, by predicates', async () => {
  const { container: levels } = await database.containers.create({
    id: 'levels',
    partitionKey: {
      paths: ['/tenant', '/user', '/session'],
      kind: PartitionKeyKind.MultiHash,
      version: 2,
    },
    throughput: 18_000,
  });
  const names: string[] = [];
  for (const tenant of ['a', 'b', 'c'])
    for (const user of ['u', 'v'])
      for (const session of [1, 2]) {
        names.push(`${tenant}${user}${session}`);
        await levels.items.create({ id: `${tenant}${user}${session}`, tenant, user, session });
      }
  const path = '/dbs/db/colls/levels/docs';
  const below = async (key: unknown[], where = ''): Promise<unknown[]> =>
    (
      await all(
        `SELECT VALUE c.id FROM c ${where}`,
        { 'x-ms-documentdb-partitionkey': JSON.stringify(key) },
        path,
      )
    ).sort();
  expect(await below(['a'])).toEqual(names.filter((id) => id.startsWith('a')));
  expect(await below(['b', 'v'])).toEqual(['bv1', 'bv2']);
  expect(await below(['b', 'v', 2])).toEqual(['bv2']);
  expect(await below(['c'], 'WHERE c.session = 1')).toEqual(['cu1', 'cv1']);
  const byPredicate = async (where: string): Promise<unknown[]> =>
    (
      await levels.items.query(`SELECT VALUE c.id FROM c WHERE ${where}`).fetchAll()
    ).resources.sort();
  expect(await byPredicate('c.tenant = "a" AND c.user = "u"')).toEqual(['au1', 'au2']);
  expect(await byPredicate('c.tenant IN ("a", "c") AND c.session = 2')).toEqual([
    'au2',
    'av2',
    'cu2',
    'cv2',
  ]);
  expect(await byPredicate('c.user = "v"')).toEqual(['av1', 'av2', 'bv1', 'bv2', 'cv1', 'cv2']);
});

test('a session token from the future is not available', async () => {
  const reply = await query('SELECT * FROM c WHERE c.pk = "text"', {
    'x-ms-session-token': '0:-1#99999,1:-1#99999,2:-1#99999',
  });
  expect([reply.status, reply.headers['x-ms-substatus']]).toEqual([404, '1002']);
});
