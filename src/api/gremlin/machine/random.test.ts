// Goal: a seed gives the numbers that the Java library documents. Method: its well-known first numbers of some seeds.
import { describe, expect, test } from 'vitest';
import { chances, SeededChance, shuffled } from './random.ts';

function first(seed: number, count: number, bound: number): number[] {
  const chance = new SeededChance(seed);
  return Array.from({ length: count }, () => chance.below(bound));
}

describe('a seed', () => {
  test('gives whole numbers below a bound', () => {
    expect(first(42, 5, 10)).toEqual([0, 3, 8, 4, 0]);
    expect(first(-1, 100, 7).every((value) => value >= 0 && value < 7)).toBe(true);
  });

  test('gives fractions', () => {
    expect(new SeededChance(42).fraction()).toBe(0.7275636800328681);
    expect(new SeededChance(0).fraction()).toBe(0.730967787376657);
  });

  test('gives every step numbers of its own, and each the same', () => {
    const chanceOf = chances(5);
    const [a, b] = [{}, {}];
    const numbers = [chanceOf(a).fraction(), chanceOf(a).fraction(), chanceOf(b).fraction()];
    expect(numbers[2]).toBe(numbers[0]);
    expect(numbers[1]).not.toBe(numbers[0]);
  });
});

test('a shuffled list has the same members', () => {
  const list = Array.from({ length: 50 }, (_, at) => at);
  const mixed = shuffled(list, new SeededChance(1));
  expect(mixed).not.toEqual(list);
  expect(mixed.toSorted((x, y) => x - y)).toEqual(list);
});
