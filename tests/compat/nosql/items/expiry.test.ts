// Goal: time to live and deletion by partition key as applications see them: gone at once, everywhere, removed later.
// Method: the stock client against an account with a fake clock.
import { type Container, type Database, PartitionKeyKind } from '@azure/cosmos';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { FakeClock } from '../../../../src/base/index.ts';
import { type Account, startAccount } from '../harness.ts';
import { sendRaw } from '../raw-request.ts';

let account: Account;
let database: Database;
const clock = new FakeClock(Date.now());

beforeAll(async () => {
  account = await startAccount({ clock });
  ({ database } = await account.client().databases.create({ id: 'db' }));
});

afterAll(async () => {
  expect(account.failures).toEqual([]);
  await account.close();
});

let containers = 0;

async function create(more: object = {}): Promise<Container> {
  const spec = { id: `c${containers++}`, partitionKey: '/pk', ...more };
  return (await database.containers.create(spec)).container;
}

/** Ids by every way of reading. */
async function ids(container: Container): Promise<string[]> {
  const { resources: queried } = await container.items.query('SELECT VALUE c.id FROM c').fetchAll();
  const { resources: listed } = await container.items.readAll().fetchAll();
  const counted = await container.items.query('SELECT VALUE COUNT(1) FROM c').fetchAll();
  const indexed = await container.items
    .query('SELECT VALUE c.id FROM c WHERE c.kind = "k" ORDER BY c.n DESC')
    .fetchAll();
  const sorted = (queried as string[]).sort();
  expect(listed.map(({ id }) => id).sort()).toEqual(sorted);
  expect(counted.resources).toEqual([sorted.length]);
  expect((indexed.resources as string[]).sort()).toEqual(sorted);
  return sorted;
}

const item = (id: string, more = {}) => ({ id, pk: 'p', kind: 'k', n: Number(id), ...more });

async function stored(container: Container): Promise<number> {
  const name = account.service.databases.find('db');
  const record = name && account.service.containers.find(name, container.id);
  if (record === undefined) throw new Error('no container');
  const routes = account.service.containers.routes(record);
  const all = await Promise.all(
    routes.map((route) => account.service.containers.statistics(route)),
  );
  return all.reduce((sum, { itemCount }) => sum + itemCount, 0);
}

test('items expire by the container, by themselves, or never', async () => {
  const container = await create({ defaultTtl: 60 });
  await container.items.create(item('1'));
  await container.items.create(item('2', { ttl: 10 }));
  await container.items.create(item('3', { ttl: -1 }));
  clock.advance(10_000);
  expect(await ids(container)).toEqual(['1', '3']);
  expect((await container.item('2', 'p').read()).statusCode).toBe(404);
  await container.item('1', 'p').replace(item('1'));
  clock.advance(50_000);
  expect(await ids(container)).toEqual(['1', '3']);
  clock.advance(10_000);
  expect(await ids(container)).toEqual(['3']);
  expect((await container.items.create(item('1'))).statusCode).toBe(201);
  const upserted = await container.items.upsert(item('2'));
  expect(upserted.statusCode).toBe(201);
  expect(await stored(container)).toBe(3);
});

test('what has expired is swept in the background', async () => {
  const container = await create({ defaultTtl: 5, throughput: 400 });
  for (let at = 0; at < 30; at++) await container.items.create(item(`${at}`));
  clock.advance(4_000);
  await account.service.expirySweeper.round();
  expect(await stored(container)).toBe(30);
  clock.advance(2_000);
  expect(await ids(container)).toEqual([]);
  expect(await stored(container)).toBe(30);
  await account.service.expirySweeper.round();
  expect(await stored(container)).toBe(0);
});

test('a change of the default applies to old items; without one nothing expires', async () => {
  const container = await create();
  await container.items.create(item('1', { ttl: 1 }));
  await container.items.create(item('2'));
  clock.advance(100_000);
  expect(await ids(container)).toEqual(['1', '2']);
  const { resource } = await container.read();
  const replace = (defaultTtl?: number) =>
    container.replace({
      id: container.id,
      partitionKey: resource?.partitionKey as never,
      ...(defaultTtl === undefined ? {} : { defaultTtl }),
    });
  await replace(-1);
  expect(await ids(container)).toEqual(['2']);
  await replace(50);
  expect(await ids(container)).toEqual([]);
  await replace();
  expect(await ids(container)).toEqual(['1', '2']);
});

