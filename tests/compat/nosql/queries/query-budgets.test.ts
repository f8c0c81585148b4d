// Goal: queries that would take all memory or all time are refused, and queries that take long return the same as others.
// Method: the stock client, over items so large that their rows are made in a thread, and over the attacks that once worked.
import type { Container } from '@azure/cosmos';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Account, startAccount } from '../harness.ts';
import { sendRaw } from '../raw-request.ts';

let account: Account;
let small: Container;
let large: Container;

/** More than is decoded on the thread that serves everybody. */
const LARGE_LENGTH = 700_000;
const LARGE_IDS = ['0', '1', '2', '3', '4', '5', '6', '7'];

beforeAll(async () => {
  account = await startAccount();
  const { database } = await account.client().databases.create({ id: 'db' });
  const partitionKey = { paths: ['/pk'] };
  ({ container: small } = await database.containers.create({ id: 'small', partitionKey }));
  ({ container: large } = await database.containers.create({
    id: 'large',
    partitionKey,
    indexingPolicy: {
      includedPaths: [{ path: '/*' }],
      excludedPaths: [{ path: '/text/?' }, { path: '/list/*' }],
    },
  }));
  await small.items.create({ id: '1', pk: 'p', list: Array.from({ length: 2000 }, (_, n) => n) });
  for (const id of LARGE_IDS)
    await large.items.create({
      id,
      pk: 'p',
      n: Number(id),
      g: Number(id) % 3,
      list: [Number(id), 10],
      text: id.repeat(LARGE_LENGTH),
    });
});
afterAll(async () => {
  expect(account.failures).toEqual([]);
  await account.close();
});

const LARGE = `REPLACE(REPLICATE('a',10000),'a',CONCAT(REPLICATE('b',10000),REPLICATE('b',4000)))`;

const NUMBERS = [0, 1, 2, 3, 4, 5, 6, 7];

describe('items too large to decode here give the same rows', () => {
  test.each([
    ['SELECT VALUE c.n FROM c', NUMBERS],
    ['SELECT VALUE c.n FROM c WHERE LENGTH(c.text) > 5 AND c.n > 4', [5, 6, 7]],
    ['SELECT VALUE c.n FROM c ORDER BY c.n DESC', [...NUMBERS].reverse()],
    ['SELECT VALUE c.n FROM c ORDER BY c.n OFFSET 2 LIMIT 3', [2, 3, 4]],
    ['SELECT TOP 2 VALUE x FROM c JOIN x IN c.list WHERE x > 1', [10, 10]],
    ['SELECT VALUE COUNT(1) FROM c WHERE c.n + 0 > 2', [5]],
    ['SELECT DISTINCT VALUE c.g FROM c', [0, 1, 2]],
    ['SELECT VALUE SUM(c.n) FROM c', [28]],
    ['SELECT VALUE MAX(LENGTH(c.text)) FROM c', [LARGE_LENGTH]],
  ])('%s', async (text, expected) => {
    for (const maxItemCount of [2, 100]) {
      const found = large.items.query(text, { partitionKey: 'p', maxItemCount });
      expect((await found.fetchAll()).resources).toEqual(expected);
    }
  });

  test('whole, as they are stored', async () => {
    const { resource } = await large.item('3', 'p').read();
    const { resources } = await large.items.query('SELECT * FROM c WHERE c.n = 3').fetchAll();
    expect(resources).toEqual([resource]);
  });

  test('groups', async () => {
    const text = 'SELECT c.g, COUNT(1) AS n FROM c GROUP BY c.g';
    const { resources } = await large.items.query(text, { partitionKey: 'p' }).fetchAll();
    expect(resources).toEqual([
      { g: 0, n: 3 },
      { g: 1, n: 3 },
      { g: 2, n: 2 },
    ]);
  });

  test('in a stored procedure, with what it wrote before', async () => {
    await large.scripts.storedProcedures.create({
      id: 'sum',
      body: `function sum() {
        const collection = getContext().getCollection();
        const own = { id: 'own', pk: 'q', n: 5, text: 'x'.repeat(${LARGE_LENGTH}) };
        collection.createDocument(collection.getSelfLink(), own, () => {
          const query = 'SELECT VALUE LENGTH(c.text) + c.n FROM c';
          collection.queryDocuments(collection.getSelfLink(), query, (error, rows) => {
            getContext().getResponse().setBody(rows);
          });
        });
      }`,
    });
    const { resource } = await large.scripts.storedProcedure('sum').execute('q');
    expect(resource).toEqual([LARGE_LENGTH + 5]);
    await large.item('own', 'q').delete();
  });
});

