// Goal: a present key is never reported as absent; most absent keys, and the rids of most present ones, are found without
// the store; no item is taken for another.
// Method: many keys in the filter; keys read in the background while others are added; creates of existing keys.
import { expect, test } from 'vitest';
import type { Store } from '../../engine/index.ts';
import { memoryEngine } from '../../engine/memory/index.ts';
import { ridBytes } from '../item/keyspace.ts';
import { keyOf, openForTest, put, remove, textOf } from '../test-kit.ts';
import { KeyBloomFilter } from './key-bloom-filter.ts';
import { KeyDirectory } from './key-directory.ts';
import { MemoryBudget } from './memory-budget.ts';
import { grownRidHints, RidHints } from './rid-hints.ts';

test('a filter reports every added key, through all its layers, and few others', () => {
  const filter = new KeyBloomFilter();
  const key = (kind: string, number: number) => Buffer.from(`${kind}-${number}`);
  for (let number = 0; number < 50_000; number++) filter.add(key('item', number));
  let dropped = 0;
  for (let number = 0; number < 50_000; number++)
    if (!filter.mayHave(key('item', number))) dropped++;
  expect(dropped).toBe(0);
  let wrong = 0;
  for (let number = 0; number < 50_000; number++) if (filter.mayHave(key('x', number))) wrong++;
  expect(wrong).toBeLessThan(50_000 * 0.04);
});

test('rids are found by hashes, the greatest too; the later one of a hash is kept; few are dropped', () => {
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

test('partitions share the memory budget of rid hints', () => {
  const budget = new MemoryBudget(100_000);
  const first = grownRidHints(4000, undefined, budget);
  expect(first?.bytes).toBe(65_536);
  expect(grownRidHints(4000, undefined, budget)).toBeUndefined();
  expect(grownRidHints(4000, first, budget)).toBeUndefined();
  const small = grownRidHints(1000, undefined, budget);
  expect(small?.bytes).toBe(16_384);
  expect(grownRidHints(2000, small, budget)?.bytes).toBe(32_768);
  budget.release(first?.bytes ?? 0);
  expect(grownRidHints(3000, undefined, budget)?.bytes).toBe(65_536);
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

async function eventLoopTurns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve));
}

test('the keys of a partition with items are read after some lookups, new ones meanwhile too', async () => {
  const store = await storeOf(3000);
  const memory = new MemoryBudget();
  const directory = new KeyDirectory({ store, memory, itemCount: () => 3000 });
  for (let lookups = 0; lookups < 16 + 94; lookups++) {
    directory.noteLookup(true);
    expect(directory.mayHave(numberedKey(9999))).toBe(true);
  }
  directory.add(numberedKey(3000), 3000);
  await eventLoopTurns(20);
  const missing: number[] = [];
  let rids = 0;
  for (let number = 0; number <= 3000; number++) {
    if (!directory.mayHave(numberedKey(number))) missing.push(number);
    if (directory.ridOf(numberedKey(number)) === number) rids++;
  }
  expect(missing).toEqual([]);
  expect(rids).toBeGreaterThan(2850);
  let unknown = 0;
  for (let number = 5000; number < 6000; number++)
    if (!directory.mayHave(numberedKey(number))) unknown++;
  expect(unknown).toBeGreaterThan(950);
  directory.stop();
  expect(directory.ridOf(numberedKey(7))).toBeUndefined();
  await store.close();
});

test('lookups of new keys do not start another read of the keys once the filter is complete', async () => {
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
  const directory = new KeyDirectory({ store: counting, memory, itemCount: () => itemCount });
  itemCount = 3000;
  for (let lookups = 0; lookups < 500; lookups++) directory.noteLookup(false);
  await eventLoopTurns(5);
  expect(scans).toBe(0);
  for (let lookups = 0; lookups < 500; lookups++) directory.noteLookup(true);
  await eventLoopTurns(20);
  expect(scans).toBeGreaterThan(0);
  await store.close();
});

test('rids are read again where there are many more items than the hints were made for', async () => {
  const store = await storeOf(3000);
  let itemCount = 0;
  const directory = new KeyDirectory({
    store,
    memory: new MemoryBudget(),
    itemCount: () => itemCount,
  });
  const look = async () => {
    for (let lookups = 0; lookups < 200; lookups++) directory.noteLookup(true);
    await eventLoopTurns(20);
  };
  const ridsKnown = () =>
    Array.from({ length: 3000 }).filter(
      (_, number) => directory.ridOf(numberedKey(number)) === number,
    ).length;
  await look();
  expect(ridsKnown()).toBeLessThan(300);
  itemCount = 3000;
  await look();
  expect(ridsKnown()).toBeGreaterThan(2850);
  await store.close();
});

test('a deleted and created item is read by its key, whatever its rid hint is', async () => {
  const engine = memoryEngine();
  const store = await engine.open('partition');
  let partition = await openForTest(store, { cacheBytes: 1 });
  for (let id = 0; id < 40; id++) await put(partition, 'create', keyOf('a', `${id}`), `${id} old`);
  await partition.close();
  partition = await openForTest(await engine.open('partition'), { cacheBytes: 1 });
  // Lookups until all keys are read.
  for (let id = 0; id < 40; id++) await partition.read(keyOf('a', `${id}`));
  await eventLoopTurns(5);
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
