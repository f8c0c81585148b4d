// Goal: COUNT(1) is computed by the index without loading items wherever it can be; and is right where it cannot.
// Method: fixed items; counts, and the number of items that were loaded for them.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { executableQuery, parseQuery } from '../../src/api/nosql/sql/index.ts';
import { textToBytes } from '../../src/base/index.ts';
import { type ContainerRecord, normalizeIndexingPolicy } from '../../src/catalog/index.ts';
import { EVERYWHERE, parsedRows, World } from './world.ts';

const ITEMS = 50;
const LONG = 'x'.repeat(1000);

let world: World;

beforeAll(async () => {
  world = await World.open(1);
});

afterAll(() => world.close());

async function filled(
  id: string,
  { requestUnits = 1000, isIndexed = true, ttlSec = 0 },
): Promise<ContainerRecord> {
  const container = await world.newContainer(id, {
    requestUnits,
    indexingPolicy: normalizeIndexingPolicy(
      isIndexed ? {} : { indexingMode: 'none', automatic: false },
    ),
    ...(ttlSec > 0 && { defaultTtlSec: -1 }),
  });
  for (let at = 0; at < ITEMS; at++) {
    const item = { id: `${at}`, pk: `k${at % 7}`, n: at % 10, text: `${LONG}${at % 2}` };
    await world.create(container, item, at < 5 ? ttlSec : 0);
  }
  return container;
}

async function count(
  container: ContainerRecord,
  filter: string | undefined,
  ranges = EVERYWHERE,
): Promise<{ count: number; itemsLoaded: number }> {
  const where = filter === undefined ? '' : ` WHERE ${filter}`;
  const query = parseQuery(`SELECT VALUE COUNT(1) FROM c${where}`);
  const pages = world.pages(container, executableQuery(query, { startMs: 0 }), 10, ranges);
  const [page] = await Array.fromAsync(pages);
  return { count: Number(page && parsedRows(page)[0]), itemsLoaded: page?.stats.itemsLoaded ?? 0 };
}

describe.each([1000, 50_000])('at %i RU/s', (requestUnits) => {
  test.each([
    ['c.n = 3', 5],
    ['c.n >= 3 AND c.n < 5', 10],
    ['c.n IN (1, 1, 2, "1")', 10],
    ['c.n BETWEEN 2 AND 4', 15],
    ['c.n = 3 OR c.pk = "k1"', 11],
    ['c.n = 3 AND c.pk = "k3"', 1],
    ['c.n = 3 AND c.n = 4', 0],
    ['4 > c.n', 20],
    ['c.missing = 1', 0],
  ])('%s is counted without a look at any item', async (filter, expected) => {
    const id = `counted ${requestUnits} ${filter.replace(/[^a-z0-9]/gi, ' ')}`;
    const container = await filled(id, { requestUnits });
    expect(await count(container, filter)).toEqual({ count: expected, itemsLoaded: 0 });
  });
});

test('all items are counted without a look at any, as they come and go', async () => {
  const container = await filled('all', {});
  const { items } = world.service;
  expect(await count(container, undefined)).toEqual({ count: 50, itemsLoaded: 0 });
  await items.write(container, { kind: 'delete', partitionKey: ['k0'], rowKey: ['0'] });
  expect(await count(container, undefined)).toEqual({ count: 49, itemsLoaded: 0 });
  const body = textToBytes('{"id":"1","pk":"k1"}');
  await items.write(container, {
    kind: 'upsert',
    partitionKey: ['k1'],
    rowKey: ['1'],
    body,
    ttlSec: 0,
  });
  expect(await count(container, undefined)).toEqual({ count: 49, itemsLoaded: 0 });
});

test.each([
  [`c.text = "${LONG}1"`, 25],
  ['c.n != 3', 45],
  ['NOT (c.n = 3)', 45],
  ['c.n = 3 AND STARTSWITH(c.text, "x")', 5],
])('%s is not computed by the index, and still right', async (filter, expected) => {
  const container = await filled(`looked at ${expected} ${filter.length}`, {});
  const found = await count(container, filter);
  expect(found.count).toBe(expected);
  expect(found.itemsLoaded).toBeGreaterThan(0);
});

test('without an index items are counted one by one', async () => {
  const container = await filled('plain', { isIndexed: false });
  expect(await count(container, 'c.n = 3')).toEqual({ count: 5, itemsLoaded: ITEMS });
});

test('items that have expired are not counted', async () => {
  const container = await filled('expiring', { ttlSec: 10 });
  expect((await count(container, 'c.n < 10')).count).toBe(50);
  world.clock.advance(20_000);
  expect((await count(container, 'c.n < 10')).count).toBe(45);
});

test('of a part of the hash space only its own items are counted', async () => {
  const container = await filled('parted', {});
  const low = await count(container, 'c.n < 10', [{ min: '', max: '1F' }]);
  const high = await count(container, 'c.n < 10', [{ min: '1F', max: 'FF' }]);
  expect(low.count + high.count).toBe(50);
  expect(low.count).not.toBe(50);
});
