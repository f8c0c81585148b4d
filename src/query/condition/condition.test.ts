// Goal: conditions combine without parts that say nothing. Method: a table of combinations.
import { expect, test } from 'vitest';
import { ANYTHING, allOf, anyOf, NOTHING, term } from './condition.ts';
import { equalTo } from './value-ranges.ts';

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
