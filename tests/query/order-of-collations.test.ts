// Goal: an order with another collation, or with a comparison of its own, gives every item once, whatever serves it.
// Method: seeded random values of all kinds at a nested path, with and without arrays, with and without a condition, in both
// directions, in pages of random size, over one and several partitions; expected are the items sorted in memory.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Random, seededRandom } from '../../src/base/index.ts';
import type { ContainerRecord } from '../../src/catalog/index.ts';
import {
  ANYTHING,
  type Condition,
  type ExecutableQuery,
  everyValue,
  NOTHING,
  type Order,
  ofType,
  term,
} from '../../src/query/index.ts';
import {
  bsonCodec,
  compareValues,
  Extended,
  isList,
  keyTagOf,
  type Value,
  type ValueMap,
} from '../../src/value/index.ts';
import { EVERYWHERE, World } from './world.ts';

const SEEDS = process.env.MESOCOSM_LONG === undefined ? 8 : 200;
const ITEMS = 60;

let world: World;

beforeAll(async () => {
  world = await World.open(9, { homes: [{ name: 'mongo', codec: bsonCodec }] });
});

afterAll(() => world.close());

function randomValue(random: Random, depth = 0): Value {
  const n = random.below(4);
  const bytes = Uint8Array.from({ length: n }, () => random.below(3));
  const makers: readonly (() => Value)[] = [
    () => undefined,
    () => null,
    () => n > 1,
    () => n - 1.5,
    () => new Extended({ kind: 'int64', value: 2n ** 53n + BigInt(n) }),
    () => new Extended({ kind: 'decimal', digits: `${n}.1` }),
    () => 'ab'.repeat(n),
    () => `${'z'.repeat(600)}${n}`,
    () => new Extended({ kind: 'binary', bytes, subtype: random.below(2) }),
    () => new Extended({ kind: 'objectId', bytes: Uint8Array.of(...Array(11).fill(1), n) }),
    () => new Extended({ kind: 'date', ms: n - 2 }),
    () => new Extended({ kind: 'timestamp', high: n, low: 1 }),
    () => new Extended({ kind: 'regex', source: 'x'.repeat(n), flags: 'i' }),
    () => new Extended({ kind: n > 1 ? 'minKey' : 'maxKey' }),
    () => (depth > 1 ? {} : { [`p${random.below(2)}`]: randomValue(random, depth + 1) ?? 0 }),
  ];
  return makers[random.below(makers.length)]?.();
}

interface Stored {
  readonly rid: number;
  readonly at: number;
  readonly key: Value;
}

/** Sorted by its smallest element, as MongoDB has it in ascending order. */
function keyOf(document: ValueMap): Value {
  const { n } = document;
  const inner = isList(n) ? n[0] : n;
  const value = (inner as ValueMap | undefined)?.v;
  if (!isList(value)) return value;
  return value.reduce((least, each) => (compareValues(each, least, 'bson') < 0 ? each : least));
}

async function write(container: ContainerRecord, random: Random, at: number, hasArrays: boolean) {
  const v = randomValue(random);
  const list = hasArrays && random.below(4) === 0 && v !== undefined;
  const inner = v === undefined ? {} : { v: list ? [v, randomValue(random) ?? 7] : v };
  const n: Value = hasArrays && random.below(5) === 0 ? [inner] : inner;
  const pk = `k${random.below(9)}`;
  await world.service.items.write(container, {
    kind: 'create',
    partitionKey: [pk],
    rowKey: [`${at}`],
    body: bsonCodec.encode({ id: `${at}`, pk, at, n }),
    ttlSec: 0,
  });
}

function queryOf(
  order: Order,
  condition: Condition,
  allows: (key: Value) => boolean,
): ExecutableQuery {
  return {
    condition,
    shape: {
      kind: 'streaming',
      rowsOf: (item) => {
        const document = item.value() as ValueMap;
        const key = keyOf(document);
        if (!allows(key)) return [];
        return [{ value: { rid: item.rid, at: document.at }, keys: [key] }];
      },
      order,
      skip: 0,
      take: Number.POSITIVE_INFINITY,
    },
  };
}

