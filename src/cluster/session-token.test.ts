// Goal: tokens of this and other forms are understood, of parents too, and nonsense is refused. Method: a table.
import { expect, test } from 'vitest';
import { printSessionToken, sessionLsn } from './session-token.ts';

const partition = {
  id: '3',
  min: '',
  max: 'FF',
  parents: ['0', '1'],
  ridPrefix: 3,
  throughputFraction: 1,
  timestampSec: 0,
};

test.each([
  ['3:-1#12', 12],
  ['2:-1#99', 0],
  ['2:-1#99,3:-1#5', 5],
  ['0:-1#7', 7],
  ['0:-1#7,1:-1#9,3:-1#8', 9],
  ['3:0#900#3=860#10=-1', 900],
])('%s asks for %d', (token, lsn) => {
  expect(sessionLsn(token, partition)).toBe(lsn);
});

test.each(['x', '3', '3:', '3:1', '3:-1#', '3:-1#x', 'a:-1#1', '3:-1#1,'])(
  '%j is refused',
  (token) => {
    expect(() => sessionLsn(token, partition)).toThrow(/session token/);
  },
);

test('what is printed is understood', () => {
  expect(printSessionToken('3', 42)).toBe('3:-1#42');
  expect(sessionLsn(printSessionToken('3', 42), partition)).toBe(42);
});
