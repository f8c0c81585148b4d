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
  expect(DATA.slice(18, 48)).toBe('2E001FFFFFFFFFFFFFFFFFFFFFFFFF');
  expect(parseToken(token(DATA))).toMatchObject(STATE);
});

it('a token without its last byte, or with more behind it, is the same place', () => {
  for (const data of [DATA.slice(0, -2), `${DATA}FF`, DATA.toLowerCase()])
    expect(parseToken(token(data))).toMatchObject(STATE);
});

it('tokens of earlier versions are read', () => {
  const deflated =
    '05C1310E80200C05D0BBFCB90BBAF50CDEA0612084440681F45717E3DD7DEFC5034D82' +
    '553C08354BB209D6648F3E077216B09EED2A50C3F2591B09D9B3A0F3280C68F8DDBE1F';
  for (const data of [deflated, `820102030400000005${deflated}04`])
    expect(parseToken(token(data))).toMatchObject(STATE);
});

it('tokens of one time are, as texts, in the order of their events', () => {
  const time = { high: 1, low: 1 };
  const places = [
    { lsn: 9, operation: 0 },
    { lsn: 10, operation: 0 },
    { lsn: 10, operation: 1, fragment: 1 },
    { lsn: 10, operation: 1, fragment: 2 },
    { lsn: 10, operation: 1 },
    { lsn: 10, operation: 256 },
    { lsn: 2 ** 40, operation: 0 },
    undefined,
  ];
  const tokens = places.map((place) => printToken(STATE, time, place).get('_data') as string);
  const later = printToken(STATE, { high: 1, low: 2 }, places[0]).get('_data') as string;
  expect([...tokens, later].sort()).toEqual([...tokens, later]);
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
