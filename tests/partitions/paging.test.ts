// Goal: a query that is read page by page gives every item once, in its order, while partitions split and merge.
// Method: pages of one and of three, from a seeded history of splits and merges between the pages.
import { afterAll, beforeEach, expect, test } from 'vitest';
import { rowText } from '../../src/api/nosql/feed.ts';
import { executableQuery, parseQuery } from '../../src/api/nosql/sql/index.ts';
import { type DomainError, FakeClock, seededRandom, textToBytes } from '../../src/base/index.ts';
import { type ContainerRecord, DEFAULT_INDEXING_POLICY } from '../../src/catalog/index.ts';
import { memoryEngine } from '../../src/engine/memory/index.ts';
import { DEFAULT_SETTINGS, openService, type Service } from '../../src/service/index.ts';

const ITEMS = 60;
const seed = Number(process.env.MESOCOSM_SEED ?? 11);

let service: Service;
let container: ContainerRecord;

beforeEach(async () => {
  await service?.close();
  service = await openService({
    engine: memoryEngine(),
    clock: new FakeClock(),
    random: seededRandom(seed),
    settings: { ...DEFAULT_SETTINGS, throughputMode: 'report' },
    homes: [],
  });
  const database = await service.databases.create('db', undefined);
  container = await service.containers.create(database.rid, {
    id: 'c',
    partitionKey: { paths: ['/pk'], kind: 'Hash', version: 2 },
    home: 'nosql',
    indexingPolicy: DEFAULT_INDEXING_POLICY,
    uniqueKeys: [],
    policies: {},
    throughput: { kind: 'manual', requestUnits: 1000 },
  });
  for (let number = 0; number < ITEMS; number++) await write(number);
});

afterAll(() => service.close());

async function write(number: number): Promise<void> {
  const item = {
    id: String(number),
    pk: `k${number % 23}`,
    n: number % 7,
    tags: ['a', 'b', 'c'],
    ...(number % 3 > 0 && { maybe: number % 5 }),
  };
  await service.items.write(current(), {
    kind: 'create',
    partitionKey: [item.pk],
    rowKey: [item.id],
    body: textToBytes(JSON.stringify(item)),
    ttlSec: 0,
  });
}

function current(): ContainerRecord {
  return service.containers.findByRid(container.databaseRid, container.rid) as ContainerRecord;
}

async function resize(random: ReturnType<typeof seededRandom>): Promise<void> {
  const { partitions } = current();
  const at = random.below(partitions.length);
  try {
    if (partitions.length > 5 && random.below(2) === 0) {
      const first = Math.min(at, partitions.length - 2);
      const ids = partitions.slice(first, first + 2).map(({ id }) => id);
      await service.resizer.merge(container, ids);
    } else await service.resizer.split(container, partitions[at]?.id as string);
  } catch (error) {
    expect((error as DomainError).message).toMatch(/cannot be split/);
  }
}

async function pages(text: string, limit: number, onPage: () => Promise<void>): Promise<unknown[]> {
  const query = executableQuery(parseQuery(text), { parameters: [], startMs: 0 });
  const rows: unknown[] = [];
  let continuation: string | undefined;
  do {
    const page = await service.queries.run(current(), {
      query,
      ranges: current().partitions.map(({ min, max }) => ({ min, max })),
      continuation,
      limit,
      sessionToken: undefined,
    });
    rows.push(...page.rows.map((row) => JSON.parse(rowText(row))));
    continuation = page.continuation;
    await onPage();
  } while (continuation !== undefined);
  return rows;
}

const all = Array.from({ length: ITEMS }, (_, number) => number);

test.each([1, 3])('every item once, in pages of %d', async (limit) => {
  const random = seededRandom(seed + limit);
  const rows = await pages('SELECT VALUE c.id FROM c', limit, () => resize(random));
  expect(
    rows.map(Number).sort((a, b) => a - b),
    `seed ${seed}`,
  ).toEqual(all);
  expect(current().routingVersion).toBeGreaterThan(10);
});

test('items that came before are all there, whatever is written in between', async () => {
  const random = seededRandom(seed);
  let number = ITEMS;
  const rows = await pages('SELECT VALUE c.id FROM c', 1, async () => {
    await resize(random);
    if (number < ITEMS + 40) await write(number++);
  });
  expect(new Set(rows).size, `seed ${seed}`).toBe(rows.length);
  expect(rows).toEqual(expect.arrayContaining(all.map(String)));
});

test('several rows of one item, each once', async () => {
  const random = seededRandom(seed);
  const text = 'SELECT VALUE CONCAT(c.id, t) FROM c JOIN t IN c.tags';
  const rows = await pages(text, 1, () => resize(random));
  const expected = all.flatMap((number) => ['a', 'b', 'c'].map((tag) => `${number}${tag}`));
  expect(rows.sort(), `seed ${seed}`).toEqual(expected.sort());
});

test.each([
  ['ascending', 'ASC'],
  ['descending', 'DESC'],
])('ORDER BY %s keeps its order and gives every item once', async (_, direction) => {
  const random = seededRandom(seed);
  const text = `SELECT c.id, c.n FROM c ORDER BY c.n ${direction}`;
  const rows = (await pages(text, 1, () => resize(random))) as { id: string; n: number }[];
  expect(
    rows.map(({ id }) => Number(id)).sort((a, b) => a - b),
    `seed ${seed}`,
  ).toEqual(all);
  const numbers = rows.map(({ n }) => n);
  expect(numbers).toEqual([...numbers].sort((a, b) => (direction === 'ASC' ? a - b : b - a)));
});

test.each([
  ['first', 'ASC', 1],
  ['last', 'DESC', -1],
])('ORDER BY gives items without the property %s, every one once', async (_, direction, sign) => {
  const random = seededRandom(seed);
  const text = `SELECT c.id, c.maybe FROM c ORDER BY c.maybe ${direction}`;
  const rows = (await pages(text, 1, () => resize(random))) as { id: string; maybe?: number }[];
  const ids = rows.map(({ id }) => Number(id)).sort((a, b) => a - b);
  expect(ids, `seed ${seed}`).toEqual(all);
  const keys = rows.map(({ maybe }) => maybe ?? -1);
  expect(keys, `seed ${seed}`).toEqual([...keys].sort((a, b) => sign * (a - b)));
});

test('OFFSET and LIMIT count rows, not partitions', async () => {
  const random = seededRandom(seed);
  const text = 'SELECT VALUE c.id FROM c ORDER BY c.n OFFSET 20 LIMIT 15';
  const expected = await pages(text, 100, async () => undefined);
  expect(await pages(text, 1, () => resize(random)), `seed ${seed}`).toEqual(expected);
});
