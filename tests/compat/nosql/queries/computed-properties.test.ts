// Goal: computed properties in queries, with and without an index of theirs, and through changes of their definition.
// Method: the same queries through the stock client over containers that differ in their policy only.
import type { ComputedProperty, Container, IndexingPolicy } from '@azure/cosmos';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Account, startAccount } from '../harness.ts';
import { sendRaw } from '../raw-request.ts';

const LOWER: ComputedProperty = { name: 'cp_lower', query: 'SELECT VALUE LOWER(c.name) FROM c' };
const TOTAL: ComputedProperty = {
  name: 'cp_total',
  query: 'SELECT VALUE c.price * c.count FROM c',
};
const COUNT = 30;
const ITEMS = Array.from({ length: COUNT }, (_, at) => ({
  id: `${at}`,
  pk: `${at % 3}`,
  name: `Name ${'ABC'.charAt(at % 3)}`,
  price: at,
  ...(at % 5 === 0 ? {} : { count: 2 }),
}));

const POLICIES: Readonly<Record<string, IndexingPolicy>> = {
  default: { includedPaths: [{ path: '/*' }] },
  indexed: {
    includedPaths: [{ path: '/*' }, { path: '/cp_lower/?' }, { path: '/cp_total/?' }],
    compositeIndexes: [
      [
        { path: '/cp_lower', order: 'ascending' },
        { path: '/cp_total', order: 'descending' },
      ],
    ],
  },
  alone: {
    includedPaths: [{ path: '/cp_lower/*' }, { path: '/cp_total/?' }],
    excludedPaths: [{ path: '/*' }],
  },
  none: { indexingMode: 'none', automatic: false },
};

let account: Account;

beforeAll(async () => {
  account = await startAccount();
  await account.client().databases.create({ id: 'db' });
});
afterAll(async () => {
  expect(account.failures).toEqual([]);
  await account.close();
});

async function makeContainer(id: string, indexingPolicy: IndexingPolicy): Promise<Container> {
  const { container } = await account
    .client()
    .database('db')
    .containers.create({
      id,
      partitionKey: '/pk',
      indexingPolicy,
      computedProperties: [LOWER, TOTAL],
    });
  await Promise.all(ITEMS.map((item) => container.items.create(item)));
  return container;
}

async function rows(container: Container, query: string): Promise<unknown[]> {
  return (await container.items.query(query).fetchAll()).resources;
}

async function explained(container: string, query: string): Promise<string> {
  const { headers } = await sendRaw(account, {
    method: 'POST',
    path: `/dbs/db/colls/${container}/docs`,
    headers: {
      'x-ms-documentdb-isquery': 'true',
      'x-ms-documentdb-query-enablecrosspartition': 'true',
      'content-type': 'application/query+json',
      'x-ms-documentdb-populatequerymetrics': 'true',
    },
    body: { query },
  });
  return (
    /retrievedDocumentCount=(\d+)/.exec(String(headers['x-ms-documentdb-query-metrics']))?.[1] ?? ''
  );
}

describe.each(Object.entries(POLICIES))('policy %s', (id, policy) => {
  let container: Container;
  beforeAll(async () => {
    container = await makeContainer(id, policy);
  });

  test('filters, projections, groups and aggregates', async () => {
    const some = await rows(
      container,
      'SELECT c.id, c.cp_total FROM c WHERE c.cp_lower = "name b"',
    );
    const wanted = ITEMS.filter(({ name }) => name === 'Name B').map(
      ({ id: itemId, price, count }) => ({
        id: itemId,
        ...(count === undefined ? {} : { cp_total: price * count }),
      }),
    );
    expect(new Set(some)).toEqual(new Set(wanted));
    expect(await rows(container, 'SELECT VALUE COUNT(1) FROM c WHERE c.cp_total > 40')).toEqual([
      8,
    ]);
    const groups = await rows(
      container,
      'SELECT c.cp_lower, COUNT(1) AS n FROM c GROUP BY c.cp_lower',
    );
    expect(new Set(groups)).toEqual(
      new Set(['a', 'b', 'c'].map((letter) => ({ cp_lower: `name ${letter}`, n: 10 }))),
    );
  });

  test('SELECT * does not show them', async () => {
    const [item] = (await rows(container, 'SELECT * FROM c WHERE c.cp_total = 6')) as object[];
    expect(item).toMatchObject(ITEMS[3] as object);
    expect(item).not.toHaveProperty('cp_total');
  });
});

test('ORDER BY takes the index of the property, and is refused without one', async () => {
  const database = account.client().database('db');
  const byTotal = 'SELECT TOP 3 VALUE c.id FROM c ORDER BY c.cp_total DESC';
  expect(await rows(database.container('indexed'), byTotal)).toEqual(['29', '28', '27']);
  expect(
    await rows(
      database.container('indexed'),
      'SELECT VALUE c.id FROM c ORDER BY c.cp_lower, c.cp_total DESC OFFSET 0 LIMIT 2',
    ),
  ).toEqual(['27', '24']);
  await expect(rows(database.container('default'), byTotal)).rejects.toThrow(
    'order-by item is excluded',
  );
});

test('an index of the property names the items', async () => {
  const query = 'SELECT * FROM c WHERE c.cp_total = 6';
  expect(await explained('indexed', query)).toBe('1');
  expect(await explained('alone', query)).toBe('1');
  expect(await explained('default', query)).toBe(`${COUNT}`);
});

test('another definition is another value, in the index as well', async () => {
  const container = await makeContainer('changing', POLICIES.indexed as IndexingPolicy);
  const query = 'SELECT VALUE c.id FROM c WHERE c.cp_total = 107';
  expect(await rows(container, query)).toEqual([]);
  const { resource } = await container.read();
  if (resource === undefined) throw new Error('the container is there');
  const total = { name: 'cp_total', query: 'SELECT VALUE c.price + 100 FROM c' };
  await container.replace({ ...resource, computedProperties: [total] });
  expect(await rows(container, query)).toEqual(['7']);
  expect(await rows(container, 'SELECT c.cp_lower FROM c WHERE c.id = "1"')).toEqual([{}]);
  await container.items.upsert({ id: '7', pk: '1', price: 8 });
  expect(await rows(container, query)).toEqual([]);
});

test.each([
  [[{ name: 'id', query: LOWER.query }], 'reserved'],
  [[LOWER, LOWER], 'twice'],
  [[{ name: 'pk', query: LOWER.query }], 'partition key'],
  [[{ name: 'cp', query: 'SELECT c.a FROM c' }], 'SELECT VALUE'],
  [[{ name: 'cp', query: 'SELECT VALUE RAND() FROM c' }], 'chance'],
  [Array.from({ length: 21 }, (_, at) => ({ ...LOWER, name: `cp${at}` })), '20'],
])('refuses %j', async (computedProperties, message) => {
  const created = account
    .client()
    .database('db')
    .containers.create({ id: 'bad', partitionKey: '/pk', computedProperties });
  await expect(created).rejects.toMatchObject({
    code: 400,
    message: expect.stringContaining(message),
  });
});