async function everyItem(container: ContainerRecord): Promise<Stored[]> {
  const query = queryOf(
    { parts: [{ path: undefined, isDescending: false }] },
    ANYTHING,
    () => true,
  );
  const shape = {
    ...query.shape,
    rowsOf: (item: { rid: number; value(): Value }) => {
      const document = item.value() as ValueMap;
      return [{ value: [item.rid, document.at, keyOf(document)], keys: [] }];
    },
    order: undefined,
  } as ExecutableQuery['shape'];
  const stored: Stored[] = [];
  for await (const page of world.pages(container, { ...query, shape }, 1000))
    for (const { value } of page.rows) {
      const [rid, at, key] = value as readonly [number, number, Value];
      stored.push({ rid, at, key });
    }
  return stored;
}

const PATH = ['n', 'v'];
const CONDITIONS: readonly (readonly [Condition, (key: Value) => boolean])[] = [
  [ANYTHING, () => true],
  [term(PATH, [everyValue()]), (key) => key !== undefined],
  [
    term(PATH, [ofType(null), ofType(1), ofType({})]),
    (key) => key !== undefined && [null, 1, {}].some((like) => keyTagOf(like) === keyTagOf(key)),
  ],
  [NOTHING, () => false],
];

/** A comparison that no index has: by the length of the text, items without one last. */
function byLength(a: Value, b: Value): number {
  const length = (value: Value) => (typeof value === 'string' ? value.length : Infinity);
  return length(a) === length(b) ? 0 : length(a) - length(b);
}

describe.each(Array.from({ length: SEEDS }, (_, seed) => seed + 1))('seed %d', (seed) => {
  test.each([
    ['bson', false, 1000],
    ['bson', true, 1000],
    ['bson', false, 30_000],
    ['own', false, 30_000],
    ['cosmos', false, 1000],
  ] as const)('%s, arrays %s, at %d RU/s', async (name, hasArrays, requestUnits) => {
    const random = seededRandom(seed);
    const id = `${name}${hasArrays}${requestUnits}-${seed}`;
    const container = await world.newContainer(id, { home: 'mongo', requestUnits });
    for (let at = 0; at < ITEMS; at++) await write(container, random, at, hasArrays);
    const all = await everyItem(container);
    expect(all).toHaveLength(ITEMS);
    const compare = name === 'own' ? byLength : name === 'bson' ? compareBson : compareCosmos;
    const collation = name === 'own' ? undefined : name;
    for (const [condition, allows] of hasArrays ? CONDITIONS.slice(0, 1) : CONDITIONS)
      for (const isDescending of [false, true]) {
        const order: Order = {
          parts: [{ path: PATH, isDescending }],
          collation,
          compare: name === 'own' ? byLength : undefined,
        };
        const sign = isDescending ? -1 : 1;
        const expected = all
          .filter(({ key }) => allows(key))
          .sort((a, b) => sign * (compare(a.key, b.key) || a.rid - b.rid));
        const query = queryOf(order, condition, allows);
        const limit = 1 + random.below(20);
        const found: number[] = [];
        const paths = new Set<string>();
        for await (const page of world.pages(container, query, limit, EVERYWHERE)) {
          found.push(...page.rows.map(({ value }) => (value as ValueMap).at as number));
          for (const path of page.stats.accessPaths) paths.add(path);
        }
        expect(found).toEqual(expected.map(({ at }) => at));
        const isIndexed = [...paths].some((path) => path.startsWith('index in order'));
        if (condition === ANYTHING && requestUnits === 1000)
          expect(isIndexed, [...paths].join()).toBe(!hasArrays);
      }
  });
});

function compareBson(a: Value, b: Value): number {
  return compareValues(a, b, 'bson');
}

function compareCosmos(a: Value, b: Value): number {
  const isObject = (value: Value) => keyTagOf(value) === keyTagOf({});
  return isObject(a) && isObject(b) ? 0 : compareValues(a, b);
}
