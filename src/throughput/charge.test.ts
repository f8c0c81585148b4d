// Goal: charges are the documented ones. Method: the reference service's table, row by row, and the edges.
import { expect, test } from 'vitest';
import {
  CONSISTENCY_LEVELS,
  createCharge,
  deleteCharge,
  pageCharge,
  queryCharge,
  readCharge,
  readFactor,
  replaceCharge,
} from './charge.ts';

const KIB = 1024;

test.each([
  [0, 1, 4.95],
  [1, 1, 4.95],
  [2, 1.04, 6.29],
  [3, 1.09, 6.48],
  [4, 1.14, 6.67],
  [8, 1.33, 7.04],
  [16, 1.67, 9.52],
  [32, 2.19, 11.23],
  [64, 4.76, 22.67],
  [128, 9.95, 48.19],
  [256, 20.28, 98.29],
  [512, 40.95, 184.57],
  [1024, 145.9, 625],
  [2048, 291.8, 1250],
])('%d KB: read %d, write %d', (kilobytes, read, write) => {
  expect(readCharge(kilobytes * KIB)).toBe(read);
  const item = { bodyBytes: kilobytes * KIB, indexEntries: 12 };
  expect(createCharge(item)).toBe(write);
  expect(deleteCharge(item)).toBe(write);
  expect(replaceCharge(item, item)).toBe(2 * write);
});

test('a larger item never costs less', () => {
  let last = 0;
  for (let bytes = 0; bytes < 3 * KIB * KIB; bytes += 997) {
    const charge = readCharge(bytes);
    expect(charge).toBeGreaterThanOrEqual(last);
    last = charge;
  }
});

test('a page costs less than its items one by one', () => {
  expect(pageCharge(0, 0)).toBe(1);
  expect(pageCharge(100, 100 * KIB)).toBe(21);
});

test.each([
  [0, 2.97],
  [1, 3.71],
  [2, 4.46],
  [3, 4.95],
  [25, 4.95],
  [26, 5.03],
  [100, 10.95],
])('a write of 1 KB with %d index entries costs %d', (indexEntries, charge) => {
  expect(createCharge({ bodyBytes: KIB, indexEntries })).toBe(charge);
});

test('strong and bounded reads cost double', () => {
  expect(CONSISTENCY_LEVELS.map(readFactor)).toEqual([2, 2, 1, 1, 1]);
  expect(readCharge(4 * KIB, 2)).toBe(2.28);
  expect(pageCharge(100, 100 * KIB, 2)).toBe(42);
  const work = { partitions: 1, indexEntries: 2, itemsLoaded: 1, bytesLoaded: KIB, bytesOut: KIB };
  expect(queryCharge(work, 2)).toBe(2 * queryCharge(work));
});
