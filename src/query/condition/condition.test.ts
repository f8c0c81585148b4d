// Goal: a range holds exactly the values its comparison allows. Method: every pair of a set of mixed values, against
// the comparison itself; combinations by table.
import { expect, test } from 'vitest';
import { compareBytes, concatBytes } from '../../base/index.ts';
import { compareValues, encodeTuple, keyTagOf, type Value } from '../../value/index.ts';
import {
  ANYTHING,
  allOf,
  anyOf,
  type Comparison,
  comparedTo,
  equalTo,
  everyValue,
  NOTHING,
  ofKind,
  startingWith,
  term,
  type ValueRange,
} from './condition.ts';

const VALUES: readonly Value[] = [
  null,
  false,
  true,
  -1e300,
  -1.5,
  -1,
  0,
  1e-7,
  1,
  2,
  1e300,
  '',
  '\0',
  'a',
  'a\0',
  'aa',
  'ab',
  'b',
  '\u{1f600}',
  '\uffff',
];

/** An entry is the value followed by a rid, whose first byte is zero. */
function isIn(value: Value, { start, end }: ValueRange): boolean {
  const entry = concatBytes(encodeTuple([value]), Uint8Array.of(0, 1, 2, 3, 4, 5, 6, 7));
  return compareBytes(start, entry) <= 0 && compareBytes(entry, end) < 0;
}

const sameType = (a: Value, b: Value): boolean =>
  typeof a === typeof b && (a === null) === (b === null);

test.each<[Comparison, (difference: number) => boolean]>([
  ['<', (difference) => difference < 0],
  ['<=', (difference) => difference <= 0],
  ['>', (difference) => difference > 0],
  ['>=', (difference) => difference >= 0],
])('%s', (comparison, holds) => {
  for (const constant of VALUES)
    for (const value of VALUES)
      expect([value, constant, isIn(value, comparedTo(comparison, constant))]).toEqual([
        value,
        constant,
        sameType(value, constant) && holds(compareValues(value, constant)),
      ]);
});

test('equal, kind, every', () => {
  for (const constant of VALUES)
    for (const value of VALUES) {
      expect(isIn(value, equalTo(constant))).toBe(compareValues(value, constant) === 0);
      expect(isIn(value, ofKind(constant))).toBe(keyTagOf(value) === keyTagOf(constant));
      expect(isIn(value, everyValue())).toBe(true);
    }
});

test('a text range holds the texts with that beginning', () => {
  const texts = VALUES.filter((value) => typeof value === 'string');
  for (const prefix of texts)
    for (const text of texts)
      expect([prefix, text, isIn(text, startingWith(prefix))]).toEqual([
        prefix,
        text,
        text.startsWith(prefix),
      ]);
});

test('combinations', () => {
  const one = term(['a'], [equalTo(1)]);
  const two = term(['b'], [equalTo(2)]);
  expect(allOf()).toEqual(ANYTHING);
  expect(allOf(ANYTHING, one)).toEqual(one);
  expect(allOf(one, NOTHING)).toEqual(NOTHING);
  expect(allOf(one, allOf(two, ANYTHING))).toEqual({ kind: 'all', of: [one, two] });
  expect(anyOf()).toEqual(NOTHING);
  expect(anyOf(NOTHING, one)).toEqual(one);
  expect(anyOf(one, ANYTHING)).toEqual(ANYTHING);
  expect(anyOf(one, anyOf(two))).toEqual({ kind: 'any', of: [one, two] });
  expect(term(['a'], [])).toEqual(NOTHING);
});
