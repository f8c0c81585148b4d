// Goal: pages in an order of values of every kind give every item once, in order. Method: for each kind, items in one and
// in several partitions, in both directions, in pages of one and two; a partition is split after the second page. Expected
// are the items sorted in memory.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { DomainError } from '../../src/base/index.ts';
import type { ContainerRecord } from '../../src/catalog/index.ts';
import { ANYTHING, type ExecutableQuery, type Order } from '../../src/query/index.ts';
import {
  bsonCodec,
  compareValues,
  Extended,
  type Value,
  type ValueMap,
} from '../../src/value/index.ts';
import { EVERYWHERE, World } from './world.ts';

const int64 = (value: bigint) => new Extended({ kind: 'int64', value });
const decimal = (digits: string) => new Extended({ kind: 'decimal', digits });
const date = (ms: number) => new Extended({ kind: 'date', ms });
const binary = (bytes: Uint8Array<ArrayBuffer>, subtype = 0) =>
  new Extended({ kind: 'binary', bytes, subtype });
const objectId = (last: number) =>
  new Extended({ kind: 'objectId', bytes: Uint8Array.of(9, 8, 7, 6, 5, 4, 3, 2, 1, 0, 0, last) });
const timestamp = (high: number, low: number) => new Extended({ kind: 'timestamp', high, low });
const LONG = 2n ** 53n;

const KINDS: Readonly<Record<string, readonly Value[]>> = {
  int64: [1n, 3n, 2n, -5n, 2n, 9n].map((above) => int64(LONG + above)),
  negative: [1n, 3n, 2n, 5n, 2n, 9n].map((below) => int64(-LONG - below)),
  decimal: ['0.1', '0.10', '-12.5', '9007199254740993.5', '1E+40', 'NaN'].map(decimal),
  date: [0, 5, -1, 1.7e12, 1.7e12, -9e12].map(date),
  objectId: [3, 1, 2, 255, 0, 2].map(objectId),
  binary: [
    binary(Uint8Array.of(1, 0, 2)),
    binary(Uint8Array.of(1, 0, 2), 5),
    binary(Uint8Array.of(1)),
    binary(new Uint8Array(600).fill(7)),
    binary(Uint8Array.from({ length: 601 }, (_, at) => (at === 600 ? 1 : 7))),
    binary(Uint8Array.from({ length: 600 }, (_, at) => (at === 599 ? 6 : 7))),
  ],
  timestamp: [timestamp(1, 2), timestamp(1, 1), timestamp(2 ** 32 - 1, 0), timestamp(0, 9)],
  regex: ['^a', 'b', '', `${'x'.repeat(600)}b`, `${'x'.repeat(600)}a`].map(
    (source) => new Extended({ kind: 'regex', source, flags: 'i' }),
  ),
  text: ['b', 'a', `${'é'.repeat(300)}b`, `${'é'.repeat(300)}a`, `${'y'.repeat(700)}`, ''],
  mixed: [
    undefined,
    null,
    true,
    1.5,
    int64(LONG + 1n),
    'text',
    [1],
    [2],
    { a: 1 },
    { a: 0 },
    binary(Uint8Array.of(1)),
    objectId(1),
    date(1),
    timestamp(1, 1),
    new Extended({ kind: 'maxKey' }),
  ],
};

let world: World;

beforeAll(async () => {
  world = await World.open(5, { homes: [{ name: 'mongo', codec: bsonCodec }] });
});

afterAll(() => world.close());

let containers = 0;

/** Every value is in three items, in three logical partitions. */
async function filled(values: readonly Value[], requestUnits: number): Promise<ContainerRecord> {
  const container = await world.newContainer(`c${containers++}`, { home: 'mongo', requestUnits });
  for (let copy = 0; copy < 3; copy++)
    for (const [at, a] of values.entries()) {
      const pk = `k${(at * 3 + copy) % 11}`;
      const document: ValueMap = { pk, id: `${copy}-${at}`, at, ...(a !== undefined && { a }) };
      await world.service.items.write(container, {
        kind: 'create',
        partitionKey: [pk],
        rowKey: [document.id],
        body: bsonCodec.encode(document),
        ttlSec: 0,
      });
    }
  return container;
}

function byA(order: Order): ExecutableQuery {
  return {
    condition: ANYTHING,
    shape: {
      kind: 'streaming',
      rowsOf: (item) => {
        const { a, at } = item.value() as ValueMap;
        return [{ value: at, keys: [a] }];
      },
      order,
      skip: 0,
      take: Number.POSITIVE_INFINITY,
    },
  };
}

async function splitOne(container: ContainerRecord): Promise<void> {
  for (const { id } of world.current(container).partitions)
    try {
      return void (await world.service.resizer.split(container, id));
    } catch (error) {
      expect((error as DomainError).message).toMatch(/cannot be split/);
    }
  expect.unreachable('some partition can be split');
}

async function pages(container: ContainerRecord, order: Order, limit: number): Promise<Value[]> {
  const query = byA(order);
  const rows: Value[] = [];
  let continuation: string | undefined;
  let count = 0;
  do {
    const page = await world.service.queries.run(container, {
      query,
      ranges: EVERYWHERE,
      continuation,
      limit,
      sessionToken: undefined,
    });
    rows.push(...page.rows.map(({ value }) => value));
    continuation = page.continuation;
    if (++count === 2) await splitOne(container);
  } while (continuation !== undefined && count < 1000);
  return rows;
}

describe.each(Object.keys(KINDS))('%s', (kind) => {
  const values = KINDS[kind] as readonly Value[];
  test.each([
    [1000, false, 1],
    [1000, true, 2],
    [20_000, false, 2],
    [20_000, true, 1],
  ])('at %d RU/s, descending %s, in pages of %d', async (requestUnits, isDescending, limit) => {
    const container = await filled(values, requestUnits);
    const found = await pages(container, { parts: [{ path: ['a'], isDescending }] }, limit);
    const rank = (at: Value) => rankOf(values, at as number);
    const expected = values.flatMap((_, at) => [at, at, at]).sort((a, b) => rank(a) - rank(b));
    expect(found.map(rank)).toEqual((isDescending ? expected.reverse() : expected).map(rank));
    expect([...found].sort(numbers)).toEqual([...expected].sort(numbers));
  });
});

function numbers(a: Value, b: Value): number {
  return (a as number) - (b as number);
}

/** The place of a value among all: equal for equal values, for all arrays and for all objects. */
function rankOf(values: readonly Value[], at: number): number {
  const own = placed(values[at]);
  return values.filter((other) => compareValues(placed(other), own) < 0).length;
}

function placed(value: Value): Value {
  if (Array.isArray(value)) return [];
  if (value !== null && typeof value === 'object' && !(value instanceof Extended)) return {};
  return value;
}
