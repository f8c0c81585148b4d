// Goal: entries of the bson collation name the values that a sort may take, and mark the items that need more.
// Method: tables of items and of ranges.
import { describe, expect, test } from 'vitest';
import { compareBytes } from '../../../base/index.ts';
import { Extended, KEY_TAGS, KeyWriter, type Value } from '../../../value/index.ts';
import { bsonRanges, marksOf, sortedValues } from './bson-entries.ts';
import { DeclaredIndexes } from './declared-indexes.ts';

const { bson, cosmos } = KEY_TAGS;
const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

describe('the values of a path', () => {
  test.each<[string, Value, readonly string[], readonly Value[]]>([
    ['a scalar', { a: 1 }, ['a'], [1]],
    ['a missing value is null', {}, ['a'], [null]],
    ['elements', { a: [3, undefined as never, 1] }, ['a'], [3, null, 1]],
    ['an empty array is itself', { a: [] }, ['a'], [[]]],
    ['documents in an array', { a: [{ b: 1 }, { c: 2 }, 5] }, ['a', 'b'], [1, null]],
    ['an array without documents', { a: [1, 2] }, ['a', 'b'], [null]],
    ['a scalar on the way', { a: 1 }, ['a', 'b'], [null]],
    ['names of prototypes are no properties', {}, ['constructor'], [null]],
  ])('%s', (_, item, path, expected) => {
    expect(sortedValues(item, path)).toEqual(expected);
  });
});

test('marks name parts with several values and items that have no order', () => {
  expect(marksOf([[1], [2]])).toEqual([]);
  expect(marksOf([[1], [2, 3]]).map(hex)).toEqual(['3f01']);
  expect(marksOf([[{ x: 1 }]]).map(hex)).toEqual(['3e']);
  expect(marksOf([[[1]], [[]]]).map(hex)).toEqual(['3e']);
});

test('ranges of the cosmos collation become ascending ranges of the bson collation', () => {
  const key = (value: Value) => new KeyWriter().value(value).take();
  const point = (value: Value) => ({
    start: key(value),
    end: Buffer.concat([key(value), Uint8Array.of(0xff)]),
    isPoint: true,
  });
  const found = bsonRanges([point(true), point('x'), point(null), point(undefined)]);
  expect(found?.map(({ start, isPoint }) => [start[0], isPoint])).toEqual([
    [bson.null, false],
    [bson.text, true],
    [bson.true, true],
  ]);
  const everything = {
    start: Uint8Array.of(cosmos.minKey),
    end: Uint8Array.of(cosmos.array),
    isPoint: false,
  };
  const all = bsonRanges([everything]) ?? [];
  expect(all.map(({ start }) => start[0])).toEqual([
    bson.minKey,
    bson.null,
    bson.number,
    bson.text,
    bson.false,
    bson.true,
  ]);
  for (const [at, { start }] of all.entries())
    if (at > 0) expect(compareBytes(all[at - 1]?.end ?? start, start)).toBeLessThan(1);
  expect(bsonRanges([{ ...everything, end: Uint8Array.of(cosmos.maxKey) }])).toBeUndefined();
});

test('entries of an item, in MongoDB’s order', () => {
  const index = { id: 7, collation: 'bson', isMultikey: true } as const;
  const indexes = new DeclaredIndexes([{ ...index, parts: [{ path: '/a', isDescending: false }] }]);
  const entries = (a: Value) =>
    indexes
      .entryPrefixesOf(a === undefined ? {} : { a }, new Uint8Array())
      .map((text) => Buffer.from(text, 'latin1'));
  const ordered: readonly Value[] = [
    new Extended({ kind: 'minKey' }),
    [],
    null,
    -1,
    2,
    'a',
    new Extended({ kind: 'objectId', bytes: Buffer.alloc(12) }),
    false,
    true,
    new Extended({ kind: 'date', ms: 0 }),
    new Extended({ kind: 'maxKey' }),
  ];
  const keys = ordered.map((value) => hex(entries(value)[0] as Uint8Array));
  expect(keys).toEqual(keys.toSorted());
  expect(new Set(keys).size).toBe(keys.length);
  expect(entries(undefined).map(hex)).toEqual(entries(null).map(hex));
  expect(entries([1, 2]).map(hex)).toEqual([
    '21000000073f00',
    '210000000744bff000000000000000',
    '210000000744c00000000000000000',
  ]);
});
