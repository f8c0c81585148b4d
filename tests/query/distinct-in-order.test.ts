// Goal: distinct rows that clients merge come once from each partition, in order, however they are read.
// Method: the text of a query plan over random values by seed, with and without an index, in pages of one, three and all,
// against a plain sort; a client drops what repeats the row before, as arrays and objects may.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { executableQuery, parseQuery } from '../../src/api/nosql/sql/index.ts';
import { seededRandom } from '../../src/base/index.ts';
import { type ContainerRecord, normalizeIndexingPolicy } from '../../src/catalog/index.ts';
import { compareValues, type Value } from '../../src/value/index.ts';
import { parsedRows, World } from './world.ts';

const seed = Number(process.env.MESOCOSM_SEED ?? 5);
const ITEMS = 300;
const LONG = 'x'.repeat(600);
const VALUES: readonly Value[] = [
  null,
  false,
  true,
  -1.5,
  0,
  7,
  1e9,
  '',
  'a',
  'ab',
  `${LONG}1`,
  `${LONG}2`,
];

interface Thing {
  readonly id: string;
  readonly a: Value;
  readonly b: number;
}

const random = seededRandom(seed);
const THINGS: readonly Thing[] = Array.from({ length: ITEMS }, (_, at) => ({
  id: String(at),
  a: VALUES[random.below(VALUES.length)] as Value,
  b: random.below(4),
}));

let world: World;
const containers = new Map<string, ContainerRecord>();

beforeAll(async () => {
  world = await World.open(seed);
  const policies = {
    'by index': {
      compositeIndexes: [
        [
          { path: '/a', order: 'ascending' },
          { path: '/b', order: 'descending' },
        ],
      ],
    },
    'by sort': { includedPaths: [{ path: '/nothing/?' }], excludedPaths: [{ path: '/*' }] },
  };
  for (const [id, policy] of Object.entries(policies)) {
    const container = await world.newContainer(id, {
      indexingPolicy: normalizeIndexingPolicy(policy),
    });
    containers.set(id, container);
    for (const thing of THINGS) await world.create(container, { ...thing, pk: thing.id });
  }
});

afterAll(() => world.close());

interface OrderedRow {
  readonly _rid: string;
  readonly orderByItems: readonly { readonly item?: Value }[];
  readonly payload: Value;
}

async function readAll(
  container: ContainerRecord,
  text: string,
  limit: number,
): Promise<{ rows: OrderedRow[]; itemsLoaded: number }> {
  const program = executableQuery(parseQuery(text), { startMs: 0 });
  const rows: OrderedRow[] = [];
  let itemsLoaded = 0;
  for await (const page of world.pages(container, program, limit)) {
    rows.push(...parsedRows<OrderedRow>(page));
    itemsLoaded += page.stats.itemsLoaded;
  }
  return { rows, itemsLoaded };
}

function distinct(things: readonly Thing[], sign: number): readonly Value[] {
  const values = VALUES.filter((value) => things.some(({ a }) => a === value));
  return [...values].sort((a, b) => sign * compareValues(a, b));
}

describe.each(['by index', 'by sort'])('%s', (id) => {
  test.each([1, 3, 1000])('each value once, in pages of %i', async (limit) => {
    const container = containers.get(id) as ContainerRecord;
    for (const [direction, sign] of [
      ['ASC', 1],
      ['DESC', -1],
    ] as const)
      for (const filter of ['true', 'r.b = 2', 'r.b > 100']) {
        const text = `SELECT DISTINCT r._rid, [{"item": r.a}] AS orderByItems, r.a AS payload FROM r WHERE ${filter} ORDER BY r.a ${direction}`;
        const things = THINGS.filter(
          ({ b }) => filter === 'true' || (filter === 'r.b = 2' && b === 2),
        );
        const { rows } = await readAll(container, text, limit);
        const label = `seed ${seed}: ${text}`;
        expect(
          rows.map(({ payload }) => payload),
          label,
        ).toEqual(distinct(things, sign));
        for (const { payload, orderByItems } of rows)
          expect(orderByItems, label).toEqual([{ item: payload }]);
      }
  });

  test.each([1, 3, 1000])('each pair of values once, in pages of %i', async (limit) => {
    const container = containers.get(id) as ContainerRecord;
    const text =
      'SELECT DISTINCT r._rid, [{"item": r.a}, {"item": r.b}] AS orderByItems, [r.a, r.b] AS payload FROM r ORDER BY r.a ASC, r.b DESC';
    const { rows } = await readAll(container, text, limit);
    const pairs = distinct(THINGS, 1).flatMap((a) =>
      [3, 2, 1, 0]
        .filter((b) => THINGS.some((thing) => thing.a === a && thing.b === b))
        .map((b) => [a, b]),
    );
    expect(rows.map(({ payload }) => payload)).toEqual(pairs);
  });
});

test('a few values of many items are found without loading all of them', async () => {
  const container = containers.get('by index') as ContainerRecord;
  const text =
    'SELECT DISTINCT r._rid, [{"item": r.b}] AS orderByItems, r.b AS payload FROM r ORDER BY r.b';
  const { rows, itemsLoaded } = await readAll(container, text, 1000);
  expect(rows.map(({ payload }) => payload)).toEqual([0, 1, 2, 3]);
  expect(itemsLoaded).toBe(40);
});
