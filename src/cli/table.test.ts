// Goal: columns line up. Method: exact text.
import { expect, test } from 'vitest';
import { printBar, printBytes, printTable } from './table.ts';

test('text to the left, numbers to the right', () => {
  expect(
    printTable([
      ['name', 'items'],
      ['a', 5],
      ['longer', 12345],
    ]),
  ).toBe('name     items\na            5\nlonger  12,345\n');
});

test.each([
  [0, '0 B'],
  [1023, '1023 B'],
  [1536, '1.5 KiB'],
  [3 * 1024 ** 3, '3.0 GiB'],
])('%i bytes are %s', (bytes, text) => {
  expect(printBytes(bytes)).toBe(text);
});

test.each([
  [0, ''],
  [0.001, '▏'],
  [0.5, '██'],
  [1, '████'],
])('a bar of %d', (share, bar) => {
  expect(printBar(share, 4)).toBe(bar);
});
