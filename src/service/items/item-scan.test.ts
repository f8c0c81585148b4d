// Goal: scans return every item once in the order of keys, in pages, both ways, whatever splits and merges.
// Method: random rows with long and mixed keys and directions, pages of random size with resizes in between, a model.
import { afterEach, describe, expect, test } from 'vitest';
import {
  bytesToText,
  FakeClock,
  type Random,
  seededRandom,
  textToBytes,
} from '../../base/index.ts';
import { type ContainerRecord, normalizeIndexingPolicy } from '../../catalog/index.ts';
import { asyncEngine } from '../../engine/async-engine.ts';
import { memoryEngine } from '../../engine/memory/index.ts';
import type { Item, KeyCodec } from '../../partition/index.ts';
import {
  cassandraToken,
  compareValues,
  encodeWhole,
  epkOfToken,
  epkToHex,
  jsonCodec,
  type Value,
} from '../../value/index.ts';
import { DEFAULT_SETTINGS } from '../index.ts';
import { openService, type Service } from '../service.ts';
import type { ScanRequest } from './item-scan.ts';

interface Row {
  readonly pk: string;
  readonly key: readonly Value[];
}

const isDescending = [false, true];
const rowOf = ({ body }: Pick<Item, 'body'>): Row => JSON.parse(bytesToText(body));

/** Tokens, and rows whose second value descends. */
const codec: KeyCodec = {
  epk: ([pk]) => epkOfToken(cassandraToken(textToBytes(String(pk)))),
  encode: (values) => encodeWhole(values, { collation: 'bson', isDescending }),
  rowKeyOf: (item) => rowOf(item).key,
};

const clock = new FakeClock(1_700_000_000_000);
let service: Service;
let container: ContainerRecord;

afterEach(() => service.close());

async function open(engine = memoryEngine()): Promise<void> {
  service = await openService({
    engine,
    clock,
    random: seededRandom(1),
    settings: { ...DEFAULT_SETTINGS, throughputMode: 'report' },
    homes: [{ name: 'cassandra', codec: jsonCodec, keys: () => codec }],
  });
  const { rid } = await service.databases.create('d', undefined);
  container = await service.containers.create(rid, {
    id: 'c',
    partitionKey: { paths: ['/pk'], kind: 'Token', version: 2 },
    home: 'cassandra',
    indexingPolicy: normalizeIndexingPolicy({ indexingMode: 'none', automatic: false }),
    uniqueKeys: [],
    policies: {},
    defaultTtlSec: -1,
    throughput: { kind: 'manual', requestUnits: 1000 },
  });
}

function current(): ContainerRecord {
  const found = service.containers.findByRid(container.databaseRid, container.rid);
  if (found === undefined) throw new Error('no container');
  return found;
}

async function put({ pk, key }: Row, ttlSec = 0): Promise<void> {
  const body = textToBytes(JSON.stringify({ pk, key }));
  await service.items.write(current(), {
    kind: 'upsert',
    partitionKey: [pk],
    rowKey: key,
    body,
    ttlSec,
  });
}

const LONG = 'x'.repeat(1900);
const FIRST: readonly Value[] = [
  1,
  2,
  'a',
  `${LONG}a`,
  `${LONG}b`,
  `${LONG}${LONG}c`,
  'y',
  { a: 1 },
];

function randomRow(random: Random): Row {
  const second = [0, 1, 2, LONG, `${LONG}z`][random.below(5)] as Value;
  const first = FIRST[random.below(FIRST.length)] as Value;
  return { pk: `k${random.below(6)}`, key: [first, second] };
}

function compareRows(a: Row, b: Row): number {
  const tokens = [a, b].map(({ pk }) => cassandraToken(textToBytes(pk))) as [bigint, bigint];
  if (tokens[0] !== tokens[1]) return tokens[0] < tokens[1] ? -1 : 1;
  return compareValues(a.key[0], b.key[0], 'bson') || -compareValues(a.key[1], b.key[1], 'bson');
}

