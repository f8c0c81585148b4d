// Goal: a range holds exactly the values its comparison allows. Method: every pair of a set of mixed values, against
// the comparison itself; the algebra against sets of values, seeded.
import { expect, test } from 'vitest';
import { compareBytes, concatBytes, seededRandom } from '../../base/index.ts';
import { compareValues, encodeTuple, keyTagOf, type Value } from '../../value/index.ts';
import {
  type Comparison,
  comparedTo,
  equalTo,
  everyValue,
  intersectionOfRanges,
  ofType,
  startingWith,
  unionOfRanges,
  type ValueRange,
} from './value-ranges.ts';

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
      expect(isIn(value, ofType(constant))).toBe(keyTagOf(value) === keyTagOf(constant));
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

const SEED = 7;

test(`union and intersection hold the values that sets say, ascending and apart (seed ${SEED})`, () => {
  const random = seededRandom(SEED);
  const constant = (): Value => VALUES[random.below(VALUES.length)] as Value;
  const comparisons: readonly Comparison[] = ['<', '<=', '>', '>='];
  const range = (): ValueRange =>
    random.below(2) === 0
      ? equalTo(constant())
      : comparedTo(comparisons[random.below(4)] as Comparison, constant());
  const ranges = (): ValueRange[] => Array.from({ length: random.below(6) }, range);
  const valuesIn = (list: readonly ValueRange[]): readonly Value[] =>
    VALUES.filter((value) => list.some((each) => isIn(value, each)));
  const isApart = (list: readonly ValueRange[]): boolean =>
    list.every((each, at) => {
      const before = list[at - 1];
      const isAfter = before === undefined || compareBytes(before.end, each.start) < 0;
      return isAfter && compareBytes(each.start, each.end) < 0;
    });
  for (let round = 0; round < 300; round++) {
    const [a, b] = [ranges(), ranges()];
    const [left, right] = [unionOfRanges(a), unionOfRanges(b)];
    expect([isApart(left), valuesIn(left)]).toEqual([true, valuesIn(a)]);
    const both = intersectionOfRanges(left, right);
    const expected = valuesIn(a).filter((value) => valuesIn(b).includes(value));
    expect([isApart(both), valuesIn(both)]).toEqual([true, expected]);
    for (const each of both.filter(({ isPoint }) => isPoint))
      expect(valuesIn([each])).toHaveLength(1);
  }
});

test('a value is still one value after an intersection with a range that begins or ends with it', () => {
  const five = equalTo(5);
  for (const comparison of ['>=', '<='] as const) {
    const side = comparedTo(comparison, 5);
    expect(intersectionOfRanges([side], [five])).toEqual([five]);
    expect(intersectionOfRanges([five], [side])).toEqual([five]);
  }
  expect(intersectionOfRanges([five], [comparedTo('>', 5)])).toEqual([]);
});
