// Goal: an explanation prints a condition. Method: a table of conditions and texts.
import { expect, test } from 'vitest';
import { ANYTHING, allOf, anyOf, NOTHING, term } from './condition.ts';
import { describeCondition } from './describe-condition.ts';
import { comparedTo, equalTo, ofType, startingWith } from './value-ranges.ts';

test.each([
  [ANYTHING, 'any item'],
  [NOTHING, 'no item'],
  [term(['a'], [equalTo('x')]), '/a = "x"'],
  [term(['a', 'b'], [equalTo(1), equalTo(null)]), '/a/b = 1 or = null'],
  [term(['n'], [comparedTo('>', 5)]), '/n in [5, end of number)'],
  [term(['n'], [comparedTo('<=', 5)]), '/n in [number, 5)'],
  [term(['t'], [startingWith('ab')]), '/t in ["ab…", "ab…")'],
  [term(['t'], [ofType('')], () => true), '/t in [text, end of text), tested in the index'],
  [
    allOf(
      term(['a'], [equalTo(true)]),
      anyOf(term(['b'], [equalTo(1)]), term(['c'], [equalTo(2)])),
    ),
    '/a = true and (/b = 1 or /c = 2)',
  ],
  [
    term(
      ['a'],
      [1, 2, 3, 4, 5, 6, 7].map((value) => equalTo(value)),
    ),
    '/a = 1 or = 2 or = 3 or = 4 or = 5 or 2 more',
  ],
])('%#', (condition, words) => {
  expect(describeCondition(condition)).toBe(words);
});
