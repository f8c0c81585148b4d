// Goal: expired and range-deleted items are invisible at once for all readers, and removed in steps without harm to others.
// Method: a partition with a fake clock, on synchronous and asynchronous engines; seeded histories against a model.
import { describe, expect, test } from 'vitest';
import { FakeClock, seededRandom } from '../../base/index.ts';
import { asyncEngine } from '../../engine/async-engine.ts';
import type { Engine, Store } from '../../engine/index.ts';
import { memoryEngine } from '../../engine/memory/index.ts';
import { commandOf } from '../commit/command/write-command.ts';
import type { ItemKey } from '../item/item.ts';
import type { Partition } from '../partition.ts';
import {
  indexingForTest,
  KEYS_FOR_TEST,
  keyOf,
  openForTest,
  put,
  putOp,
  remove,
  textOf,
} from '../test-kit.ts';
import { ExpiryCalendar } from './expiry-calendar.ts';
import { decodeRangeTombstones, encodeRangeTombstones } from './range-tombstones.ts';

const engines: readonly [string, () => Engine][] = [
  ['memory', () => memoryEngine()],
  ['delayed', () => asyncEngine(memoryEngine())],
];

const KEY = keyOf('a', '1');
const PAGE = { after: undefined, limit: 100, bytesMax: 1_000_000 };

function write(partition: Partition, key: ItemKey, text: string, ttlSec: number) {
  return partition.write(commandOf({ ...putOp('upsert', key, text), ttlSec } as never));
}

async function sweepAll(partition: Partition, itemsMax = 3): Promise<number> {
  let removed = 0;
  for (let steps = 0; steps < 10_000; steps++) {
    const step = await partition.sweep(itemsMax);
    removed += step.removed.length;
    if (!step.hasMore) return removed;
  }
  return expect.fail('the sweeper does not end');
}

/** The items that each way of reading finds. */
async function seen(partition: Partition): Promise<readonly string[]> {
  const byRid = (await partition.scanByRid(PAGE, undefined)).items;
  const everything = { min: new Uint8Array(0), max: Uint8Array.of(0xff) };
  const byKey = (await partition.scanByKey(PAGE, everything)).items;
  const reader = await partition.reader();
  const scanned = (await reader.scanByRid(PAGE, undefined)).items;
  const many = await reader.readMany(byRid.map(({ rid }) => rid));
  reader.release();
  const feed = await partition.changes.feed({
    mode: 'latest',
    after: 0,
    within: undefined,
    sinceSec: undefined,
    limit: 100,
    bytesMax: 1_000_000,
  });
  const changed = feed.changes.map((change) => (change.kind === 'write' ? change.item : undefined));
  const lists = [byRid, byKey, scanned, many, changed].map((items) => items.map(textOf).sort());
  for (const list of lists) expect(list).toEqual(lists[0]);
  return lists[0] as string[];
}

function keyRange(partitionKey: string) {
  return KEYS_FOR_TEST.rangeOf(KEYS_FOR_TEST.epk([partitionKey]), [partitionKey]);
}

