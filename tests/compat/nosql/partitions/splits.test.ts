// Goal: clients notice nothing of a split but what the protocol says of it. Method: raw requests around a split.
import type { Container, OfferDefinition } from '@azure/cosmos';
import { afterEach, expect, test } from 'vitest';
import type { ContainerRecord } from '../../../../src/catalog/index.ts';
import { type Account, type AccountOptions, startAccount } from '../harness.ts';
import { sendRaw } from '../raw-request.ts';

let account: Account;

afterEach(async () => {
  expect(account.failures).toEqual([]);
  await account.close();
});

async function open(options: AccountOptions, throughput = 1000): Promise<Container> {
  account = await startAccount(options);
  const { database } = await account.client().databases.create({ id: 'd' });
  const spec = { id: 'c', partitionKey: '/pk', throughput };
  return (await database.containers.create(spec)).container;
}

function record(): ContainerRecord {
  const database = account.service.databases.find('d');
  const container = database && account.service.containers.find(database, 'c');
  if (container === undefined) throw new Error('no container');
  return container;
}

const DOCS = '/dbs/d/colls/c/docs';
const PKRANGES = '/dbs/d/colls/c/pkranges';
const inRange = (id: string) => ({ 'x-ms-documentdb-partitionkeyrangeid': id });

function query(id: string) {
  return sendRaw(account, {
    method: 'POST',
    path: DOCS,
    headers: {
      ...inRange(id),
      'x-ms-documentdb-isquery': 'True',
      'content-type': 'application/query+json',
    },
    body: { query: 'SELECT VALUE c.id FROM c', parameters: [] },
  });
}

test('ranges name their ancestors, the list has a new etag, ids that never were are gone', async () => {
  const container = await open({});
  for (let n = 0; n < 20; n++) await container.items.create({ id: `i${n}`, pk: `k${n}` });
  const before = await sendRaw(account, { path: PKRANGES });
  const ifChanged = { 'if-none-match': String(before.headers.etag) };
  expect((await sendRaw(account, { path: PKRANGES, headers: ifChanged })).status).toBe(304);
  await account.service.resizer.split(record(), '0');
  await account.service.resizer.split(record(), '1');
  const after = await sendRaw(account, { path: PKRANGES, headers: ifChanged });
  expect(after.status).toBe(200);
  expect(after.headers.etag).not.toBe(before.headers.etag);
  const ranges = after.json.PartitionKeyRanges as Record<string, unknown>[];
  expect(ranges.map(({ id, parents }) => [id, parents])).toEqual([
    ['3', ['0', '1']],
    ['4', ['0', '1']],
    ['2', ['0']],
  ]);
  const feed = await sendRaw(account, { path: DOCS, headers: inRange('17') });
  for (const reply of [feed, await query('17')]) {
    expect([reply.status, reply.headers['x-ms-substatus']]).toEqual([410, '1002']);
    expect(reply.json.code).toBe('Gone');
  }
  const found: string[] = [];
  for (const { id } of ranges) {
    const reply = await query(String(id));
    expect(reply.status).toBe(200);
    found.push(...(reply.json.Documents as string[]));
  }
  expect(found.sort()).toEqual(Array.from({ length: 20 }, (_, n) => `i${n}`).sort());
});

test('a full partition key: 403/1014', async () => {
  const limits = { partitionStorageLimit: 8192, logicalPartitionLimit: 8192 };
  const container = await open({ settings: limits });
  const create = async (n: number) => {
    const item = { id: `i${n}`, pk: 'one', text: 'x'.repeat(1000) };
    const reply = await container.items.create(item).catch((error) => error);
    await account.service.balancer.whenIdle();
    return reply;
  };
  let refused: { code?: number; substatus?: number; message?: string } = {};
  for (let n = 0; n < 12 && refused.code === undefined; n++) refused = await create(n);
  expect([refused.code, refused.substatus]).toEqual([403, 1014]);
  expect(refused.message).toContain('Partition key reached maximum size of 8 KB');
  await container.item('i1', 'one').replace({ id: 'i1', pk: 'one' });
  await container.item('i2', 'one').delete();
  expect((await container.item('i3', 'one').read()).statusCode).toBe(200);
  expect((await create(100)).statusCode).toBe(201);
});

test('a full fixed container: 403 says to scale it, and then it takes writes at once', async () => {
  const limits = { partitionStorageLimit: 8192, logicalPartitionLimit: 8192 };
  const container = await open({ settings: limits }, 400);
  const create = (n: number) =>
    container.items
      .create({ id: `i${n}`, pk: `k${n}`, text: 'x'.repeat(1000) })
      .catch((error) => error);
  let refused: { code?: number; substatus?: number; message?: string } = {};
  for (let n = 0; n < 12 && refused.code === undefined; n++) {
    refused = await create(n);
    await account.service.balancer.whenIdle();
  }
  expect([refused.code, refused.substatus]).toEqual([403, 1014]);
  expect(refused.message).toContain('reached its maximum size of 8 KB. Scale it to 1000 RU/s');
  const { offer, resource } = await container.readOffer();
  await offer?.replace({ ...resource, content: { offerThroughput: 1000 } } as OfferDefinition);
  for (let n = 20; n < 60; n++) expect((await create(n)).statusCode).toBe(201);
  await account.service.balancer.whenIdle();
  // Where the engine is slow, all forty may be in one split: the next writes let the balancer look again.
  for (let n = 60; n < 120 && record().partitions.length <= 2; n++) {
    expect((await create(n)).statusCode).toBe(201);
    await account.service.balancer.whenIdle();
  }
  expect(record().partitions.length).toBeGreaterThan(2);
});
