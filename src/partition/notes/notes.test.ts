// Goal: a write with a note is run once, whatever is sent again and when; notes end with their expiry.
// Method: golden vectors; a partition on synchronous and asynchronous engines with a fake clock; a seeded race of repeats.
import { describe, expect, test } from 'vitest';
import {
  bytesToText,
  FakeClock,
  NOTE_BYTES_MAX,
  seededRandom,
  textToBytes,
  toHex,
} from '../../base/index.ts';
import { asyncEngine } from '../../engine/async-engine.ts';
import type { Engine } from '../../engine/index.ts';
import { memoryEngine } from '../../engine/memory/index.ts';
import { updateOf } from '../commit/command/transaction.ts';
import type { Updaters } from '../commit/command/updater.ts';
import type { ItemKey } from '../item/item.ts';
import type { Partition } from '../partition.ts';
import { keyOf, openForTest, putOp, textOf } from '../test-kit.ts';
import { decodeNote, encodeNote, epkOfNote, noteKey } from './note.ts';

const engines: readonly [string, () => Engine][] = [
  ['memory', () => memoryEngine()],
  ['delayed', () => asyncEngine(memoryEngine())],
];

const KEY = keyOf('a', '1');
const START_SEC = 1000;

const updaters: Updaters = {
  /** Appends a letter and replies with the length. */
  grow: ([current]) => {
    const text = `${textOf(current) ?? ''}x`;
    return {
      kind: 'put',
      body: textToBytes(text),
      ttlSec: 0,
      reply: textToBytes(`${text.length}`),
    };
  },
  keep: () => ({ kind: 'keep', reply: textToBytes('kept') }),
};

test('golden vectors', () => {
  const key = noteKey(Uint8Array.of(0x05, 0x00, 0xff), Uint8Array.of(0xff, 2));
  expect(toHex(key)).toBe('350500FFFF0001FF02');
  expect([...epkOfNote(key)]).toEqual([0x05, 0x00, 0xff]);
  const value = encodeNote(textToBytes('ok'), 0x65535353);
  expect(toHex(value)).toBe('01655353536F6B');
  expect(decodeNote(value, 0x65535353 * 1000 - 1)).toEqual(value.subarray(5));
  expect(decodeNote(value, 0x65535353 * 1000)).toBe(undefined);
});

test('bounds', () => {
  expect(() => encodeNote(new Uint8Array(NOTE_BYTES_MAX + 1), 1)).toThrow('at most');
  expect(() => noteKey(KEY.epk, new Uint8Array(257))).toThrow('1 to 256');
  expect(() => noteKey(KEY.epk, new Uint8Array(0))).toThrow('1 to 256');
});

interface Call {
  readonly key?: ItemKey;
  readonly updater?: string;
  readonly owner: string;
  readonly bytes?: string;
  readonly lifeSec?: number;
}

async function send(
  partition: Partition,
  { key = KEY, updater = 'grow', owner, bytes, lifeSec = 60 }: Call,
) {
  const { command, effects } = updateOf({
    kind: 'update',
    key,
    encoding: 'json',
    createsAbsent: true,
    updater,
    args: new Uint8Array(0),
    note: {
      owner: textToBytes(owner),
      bytes: bytes === undefined ? undefined : textToBytes(bytes),
      expiresAtSec: START_SEC + lifeSec,
    },
  });
  await partition.write(command);
  const [effect] = effects;
  const reply = effect?.reply as Uint8Array;
  return `${effect?.kind} ${bytesToText(reply)}${effect?.isRepeated === true ? ' again' : ''}`;
}

