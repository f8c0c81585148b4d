// Goal: the result of a blocking query is computed once for all its pages, and again only where it is no longer cached.
// Method: groups read in small pages, with the number of items loaded for each page; tokens that name no cached result.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { executableQuery, parseQuery } from '../../src/api/nosql/sql/index.ts';
import type { ContainerRecord } from '../../src/catalog/index.ts';
import { EVERYWHERE, parsedRows, World } from './world.ts';

const ITEMS = 60;
const GROUPS = 30;
const QUERY = 'SELECT c.g, COUNT(1) AS many FROM c GROUP BY c.g';
const query = executableQuery(parseQuery(QUERY), { startMs: 0 });

let world: World;
let container: ContainerRecord;

beforeAll(async () => {
  world = await World.open(1);
  container = await world.newContainer('c');
  for (let at = 0; at < ITEMS; at++)
    await world.create(container, { id: `${at}`, pk: `k${at % 7}`, g: at % GROUPS });
});

afterAll(() => world.close());

const expected = Array.from({ length: GROUPS }, (_, g) => ({ g, many: 2 }));

test('items are loaded for the first page only', async () => {
  const pages = await Array.fromAsync(world.pages(container, query, 10));
  expect(pages.flatMap(parsedRows)).toEqual(expected);
  expect(pages.map(({ stats }) => stats.itemsLoaded)).toEqual([ITEMS, 0, 0]);
});

/** The second page, by a token that was changed. */
async function secondPage(
  change: (token: { given: number; k: string }) => object,
  of = container,
  ranges = EVERYWHERE,
) {
  const request = { query, ranges: EVERYWHERE, limit: 10, sessionToken: undefined };
  const first = await world.service.queries.run(container, { ...request, continuation: undefined });
  const token = JSON.parse(first.continuation as string);
  const continuation = JSON.stringify({ ...token, ...change(token) });
  return world.service.queries.run(of, { ...request, ranges, continuation });
}

test('a result that is no longer cached is computed again', async () => {
  const page = await secondPage(() => ({ k: 'nothing of this name' }));
  expect(parsedRows(page)).toEqual(expected.slice(10, 20));
  expect(page.stats.itemsLoaded).toBe(ITEMS);
  const old = await secondPage(() => ({ k: undefined }));
  expect(old.rows).toEqual(page.rows);
});

test('a cached result is not used for another container or range', async () => {
  const other = await world.newContainer('other');
  expect((await secondPage(() => ({}), other)).rows).toEqual([]);
  const half = await secondPage(() => ({ given: 0 }), container, [{ min: '', max: '1F' }]);
  expect(half.stats.itemsLoaded).toBeGreaterThan(0);
});

test('distinct rows without an order stop at the end of their page', async () => {
  const distinct = executableQuery(parseQuery('SELECT DISTINCT VALUE c.g FROM c'), { startMs: 0 });
  const [first] = await Array.fromAsync(world.pages(container, distinct, 5));
  expect(first && parsedRows(first)).toEqual([0, 1, 2, 3, 4]);
  expect(first?.continuation).toBe('{"v":1,"given":5}');
});

test('distinct rows in pages of one do not cost many times those in one page', async () => {
  const distinct = executableQuery(parseQuery('SELECT DISTINCT VALUE c.g FROM c'), { startMs: 0 });
  const pages = await Array.fromAsync(world.pages(container, distinct, 1));
  expect(pages.flatMap(parsedRows)).toEqual(expected.map(({ g }) => g));
  expect(pages).toHaveLength(GROUPS);
  const loaded = pages.map(({ stats }) => stats.itemsLoaded);
  expect(loaded.filter((items) => items > 0).length).toBeLessThanOrEqual(5);
  expect(loaded.reduce((sum, items) => sum + items)).toBeLessThanOrEqual(4 * ITEMS);
});
