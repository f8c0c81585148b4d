// Goal: every item of a feed exactly once, whatever its scope and page size. Method: the SDK and raw GETs of the feed.
import { type Container, type Database, PartitionKeyKind } from '@azure/cosmos';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Account, startAccount } from '../harness.ts';
import { type RawReply, sendRaw } from '../raw-request.ts';

const COUNT = 120;
let account: Account;
let database: Database;
let container: Container;
const ids = Array.from({ length: COUNT }, (_, at) => `item ${at}`);

beforeAll(async () => {
  account = await startAccount();
  ({ database } = await account.client().databases.create({ id: 'db' }));
  ({ container } = await database.containers.create({
    id: 'feeds',
    partitionKey: { paths: ['/pk'], version: 2 },
    throughput: 25_000,
  }));
  for (const [at, id] of ids.entries()) await container.items.create({ id, pk: `key ${at % 10}` });
});

afterAll(async () => {
  expect(account.failures).toEqual([]);
  await account.close();
});

/** All pages of the feed as GET requests. */
async function pages(headers: Record<string, string>, path = '/dbs/db/colls/feeds/docs') {
  const replies: RawReply[] = [];
  let continuation: string | undefined;
  do {
    const more = continuation === undefined ? {} : { 'x-ms-continuation': continuation };
    const reply = await sendRaw(account, { path, headers: { ...headers, ...more } });
    expect(reply.status).toBe(200);
    expect(reply.json._count).toBe(reply.json.Documents.length);
    expect(reply.headers['x-ms-item-count']).toBe(String(reply.json._count));
    replies.push(reply);
    continuation = reply.headers['x-ms-continuation'] as string | undefined;
  } while (continuation !== undefined && replies.length < 1000);
  return replies;
}

function idsOf(replies: readonly RawReply[]): string[] {
  return replies.flatMap(({ json }) => json.Documents.map(({ id }: { id: string }) => id));
}

test.each([1, 7, 100, 1000])('the whole container in pages of %i', async (size) => {
  const replies = await pages({ 'x-ms-max-item-count': String(size) });
  expect(idsOf(replies).sort()).toEqual([...ids].sort());
  expect(replies.every(({ json }) => json._count <= size)).toBe(true);
  const { resources } = await container.items.readAll({ maxItemCount: size }).fetchAll();
  expect(resources.map(({ id }) => id).sort()).toEqual([...ids].sort());
});

test('the SDK goes on from a continuation it was given', async () => {
  const first = await container.items.readAll({ maxItemCount: 30 }).fetchNext();
  expect(first.resources.length).toBeGreaterThan(0);
  const rest = await container.items
    .readAll({ maxItemCount: 30, continuationToken: first.continuationToken })
    .fetchAll();
  const all = [...first.resources, ...rest.resources].map(({ id }) => id);
  expect(all.sort()).toEqual([...ids].sort());
});

test('a feed by range id holds what that range owns, in the order of _rid', async () => {
  const { resources: ranges } = await container.readPartitionKeyRanges().fetchAll();
  expect(ranges).toHaveLength(3);
  const containerRid = (await container.read()).resource?._rid;
  const all: string[] = [];
  for (const { id } of ranges) {
    const replies = await pages({
      'x-ms-documentdb-partitionkeyrangeid': `${containerRid},${id}`,
      'x-ms-max-item-count': '11',
    });
    for (const { headers } of replies)
      expect(headers['x-ms-documentdb-partitionkeyrangeid']).toBe(id);
    const found = idsOf(replies);
    const order = found.map((name) => ids.indexOf(name));
    expect(order).toEqual([...order].sort((a, b) => a - b));
    all.push(...found);
  }
  expect(all.sort()).toEqual([...ids].sort());
});

test('a feed by hash range holds the items of that range, whichever partitions own it', async () => {
  const boundaries = ['', '10', '2A00', '3F'];
  const all: string[] = [];
  for (const [at, start] of boundaries.entries()) {
    const end = boundaries[at + 1] ?? 'FF';
    const replies = await pages({
      'x-ms-read-key-type': 'EffectivePartitionKeyRange',
      ...(start === '' ? {} : { 'x-ms-start-epk': start }),
      'x-ms-end-epk': end,
      'x-ms-max-item-count': '9',
    });
    all.push(...idsOf(replies));
  }
  expect(all.sort()).toEqual([...ids].sort());
});

test('a hash range within a range id narrows it', async () => {
  const { resources: ranges } = await container.readPartitionKeyRanges().fetchAll();
  const [first, second] = ranges;
  const headers = { 'x-ms-documentdb-partitionkeyrangeid': '0' };
  const whole = idsOf(await pages(headers));
  const low = idsOf(await pages({ ...headers, 'x-ms-end-epk': '0A' }));
  const high = idsOf(await pages({ ...headers, 'x-ms-start-epk': '0A' }));
  expect([...low, ...high].sort()).toEqual(whole.sort());
  expect(first?.maxExclusive).toBe(second?.minInclusive);
});

