// Goal: a key that is there is never taken for one that is not; most that are not there, and the rids of most that are,
// are known without the store; no item is taken for another.
// Method: many keys in the filter; a partition's keys learnt while others are added; creates of taken keys.
import { expect, test } from 'vitest';
import type { Store } from '../../engine/index.ts';
import { memoryEngine } from '../../engine/memory/index.ts';
import { ridBytes } from '../item/keyspace.ts';
import { keyOf, openForTest, put, remove, textOf } from '../test-kit.ts';
import { KeyBloomFilter } from './key-bloom-filter.ts';
import { KeyDirectory } from './key-directory.ts';
import { MemoryBudget } from './memory-budget.ts';
import { grownRidHints, RidHints } from './rid-hints.ts';

test('a filter knows every key added, through all its layers, and few others', () => {
  const filter = new KeyBloomFilter();
  const key = (kind: string, number: number) => Buffer.from(`${kind}-${number}`);
  for (let number = 0; number < 50_000; number++) filter.add(key('item', number));
  let forgotten = 0;
  for (let number = 0; number < 50_000; number++)
    if (!filter.mayHave(key('item', number))) forgotten++;
  expect(forgotten).toBe(0);
  let wrong = 0;
  for (let number = 0; number < 50_000; number++) if (filter.mayHave(key('x', number))) wrong++;
  expect(wrong).toBeLessThan(50_000 * 0.04);
});

test('rids are found by their hashes, the greatest too; the later one of a hash counts; few are forgotten', () => {
  const rids = new RidHints(20_000);
  const hashOf = (number: number) => keyOf('pk', `item ${number}`).hash;
  const ridOf = (number: number) => 2 ** 53 - 1 - number * 2 ** 20;
  for (let number = 0; number < 20_000; number++) {
    rids.set(hashOf(number), number);
    rids.set(hashOf(number), ridOf(number));
    expect(rids.get(hashOf(number))).toBe(ridOf(number));
  }
  let found = 0;
  for (let number = 0; number < 20_000; number++)
    if (rids.get(hashOf(number)) === ridOf(number)) found++;
  expect(found).toBeGreaterThan(19_000);
});

test('partitions share the room for rids: there is none beyond it until one leaves', () => {
  const room = new MemoryBudget(100_000);
  const first = grownRidHints(4000, undefined, room);
  expect(first?.bytes).toBe(65_536);
  expect(grownRidHints(4000, undefined, room)).toBeUndefined();
  expect(grownRidHints(4000, first, room)).toBeUndefined();
  const small = grownRidHints(1000, undefined, room);
  expect(small?.bytes).toBe(16_384);
  expect(grownRidHints(2000, small, room)?.bytes).toBe(32_768);
  room.release(first?.bytes ?? 0);
  expect(grownRidHints(3000, undefined, room)?.bytes).toBe(65_536);
});

/** A store with this many keys, each with the rid of its number. */
async function storeOf(count: number): Promise<Store> {
  const store = await memoryEngine().open('partition');
  const puts = Array.from({ length: count }, (_, number) => ({
    key: numberedKey(number).primary,
    value: ridBytes(number),
  }));
  await store.commit({ puts });
  return store;
}

const numberedKey = (number: number) => keyOf(`pk${number % 7}`, `id${number}`);

async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve));
}

test('the keys of a partition with items are learnt after some looks, new ones meanwhile too', async () => {
  const store = await storeOf(3000);
  const memory = new MemoryBudget();
  const known = new KeyDirectory({ store, memory, itemCount: () => 3000 });
  for (let looks = 0; looks < 16 + 94; looks++) {
    known.noteLookup(true);
    expect(known.mayHave(numberedKey(9999))).toBe(true);
  }
  known.add(numberedKey(3000), 3000);
  await turns(20);
  const missing: number[] = [];
  let rids = 0;
  for (let number = 0; number <= 3000; number++) {
    if (!known.mayHave(numberedKey(number))) missing.push(number);
    if (known.ridOf(numberedKey(number)) === number) rids++;
  }
  expect(missing).toEqual([]);
  expect(rids).toBeGreaterThan(2850);
  let unknown = 0;
  for (let number = 5000; number < 6000; number++)
    if (!known.mayHave(numberedKey(number))) unknown++;
  expect(unknown).toBeGreaterThan(950);
  known.stop();
  expect(known.ridOf(numberedKey(7))).toBeUndefined();
  await store.close();
});

