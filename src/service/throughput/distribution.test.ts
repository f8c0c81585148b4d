// Goal: throughput is divided as asked, and an impossible division is refused. Method: tables.
import { expect, test } from 'vitest';
import type { PartitionRecord } from '../../catalog/index.ts';
import { distribute } from './distribution.ts';

const partitions = ['3', '4', '5', '8'].map(
  (id): PartitionRecord => ({
    id,
    min: '',
    max: 'FF',
    parents: [],
    ridPrefix: 0,
    throughputFraction: 0.25,
    timestampSec: 0,
  }),
);
const bounds = { throughput: 20_000, partitionLimit: 10_000 };

test.each<[Record<string, number>, number[]]>([
  [{}, [0.25, 0.25, 0.25, 0.25]],
  [{ 4: 8000 }, [0.2, 0.4, 0.2, 0.2]],
  [{ 3: 10_000, 8: 9800 }, [0.5, 0.005, 0.005, 0.49]],
  [{ 3: 5000, 4: 6000, 5: 5000, 8: 4000 }, [0.25, 0.3, 0.25, 0.2]],
])('%j', (wanted, fractions) => {
  const divided = distribute(partitions, new Map(Object.entries(wanted)), bounds);
  expect(divided.map(({ throughputFraction }) => throughputFraction)).toEqual(fractions);
});

test.each<[Record<string, number>, RegExp]>([
  [{ 1: 1000 }, /no partition 1/],
  [{ 3: 10_100 }, /100 to 10000 RU/],
  [{ 3: 50 }, /100 to 10000 RU/],
  [{ 3: Number.NaN }, /100 to 10000 RU/],
  [{ 3: 10_000, 4: 9900 }, /leaves 100 for the other 2/],
  [{ 3: 5000, 4: 5000, 5: 5000, 8: 4000 }, /leaves 1000 for the other 0/],
])('%j is refused', (wanted, message) => {
  expect(() => distribute(partitions, new Map(Object.entries(wanted)), bounds)).toThrow(message);
});
