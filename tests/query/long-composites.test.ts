// Goal: an index over many long texts takes every item and keeps its order, although its entries do not fit in keys.
// Method: items with eight texts of 500 bytes, ordered by all of them in both directions, in pages, with filters; and
// as many as the memory of the index holds, so that their entries are written to the store.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { executableQuery, parseQuery } from '../../src/api/nosql/sql/index.ts';
import { INDEX_MEMTABLE_ENTRIES, seededRandom } from '../../src/base/index.ts';
import { type ContainerRecord, normalizeIndexingPolicy } from '../../src/catalog/index.ts';
import { parsedRows, World } from './world.ts';

const NAMES = ['s', 't', 'u', 'v', 'w', 'x', 'y', 'z'];
const DIRECTIONS = NAMES.map((_, at) => (at % 3 === 1 ? 'DESC' : 'ASC'));
const LONG = 'x'.repeat(498);

let world: World;

beforeAll(async () => {
  world = await World.open(1);
});

afterAll(() => world.close());

function newContainer(id: string): Promise<ContainerRecord> {
  const composite = NAMES.map((name, at) => ({
    path: `/${name}`,
    order: DIRECTIONS[at] === 'DESC' ? 'descending' : 'ascending',
  }));
  const policy = { compositeIndexes: [composite] };
  return world.newContainer(id, { indexingPolicy: normalizeIndexingPolicy(policy) });
}

type Thing = Readonly<Record<string, string>>;

function thing(id: number, letter: (at: number) => string): Thing {
  const texts = NAMES.map((name, at) => [name, `${LONG}${letter(at)}`]);
  return { id: `${id}`, pk: 'p', ...Object.fromEntries(texts) };
}

function compare(a: Thing, b: Thing): number {
  for (const [at, name] of NAMES.entries()) {
    const [left, right] = [a[name] as string, b[name] as string];
    if (left !== right) return (left < right ? -1 : 1) * (DIRECTIONS[at] === 'DESC' ? -1 : 1);
  }
  return Number(a.id) - Number(b.id);
}

async function idsOf(container: ContainerRecord, filter: string, limit: number) {
  const order = NAMES.map((name, at) => `c.${name} ${DIRECTIONS[at]}`).join(', ');
  const text = `SELECT VALUE c.id FROM c ${filter} ORDER BY ${order}`;
  const query = executableQuery(parseQuery(text), { startMs: 0 });
  const ids: unknown[] = [];
  for await (const page of world.pages(container, query, limit)) ids.push(...parsedRows(page));
  return ids;
}

test.each([1, 2, 3])('rows in the order of eight long texts, seed %d', async (seed) => {
  const random = seededRandom(seed);
  const container = await newContainer(`c${seed}`);
  const things = Array.from({ length: 60 }, (_, id) =>
    thing(id, (at) => 'ab'.charAt(random.below(at < 4 ? 3 : 2))),
  );
  for (const item of things) await world.create(container, item);
  const expected = (list: readonly Thing[]) => [...list].sort(compare).map(({ id }) => id);
  for (const limit of [1, 7, 100]) {
    expect(await idsOf(container, '', limit)).toEqual(expected(things));
    const filter = `WHERE c.s = "${LONG}a" AND c.t = "${LONG}b" AND c.u >= "${LONG}a"`;
    const passing = things.filter(
      ({ s, t, u }) => s === `${LONG}a` && t === `${LONG}b` && (u as string) >= `${LONG}a`,
    );
    expect(await idsOf(container, filter, limit)).toEqual(expected(passing));
    const one = things[random.below(things.length)] as Thing;
    const whole = NAMES.map((name) => `c.${name} = "${one[name]}"`).join(' AND ');
    const same = things.filter((other) => NAMES.every((name) => other[name] === one[name]));
    expect(await idsOf(container, `WHERE ${whole}`, limit)).toEqual(expected(same));
  }
});

test('entries that do not fit in keys are written to the store', async () => {
  const container = await newContainer('many');
  const count = Math.ceil(INDEX_MEMTABLE_ENTRIES / NAMES.length) + 200;
  for (let id = 0; id < count; id++)
    await world.create(
      container,
      thing(id, () => String(id % 7)),
    );
  const ids = await idsOf(container, `WHERE c.s = "${LONG}3"`, 10_000);
  expect(ids).toEqual(
    Array.from({ length: count }, (_, id) => id)
      .filter((id) => id % 7 === 3)
      .map(String),
  );
});