async function writeRows(random: Random, count: number): Promise<readonly Row[]> {
  const rows = new Map<string, Row>();
  for (let at = 0; at < count; at++) {
    const row = randomRow(random);
    rows.set(JSON.stringify(row), row);
  }
  for (const row of rows.values()) await put(row);
  return [...rows.values()].sort(compareRows);
}

async function splitOrMerge(random: Random): Promise<void> {
  const { partitions } = current();
  const at = random.below(partitions.length);
  const id = partitions[at]?.id as string;
  const next = partitions[at + 1]?.id;
  const isMerge = next !== undefined && (partitions.length > 4 || random.below(3) === 0);
  await (isMerge
    ? service.resizer.merge(container, [id, next])
    : service.resizer.split(container, id, 'anywhere'));
}

async function readAll(
  request: Omit<ScanRequest, 'limit' | 'continuation'>,
  limit: () => number,
  between: () => Promise<void> = async () => {},
): Promise<readonly Row[]> {
  const rows: Row[] = [];
  let continuation: string | undefined;
  do {
    const page = await service.items.scan(current(), { ...request, continuation, limit: limit() });
    rows.push(...page.items.map(rowOf));
    continuation = page.continuation;
    await between();
  } while (continuation !== undefined);
  return rows;
}

const EVERYTHING = { min: '', max: 'FF' };
const show = (rows: readonly Row[]) =>
  rows.map(({ pk, key }) => `${pk}/${JSON.stringify(key).replaceAll('x'.repeat(1900), '…')}`);

describe.each([
  ['memory', memoryEngine],
  ['async', () => asyncEngine(memoryEngine())],
])('on the %s engine', (_, makeEngine) => {
  test.each([1, 2, 3, 4])(
    'pages of the whole ring, with resizes in between, seed %d',
    async (seed) => {
      await open(makeEngine());
      const random = seededRandom(seed);
      const rows = await writeRows(random, 120);
      for (const isReversed of [false, true]) {
        const found = await readAll(
          { range: EVERYTHING, isReversed },
          () => 1 + random.below(9),
          async () => {
            if (random.below(6) === 0) await splitOrMerge(random);
          },
        );
        expect(show(found)).toEqual(show(isReversed ? rows.toReversed() : rows));
      }
    },
  );

  test.each([5, 6, 7, 8])('slices of a logical partition, seed %d', async (seed) => {
    await open(makeEngine());
    const random = seededRandom(seed);
    const rows = await writeRows(random, 150);
    for (let round = 0; round < 60; round++) {
      const pk = `k${random.below(6)}`;
      const bound = () => ({
        values: randomRow(random).key.slice(0, random.below(3)),
        isInclusive: random.below(2) === 0,
      });
      const from = random.below(4) === 0 ? undefined : bound();
      const to = random.below(4) === 0 ? undefined : bound();
      const isReversed = random.below(2) === 0;
      const expected = rows.filter(
        (row) => row.pk === pk && isInside(row, from, 1) && isInside(row, to, -1),
      );
      const found = await readAll(
        { partitionKey: [pk], rows: { from, to }, isReversed },
        () => 1 + random.below(9),
      );
      const note = `seed ${seed} round ${round}`;
      expect(show(found), note).toEqual(show(isReversed ? expected.toReversed() : expected));
    }
  });
});

/** @param side - 1 for a lower bound, -1 for an upper one. */
function isInside(
  { key }: Row,
  bound: { readonly values: readonly Value[]; readonly isInclusive: boolean } | undefined,
  side: 1 | -1,
): boolean {
  if (bound === undefined || bound.values.length === 0) return true;
  for (const [at, value] of bound.values.entries()) {
    const order = compareValues(key[at], value, 'bson') * (isDescending[at] === true ? -1 : 1);
    if (order !== 0) return Math.sign(order) === side;
  }
  return bound.isInclusive;
}

