// Goal: the estimate follows the values of a path, also when they change. Method: streams of values.
import { expect, test } from 'vitest';
import { CardinalityEstimate } from './cardinality-estimate.ts';

/** Notes values, of which one in `repeatedEvery` is repeated (0: none); returns how many got a posting list. */
function listCount(estimate: CardinalityEstimate, values: number, repeatedEvery: number): number {
  let count = 0;
  for (let at = 0; at < values; at++)
    if (!estimate.isHigh) {
      count++;
      estimate.note(repeatedEvery > 0 && at % repeatedEvery === 0);
    }
  return count;
}

test('repeated values always get a posting list', () => {
  expect(listCount(new CardinalityEstimate(), 100_000, 2)).toBe(100_000);
});

test('values that are not repeated get one now and then', () => {
  const count = listCount(new CardinalityEstimate(), 100_000, 0);
  expect(count).toBeGreaterThan(1000);
  expect(count).toBeLessThan(3000);
});

test('a path whose values begin to repeat has no longer high cardinality', () => {
  const estimate = new CardinalityEstimate();
  listCount(estimate, 1000, 0);
  expect(estimate.isHigh).toBe(true);
  listCount(estimate, 20_000, 1);
  expect(estimate.isHigh).toBe(false);
});
