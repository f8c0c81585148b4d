// Goal: a path is told varied by its values and told anew when they change. Method: streams of values.
import { expect, test } from 'vitest';
import { CardinalityEstimate } from './cardinality-estimate.ts';

/** Shows as many values, of which one in `knownEvery` is known (0: none), and tells how many were looked for. */
function lookedFor(variety: CardinalityEstimate, values: number, knownEvery: number): number {
  let looked = 0;
  for (let at = 0; at < values; at++)
    if (!variety.isHigh) {
      looked++;
      variety.note(knownEvery > 0 && at % knownEvery === 0);
    }
  return looked;
}

test('values that come again are always looked for', () => {
  expect(lookedFor(new CardinalityEstimate(), 100_000, 2)).toBe(100_000);
});

test('values that do not are looked for now and then', () => {
  const looked = lookedFor(new CardinalityEstimate(), 100_000, 0);
  expect(looked).toBeGreaterThan(1000);
  expect(looked).toBeLessThan(3000);
});

test('a path whose values begin to come again is no longer varied', () => {
  const variety = new CardinalityEstimate();
  lookedFor(variety, 1000, 0);
  expect(variety.isHigh).toBe(true);
  lookedFor(variety, 20_000, 1);
  expect(variety.isHigh).toBe(false);
});