describe('a page', () => {
  test('is at most 4 MB, and all rows come', async () => {
    const text = 'SELECT c.n, x, c.text FROM c JOIN x IN c.list';
    const pages = large.items.query(text, { partitionKey: 'p', maxItemCount: 1000 });
    const rows: unknown[] = [];
    let count = 0;
    while (pages.hasMoreResults()) {
      const { resources = [] } = await pages.fetchNext();
      expect(JSON.stringify(resources).length).toBeLessThanOrEqual(4 * 1024 * 1024);
      for (const { n, x, text: part } of resources) rows.push([n, x, part.length]);
      count++;
    }
    const expected = NUMBERS.flatMap((n) => [n, 10].map((x) => [n, x, LARGE_LENGTH]));
    expect(rows).toEqual(expected);
    expect(count).toBeGreaterThan(2);
  });

  test('a row that is larger is refused', async () => {
    const text = 'SELECT VALUE [c.text, c.text, c.text, c.text, c.text, c.text, c.text] FROM c';
    await expect(large.items.query(text).fetchAll()).rejects.toMatchObject({ code: 413 });
  });
});

test.each([
  [`SELECT VALUE LENGTH(REVERSE(${LARGE})) FROM c`, 'size of the values'],
  [`SELECT VALUE ${LARGE} FROM c`, 'size of the values'],
  [
    "SELECT VALUE COUNT(1) FROM c JOIN a IN c.list WHERE REGEXMATCH(CONCAT(REPLICATE('a', 60), ToString(a)), '^(A+)+$', 'i')",
    'too long',
  ],
  [
    'SELECT VALUE COUNT(1) FROM c JOIN x IN c.list WHERE EXISTS(SELECT VALUE y FROM y IN c.list WHERE EXISTS(SELECT VALUE z FROM z IN c.list WHERE x + y + z < 0))',
    'exceeded the time',
  ],
  [
    `SELECT VALUE StringToArray('${'['.repeat(10_000)}${']'.repeat(10_000)}') = [] FROM c`,
    'nested too deeply',
  ],
])('%s is refused, and the server goes on', async (text, message) => {
  const query = small.items.query(text, { partitionKey: 'p' });
  await expect(query.fetchAll()).rejects.toMatchObject({ code: 400 });
  await expect(small.items.query(text, { partitionKey: 'p' }).fetchAll()).rejects.toThrow(message);
  expect((await small.item('1', 'p').read()).statusCode).toBe(200);
});

test('a condition of a patch that takes too much is refused', async () => {
  const patch = small.item('1', 'p').patch({
    condition: `from c where LENGTH(${LARGE}) > 0`,
    operations: [{ op: 'set', path: '/touched', value: true }],
  });
  await expect(patch).rejects.toMatchObject({ code: 400 });
  expect((await small.item('1', 'p').read()).resource?.touched).toBeUndefined();
});

test('the token of one item gives no query plans', async () => {
  const { database } = small;
  const { user } = await database.users.create({ id: 'user' });
  const { resource } = await user.permissions.create({
    id: 'p',
    permissionMode: 'read' as never,
    resource: 'dbs/db/colls/small/docs/1',
    resourcePartitionKey: ['p'],
  });
  const { _token: token } = resource as unknown as { readonly _token: string };
  const plan = (authorization?: string) =>
    sendRaw(account, {
      method: 'POST',
      path: '/dbs/db/colls/small/docs',
      headers: {
        ...(authorization && { authorization: encodeURIComponent(authorization) }),
        'x-ms-cosmos-is-query-plan-request': 'True',
        'x-ms-documentdb-isquery': 'true',
        'content-type': 'application/query+json',
      },
      body: JSON.stringify({ query: `SELECT VALUE ${LARGE} FROM c` }),
    });
  expect((await plan()).status).toBe(200);
  expect((await plan(token)).status).toBe(403);
});
