/** User defined functions in queries; method: the stock client against a server in memory, two partitions. */
import type { Container, SqlQuerySpec } from '@azure/cosmos';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Account, startAccount } from '../harness.ts';

const ITEMS = 250;

let account: Account;
let container: Container;

const FUNCTIONS: readonly [id: string, body: string][] = [
  [
    'tax',
    'function tax(income) {\n  if (income === undefined) throw "no input";\n  return income < 1000 ? income * 0.1 : income * 0.2;\n}',
  ],
  ['kind', '(x) => (x === undefined ? "none" : typeof x)'],
  ['name', 'function (doc) { return doc.id + "/" + doc.pk; }'],
  ['fail', '(x) => { throw new RangeError("not " + x); }'],
  ['loop', '() => { for (;;); }'],
  ['bomb', '() => { const a = []; for (;;) a.push(new Array(1e5).fill(1)); }'],
  ['regex', '() => /^(a+)+$/.test("a".repeat(40) + "b")'],
  ['state', '() => { globalThis.n = (globalThis.n || 0) + 1; return globalThis.n; }'],
  ['outside', '() => typeof getContext + typeof __ + typeof process + typeof require'],
  ['broken', 'function ('],
];

beforeAll(async () => {
  account = await startAccount({ settings: { scriptTimeLimitMs: 4000 } });
  const { database } = await account.client().databases.create({ id: 'functions' });
  ({ container } = await database.containers.create(
    { id: 'c', partitionKey: { paths: ['/pk'] } },
    { offerThroughput: 11_000 },
  ));
  for (const [id, body] of FUNCTIONS)
    await container.scripts.userDefinedFunctions.create({ id, body });
  for (let at = 0; at < ITEMS; at += 50)
    await Promise.all(
      Array.from({ length: 50 }, (_, index) => {
        const n = at + index;
        return container.items.create({ id: `${n}`, pk: `p${n % 5}`, income: n * 10 });
      }),
    );
});
afterAll(async () => {
  await account.close();
  expect(account.failures).toEqual([]);
});

const all = async (query: string | SqlQuerySpec, partitionKey?: string) =>
  (
    await container.items
      .query(query, partitionKey === undefined ? {} : { partitionKey })
      .fetchAll()
  ).resources;

const taxOf = (n: number) => (n * 10 < 1000 ? n * 10 * 0.1 : n * 10 * 0.2);
const numbers = Array.from({ length: ITEMS }, (_, n) => n);

test('in SELECT, over all partitions', async () => {
  const rows = await all('SELECT c.id, udf.tax(c.income) AS tax FROM c');
  const byId = new Map(rows.map(({ id, tax }: { id: string; tax: number }) => [id, tax]));
  expect(byId.size).toBe(ITEMS);
  for (const n of numbers) expect(byId.get(`${n}`)).toBe(taxOf(n));
});

test('in WHERE, with a parameter', async () => {
  const query = {
    query: 'SELECT VALUE c.id FROM c WHERE udf.tax(c.income) > @least',
    parameters: [{ name: '@least', value: 300 }],
  };
  const rows = await all(query);
  const wanted = numbers.filter((n) => taxOf(n) > 300).map(String);
  expect(rows.toSorted()).toEqual(wanted.toSorted());
});

test('none in ORDER BY: no path of the item has its order', async () => {
  const result = all('SELECT VALUE c.id FROM c ORDER BY udf.tax(c.income) DESC', 'p1');
  await expect(result).rejects.toMatchObject({
    code: 400,
    body: { message: expect.stringContaining('could not be mapped to a document path') },
  });
});

test.each([
  ['aggregates', 'SELECT VALUE COUNT(1) FROM c WHERE udf.tax(c.income) > 300', [99]],
  ['undefined in', 'SELECT VALUE udf.kind(c.absent) FROM c OFFSET 0 LIMIT 1', ['none']],
  ['documents', 'SELECT VALUE udf.name(c) FROM c WHERE c.id = "7"', ['7/p2']],
  ['no FROM', 'SELECT VALUE udf.kind("x")', ['string']],
  ['nothing but the language', 'SELECT VALUE udf.outside()', ['undefined'.repeat(4)]],
  ['no state from another query', 'SELECT VALUE udf.state()', [1]],
])('functions with %s', async (_, query, rows) => {
  expect(await all(query, 'p2').then((found) => found)).toEqual(
    query.includes('COUNT') ? [numbers.filter((n) => n % 5 === 2 && taxOf(n) > 300).length] : rows,
  );
});

test('pages of a query with functions', async () => {
  const query = 'SELECT VALUE udf.tax(c.income) FROM c';
  const iterator = container.items.query(query, { partitionKey: 'p3', maxItemCount: 7 });
  const rows: number[] = [];
  while (iterator.hasMoreResults()) rows.push(...((await iterator.fetchNext()).resources ?? []));
  // The items were created at the same time, so their order is that of their commits.
  const ascending = (one: number, other: number): number => one - other;
  const expected = numbers.filter((n) => n % 5 === 3).map(taxOf);
  expect(rows.sort(ascending)).toEqual(expected.sort(ascending));
});

describe('refusals', () => {
  test.each([
    [
      'a function that is not there',
      'SELECT udf.absent(1) FROM c',
      400,
      /'absent' could not be found/,
    ],
    ['one that throws', 'SELECT udf.fail(c.id) FROM c WHERE c.id = "2"', 400, /RangeError: not 2/],
    ['one that is no function', 'SELECT udf.broken() FROM c', 400, /SyntaxError/],
    ['one without end', 'SELECT udf.loop() FROM c', 408, /time/],
    ['one that eats memory', 'SELECT udf.bomb() FROM c', 403, /memory/],
    ['a regular expression bomb', 'SELECT udf.regex() FROM c', 408, /time/],
    ['too many', `SELECT ${Array.from({ length: 11 }, () => 'udf.kind(1)').join()}`, 400, /SC3005/],
  ])('%s', async (_, query, code, message) => {
    const failing = all(query, 'p2');
    await expect(failing).rejects.toMatchObject({ code });
    await expect(failing).rejects.toThrow(message);
  });
});

test('in the query of a procedure', async () => {
  const body = `function () {
    __.queryDocuments(__.getSelfLink(), 'SELECT VALUE udf.tax(c.income) FROM c', (error, rows) => {
      if (error) throw error;
      __.queryDocuments(__.getSelfLink(), 'SELECT VALUE udf.broken() FROM c', (error) => {
        getContext().getResponse().setBody([rows.length, error.number]);
      });
    });
  }`;
  await container.scripts.storedProcedures.create({ id: 'p', body });
  const { resource } = await container.scripts.storedProcedure('p').execute('p4', []);
  expect(resource).toEqual([50, 400]);
});