test('expired items are absent in batches, patches and bulk reads', async () => {
  const container = await create({ defaultTtl: 5 });
  await container.items.create(item('1'));
  clock.advance(5_000);
  await expect(
    container.item('1', 'p').patch([{ op: 'add', path: '/x', value: 1 }]),
  ).rejects.toMatchObject({ code: 404 });
  const { result } = await container.items.batch(
    [
      { operationType: 'Create', resourceBody: item('1') },
      { operationType: 'Read', id: '1' },
    ],
    'p',
  );
  expect(result?.map(({ statusCode }) => statusCode)).toEqual([201, 200]);
});

test('a partition key is deleted at once and its ids are free', async () => {
  const container = await create({ throughput: 20_000 });
  for (let at = 0; at < 12; at++) await container.items.create(item(`${at}`, { pk: `k${at % 2}` }));
  await container.deleteAllItemsForPartitionKey('k0');
  expect(await ids(container)).toEqual(['1', '11', '3', '5', '7', '9']);
  expect((await container.items.create(item('0', { pk: 'k0' }))).statusCode).toBe(201);
  expect(await stored(container)).toBe(12);
  await account.service.expirySweeper.round();
  expect(await stored(container)).toBe(7);
  expect(await ids(container)).toEqual(['0', '1', '11', '3', '5', '7', '9']);
});

test('a partition key is deleted by a request that is signed for its container, and by no other', async () => {
  const container = await create();
  const remove = (type: string, pk: string) =>
    sendRaw(account, {
      method: 'POST',
      path: `/${container.url}/operations/partitionkeydelete`,
      type,
      link: container.url,
      date: new Date(clock.nowMs()).toUTCString(),
      headers: { 'x-ms-documentdb-partitionkey': JSON.stringify([pk]) },
    });
  for (const id of ['0', '1', '2']) await container.items.create(item(id, { pk: `k${id}` }));
  for (const type of ['docs', 'operations', 'partitionkey'])
    expect([type, (await remove(type, 'k0')).status]).toEqual([type, 401]);
  expect(await ids(container)).toEqual(['0', '1', '2']);
  expect((await remove('colls', 'k0')).status).toBe(200);
  expect(await ids(container)).toEqual(['1', '2']);
});

test('hierarchical keys: whole ones and prefixes are deleted, queried and listed', async () => {
  const container = await create({
    partitionKey: { paths: ['/a', '/b'], kind: PartitionKeyKind.MultiHash, version: 2 },
    throughput: 20_000,
  });
  for (const a of ['x', 'y'])
    for (const b of ['1', '2', '3'])
      await container.items.create({ id: `${a}${b}`, a, b, kind: 'k', n: 1 });
  const inPrefix = await container.items
    .query('SELECT VALUE c.id FROM c', { partitionKey: ['x'] })
    .fetchAll();
  expect((inPrefix.resources as string[]).sort()).toEqual(['x1', 'x2', 'x3']);
  await container.deleteAllItemsForPartitionKey(['x', '2']);
  expect(await ids(container)).toEqual(['x1', 'x3', 'y1', 'y2', 'y3']);
  await container.deleteAllItemsForPartitionKey(['y']);
  expect(await ids(container)).toEqual(['x1', 'x3']);
  await account.service.expirySweeper.round();
  expect(await stored(container)).toBe(2);
});

test('deleted and expired items stay invisible over a split, and the others stay complete', async () => {
  const container = await create({ throughput: 1000, defaultTtl: 1000 });
  for (let at = 0; at < 40; at++)
    await container.items.create(
      item(`${at}`, { pk: `k${at % 4}`, ...(at < 8 ? { ttl: 1 } : {}) }),
    );
  clock.advance(2_000);
  await container.deleteAllItemsForPartitionKey('k0');
  const before = await ids(container);
  const found = account.service.databases.find('db');
  const record = found && account.service.containers.find(found, container.id);
  if (record === undefined) throw new Error('no container');
  await account.service.resizer.split(record, '0');
  expect(await ids(container)).toEqual(before);
  await account.service.expirySweeper.round();
  expect(await ids(container)).toEqual(before);
  expect(await stored(container)).toBe(before.length);
});
