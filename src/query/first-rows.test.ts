/** Goal: the first rows of any sequence, with few of them kept. Method: seeded random numbers against a plain sort. */
import { expect, test } from 'vitest';
import { seededRandom } from '../base/index.ts';
import { FirstRows } from './first-rows.ts';

test.each([1, 10, 700, 5000])('the first %d', (wanted) => {
  const random = seededRandom(wanted);
  const first = new FirstRows<number>(wanted, (a, b) => a - b);
  const all: number[] = [];
  for (let count = 0; count < 4000; count++) {
    const row = random.below(1_000_000);
    all.push(row);
    first.add(row);
    expect(first.size).toBeLessThanOrEqual(Math.max(2 * wanted, 1000));
  }
  expect(first.sorted()).toEqual(all.sort((a, b) => a - b).slice(0, wanted));
});
