// Goal: items without the property are part of an order by it, first where it rises and last where it falls, however it is
// read, and as items come, change and go.
// Method: random items by seed, some without the property, in one partition and in five, with the index and without, in
// pages of one, seven and all; after each round of writes the rows are those of a plain sort.
import { expect, test } from 'vitest';
import { executableQuery, parseQuery } from '../../src/api/nosql/sql/index.ts';
import { type Random, seededRandom, textToBytes } from '../../src/base/index.ts';
import { type ContainerRecord, normalizeIndexingPolicy } from '../../src/catalog/index.ts';
import { compareValues, type Value } from '../../src/value/index.ts';
import { parsedRows, World } from './world.ts';

const seed = Number(process.env.MESOCOSM_SEED ?? 11);
const ITEMS = 80;
const VALUES: readonly Value[] = [
  undefined,
  undefined,
  null,
  false,
  3,
  -1,
  'a',
  'b',
  [1],
  { x: 1 },
];

interface Thing {
  readonly id: string;
  readonly a: Value;
  readonly b: Value;
}

class Things {
  readonly all = new Map<string, Thing>();
  readonly #random: Random;
  readonly #world: World;
  readonly #containers: readonly ContainerRecord[];

  constructor(random: Random, world: World, containers: readonly ContainerRecord[]) {
    this.#random = random;
    this.#world = world;
    this.#containers = containers;
  }

  async put(id: string): Promise<void> {
    const pick = (): Value => VALUES[this.#random.below(VALUES.length)];
    const thing = { id, a: pick(), b: pick() };
    this.all.set(id, thing);
    const body = textToBytes(JSON.stringify({ ...thing, pk: id }));
    const write = { kind: 'upsert', partitionKey: [id], rowKey: [id], body, ttlSec: 0 } as const;
    for (const container of this.#containers)
      await this.#world.service.items.write(container, write);
  }

  async drop(id: string): Promise<void> {
    if (!this.all.delete(id)) return;
    for (const container of this.#containers)
      await this.#world.service.items.write(container, {
        kind: 'delete',
        partitionKey: [id],
        rowKey: [id],
      });
  }
}

async function rows(
  world: World,
  container: ContainerRecord,
  text: string,
  limit: number,
): Promise<{ id: string; a?: Value; b?: Value }[]> {
  const program = executableQuery(parseQuery(text), { startMs: 0 });
  const pages = await Array.fromAsync(world.pages(container, program, limit));
  return pages.flatMap((page) => parsedRows(page));
}

/** Arrays and objects have one place each. */
function placeOf(value: Value): Value {
  if (Array.isArray(value)) return [];
  return typeof value === 'object' && value !== null ? {} : value;
}

async function compare(
  world: World,
  containers: readonly ContainerRecord[],
  things: ReadonlyMap<string, Thing>,
  note: string,
): Promise<void> {
  for (const [by, signs] of [
    ['c.a', [1, 0]],
    ['c.a DESC', [-1, 0]],
    ['c.missing', [0, 0]],
    ['c.missing DESC', [0, 0]],
    ['c.a, c.b DESC', [1, -1]],
    ['c.a DESC, c.b', [-1, 1]],
  ] as const) {
    const keys = (one: { a?: Value; b?: Value }): string =>
      JSON.stringify([signs[0] && [placeOf(one.a)], signs[1] && [placeOf(one.b)]]);
    const expected = [...things.values()].sort(
      (x, y) =>
        signs[0] * compareValues(placeOf(x.a), placeOf(y.a)) ||
        signs[1] * compareValues(placeOf(x.b), placeOf(y.b)),
    );
    for (const container of containers)
      for (const limit of [1, 7, 1000]) {
        const text = `SELECT c.id, c.a, c.b FROM c ORDER BY ${by}`;
        const found = await rows(world, container, text, limit);
        const label = `seed ${seed}, ${note}: ${text} in ${container.id}, pages of ${limit}`;
        expect(found.map(keys), label).toEqual(expected.map(keys));
        expect(new Set(found.map(({ id }) => id)), label).toEqual(new Set(things.keys()));
      }
  }
}

test('24 of 36 rows: items without the property are not left out', async () => {
  const world = await World.open(seed);
  const indexingPolicy = normalizeIndexingPolicy({
    compositeIndexes: [
      [
        { path: '/a', order: 'ascending' },
        { path: '/b', order: 'descending' },
      ],
    ],
  });
  const off = normalizeIndexingPolicy({ indexingMode: 'none', automatic: false });
  const containers = [
    await world.newContainer('one', { indexingPolicy }),
    await world.newContainer('five', { indexingPolicy, requestUnits: 50_000 }),
    await world.newContainer('plain', { indexingPolicy: off }),
  ];
  const random = seededRandom(seed);
  const things = new Things(random, world, containers);
  for (let at = 0; at < ITEMS; at++) await things.put(`${at}`);
  await compare(world, containers, things.all, 'at first');
  for (let round = 0; round < 3; round++) {
    for (let at = 0; at < 15; at++) await things.put(`${random.below(ITEMS + 20)}`);
    for (let at = 0; at < 5; at++) await things.drop(`${random.below(ITEMS)}`);
    await compare(world, containers, things.all, `round ${round}`);
  }
  await world.close();
}, 120_000);

test('where all items have the property, the first rows cost the same as ever', async () => {
  const world = await World.open(seed);
  const container = await world.newContainer('all');
  for (let at = 0; at < 300; at++)
    await world.create(container, { id: `${at}`, pk: `${at % 9}`, a: at });
  const program = executableQuery(parseQuery('SELECT TOP 5 VALUE c.a FROM c ORDER BY c.a'), {
    startMs: 0,
  });
  for (let round = 0; round < 2; round++) {
    const [page] = await Array.fromAsync(world.pages(container, program, 10));
    expect(page && parsedRows(page)).toEqual([0, 1, 2, 3, 4]);
    expect(page?.stats.itemsLoaded).toBe(10);
    expect(page?.stats.indexEntries).toBe(10);
  }
  await world.close();
});
