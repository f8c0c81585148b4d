// Goal: texts that share their first 512 bytes come in their own order, and no page loses one.
// Method: random long texts by seed among short ones, ordered by one property and by two of either direction, with filters
// on them, in pages of one, three and all, against a plain sort; then as distinct rows.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { executableQuery, parseQuery } from '../../src/api/nosql/sql/index.ts';
import { seededRandom } from '../../src/base/index.ts';
import { type ContainerRecord, normalizeIndexingPolicy } from '../../src/catalog/index.ts';
import { compareTexts } from '../../src/value/index.ts';
import { parsedRows, World } from './world.ts';

const seed = Number(process.env.MESOCOSM_SEED ?? 3);
const ITEMS = 90;
const BEGINNINGS = [
  '',
  'x'.repeat(511),
  'x'.repeat(600),
  'é'.repeat(400),
  '\u0000'.repeat(300),
  'y',
];

interface Thing {
  readonly id: string;
  readonly s: string;
  readonly t: string;
  readonly n: number;
}

const random = seededRandom(seed);
const text = (): string =>
  `${BEGINNINGS[random.below(BEGINNINGS.length)]}${'abcdeé'.charAt(random.below(6))}${'xy'.charAt(random.below(3))}`;
const THINGS: readonly Thing[] = Array.from({ length: ITEMS }, (_, at) => ({
  id: `${at}`,
  s: text(),
  t: text(),
  n: random.below(3),
}));

let world: World;
const containers = new Map<string, ContainerRecord>();

beforeAll(async () => {
  world = await World.open(seed);
  const orders = ['ascending', 'descending'].map((order) => [
    { path: '/s', order: 'ascending' },
    { path: '/t', order },
  ]);
  const compositeIndexes = [
    ...orders,
    [
      { path: '/n', order: 'ascending' },
      { path: '/t', order: 'descending' },
    ],
  ];
  const indexingPolicy = normalizeIndexingPolicy({ compositeIndexes });
  for (const [id, requestUnits] of [
    ['one', 1000],
    ['five', 50_000],
  ] as const) {
    const container = await world.newContainer(id, { indexingPolicy, requestUnits });
    containers.set(id, container);
    for (const thing of THINGS) await world.create(container, { ...thing, pk: thing.id });
  }
});

afterAll(() => world.close());

async function rows(id: string, query: string, limit: number): Promise<unknown[]> {
  const program = executableQuery(parseQuery(query), { startMs: 0 });
  const container = containers.get(id) as ContainerRecord;
  const pages = await Array.fromAsync(world.pages(container, program, limit));
  return pages.flatMap(parsedRows);
}

type Compare = (a: Thing, b: Thing) => number;
const byS: Compare = (a, b) => compareTexts(a.s, b.s);
const byT: Compare = (a, b) => compareTexts(a.t, b.t);
const middle = `${BEGINNINGS[2]}c`;

const CASES: readonly (readonly [string, Compare, ((thing: Thing) => boolean)?])[] = [
  ['ORDER BY c.s', byS],
  ['ORDER BY c.s DESC', (a, b) => -byS(a, b)],
  ['ORDER BY c.s, c.t', (a, b) => byS(a, b) || byT(a, b)],
  ['ORDER BY c.s, c.t DESC', (a, b) => byS(a, b) || -byT(a, b)],
  ['ORDER BY c.s DESC, c.t', (a, b) => -byS(a, b) || byT(a, b)],
  ['ORDER BY c.s DESC, c.t DESC', (a, b) => -byS(a, b) || -byT(a, b)],
  ['ORDER BY c.n, c.t DESC', (a, b) => a.n - b.n || -byT(a, b)],
  ['ORDER BY c.n DESC, c.t', (a, b) => b.n - a.n || byT(a, b)],
  [`WHERE c.s > "${middle}" ORDER BY c.s`, byS, ({ s }) => compareTexts(s, middle) > 0],
  [
    `WHERE c.s <= "${middle}" ORDER BY c.s DESC`,
    (a, b) => -byS(a, b),
    ({ s }) => compareTexts(s, middle) <= 0,
  ],
  [
    `WHERE c.s IN ("${middle}x", "${BEGINNINGS[2]}ax") ORDER BY c.s`,
    byS,
    ({ s }) => s === `${middle}x` || s === `${BEGINNINGS[2]}ax`,
  ],
  ['WHERE c.n = 1 ORDER BY c.s', byS, ({ n }) => n === 1],
];

describe.each(['one', 'five'])('in %s', (id) => {
  describe.each([1, 3, 1000])('in pages of %i', (limit) => {
    test.each(CASES.map((entry) => [entry[0].replaceAll(/(.)\1{100,}/g, '$1…'), entry] as const))(
      '%s',
      async (_, [clauses, compare, isWanted = () => true]) => {
        const found = await rows(id, `SELECT c.s, c.t, c.n FROM c ${clauses}`, limit);
        const expected = THINGS.filter(isWanted).sort(compare);
        const keys = ({ s, t, n }: Thing): string => {
          const named = [clauses.includes('c.s') && s, clauses.includes('c.t') && t];
          return JSON.stringify([...named, clauses.includes('BY c.n') && n]);
        };
        expect((found as Thing[]).map(keys), `seed ${seed}`).toEqual(expected.map(keys));
      },
    );

    test('each text once', async () => {
      const query =
        'SELECT DISTINCT r._rid, [{"item": r.s}] AS orderByItems, r.s AS payload FROM r ORDER BY r.s';
      const found = (await rows(id, query, limit)) as { payload: string }[];
      const texts = [...new Set(THINGS.map(({ s }) => s))].sort(compareTexts);
      expect(
        found.map(({ payload }) => payload),
        `seed ${seed}`,
      ).toEqual(texts);
    });
  });
});