test('looks for new keys do not make a partition learn again once it knows which there are', async () => {
  const store = await storeOf(3000);
  let scans = 0;
  const counting = Object.create(store, {
    scan: {
      value: (...args: Parameters<Store['scan']>) => {
        scans++;
        return store.scan(...args);
      },
    },
  }) as Store;
  let itemCount = 0;
  const memory = new MemoryBudget();
  const known = new KeyDirectory({ store: counting, memory, itemCount: () => itemCount });
  itemCount = 3000;
  for (let looks = 0; looks < 500; looks++) known.noteLookup(false);
  await turns(5);
  expect(scans).toBe(0);
  for (let looks = 0; looks < 500; looks++) known.noteLookup(true);
  await turns(20);
  expect(scans).toBeGreaterThan(0);
  await store.close();
});

test('rids are learnt again where there are many more items than there was room for', async () => {
  const store = await storeOf(3000);
  let itemCount = 0;
  const known = new KeyDirectory({ store, memory: new MemoryBudget(), itemCount: () => itemCount });
  const look = async () => {
    for (let looks = 0; looks < 200; looks++) known.noteLookup(true);
    await turns(20);
  };
  const ridsKnown = () =>
    Array.from({ length: 3000 }).filter((_, number) => known.ridOf(numberedKey(number)) === number)
      .length;
  await look();
  expect(ridsKnown()).toBeLessThan(300);
  itemCount = 3000;
  await look();
  expect(ridsKnown()).toBeGreaterThan(2850);
  await store.close();
});

test('a deleted and created item is read by its key, whatever rid is remembered', async () => {
  const engine = memoryEngine();
  const store = await engine.open('partition');
  let partition = await openForTest(store, { cacheBytes: 1 });
  for (let id = 0; id < 40; id++) await put(partition, 'create', keyOf('a', `${id}`), `${id} old`);
  await partition.close();
  partition = await openForTest(await engine.open('partition'), { cacheBytes: 1 });
  // Looks until all keys are learnt.
  for (let id = 0; id < 40; id++) await partition.read(keyOf('a', `${id}`));
  await turns(5);
  for (let id = 0; id < 40; id += 2) await remove(partition, keyOf('a', `${id}`));
  for (let id = 0; id < 40; id += 4)
    await put(partition, 'create', keyOf('a', `${id}`), `${id} new`);
  for (let id = 0; id < 40; id++) {
    const text = textOf(await partition.read(keyOf('a', `${id}`)));
    expect(text).toBe(id % 2 === 1 ? `${id} old` : id % 4 === 0 ? `${id} new` : undefined);
  }
  await partition.close();
  await engine.close();
});

test('creating what exists is refused, whether the partition was empty when opened or not', async () => {
  const engine = memoryEngine();
  let partition = await openForTest(await engine.open('partition'), { cacheBytes: 1 });
  const createAll = (ids: readonly number[]) =>
    Promise.allSettled(ids.map((id) => put(partition, 'create', keyOf('a', `${id}`), '{}')));
  const ids = Array.from({ length: 200 }, (_, id) => id);
  const first = await createAll(ids);
  expect(first.filter(({ status }) => status === 'fulfilled')).toHaveLength(200);
  for (let round = 0; round < 2; round++) {
    const again = await createAll(ids);
    expect(again.filter(({ status }) => status === 'rejected')).toHaveLength(200);
    await partition.close();
    partition = await openForTest(await engine.open('partition'), { cacheBytes: 1 });
    await createAll(ids.map((id) => 1000 * (round + 1) + id));
  }
  const last = await createAll(ids.map((id) => 1000 + id));
  expect(last.filter(({ status }) => status === 'rejected')).toHaveLength(200);
  await partition.close();
  await engine.close();
});
