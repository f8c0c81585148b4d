// Goal: a position names the parts left, also after splits and merges. Method: tables of ranges, and round trips.
import { expect, test } from 'vitest';
import { Extended } from '../../value/index.ts';
import {
  begunParts,
  fitsInToken,
  type Position,
  parsePosition,
  partsLeft,
  printPosition,
} from './position.ts';

const at = { min: '10', max: '20', from: 7, rows: 2 };
const fresh = { from: 0, rows: 0 };
const there = { from: 7, rows: 2 };

test.each([
  ['the same range', [['10', '20']], [['10', '20', there]]],
  [
    'nothing behind the part is read',
    [['10', '30']],
    [
      ['10', '20', there],
      ['20', '30', fresh],
    ],
  ],
  [
    'everything below the part is read',
    [
      ['', '10'],
      ['10', '20'],
    ],
    [['10', '20', there]],
  ],
  [
    'after a split each child continues with the same item',
    [
      ['10', '18'],
      ['18', '20'],
      ['20', 'FF'],
    ],
    [
      ['10', '18', there],
      ['18', '20', there],
      ['20', 'FF', fresh],
    ],
  ],
  ['one child alone', [['18', '20']], [['18', '20', there]]],
  [
    'a range that begins before the part and ends behind it',
    [['', 'FF']],
    [
      ['10', '20', there],
      ['20', 'FF', fresh],
    ],
  ],
  ['all read', [['', '08']], []],
] as const)('%s', (_, ranges, expected) => {
  const left = partsLeft(
    ranges.map(([min, max]) => ({ min, max })),
    [at],
  );
  expect(left).toEqual(expected.map(([min, max, where]) => ({ min, max, ...where })));
});

test('the half of a split partition that was not read yet continues where the whole ended', () => {
  const left = partsLeft(
    [
      { min: '', max: '14' },
      { min: '14', max: 'FF' },
    ],
    [
      { min: '10', max: '18', from: 9, rows: 0 },
      { min: '18', max: '20', from: 7, rows: 2 },
    ],
  );
  expect(left).toEqual([
    { min: '10', max: '14', from: 9, rows: 0 },
    { min: '14', max: '18', from: 9, rows: 0 },
    { min: '18', max: '20', from: 7, rows: 2 },
    { min: '20', max: 'FF', from: 0, rows: 0 },
  ]);
  expect(begunParts(left)).toEqual(left.slice(0, 3));
  expect(begunParts(left.slice(3))).toEqual(left.slice(3));
});

test.each<Position>([
  { kind: 'stream', parts: [at], window: { skip: 3, take: Number.POSITIVE_INFINITY } },
  { kind: 'stream', parts: [at, { ...at, min: '20', max: '30' }], window: { skip: 0, take: 1 } },
  {
    kind: 'ordered',
    after: { keys: [undefined, null, true, 1.5, 'é\u{1F600}\n\u007f', [], {}], rid: 9, row: 1 },
    window: { skip: 0, take: 12 },
  },
  {
    kind: 'ordered',
    after: {
      keys: [
        new Extended({ kind: 'int64', value: 2n ** 53n + 1n }),
        new Extended({ kind: 'decimal', digits: '0.1E0' }),
        new Extended({ kind: 'objectId', bytes: Buffer.from('0102030405060708090a0b0c', 'hex') }),
        new Extended({ kind: 'binary', bytes: Buffer.alloc(600, 1), subtype: 3 }),
        new Extended({ kind: 'date', ms: -1 }),
        [1, 'a', { b: [null], a: 2 }],
        'x'.repeat(2000),
      ],
      rid: 9,
      row: 1,
    },
    window: { skip: 0, take: 12 },
  },
  { kind: 'ordered', after: undefined, window: { skip: 40, take: 12 } },
  { kind: 'fold', given: 5 },
])('position %# is equal after a round trip', (position) => {
  const text = printPosition(position);
  expect(text).toMatch(/^[ -~]+$/);
  expect(parsePosition(text)).toEqual(position);
});

test.each([
  '',
  'junk',
  '{}',
  '[]',
  'null',
  '{"v":1,"at":[1]}',
  '{"v":1,"at":[],"w":[0,1]}',
  '{"v":1,"at":[["20","30",1,0],["10","20",1,0]],"w":[0,1]}',
  '{"v":2,"given":1}',
  '{"v":1,"after":["not a tuple",1,0],"w":[0,1]}',
  '{"v":1,"after":["GoAAAAAAAAA",1,0],"w":[0,1]}',
  `{"v":1,"after":["${'SkpK'.repeat(5000)}",1,0],"w":[0,1]}`,
  '{"v":1,"after":[[[{"$numberLong":"9007199254740993"}]],1,0],"w":[0,1]}',
])('%j is not a position', (text) => {
  expect(parsePosition(text)).toBeUndefined();
});

test('a token of the version before is read', () => {
  expect(
    parsePosition('{"v":1,"after":[[[],[null],["b"],[2],[[]],[{}]],3,1],"w":[0,null]}'),
  ).toEqual({
    kind: 'ordered',
    after: { keys: [undefined, null, 'b', 2, [], {}], rid: 3, row: 1 },
    window: { skip: 0, take: Number.POSITIVE_INFINITY },
  });
});

test('keys with long texts do not fit in a token', () => {
  expect(fitsInToken(['short', 1])).toBe(true);
  expect(fitsInToken(['x'.repeat(300), 'y'.repeat(300)])).toBe(false);
  expect(fitsInToken([{ a: 'x'.repeat(500) }])).toBe(false);
  expect(fitsInToken([new Extended({ kind: 'decimal', digits: '7'.repeat(200) })])).toBe(false);
});