test.each([9, 10])('one item of every partition key, seed %d', async (seed) => {
  await open();
  const random = seededRandom(seed);
  const rows = await writeRows(random, 200);
  await splitOrMerge(random);
  for (const isReversed of [false, true]) {
    const inOrder = isReversed ? rows.toReversed() : rows;
    const seen = new Set<string>();
    const expected = inOrder.filter(({ pk }) => !seen.has(pk) && seen.add(pk));
    for (const limit of [1, 2, 3, 100]) {
      const found = await readAll({ range: EVERYTHING, isReversed, isDistinct: true }, () => limit);
      expect(show(found), `limit ${limit}`).toEqual(show(expected));
    }
  }
});

test('a range of tokens has the keys with tokens in it', async () => {
  await open();
  const random = seededRandom(11);
  const rows = await writeRows(random, 100);
  const token = cassandraToken(textToBytes('k3'));
  const place = epkToHex(epkOfToken(token));
  const behind = await readAll({ range: { min: `${place}00`, max: 'FF' } }, () => 7);
  expect(show(behind)).toEqual(
    show(rows.filter(({ pk }) => cassandraToken(textToBytes(pk)) > token)),
  );
  const upTo = await readAll({ range: { min: '', max: `${place}00` } }, () => 7);
  expect(upTo.length + behind.length).toBe(rows.length);
});

test('a page ends at its bytes, charges what it read, and its end is known', async () => {
  await open();
  for (let at = 0; at < 20; at++) await put({ pk: 'p', key: [at, 0] });
  const scan = { partitionKey: ['p'], limit: 100 };
  const page = await service.items.scan(current(), { ...scan, bytesMax: 500 });
  expect(page.items.length).toBeGreaterThan(1);
  expect(page.items.length).toBeLessThan(20);
  expect(page.charge).toBeGreaterThan(0);
  const whole = await service.items.scan(current(), { ...scan, limit: 20 });
  expect([whole.items.length, whole.continuation]).toEqual([20, undefined]);
});

test('expired items are left out', async () => {
  await open();
  for (let at = 0; at < 30; at++) await put({ pk: 'p', key: [at, 0] }, at % 3 === 0 ? 1 : 0);
  expect((await readAll({ partitionKey: ['p'] }, () => 4)).length).toBe(30);
  clock.advance(2000);
  for (const isReversed of [false, true])
    expect((await readAll({ partitionKey: ['p'], isReversed }, () => 4)).length).toBe(20);
});

test('what is no continuation is refused', async () => {
  await open();
  await put({ pk: 'p', key: [1, 0] });
  const texts = ['', 'x', '[]', '["zz"]', '["00","AA"]', '["","EQ=="]', '[1]', '["","","",""]'];
  for (const text of texts)
    await expect(
      service.items.scan(current(), {
        range: EVERYTHING,
        limit: 1,
        continuation: Buffer.from(text).toString('base64url'),
      }),
    ).rejects.toMatchObject({ code: 'invalidInput' });
});

test('many items come in the order of their addresses, with one call for each partition', async () => {
  await open();
  const random = seededRandom(12);
  const rows = await writeRows(random, 80);
  for (let round = 0; round < 3; round++) await splitOrMerge(random);
  const asked = Array.from({ length: 50 }, () =>
    random.below(4) === 0
      ? { pk: 'nobody', key: [random.below(9)] }
      : (rows[random.below(rows.length)] as Row),
  );
  const addresses = asked.map(({ pk, key }) => ({ partitionKey: [pk], rowKey: key }));
  const reply = await service.items.readMany(current(), addresses);
  expect(reply.items.map((item) => item && rowOf(item))).toEqual(
    asked.map((row) => (row.pk === 'nobody' ? undefined : row)),
  );
  expect(reply.partitionCalls).toBeLessThanOrEqual(current().partitions.length);
  let charge = 0;
  for (const address of addresses)
    charge += (await service.items.read(current(), address, undefined)).charge;
  expect(reply.charge).toBeCloseTo(charge, 6);
});
