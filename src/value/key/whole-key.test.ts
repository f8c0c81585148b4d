// Goal: row keys sort as their values, in every direction, hold them whole and keep their format.
// Method: golden vectors, then random values in both collations against compareValues.
import { describe, expect, it, test } from 'vitest';
import { type Bytes, compareBytes, type Random, seededRandom, toHex } from '../../base/index.ts';
import { type Collation, compareValues } from '../order.ts';
import { Extended, type ExtendedPayload, isList, isMap, type Value } from '../value.ts';
import { decodeWhole, encodeWhole } from './whole-key.ts';

const extended = (payload: ExtendedPayload) => new Extended(payload);

describe('format 1', () => {
  it.each<[string, readonly Value[], Collation, readonly boolean[], string]>([
    ['a text as in terms', ['ab'], 'cosmos', [], '1C616200'],
    ['zero bytes', ['a\0'], 'cosmos', [], '1C61010100'],
    ['descending', ['ab', 'c'], 'cosmos', [true], 'E39E9DFF1C6300'],
    ['a number', [1], 'bson', [], '44BFF000000000000000'],
    ['an array', [[1, 'a']], 'bson', [], '4A44BFF00000000000000046610000'],
    ['an object', [{ a: true }], 'bson', [], '485061005200'],
    ['an empty object and array', [{}, []], 'bson', [], '48004A00'],
    [
      'a binary',
      [extended({ kind: 'binary', subtype: 5, bytes: Uint8Array.of(0, 255) })],
      'bson',
      [],
      '4C000000020500FF',
    ],
    [
      'an object of the NoSQL API',
      [{ b: 2, a: 1 }],
      'cosmos',
      [],
      '2043258CFF783FE7036D8A43033F830ADF',
    ],
  ])('%s', (_, values, collation, isDescending, expected) => {
    expect(toHex(encodeWhole(values, { collation, isDescending }))).toBe(expected);
  });
});

test('property order distinguishes objects in the bson collation only', () => {
  const key = (value: Value, collation: Collation) => toHex(encodeWhole([value], { collation }));
  expect(key({ a: 1, b: 2 }, 'bson')).not.toBe(key({ b: 2, a: 1 }, 'bson'));
  expect(key({ a: 1, b: 2 }, 'cosmos')).toBe(key({ b: 2, a: 1 }, 'cosmos'));
});

test('long texts, binaries and expressions are whole, and in order', () => {
  const long = 'x'.repeat(5000);
  const values = [`${long}a`, `${long}b`, extended({ kind: 'regex', source: long, flags: 'i' })];
  for (const collation of ['cosmos', 'bson'] as const) {
    const keys = values.map((value) => encodeWhole([value], { collation }));
    for (const [at, key] of keys.entries())
      expect(decodeWhole(key, { collation })).toEqual([values[at]]);
    expect(compareBytes(keys[0] as Bytes, keys[1] as Bytes)).toBe(-1);
  }
});

describe.each(['cosmos', 'bson'] as const)('%s', (collation) => {
  it.each([1, 2, 3, 4])('keys sort as lists of values in their directions, seed %d', (seed) => {
    const random = seededRandom(seed);
    const isDescending = [0, 1, 2].map(() => random.below(2) === 1);
    const rows = Array.from({ length: 200 }, () =>
      Array.from({ length: 1 + random.below(3) }, () => randomValue(random, 2)),
    );
    const keys = rows.map((row) => encodeWhole(row, { collation, isDescending }));
    for (const [i, a] of rows.entries())
      for (const [j, b] of rows.entries()) {
        const order = Math.sign(compareBytes(keys[i] as Bytes, keys[j] as Bytes));
        if (order !== expectedOrder(a, b, collation, isDescending))
          expect.fail(`seed ${seed}: ${show(a)} against ${show(b)}: bytes say ${order}`);
      }
  });

  it.each([5, 6])('values come back, seed %d', (seed) => {
    const random = seededRandom(seed);
    for (let round = 0; round < 1000; round++) {
      const isDescending = [0, 1, 2].map(() => random.below(2) === 1);
      const depth = collation === 'bson' ? 2 : 0;
      const row = Array.from({ length: 1 + random.below(3) }, () => randomValue(random, depth));
      const decoded = decodeWhole(encodeWhole(row, { collation, isDescending }), {
        collation,
        isDescending,
      });
      expect(decoded.length, `seed ${seed} round ${round}`).toBe(row.length);
      for (const [at, value] of row.entries())
        expect(compareValues(decoded[at], value, collation), show(row)).toBe(0);
    }
  });
});

function expectedOrder(
  a: readonly Value[],
  b: readonly Value[],
  collation: Collation,
  isDescending: readonly boolean[],
): number {
  for (let at = 0; at < Math.min(a.length, b.length); at++) {
    const order = Math.sign(compareValues(a[at], b[at], collation));
    if (order !== 0) return isDescending[at] === true ? -order : order;
  }
  return Math.sign(a.length - b.length);
}

function randomValue(random: Random, depth: number): Value {
  const few = (length: number) =>
    Uint8Array.from({ length }, () => [0, 1, 255][random.below(3)] as number);
  switch (random.below(depth > 0 ? 12 : 9)) {
    case 0:
      return [null, false, true][random.below(3)];
    case 1:
      return [Number.NaN, 0, -1, 1.5, Number.NEGATIVE_INFINITY, 2 ** 53][random.below(6)];
    case 2:
      return extended({ kind: 'int64', value: 2n ** 53n + BigInt(random.below(5)) });
    case 3:
      return extended({ kind: 'binary', bytes: few(random.below(4)), subtype: random.below(2) });
    case 4:
      return extended({ kind: 'objectId', bytes: few(12) });
    case 5:
      return extended({ kind: 'date', ms: random.below(5) - 2 });
    case 6:
    case 7:
    case 8:
      return randomText(random);
    case 9:
    case 10:
      return Object.fromEntries(
        Array.from({ length: random.below(3) }, () => [
          ['a', 'b', '', 'a\0', 'é'][random.below(5)],
          randomValue(random, depth - 1),
        ]),
      );
    default:
      return Array.from({ length: random.below(3) }, () => randomValue(random, depth - 1));
  }
}

function randomText(random: Random): string {
  const letters = ['\0', '\u0001', 'a', 'b', '\x7f', 'é', '\ud800', '\uffff', '😀'];
  return Array.from({ length: random.below(4) }, () => letters[random.below(9)]).join('');
}

function show(row: readonly Value[]): string {
  const text = (value: Value): string => {
    if (isList(value)) return `[${value.map(text).join()}]`;
    if (isMap(value))
      return `{${Object.entries(value).map(([name, v]) => `${JSON.stringify(name)}:${text(v)}`)}}`;
    return JSON.stringify(value) ?? 'undefined';
  };
  return row.map(text).join(' · ');
}
