// Goal: the texts of one document take a bounded time, however many there are. Method: counts of keys.
import { expect, test } from 'vitest';
import type { Value } from '../../../../value/index.ts';
import { UNKNOWN } from '../../query/collation-keys.ts';
import { fieldKind } from './field-kind.ts';

const kind = fieldKind({
  key: new Map([
    ['a', 1],
    ['b', 1],
  ]),
  spec: new Map([
    [
      'collation',
      new Map<string, string | number>([
        ['locale', 'en'],
        ['strength', 2],
      ]),
    ],
  ]),
});

function keyCount(value: Value): number {
  const entries = kind?.entriesOf({ value, body: new Uint8Array(0) }) ?? [];
  const texts = new Set(JSON.stringify(entries).match(/"[^"]+"/g));
  return [...texts].filter((text) => !text.startsWith(`"${UNKNOWN}`)).length;
}

test('texts of an array, of objects and of several fields have keys up to a sum of letters', () => {
  const texts = Array.from({ length: 50 }, (_, at) => `${at} ${'x'.repeat(3997)}`.slice(0, 4000));
  expect(keyCount({ a: texts })).toBe(4);
  const [first = '', ...others] = texts;
  expect(keyCount({ a: first, b: others })).toBe(4);
  expect(keyCount({ a: ['y'.repeat(1_000_000), 'short'] })).toBe(1);
});