describe.each(engines)('on the %s engine', (_, makeEngine) => {
  const open = async (defaultTtlSec?: number, store?: Store, clock = new FakeClock(1_000_000)) => {
    const partition = await openForTest(store ?? (await makeEngine().open('p')), {
      clock,
      ...(defaultTtlSec === undefined ? {} : { defaultTtlSec }),
    });
    return { partition, clock };
  };

  test('an item is invisible as soon as its time is over, and its id is free', async () => {
    const { partition, clock } = await open(-1);
    await write(partition, KEY, 'short', 5);
    await write(partition, keyOf('a', '2'), 'long', 0);
    clock.advance(4_999);
    expect(await seen(partition)).toEqual(['long', 'short']);
    clock.advance(1);
    expect(await partition.read(KEY)).toBe(undefined);
    expect(await seen(partition)).toEqual(['long']);
    const again = await put(partition, 'create', KEY, 'again');
    expect(again?.kind).toBe('created');
    expect(await seen(partition)).toEqual(['again', 'long']);
    expect(partition.statistics().itemCount).toBe(2);
    expect(await sweepAll(partition)).toBe(0);
    expect(await remove(partition, keyOf('a', '2'))).toMatchObject({ kind: 'deleted' });
  });

  test('replace and delete do not find an expired item', async () => {
    const { partition, clock } = await open(10);
    await write(partition, KEY, 'x', 0);
    clock.advance(10_000);
    await expect(put(partition, 'replace', KEY, 'y')).rejects.toMatchObject({
      code: 'itemNotFound',
    });
    await expect(remove(partition, KEY)).rejects.toMatchObject({ code: 'itemNotFound' });
    expect(await sweepAll(partition)).toBe(1);
    expect(partition.statistics()).toMatchObject({ itemCount: 0, itemBytes: 0, checksum: 0 });
  });

  test('a change of the container applies to old items, both ways', async () => {
    const { partition, clock } = await open(undefined);
    await write(partition, KEY, 'own', 1);
    await write(partition, keyOf('a', '2'), 'default', 0);
    await write(partition, keyOf('a', '3'), 'for ever', -1);
    clock.advance(100_000);
    expect(await seen(partition)).toEqual(['default', 'for ever', 'own']);
    partition.changeTtl(1000);
    expect(await seen(partition)).toEqual(['default', 'for ever']);
    partition.changeTtl(50);
    expect(await seen(partition)).toEqual(['for ever']);
    partition.changeTtl(undefined);
    expect(await seen(partition)).toEqual(['default', 'for ever', 'own']);
    partition.changeTtl(-1);
    expect(await sweepAll(partition)).toBe(1);
    partition.changeTtl(undefined);
    expect(await seen(partition)).toEqual(['default', 'for ever']);
  });

  test('a key is deleted at once; later writes stay', async () => {
    const { partition, clock } = await open();
    for (const id of ['1', '2', '3', '4', '5']) await put(partition, 'create', keyOf('a', id), id);
    await put(partition, 'create', keyOf('b', '1'), 'other');
    const late = put(partition, 'upsert', keyOf('a', '1'), 'before');
    const deleted = partition.deleteRange(keyRange('a'));
    const created = put(partition, 'create', keyOf('a', '2'), 'new');
    await Promise.all([late, deleted, created]);
    expect(await seen(partition)).toEqual(['new', 'other']);
    await expect(remove(partition, keyOf('a', '3'))).rejects.toMatchObject({
      code: 'itemNotFound',
    });
    expect(await sweepAll(partition, 2)).toBe(4);
    expect(partition.invisible).toBe(undefined);
    expect(await seen(partition)).toEqual(['new', 'other']);
    expect(partition.statistics().itemCount).toBe(2);
    clock.advance(1);
  });

  test('range tombstones survive a restart before they are swept', async () => {
    const store = await makeEngine().open('p');
    const { partition } = await open(undefined, store);
    await put(partition, 'create', KEY, 'x');
    await put(partition, 'create', keyOf('b', '1'), 'other');
    await partition.deleteRange(keyRange('a'));
    const { partition: again } = await open(undefined, store);
    expect(await seen(again)).toEqual(['other']);
    expect(await sweepAll(again)).toBe(1);
    const { partition: third } = await open(undefined, store);
    expect(third.invisible).toBe(undefined);
  });

  test('expired items leave a version that says so', async () => {
    const clock = new FakeClock(1_000_000);
    const partition = await openForTest(await makeEngine().open('p'), {
      clock,
      retentionSec: 3600,
      defaultTtlSec: 5,
      indexing: indexingForTest(),
    });
    await put(partition, 'create', KEY, 'x');
    await put(partition, 'create', keyOf('a', '2'), 'y');
    clock.advance(6_000);
    await put(partition, 'create', KEY, 'z');
    await sweepAll(partition);
    const { changes } = await partition.changes.feed({
      mode: 'all',
      after: 0,
      within: undefined,
      sinceSec: undefined,
      limit: 100,
      bytesMax: 1_000_000,
    });
    expect(
      changes.map((change) => (change.kind === 'version' ? change.version.kind : change.kind)),
    ).toEqual(['create', 'create', 'expire', 'create', 'expire']);
  });

  test.each([11, 12])('random lives agree with a model (seed %i)', async (seed) => {
    const random = seededRandom(seed);
    const { partition, clock } = await open(20);
    const model = new Map<string, { text: string; dueMs: number }>();
    for (let round = 0; round < 150; round++) {
      const id = String(random.below(12));
      const ttlSec = [0, -1, 3, 40][random.below(4)] as number;
      const nowMs = clock.nowMs();
      const lifeMs = ttlSec === 0 ? 20_000 : ttlSec < 0 ? Number.POSITIVE_INFINITY : ttlSec * 1000;
      const startMs = Math.floor(nowMs / 1000) * 1000;
      await write(partition, keyOf('a', id), `${round}`, ttlSec);
      model.set(id, { text: `${round}`, dueMs: startMs + lifeMs });
      if (random.below(10) < 3) await partition.sweep(2);
      clock.advance(random.below(5_000));
      for (const [name, { dueMs }] of model) if (dueMs <= clock.nowMs()) model.delete(name);
      expect(await seen(partition)).toEqual([...model.values()].map(({ text }) => text).sort());
    }
    await sweepAll(partition);
    expect(partition.statistics().itemCount).toBe(model.size);
  });
});

test('a full calendar drops later items and needs a scan when they are due', () => {
  const calendar = new ExpiryCalendar(4);
  expect(calendar.needsScan(0)).toBe(true);
  calendar.beginScan();
  expect(calendar.needsScan(1_000_000)).toBe(false);
  for (const second of [50, 10, 40, 20, 30]) calendar.note(second, second);
  expect(calendar.needsScan(29)).toBe(false);
  expect(calendar.needsScan(30)).toBe(true);
  calendar.note(99, 99);
  expect(calendar.takeDue(15, 10)).toEqual([10]);
  expect(calendar.takeDue(100, 10)).toEqual([20]);
});

test('range tombstones as stored (version 1)', () => {
  const tombstones = [
    { start: Uint8Array.of(1, 2), end: Uint8Array.of(3), lsn: 2 ** 40 + 7 },
    { start: Uint8Array.of(), end: Uint8Array.of(9), lsn: 1 },
  ];
  const bytes = encodeRangeTombstones(tombstones);
  expect(Buffer.from(bytes).toString('hex')).toBe(
    '01010000000007000200010102030000000000010000000109',
  );
  expect(decodeRangeTombstones(bytes)).toEqual(tombstones);
  expect(decodeRangeTombstones(undefined)).toEqual([]);
});
