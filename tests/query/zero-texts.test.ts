// Goal: a text comes behind those that it begins with, also where only zero characters follow. Method: such texts,
// ordered by an index with the text as its last part, ascending and descending, in pages.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { executableQuery, parseQuery } from '../../src/api/nosql/sql/index.ts';
import { normalizeIndexingPolicy } from '../../src/catalog/index.ts';
import { parsedRows, World } from './world.ts';

const TEXTS = ['a', 'a\u0000', 'a\u0000\u0000', 'a\u0000b', 'a\u0001', 'ab', '', '\u0000'];
let world: World;

beforeAll(async () => {
  world = await World.open(1);
});

afterAll(() => world.close());

test.each(['ascending', 'descending'])('%s', async (order) => {
  const composite = [
    { path: '/n', order: 'ascending' },
    { path: '/s', order },
  ];
  const container = await world.newContainer(order, {
    indexingPolicy: normalizeIndexingPolicy({ compositeIndexes: [composite] }),
  });
  for (const [at, s] of TEXTS.entries())
    await world.create(container, { id: `${at}`, pk: `k${at % 3}`, n: 1, s });
  const direction = order === 'descending' ? 'DESC' : 'ASC';
  const text = `SELECT VALUE c.s FROM c ORDER BY c.n, c.s ${direction}`;
  const query = executableQuery(parseQuery(text), { startMs: 0 });
  const sorted = [...TEXTS].sort();
  if (order === 'descending') sorted.reverse();
  for (const limit of [1, 3, 100]) {
    const rows: unknown[] = [];
    for await (const page of world.pages(container, query, limit)) rows.push(...parsedRows(page));
    expect(rows, `pages of ${limit}`).toEqual(sorted);
  }
});
