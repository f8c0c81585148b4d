/** Goal: a key as text gives the value that its bytes give. Method: a table of values of every kind, both ways. */
import { describe, expect, it } from 'vitest';
import { bytesToLatin1, KEY_TEXT_BYTES_MAX } from '../../base/index.ts';
import { Extended, type Value } from '../value.ts';
import { TRUNCATED, valueOfKeyText } from './key-text.ts';
import { encodeTuple } from './tuple.ts';

const WHOLE: readonly Value[] = [
  undefined,
  null,
  false,
  true,
  0,
  1,
  -1,
  0.1,
  -2.5e-300,
  1724,
  2 ** 53,
  -(2 ** 53),
  Number.MIN_VALUE,
  -Number.MIN_VALUE,
  Number.MAX_VALUE,
  Number.POSITIVE_INFINITY,
  Number.NEGATIVE_INFINITY,
  Number.NaN,
  '',
  'item-000000042',
  '\u0001',
  '\u0000',
  'a\u0000b',
  '\u0000\u0000',
  'æther',
  '日本',
  '😀',
  '\ud800',
  'x'.repeat(KEY_TEXT_BYTES_MAX),
  new Extended({ kind: 'int64', value: 2n ** 63n - 1n }),
];

const TRUNCATED_VALUES: readonly Value[] = [
  [],
  {},
  [1],
  { a: 1 },
  'x'.repeat(KEY_TEXT_BYTES_MAX + 1),
];

describe('values of keys that are texts', () => {
  const read = (value: Value) => {
    const key = `before${bytesToLatin1(encodeTuple([value]))}behind`;
    return valueOfKeyText(key, 6, key.length - 6);
  };

  it('reads whole values', () => {
    for (const value of WHOLE) expect(read(value)).toEqual(value);
  });

  it('marks those that the key holds in part', () => {
    for (const value of TRUNCATED_VALUES) expect(read(value)).toBe(TRUNCATED);
  });
});
