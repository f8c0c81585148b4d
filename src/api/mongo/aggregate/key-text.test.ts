// Goal: two values have one key exactly where MongoDB finds them equal. Method: all pairs of a list of values, compared
// with the order of BSON; names and lengths that could run into each other are among them.
import { Binary, BSONSymbol, Code, Decimal128, Double, Long } from 'bson';
import { expect, test } from 'vitest';
import { equalBson } from '../../../value/index.ts';
import { valueFrom } from '../test-kit.ts';
import { BsonSet } from './bson-set.ts';
import { keyText } from './key-text.ts';

const named = (...names: string[]) => new Map(names.map((name, at) => [name, at]));

const VALUES = [
  named('b', '1'),
  named('1', 'b'),
  [named('b', '1')],
  [named('1', 'b')],
  new Map([
    [
      'v',
      new Map([
        ['b', 1],
        ['1', 2],
      ]),
    ],
  ]),
  new Map([
    [
      'v',
      new Map([
        ['1', 2],
        ['b', 1],
      ]),
    ],
  ]),
  { a: 1, b: 2 },
  { b: 2, a: 1 },
  { a: Long.fromNumber(1), b: new Double(2) },
  { a: Decimal128.fromString('1.0'), b: 2 },
  { a: '1' },
  { a: 'x', b: 'y' },
  { a: 'x1:b2:sy' },
  { a: ['x', 'y'] },
  { a: ['x2:sy'] },
  { a: [['x'], 'y'] },
  { a: [['x', 'y']] },
  ['x'.repeat(70)],
  ['x'.repeat(71)],
  { a: 'x'.repeat(70) },
  { a: new BSONSymbol('x'.repeat(70)) },
  new Code('a'),
  new Code('a', { x: 1 }),
  { $code: 'a' },
  { a: new Code('a') },
  { a: { $code: 'a' } },
  { a: null },
  {},
  [],
  [[]],
  null,
  0.5,
  Decimal128.fromString('0.5'),
  { a: new Binary(Buffer.from([1]), 0) },
  { a: new Binary(Buffer.from([1]), 5) },
];

test('documents with names that are whole numbers, in another order, are two keys', () => {
  const [first, second] = [named('b', '1'), named('1', 'b')].map(valueFrom);
  const set = new BsonSet();
  expect([first, second, first].map((value) => set.add(value ?? null))).toEqual([
    true,
    true,
    false,
  ]);
});

test('keys are equal exactly where values are', () => {
  const values = VALUES.map(valueFrom);
  for (const a of values)
    for (const b of values)
      expect([a, b, keyText(a) === keyText(b)]).toEqual([a, b, equalBson(a, b)]);
});