test('a feed by partition key holds its items', async () => {
  const { resources } = await container.items
    .readAll({ partitionKey: 'key 3', maxItemCount: 5 })
    .fetchAll();
  const expected = ids.filter((_, at) => at % 10 === 3);
  expect(resources.map(({ id }) => id).sort()).toEqual(expected.sort());
  const raw = await pages({ 'x-ms-documentdb-partitionkey': '["key 3"]' });
  expect(idsOf(raw).sort()).toEqual(expected.sort());
  expect(idsOf(await pages({ 'x-ms-documentdb-partitionkey': '["none"]' }))).toEqual([]);
});

test('a prefix of a hierarchical key holds everything below it', async () => {
  const { container: levels } = await database.containers.create({
    id: 'levels',
    partitionKey: {
      paths: ['/tenant', '/user', '/session'],
      kind: PartitionKeyKind.MultiHash,
      version: 2,
    },
    throughput: 25_000,
  });
  const names: string[] = [];
  for (const tenant of ['a', 'b'])
    for (const user of ['u', 'v'])
      for (const session of [1, 2]) {
        const id = `${tenant}${user}${session}`;
        names.push(id);
        await levels.items.create({ id, tenant, user, session });
      }
  const path = '/dbs/db/colls/levels/docs';
  const below = async (key: unknown[]) =>
    idsOf(
      await pages(
        { 'x-ms-documentdb-partitionkey': JSON.stringify(key), 'x-ms-max-item-count': '3' },
        path,
      ),
    ).sort();
  expect(await below(['a'])).toEqual(names.filter((id) => id.startsWith('a')));
  expect(await below(['a', 'v'])).toEqual(['av1', 'av2']);
  expect(await below(['b', 'u', 2])).toEqual(['bu2']);
  const { resources } = await levels.items.readAll({ partitionKey: ['b'] }).fetchAll();
  expect(resources.map(({ id }) => id).sort()).toEqual(['bu1', 'bu2', 'bv1', 'bv2']);
});

test.each([
  [{ 'x-ms-max-item-count': '0' }, 400, undefined, /x-ms-max-item-count/],
  [{ 'x-ms-max-item-count': 'ten' }, 400, undefined, /x-ms-max-item-count/],
  [{ 'x-ms-continuation': 'what' }, 400, undefined, /Invalid Continuation Token/],
  [{ 'x-ms-documentdb-partitionkeyrangeid': '7' }, 410, '1002', /gone/],
  [{ 'x-ms-documentdb-partitionkeyrangeid': 'AAAAAIAAAAE=,0' }, 410, '1000', /replaced/],
  [{ 'x-ms-start-epk': 'XY' }, 400, undefined, /hexadecimal/],
  [{ 'x-ms-start-epk': '20', 'x-ms-end-epk': '10' }, 400, undefined, /the first before/],
  [{ 'x-ms-documentdb-partitionkey': '["a","b"]' }, 400, '1001', /doesn't match/],
  [{ 'x-ms-consistency-level': 'Strong' }, 400, undefined, /not stronger than the service/],
  [{ 'x-ms-consistency-level': 'Odd' }, 400, undefined, /not valid/],
  [{ 'x-ms-session-token': 'nonsense' }, 400, undefined, /session token/],
])('a feed with %j is refused', async (headers, status, substatus, message) => {
  const reply = await sendRaw(account, { path: '/dbs/db/colls/feeds/docs', headers });
  expect([reply.status, reply.headers['x-ms-substatus']]).toEqual([status, substatus]);
  expect(reply.json.message).toMatch(message);
});

test('the plan of the query for everything covers every range', async () => {
  const reply = await sendRaw(account, {
    method: 'POST',
    path: '/dbs/db/colls/feeds/docs',
    headers: {
      'x-ms-cosmos-is-query-plan-request': 'True',
      'content-type': 'application/query+json',
    },
    body: { query: 'SELECT * FROM c' },
  });
  expect(reply.status).toBe(200);
  expect(reply.json.queryRanges).toEqual([
    { min: '', max: 'FF', isMinInclusive: true, isMaxInclusive: false },
  ]);
  expect(reply.json.queryInfo.aggregates).toEqual([]);
});

test('the SDK may insist on the plan', async () => {
  const { resources } = await container.items
    .query('SELECT * FROM c', { forceQueryPlan: true, maxItemCount: 20 })
    .fetchAll();
  expect(resources.map(({ id }) => id).sort()).toEqual([...ids].sort());
});
