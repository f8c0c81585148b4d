// Goal: tokens of this and other forms are understood, and nonsense is refused. Method: a table.
import { expect, test } from 'vitest';
import { parseSessionToken, printSessionToken } from './session-token.ts';

test.each([
  ['3:-1#12', [['3', 12]]],
  [
    '2:-1#99,3:-1#5',
    [
      ['2', 99],
      ['3', 5],
    ],
  ],
  [' 0:-1#7 ', [['0', 7]]],
  ['3:0#900#3=860#10=-1', [['3', 900]]],
] as const)('%s', (text, expected) => {
  expect(parseSessionToken(text)).toEqual(
    expected.map(([partitionId, lsn]) => ({ partitionId, lsn })),
  );
});

test.each([undefined, ''])('%j is no token', (text) => {
  expect(parseSessionToken(text)).toBeUndefined();
});

test.each(['x', '3', '3:', '3:1', '3:-1#', '3:-1#x', 'a:-1#1', '3:-1#1,'])(
  '%j is refused',
  (text) => {
    expect(() => parseSessionToken(text)).toThrow(/session token/);
  },
);

test('what is printed is understood', () => {
  const others = [
    { partitionId: '4', lsn: 1 },
    { partitionId: '9', lsn: 0 },
  ];
  const position = { partitionId: '3', lsn: 42 };
  expect(printSessionToken({ ...position, charge: 1 })).toBe('3:-1#42');
  const text = printSessionToken({ ...position, charge: 1, others });
  expect(text).toBe('3:-1#42,4:-1#1,9:-1#0');
  expect(parseSessionToken(text)).toEqual([position, ...others]);
});

test('a header holds the first 250', () => {
  const others = Array.from({ length: 400 }, (_, at) => ({ partitionId: `${at}`, lsn: at }));
  const text = printSessionToken({ partitionId: '3', lsn: 42, charge: 1, others });
  expect(parseSessionToken(text)).toHaveLength(250);
});
