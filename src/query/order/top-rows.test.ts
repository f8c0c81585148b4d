// Goal: the first rows of any sequence, with bounded memory. Method: seeded random numbers against a plain sort.
import { expect, test } from 'vitest';
import { seededRandom } from '../../base/index.ts';
import { TopRows } from './top-rows.ts';

test.each([1, 10, 700, 5000])('the first %d', (wanted) => {
  const random = seededRandom(wanted);
  const first = new TopRows<number>(wanted, (a, b) => a - b);
  const all: number[] = [];
  for (let count = 0; count < 4000; count++) {
    const row = random.below(1_000_000);
    all.push(row);
    first.add(row);
    expect(first.size).toBeLessThanOrEqual(Math.max(2 * wanted, 1000));
  }
  expect(first.sorted()).toEqual(all.sort((a, b) => a - b).slice(0, wanted));
});

test('the first ten different numbers of many that repeat each other', () => {
  const random = seededRandom(3);
  const first = new TopRows<number>(
    10,
    (a, b) => a - b,
    (row, before) => Math.floor(row) === Math.floor(before),
  );
  const all: number[] = [];
  for (let count = 0; count < 9000; count++) {
    // Most are the same; a few greater ones come late.
    const row = random.below(100) === 0 ? 20 - count / 500 : 1 + random.below(1000) / 1001;
    all.push(row);
    first.add(row);
  }
  const least = new Map<number, number>();
  for (const row of all.sort((a, b) => a - b))
    if (!least.has(Math.floor(row))) least.set(Math.floor(row), row);
  expect(first.sorted()).toEqual([...least.values()].slice(0, 10));
});
