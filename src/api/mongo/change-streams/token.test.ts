// Goal: resume tokens read back what they say, show their time and refuse what is none. Method: tables of changed tokens.
import { expect, it } from 'vitest';
import type { Bson } from '../../../value/index.ts';
import { parseToken, printToken, type StreamState } from './token.ts';

const STATE: StreamState = { parts: [[1, 2, 'position']], schema: ['process', 3], isLast: true };
const DATA = printToken(STATE, { high: 0x01020304, low: 5 }).get('_data') as string;

function token(data: Bson): Bson {
  return new Map([['_data', data]]);
}

it('a token begins with the time of its event', () => {
  expect(DATA.slice(0, 18)).toBe('820102030400000005');
  expect(parseToken(token(DATA))).toMatchObject(STATE);
});

it('a token without its last byte, or with more behind it, is the same place', () => {
  for (const data of [DATA.slice(0, -2), `${DATA}FF`, DATA.toLowerCase()])
    expect(parseToken(token(data))).toMatchObject(STATE);
});

it('a token of the version before is read', () => {
  expect(parseToken(token(DATA.slice(18, -2)))).toMatchObject(STATE);
});

it.each<readonly [string, Bson, number]>([
  ['cut', token(DATA.slice(0, -4)), 15],
  ['a number', token(42), 40647],
  ['no data', new Map(), 40647],
  ['empty', token(''), 40649],
  ['no hexadecimal', token('xyz'), 9],
  ['of an unknown type', token('00'), 50811],
  [
    'with other bits',
    new Map([
      ['_data', DATA],
      ['_typeBits', 'x'],
    ]),
    40648,
  ],
])('a token that is %s is refused', (_, sent, number) => {
  expect(() => parseToken(sent)).toThrow(expect.objectContaining({ number }));
});
