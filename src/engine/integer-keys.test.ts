// Goal: a range of keys contains exactly the integers whose keys are in it. Method: a table of bounds, in and around
// the prefix.
import { expect, test } from 'vitest';
import { fromHex } from '../base/index.ts';
import { INTEGER_KEYS_END, integerOfValue, integersWithin } from './integer-keys.ts';

const RANGES: readonly (readonly [start: string, end: string | undefined, numbers: string])[] = [
  ['', undefined, `0 to ${INTEGER_KEYS_END}`],
  ['10', '11', `0 to ${INTEGER_KEYS_END}`],
  ['0F', '10', 'none'],
  ['11', undefined, 'none'],
  ['100000000000000005', '100000000000000007', '5 to 7'],
  ['100000000000000005', '100000000000000005', 'none'],
  ['10000000000000000500', '10000000000000000700', '6 to 8'],
  ['1000000001', '1000000002', `${2 ** 32} to ${2 ** 33}`],
  ['101FFFFFFFFFFFFFFFFF', undefined, 'none'],
  ['10001FFFFFFFFFFFFF', '10FF', `${INTEGER_KEYS_END - 1} to ${INTEGER_KEYS_END}`],
  ['11', '10', 'none'],
];

for (const [start, end, numbers] of RANGES)
  test(`integers from ${start || 'the start'} to ${end ?? 'the end'}`, () => {
    const range = { start: fromHex(start), end: end === undefined ? undefined : fromHex(end) };
    const found = integersWithin(range);
    expect(found === undefined ? 'none' : `${found.first} to ${found.end}`).toBe(numbers);
  });

const VALUES: readonly (readonly [value: string, number: number | undefined])[] = [
  ['0000000000000000', 0],
  ['0000000100000002', 2 ** 32 + 2],
  ['001FFFFFFFFFFFFF', INTEGER_KEYS_END - 1],
  ['0020000000000000', undefined],
  ['FFFFFFFFFFFFFFFF', undefined],
  ['00000000000001', undefined],
  ['000000000000000001', undefined],
  ['', undefined],
];

for (const [value, number] of VALUES)
  test(`the value ${value || 'of no bytes'} ${number === undefined ? 'is no number' : `is ${number}`}`, () => {
    expect(integerOfValue(fromHex(value))).toBe(number);
  });
