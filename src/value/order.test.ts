// Goal: both collations are total orders with the documented sequence. Method: one ascending list per collation,
// every pair of it compared both ways.
import { describe, expect, it } from 'vitest';
import { type Collation, compareTexts, compareValues } from './order.ts';
import { Extended, type ExtendedPayload, type Value } from './value.ts';

const extended = (payload: ExtendedPayload) => new Extended(payload);
const bytes = (...list: number[]) => Uint8Array.from(list);
const objectId = (last: number) =>
  extended({ kind: 'objectId', bytes: bytes(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, last) });
const binary = (subtype: number, ...list: number[]) =>
  extended({ kind: 'binary', subtype, bytes: bytes(...list) });

const numbers: readonly Value[] = [
  Number.NaN,
  Number.NEGATIVE_INFINITY,
  extended({ kind: 'decimal', digits: '-1E400' }),
  -Number.MAX_VALUE,
  extended({ kind: 'int64', value: -9007199254740993n }),
  -9007199254740992,
  extended({ kind: 'decimal', digits: '-1E-400' }),
  -0,
  extended({ kind: 'decimal', digits: '1E-6000' }),
  Number.MIN_VALUE,
  // The double 0.1 is a little more than one tenth.
  extended({ kind: 'decimal', digits: '0.1' }),
  0.1,
  1,
  extended({ kind: 'decimal', digits: '1.00000000000000000000000000000001' }),
  2 ** 53,
  extended({ kind: 'int64', value: 9007199254740993n }),
  extended({ kind: 'decimal', digits: '9007199254740993.5' }),
  2 ** 53 + 2,
  extended({ kind: 'int64', value: 2n ** 63n - 1n }),
  2 ** 63,
  Number.MAX_VALUE,
  extended({ kind: 'decimal', digits: '1E+6000' }),
  Number.POSITIVE_INFINITY,
];

const texts: readonly Value[] = [
  '',
  '\0',
  '\0a',
  '\u0001',
  'A',
  'a',
  'a\0',
  'aa',
  'é',
  '\ud800',
  '\ue000',
  '\uffff',
  '\u{10000}',
  '\u{10ffff}',
];

const ORDERS: Readonly<Record<Collation, readonly Value[]>> = {
  cosmos: [
    extended({ kind: 'minKey' }),
    undefined,
    null,
    false,
    true,
    ...numbers,
    ...texts,
    [],
    {},
    binary(0),
    binary(0, 1),
    binary(1, 1),
    binary(0, 1, 0),
    binary(0, 2),
    objectId(1),
    objectId(2),
    extended({ kind: 'date', ms: -1 }),
    extended({ kind: 'date', ms: 0 }),
    extended({ kind: 'timestamp', high: 1, low: 9 }),
    extended({ kind: 'timestamp', high: 2, low: 1 }),
    extended({ kind: 'regex', source: 'a', flags: '' }),
    extended({ kind: 'regex', source: 'a', flags: 'i' }),
    extended({ kind: 'maxKey' }),
  ],
  bson: [
    extended({ kind: 'minKey' }),
    null,
    ...numbers,
    ...texts,
    {},
    { a: 1 },
    { a: 1, b: 1 },
    { b: 1 },
    { a: 'text' },
    [],
    [1],
    [1, 2],
    [2],
    binary(0),
    binary(0, 1),
    binary(0, 2),
    binary(1, 1),
    binary(0, 1, 0),
    objectId(1),
    false,
    true,
    extended({ kind: 'date', ms: -1 }),
    extended({ kind: 'timestamp', high: 1, low: 1 }),
    extended({ kind: 'regex', source: 'a', flags: '' }),
    extended({ kind: 'maxKey' }),
  ],
};

describe.each(['cosmos', 'bson'] as const)('compareValues %s', (collation) => {
  it('agrees with the list for every pair', () => {
    const list = ORDERS[collation];
    for (const [i, a] of list.entries())
      for (const [j, b] of list.entries())
        expect(Math.sign(compareValues(a, b, collation)), `${i} against ${j}`).toBe(
          Math.sign(i - j),
        );
  });
});

it('undefined sorts with null in bson', () => {
  expect(compareValues(undefined, null, 'bson')).toBe(0);
});

it('arrays and objects have a fixed order in cosmos', () => {
  expect(compareValues({ a: 1, b: 2 }, { b: 2, a: 1 })).toBe(0);
  const order = compareValues([1], [2]);
  expect(order).not.toBe(0);
  expect(Math.sign(compareValues([2], [1]))).toBe(-Math.sign(order));
});

it('texts sort by code point, not by UTF-16 unit', () => {
  expect('\uffff' < '\u{10000}').toBe(false);
  expect(compareTexts('\uffff', '\u{10000}')).toBeLessThan(0);
  expect(compareTexts('\ud800', '\ud800\udc00')).toBeLessThan(0);
  expect(compareTexts('\ud800\uffff', '\ud800\udc00')).toBeLessThan(0);
});
