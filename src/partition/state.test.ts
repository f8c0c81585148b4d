// Goal: the counters of a partition are read from every version, and never change their form by accident.
// Method: golden vectors; a clock that is set back.
import { expect, test } from 'vitest';
import { FakeClock, fromHex, toHex } from '../base/index.ts';
import { memoryEngine } from '../engine/memory/index.ts';
import { decodeState, encodeState, newState, writeSec } from './state.ts';
import { keyOf, openForTest, put } from './test-kit.ts';

const STATE = {
  lsn: 258,
  ridCounter: 7,
  itemCount: 3,
  itemBytes: 1000,
  checksum: 0xdeadbeef,
  tombstoneCount: 1,
  indexLogNumber: 2,
  internalCount: 4,
  lastTimestampSec: 1_700_000_000,
};

const SEVEN =
  '4070200000000000401C0000000000004008000000000000408F40000000000041EBD5B7DDE000003FF00000000000004000000000000000';

test('golden vector of version 1', () => {
  expect(decodeState(fromHex(`01${SEVEN}`))).toEqual({
    ...STATE,
    internalCount: 0,
    lastTimestampSec: 0,
  });
});

test('golden vector of version 2', () => {
  const text = `0209${SEVEN}401000000000000041D954FC40000000`;
  expect(toHex(encodeState(STATE))).toBe(text);
  expect(decodeState(fromHex(text))).toEqual(STATE);
});

test('missing counters are 0; more than the program knows are refused', () => {
  expect(decodeState(fromHex('02014070200000000000'))).toEqual({ ...newState(), lsn: 258 });
  const more = `020A${SEVEN}${'0000000000000000'.repeat(3)}`;
  expect(() => decodeState(fromHex(more))).toThrow('not understood');
  expect(() => decodeState(fromHex('03'))).toThrow('not understood');
});

test('times of writes do not go back with the clock, over a restart too', async () => {
  const store = await memoryEngine().open('p');
  const clock = new FakeClock(1_000_000);
  const partition = await openForTest(store, { clock });
  const times: (number | undefined)[] = [];
  const write = async (id: string, to = partition) => {
    times.push((await put(to, 'create', keyOf('a', id), 'x'))?.item?.timestampSec);
  };
  await write('1');
  clock.advance(5000);
  await write('2');
  clock.advance(-60_000);
  await write('3');
  await write('4', await openForTest(store, { clock }));
  clock.advance(58_000);
  await write('5');
  expect(times).toEqual([1000, 1005, 1005, 1005, 1005]);
  expect(writeSec({ ...newState(), lastTimestampSec: 7 }, new FakeClock(8999))).toBe(8);
});
