// Goal: an index is read only where the condition can hold. Method: conditions against the keys in the narrowed ranges.
import { expect, test } from 'vitest';
import { compareBytes, concatBytes } from '../../base/index.ts';
import { encodeTuple } from '../../value/index.ts';
import { allOf, anyOf, type Condition, term } from './condition.ts';
import { coversPaths, narrowed } from './narrow.ts';
import { comparedTo, equalTo } from './value-ranges.ts';

const PREFIX = Uint8Array.of(0x21, 0, 0);
const PARTS = [
  { path: ['pk'], isDescending: false },
  { path: ['rk'], isDescending: false },
];
const RID = Uint8Array.of(0, 0, 0, 0, 0, 0, 0, 1);
const pk = (...ranges: Parameters<typeof term>[1]) => term(['pk'], ranges);
const rk = (...ranges: Parameters<typeof term>[1]) => term(['rk'], ranges);

function left(condition: Condition, parts = PARTS): string[] {
  const ranges = narrowed(PREFIX, parts, condition);
  const found: string[] = [];
  for (const p of ['a', 'b', 'c'])
    for (const r of ['1', '2', '3']) {
      const key = concatBytes(
        concatBytes(PREFIX, concatBytes(encodeTuple([p]), encodeTuple([r]))),
        RID,
      );
      const isIn = ({ start, end }: (typeof ranges)[number]): boolean =>
        compareBytes(start, key) <= 0 && (end === undefined || compareBytes(key, end) < 0);
      if (ranges.some(isIn)) found.push(p + r);
    }
  return found;
}

const ALL = ['a1', 'a2', 'a3', 'b1', 'b2', 'b3', 'c1', 'c2', 'c3'];

test.each([
  ['no condition', allOf(), ALL],
  ['one value', pk(equalTo('b')), ['b1', 'b2', 'b3']],
  ['both values', allOf(pk(equalTo('b')), rk(equalTo('2'))), ['b2']],
  ['a range behind a value', allOf(pk(equalTo('b')), rk(comparedTo('>=', '2'))), ['b2', 'b3']],
  [
    'two sides of a range',
    allOf(pk(equalTo('b')), rk(comparedTo('>', '1')), rk(comparedTo('<', '3'))),
    ['b2'],
  ],
  ['a range of the first', pk(comparedTo('>', 'a')), ALL.slice(3)],
  [
    'one of two values',
    anyOf(pk(equalTo('a')), pk(equalTo('c'))),
    ['a1', 'a2', 'a3', 'c1', 'c2', 'c3'],
  ],
  ['another path as well', allOf(pk(equalTo('b')), term(['x'], [equalTo(1)])), ['b1', 'b2', 'b3']],
  ['another path as alternative', anyOf(pk(equalTo('b')), term(['x'], [equalTo(1)])), ALL],
  ['the second alone', rk(equalTo('2')), ALL],
  ['a contradiction', allOf(pk(equalTo('b')), pk(equalTo('c'))), []],
])('%s', (_, condition, keys) => {
  expect(left(condition)).toEqual(keys);
});

test('parts stored in descending order are not narrowed', () => {
  const parts = PARTS.map(({ path }) => ({ path, isDescending: true }));
  expect(narrowed(PREFIX, parts, pk(equalTo('b')))).toHaveLength(1);
  expect(narrowed(PREFIX, parts, pk(equalTo('b')))[0]?.start).toEqual(PREFIX);
});

test('which paths a condition covers', () => {
  const paths = PARTS.map(({ path }) => path);
  expect(coversPaths(allOf(pk(equalTo('b')), rk(equalTo('2'))), paths)).toBe(true);
  expect(coversPaths(allOf(), paths)).toBe(true);
  expect(coversPaths(allOf(pk(equalTo('b')), term(['x'], [equalTo(1)])), paths)).toBe(false);
});