describe.each(engines)('on the %s engine', (_, makeEngine) => {
  const setUp = async () => {
    const clock = new FakeClock(START_SEC * 1000);
    const store = await makeEngine().open('partition');
    const open = () => openForTest(store, { updaters, clock });
    return { clock, store, open, partition: await open() };
  };

  test('a write that is sent again is answered from its note, after a restart too', async () => {
    const { partition, open, store } = await setUp();
    expect(await send(partition, { owner: 's1' })).toBe('created 1');
    expect(await send(partition, { owner: 's1' })).toBe('kept 1 again');
    expect(await send(partition, { owner: 's2' })).toBe('replaced 2');
    expect(await send(partition, { owner: 's1' })).toBe('kept 1 again');
    expect(await send(partition, { owner: 's3', updater: 'keep' })).toBe('kept kept');
    expect(await send(partition, { owner: 's3', updater: 'keep' })).toBe('kept kept again');
    expect(await send(partition, { owner: 's4', bytes: 'own' })).toBe('replaced 3');
    expect(textOf(await partition.read(KEY))).toBe('xxx');
    expect(store.name).toBe('partition');
    const later = await open();
    expect(await send(later, { owner: 's4' })).toBe('kept own again');
    expect(await send(later, { owner: 's2' })).toBe('kept 2 again');
    const note = await later.notes.read(KEY.epk, textToBytes('s4'));
    expect(note && bytesToText(note)).toBe('own');
    expect(await later.notes.read(KEY.epk, textToBytes('s5'))).toBe(undefined);
    expect(await later.notes.read(keyOf('b', '1').epk, textToBytes('s4'))).toBe(undefined);
  });

  test('a repeat that overtakes the first attempt is applied once, and waits for it', async () => {
    const { partition } = await setUp();
    const order: string[] = [];
    const first = send(partition, { owner: 's1' }).then((text) => order.push(text));
    const second = send(partition, { owner: 's1' }).then((text) => order.push(text));
    await Promise.all([first, second]);
    expect(order).toEqual(['created 1', 'kept 1 again']);
    expect(partition.lsn).toBe(1);
  });

  test('a refused write leaves no note', async () => {
    const { partition } = await setUp();
    const op = {
      ...putOp('replace', KEY, 'new'),
      note: { owner: textToBytes('s1'), expiresAtSec: START_SEC + 9 },
    };
    await expect(partition.write(updateOf(op).command)).rejects.toMatchObject({
      code: 'itemNotFound',
    });
    expect(await send(partition, { owner: 's1' })).toBe('created 1');
  });

  test('an expired note does not count, and the sweeper removes it', async () => {
    const { partition, clock, store } = await setUp();
    const noteCount = async () =>
      (
        await store.scan(
          { start: Uint8Array.of(0x35), end: Uint8Array.of(0x36) },
          { limit: 100, bytesMax: 1_000_000 },
        )
      ).entries.length;
    expect(partition.isSweepDue).toBe(true);
    await partition.sweep(10);
    expect(partition.isSweepDue).toBe(false);
    await send(partition, { owner: 's1', lifeSec: 5 });
    await send(partition, { owner: 's2', lifeSec: 10 });
    await send(partition, { owner: 's3', lifeSec: 5 });
    expect(partition.isSweepDue).toBe(false);
    clock.advance(5000);
    expect(partition.isSweepDue).toBe(true);
    expect(await send(partition, { owner: 's3', lifeSec: 20 })).toBe('replaced 4');
    await partition.sweep(10);
    expect(await noteCount()).toBe(2);
    expect(partition.isSweepDue).toBe(false);
    expect(await send(partition, { owner: 's2', lifeSec: 20 })).toBe('kept 2 again');
    clock.advance(5000);
    await partition.sweep(10);
    expect(await noteCount()).toBe(1);
    clock.advance(10_000);
    await partition.sweep(10);
    expect(await noteCount()).toBe(0);
    expect(partition.statistics().itemCount).toBe(1);
  });

  test.each([7, 8])('repeats at random are applied once each (seed %i)', async (seed) => {
    const { partition } = await setUp();
    const random = seededRandom(seed);
    const owners = new Set<string>();
    for (let round = 0; round < 30; round++) {
      const calls = Array.from({ length: 1 + random.below(6) }, () => `s${random.below(60)}`);
      for (const owner of calls) owners.add(owner);
      const key = keyOf('a', '1');
      const ends = await Promise.all(calls.map((owner) => send(partition, { owner, key })));
      expect(ends.length).toBe(calls.length);
    }
    expect(textOf(await partition.read(KEY))?.length, `seed ${seed}`).toBe(owners.size);
  });
});
