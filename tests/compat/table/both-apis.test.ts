// Goal: one container, two APIs: entities through the NoSQL client, items through the Table client. Method: exact responses.
import { CosmosClient } from '@azure/cosmos';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { FakeClock } from '../../../src/base/index.ts';
import { type Account, KEY, startAccount } from './harness.ts';

let account: Account;
let cosmos: CosmosClient;
beforeAll(async () => {
  account = await startAccount();
  cosmos = new CosmosClient({
    endpoint: account.nosqlEndpoint,
    key: KEY,
    connectionPolicy: { enableBackgroundEndpointRefreshing: false },
  });
});
afterAll(async () => {
  expect(account.failures).toEqual([]);
  cosmos.dispose();
  await account.close();
});

test('entities are read and queried through the NoSQL API', async () => {
  const table = account.table('storage', 'read');
  await table.createTable();
  await table.createEntity({
    partitionKey: 'p',
    rowKey: 'r',
    name: 'x',
    big: 9007199254740993n,
    when: { type: 'DateTime', value: '2020-01-31T00:00:00.1234567Z' },
  });
  await table.createEntity({ partitionKey: 'p', rowKey: 's', name: 'y', big: 5n });
  const container = cosmos.database('TablesDB').container('read');
  const { resource } = await container.item('r', 'p').read();
  expect(resource).toMatchObject({
    id: 'r',
    PartitionKey: 'p',
    RowKey: 'r',
    name: 'x',
    big: '9007199254740993',
    'big@odata.type': 'Edm.Int64',
    when: '2020-01-31T00:00:00.1234567Z',
    'when@odata.type': 'Edm.DateTime',
    _rid: expect.any(String),
    _etag: expect.any(String),
    _ts: expect.any(Number),
  });
  const query = "SELECT VALUE c.RowKey FROM c WHERE c.big > 5 AND c['when'] > '2020-01'";
  const found = await container.items.query(query).fetchAll();
  expect(found.resources).toEqual(['r']);
});

test('six of six: SQL in an order of integers beyond 2^53, in pages of two', async () => {
  const table = account.table('storage', 'ordered');
  await table.createTable();
  for (const [at, above] of [3n, 1n, 5n, 2n, 6n, 4n].entries())
    await table.createEntity({
      partitionKey: `p${at % 2}`,
      rowKey: `${above}`,
      big: 2n ** 53n + above,
      bytes: Uint8Array.of(0, 255, Number(above)),
      guid: { type: 'Guid', value: `0000000${above}-44b3-4c69-90e8-e7d1dfc035d4` },
    });
  const container = cosmos.database('TablesDB').container('ordered');
  for (const name of ['big', 'bytes', 'guid'])
    for (const direction of ['ASC', 'DESC']) {
      const query = `SELECT VALUE c.RowKey FROM c ORDER BY c.${name} ${direction}`;
      const found = await container.items.query(query, { maxItemCount: 2 }).fetchAll();
      const expected = ['1', '2', '3', '4', '5', '6'];
      expect(found.resources).toEqual(direction === 'ASC' ? expected : expected.toReversed());
    }
});

test('items written through the NoSQL API are entities', async () => {
  const table = account.table('storage', 'written');
  await table.createTable();
  const container = cosmos.database('TablesDB').container('written');
  await container.items.create({
    id: 'r',
    PartitionKey: 'p',
    count: 5,
    price: 1.5,
    long: '7',
    'long@odata.type': 'Edm.Int64',
  });
  const entity = await table.getEntity('p', 'r');
  expect(entity).toMatchObject({ rowKey: 'r', count: 5, price: 1.5, long: 7n });
  expect(entity.etag).toBe(`W/"datetime'${entity.timestamp?.replaceAll(':', '%3A')}'"`);
  await table.updateEntity({ partitionKey: 'p', rowKey: 'r', count: 6 }, 'Merge', {
    etag: entity.etag,
  });
  const { resource } = await container.item('r', 'p').read();
  expect(resource).toMatchObject({ count: 6, long: '7' });
  await expect(
    container.items.create({ id: 'x', PartitionKey: 'p', nested: { a: 1 } }),
  ).rejects.toMatchObject({ code: 400 });
});

test('a container made through the NoSQL API with the key of tables in their database is a table', async () => {
  const { database } = await cosmos.databases.createIfNotExists({ id: 'TablesDB' });
  const { container } = await database.containers.create({
    id: 'nosqlmade',
    partitionKey: { paths: ['/PartitionKey'] },
  });
  await database.containers.create({ id: 'other', partitionKey: { paths: ['/pk'] } });
  await container.items.create({ id: 'b', PartitionKey: 'p', count: 5 });
  const names: string[] = [];
  for await (const { name } of account.tables('storage').listTables()) names.push(String(name));
  expect(names).toContain('nosqlmade');
  expect(names).not.toContain('other');
  const table = account.table('storage', 'nosqlmade');
  await table.createEntity({ partitionKey: 'p', rowKey: 'a', count: 6n });
  const list = async (): Promise<unknown[]> => {
    const found: unknown[] = [];
    for await (const { rowKey, count } of table.listEntities()) found.push([rowKey, count]);
    return found;
  };
  expect(await list()).toEqual([
    ['a', 6n],
    ['b', 5],
  ]);
  // Entities are listed in the order of their keys with every indexing policy.
  const { resource } = await container.read();
  await container.replace({
    id: 'nosqlmade',
    partitionKey: resource?.partitionKey ?? { paths: [] },
    indexingPolicy: { includedPaths: [{ path: '/count/?' }], excludedPaths: [{ path: '/*' }] },
  });
  expect(await list()).toHaveLength(2);
  const policy = (await container.read()).resource?.indexingPolicy;
  expect(policy?.compositeIndexes).toEqual([
    [
      { path: '/PartitionKey', order: 'ascending' },
      { path: '/RowKey', order: 'ascending' },
    ],
  ]);
});

test('the fraction of a timestamp is the clock’s and grows within a partition', async () => {
  // The real time: clients sign it.
  const secondMs = Math.floor(Date.now() / 1000) * 1000;
  const clock = new FakeClock(secondMs + 250);
  const second = new Date(secondMs).toISOString().slice(0, 19);
  const own = await startAccount({ clock });
  try {
    const table = own.table('storage', 'times');
    await table.createTable();
    const written = async (rowKey: string): Promise<string> => {
      await table.upsertEntity({ partitionKey: 'p', rowKey });
      return String((await table.getEntity('p', rowKey)).timestamp);
    };
    const times = [await written('a'), await written('b'), await written('a')];
    clock.advance(13);
    times.push(await written('a'));
    expect(times).toEqual([
      `${second}.2500000Z`,
      `${second}.2500001Z`,
      `${second}.2500002Z`,
      `${second}.2630000Z`,
    ]);
    expect(own.failures).toEqual([]);
  } finally {
    await own.close();
  }
});
