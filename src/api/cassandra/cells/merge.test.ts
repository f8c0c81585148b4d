// Goal: the order in which writes arrive does not matter. Method: random changes, merged in random orders and in one batch.
import { expect, test } from 'vitest';
import { seededRandom } from '../../../base/index.ts';
import { native } from '../types/cql-type.ts';
import { int32Bytes } from '../types/native-values.ts';
import { compactRow } from './compact.ts';
import { liveRow } from './live-row.ts';
import { mergeRows } from './merge.ts';
import type { Cell, Column, Row } from './row.ts';
import { decodeRow, encodeRow } from './row-codec.ts';

const INT = native('int');
const KEY = [{ name: 'k', type: INT, value: int32Bytes(1) }];
const NOW = 1_700_000_000;

function rowOf(parts: Partial<Row>): Row {
  return { partitionKey: KEY, clustering: [], columns: new Map(), ranges: [], ...parts };
}

function cellOf(timestamp: number, value: number | undefined, ttlSec = 0): Cell {
  return {
    timestamp: BigInt(timestamp),
    value: value === undefined ? undefined : int32Bytes(value),
    ttlSec,
    localSec: ttlSec > 0 ? NOW + ttlSec : value === undefined ? NOW : 0,
  };
}

function withCell(name: string, cell: Cell): Row {
  return rowOf({ columns: new Map<string, Column>([[name, { type: INT, cell }]]) });
}

const seen = (row: Row, nowSec = NOW) => {
  const live = liveRow(row, undefined, nowSec);
  return (
    live && [...live.values].map(([name, { value }]) => [name, Buffer.from(value).readInt32BE()])
  );
};

test.each<readonly [string, readonly Row[], unknown]>([
  ['a later write', [withCell('v', cellOf(1, 1)), withCell('v', cellOf(2, 2))], [['v', 2]]],
  [
    'equal timestamps: the larger value',
    [withCell('v', cellOf(1, 3)), withCell('v', cellOf(1, 2))],
    [['v', 3]],
  ],
  [
    'equal timestamps: a tombstone',
    [withCell('v', cellOf(1, 9)), withCell('v', cellOf(1, undefined))],
    undefined,
  ],
  [
    'a row deleted later',
    [withCell('v', cellOf(5, 1)), rowOf({ deletion: { timestamp: 5n, atSec: NOW } })],
    undefined,
  ],
  [
    'a write after the deletion',
    [withCell('v', cellOf(6, 1)), rowOf({ deletion: { timestamp: 5n, atSec: NOW } })],
    [['v', 1]],
  ],
])('%s, in both orders', (_, rows, expected) => {
  for (const [a, b] of [rows, [...rows].reverse()])
    expect(seen(mergeRows(a, b as Row))).toEqual(expected);
});

test('a cell that has expired is a tombstone at its timestamp', () => {
  const row = mergeRows(withCell('v', cellOf(1, 1)), withCell('v', cellOf(2, 2, 10)));
  expect(seen(row, NOW + 9)).toEqual([['v', 2]]);
  expect(seen(row, NOW + 10)).toBeUndefined();
});

const SEED = Number(process.env.MESOCOSM_SEED ?? 1);

test.each(Array.from({ length: 40 }, (_, at) => SEED + at))(
  'any order gives the same row, seed %i',
  (seed) => {
    const random = seededRandom(seed);
    const timestamp = () => random.below(6);
    const change = (): Row => {
      const kind = random.below(6);
      if (kind === 0) return rowOf({ deletion: { timestamp: BigInt(timestamp()), atSec: NOW } });
      if (kind === 1)
        return rowOf({ liveness: { timestamp: BigInt(timestamp()), ttlSec: 0, expiresAtSec: 0 } });
      const name = ['v', 'w'][random.below(2)] as string;
      if (kind === 2) return withCell(name, cellOf(timestamp(), undefined));
      return withCell(name, cellOf(timestamp(), random.below(4), random.below(3) === 0 ? 100 : 0));
    };
    const changes = Array.from({ length: 8 }, change);
    const fold = (list: readonly Row[], isCompacting: boolean): Row | undefined => {
      let row: Row | undefined;
      for (const one of list) {
        // As stored: each step is written and read again, without what is hidden for good.
        const merged = mergeRows(row && decodeRow(encodeRow(row)), one);
        row = isCompacting
          ? compactRow(merged, { over: undefined, nowSec: NOW, graceSec: 100 })
          : merged;
      }
      return row;
    };
    const shuffled = [...changes];
    for (let at = shuffled.length - 1; at > 0; at--) {
      const other = random.below(at + 1);
      [shuffled[at], shuffled[other]] = [shuffled[other] as Row, shuffled[at] as Row];
    }
    const expected = fold(changes, false);
    const state = (row: Row | undefined) => {
      const live = row && liveRow(row, undefined, NOW);
      return live && { values: [...live.values].sort(), isAlive: true };
    };
    expect(state(fold(shuffled, true))).toEqual(state(expected));
    const half = random.below(changes.length);
    const [first, second] = [fold(changes.slice(0, half), false), fold(changes.slice(half), false)];
    if (first !== undefined && second !== undefined)
      expect(state(mergeRows(first, second))).toEqual(state(expected));
  },
);
