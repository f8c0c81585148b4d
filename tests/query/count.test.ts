// Goal: COUNT(1) is told by the index, without loading items, wherever the index knows; and is right where it does not.
// Method: known items; counts beside the number of items that were loaded for them.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseQuery, programOf } from '../../src/api/nosql/sql/index.ts';
import { FakeClock, seededRandom, textToBytes } from '../../src/base/index.ts';
import { type ContainerRecord, normalizeIndexingPolicy } from '../../src/catalog/index.ts';
import { memoryEngine } from '../../src/engine/memory/index.ts';
import { DEFAULT_SETTINGS, openService, type Service } from '../../src/service/index.ts';

const ITEMS = 50;
const LONG = 'x'.repeat(1000);

const clock = new FakeClock();
let service: Service;
let databaseRid: number;

beforeAll(async () => {
  service = await openService({
    engine: memoryEngine(),
    clock,
    random: seededRandom(1),
    settings: { ...DEFAULT_SETTINGS, throughputMode: 'report' },
    seals: {},
  });
  databaseRid = (await service.databases.create('db', undefined)).rid;
});

afterAll(() => service.close());

async function filled(
  id: string,
  { requestUnits = 1000, isIndexed = true, ttlSec = 0 },
): Promise<ContainerRecord> {
  const container = await service.containers.create(databaseRid, {
    id,
    partitionKey: { paths: ['/pk'], kind: 'Hash', version: 2 },
    encoding: 'json',
    indexingPolicy: normalizeIndexingPolicy(
      isIndexed ? {} : { indexingMode: 'none', automatic: false },
    ),
    uniqueKeys: [],
    policies: {},
    ...(ttlSec > 0 && { defaultTtlSec: -1 }),
    throughput: { kind: 'manual', requestUnits },
  });
  for (let at = 0; at < ITEMS; at++) {
    const item = { id: `${at}`, pk: `k${at % 7}`, n: at % 10, text: `${LONG}${at % 2}` };
    await service.items.write(container, {
      kind: 'create',
      partitionKey: [item.pk],
      id: item.id,
      body: textToBytes(JSON.stringify(item)),
      ttlSec: at < 5 ? ttlSec : 0,
    });
  }
  return container;
}

async function count(
  container: ContainerRecord,
  filter: string,
  range = { min: '', max: 'FF' },
): Promise<{ count: number; itemsLoaded: number }> {
  const program = programOf(parseQuery(`SELECT VALUE COUNT(1) FROM c WHERE ${filter}`), {
    startMs: 0,
  });
  const request = { program, ranges: [range], continuation: undefined, limit: 10 };
  const page = await service.queries.run(container, { ...request, sessionToken: undefined });
  return { count: Number(page.rows[0]), itemsLoaded: page.work.itemsLoaded };
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
  const all = async () => {
    const program = programOf(parseQuery('SELECT VALUE COUNT(1) FROM c'), { startMs: 0 });
    const request = { program, ranges: [{ min: '', max: 'FF' }], continuation: undefined };
    const page = await service.queries.run(container, {
      ...request,
      limit: 10,
      sessionToken: undefined,
    });
    expect(page.work.itemsLoaded).toBe(0);
    return page.rows;
  };
  expect(await all()).toEqual(['50']);
  await service.items.write(container, { kind: 'delete', partitionKey: ['k0'], id: '0' });
  expect(await all()).toEqual(['49']);
  const body = textToBytes('{"id":"1","pk":"k1"}');
  await service.items.write(container, {
    kind: 'upsert',
    partitionKey: ['k1'],
    id: '1',
    body,
    ttlSec: 0,
  });
  expect(await all()).toEqual(['49']);
});

test.each([
  [`c.text = "${LONG}1"`, 25],
  ['c.n != 3', 45],
  ['NOT (c.n = 3)', 45],
  ['c.n = 3 AND STARTSWITH(c.text, "x")', 5],
])('%s is not told by the index, and still right', async (filter, expected) => {
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
  const container = await filled('mortal', { ttlSec: 10 });
  expect((await count(container, 'c.n < 10')).count).toBe(50);
  clock.advance(20_000);
  expect((await count(container, 'c.n < 10')).count).toBe(45);
});

test('of a part of the hash space only its own items are counted', async () => {
  const container = await filled('parted', {});
  const low = await count(container, 'c.n < 10', { min: '', max: '1F' });
  const high = await count(container, 'c.n < 10', { min: '1F', max: 'FF' });
  expect(low.count + high.count).toBe(50);
  expect(low.count).not.toBe(50);
});
