// Goal: rows are easy to read and hide nothing that matters. Method: printed tables.
import { expect, test } from 'vitest';
import { printRows } from './rows.ts';

test.each([
  [[], ''],
  [[1, 20, 'x'], 'value\n1\n20\nx\n'],
  [[1, 20], 'value\n    1\n   20\n'],
  [
    [
      { id: 'a', n: 1234567, _rid: 'r', _ts: 5 },
      { id: 'bb', tags: ['x'], o: null },
    ],
    'id        n  tags   o\na   1234567\nbb           ["x"]  null\n',
  ],
  [[{ _ts: 5 }], '_ts\n  5\n'],
  [[{ a: 'two\nlines', b: '' }], 'a             b\n"two\\nlines"  ""\n'],
  [[{ a: 'x'.repeat(100) }], `a\n${'x'.repeat(59)}…\n`],
  [[{ a: 1 }, [1]], 'value\n{"a":1}\n[1]\n'],
])('%j', (rows, text) => {
  expect(printRows(rows)).toBe(text);
});
