// Goal: whether a range may hold scattered keys is known from its bounds. Method: a table.
import { expect, test } from 'vitest';
import { fromHex } from '../base/index.ts';
import { compareScattered, touchesScattered } from './scattered.ts';

const RANGES: readonly (readonly [start: string, end: string | undefined, touches: boolean])[] = [
  ['', undefined, true],
  ['', '', false],
  ['', '11', false],
  ['', '1100', true],
  ['10', '12', true],
  ['11', '11', false],
  ['11', '12', true],
  ['1105', '1106', true],
  ['11FF', undefined, true],
  ['12', undefined, false],
  ['00', '10FF', false],
  ['20', '30', false],
];

for (const [start, end, touches] of RANGES)
  test(`[${start}, ${end ?? 'end'}) ${touches ? 'touches' : 'does not touch'} them`, () => {
    const range = { start: fromHex(start), end: end === undefined ? undefined : fromHex(end) };
    expect(touchesScattered(range)).toBe(touches);
  });

test('they are in the order of all bytes', () => {
  const keys = ['', '00', '11', '1100', '1101', '11FF', '11FF00', '12'].map(fromHex);
  for (const [at, key] of keys.entries())
    for (const [other, otherKey] of keys.entries())
      expect(Math.sign(compareScattered(key, otherKey))).toBe(Math.sign(at - other));
});
