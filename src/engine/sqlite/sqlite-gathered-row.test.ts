// Goal: rows of scattered keys are what the file's format says, there and back. Method: golden vectors.
import { describe, expect, it } from 'vitest';
import { fromHex, toHex } from '../../base/index.ts';
import { packRow, type Turn, turnOf, unpackRow } from './sqlite-gathered-row.ts';

const LONG_KEY = `11${'AB'.repeat(299)}`;

const VECTORS: readonly (readonly [
  turn: Turn,
  entries: readonly (readonly [key: string, value: string | null])[],
  row: string,
])[] = [
  ['none', [], '00'],
  ['frozen', [['11', '']], '01 0001 00 11'],
  ['settled', [['1101', null]], '02 0002 FF 1101'],
  ['cleared', [], '03'],
  [
    'none',
    [
      ['110203', '0000000000000007'],
      ['1104', null],
      ['1104', '05'],
    ],
    '00 0003 08 110203 0000000000000007 0002 FF 1104 0002 01 1104 05',
  ],
  ['none', [[LONG_KEY, '01']], `00 012C 01 ${LONG_KEY} 01`],
];

describe('rows of scattered keys', () => {
  for (const [turn, entries, spaced] of VECTORS) {
    const row = spaced.replaceAll(' ', '');
    it(`${turn}, ${entries.length} entries`, () => {
      const packed = packRow(
        turn,
        entries.map(([key, value]) => ({
          key: fromHex(key),
          value: value === null ? null : fromHex(value),
        })),
      );
      expect(toHex(packed)).toBe(row);
      const unpacked: (readonly [string, string | null])[] = [];
      unpackRow(fromHex(row), (key, value) =>
        unpacked.push([toHex(key), value === null ? null : toHex(value)]),
      );
      expect(unpacked).toEqual(entries);
      expect(turnOf(fromHex(row))).toBe(turn);
    });
  }
});
