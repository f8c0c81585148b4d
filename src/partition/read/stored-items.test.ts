// Goal: memory never keeps an item that a write has replaced, and never returns the item of another key.
// Method: a store whose responses wait until the test releases them, with writes published meanwhile; two keys that
// share one rid hint.
import { expect, test } from 'vitest';
import type { Store } from '../../engine/index.ts';
import { memoryEngine } from '../../engine/memory/index.ts';
import type { PendingChange } from '../commit/pending-change.ts';
import type { Item, ItemKey } from '../item/item.ts';
import { recordKey, ridBytes } from '../item/keyspace.ts';
import { newItem } from '../item/record.ts';
import { keyOf, openForTest, put, remove, textOf } from '../test-kit.ts';
import { RecordCache } from './record-cache.ts';
import { RidHints } from './rid-hints.ts';
import { StoredItems } from './stored-items.ts';

const KEY = keyOf('a', '1');

function itemOf(key: ItemKey, rid: number, lsn: number): Item {
  return newItem({
    rid,
    primary: key.primary,
    version: { salt: 0, lsn, operation: 0 },
    timestampSec: 0,
    ttlSec: 0,
    encoding: 'json',
    body: Buffer.from(`lsn ${lsn}`),
  });
}

async function storeOf(items: readonly (readonly [ItemKey, Item])[]): Promise<Store> {
  const store = await memoryEngine().open('partition');
  const puts = items.flatMap(([key, item]) => [
    { key: key.primary, value: ridBytes(item.rid) },
    { key: recordKey(item.rid), value: item.record },
  ]);
  await store.commit({ puts });
  return store;
}

/** A store that reads at once and responds when the test says so. */
function lateStore(store: Store): { readonly late: Store; readonly respond: () => void } {
  const waiting: (() => void)[] = [];
  const delayed = <T>(value: T): Promise<T> =>
    new Promise((resolve) => waiting.push(() => resolve(value)));
  const late = Object.create(store, {
    get: { value: async (key: Uint8Array) => delayed(await store.get(key)) },
    dereference: {
      value: async (...args: Parameters<Store['dereference']>) =>
        delayed(await store.dereference(...args)),
    },
  }) as Store;
  return { late, respond: () => waiting.splice(0).forEach((resolve) => void resolve()) };
}

/** Lets the reads that are under way reach the store. */
function untilWaiting(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

function published(store: StoredItems, before: Item | undefined, after: Item | undefined): void {
  store.publish([{ key: KEY, before, after, isBulk: false } as PendingChange]);
}

test.each<readonly [string, Item | undefined]>([
  ['deleted', undefined],
  ['replaced by a bulk write', itemOf(KEY, 7, 2)],
])('an item %s while the store responds does not come back from the cache', async (_, after) => {
  const before = itemOf(KEY, 7, 1);
  const store = await storeOf([[KEY, before]]);
  const { late, respond } = lateStore(store);
  const cache = new RecordCache().forPartition();
  const items = new StoredItems({ store: late, cache, etagSalt: 0, itemCount: () => 1 });
  const reading = items.read(KEY);
  await untilWaiting();
  items.publish([{ key: KEY, before, after, isBulk: true } as PendingChange]);
  respond();
  expect((await reading)?.lsn, 'the state when the read began').toBe(1);
  expect(cache.get(KEY), 'what later reads find').toBeUndefined();
  const again = items.read(KEY);
  await untilWaiting();
  respond();
  expect((await again)?.lsn).toBe(1);
  expect(cache.get(KEY)?.lsn, 'nothing was published meanwhile').toBe(1);
});

test('an old state that the store responds late with does not replace the new one', async () => {
  const [before, after] = [itemOf(KEY, 7, 1), itemOf(KEY, 7, 2)];
  const { late, respond } = lateStore(await storeOf([[KEY, before]]));
  const cache = new RecordCache().forPartition();
  const items = new StoredItems({ store: late, cache, etagSalt: 0, itemCount: () => 1 });
  const reading = items.read(KEY);
  await untilWaiting();
  published(items, before, after);
  respond();
  await reading;
  expect((await items.read(KEY))?.lsn).toBe(2);
});

test('an old state that is read by a rid hint does not replace the new one', async () => {
  const [before, after] = [itemOf(KEY, 7, 1), itemOf(KEY, 7, 2)];
  const { late, respond } = lateStore(await storeOf([[KEY, before]]));
  const cache = new RecordCache().forPartition();
  const items = new StoredItems({ store: late, cache, etagSalt: 0, itemCount: () => 1 });
  // Lookups until rid hints are kept; the write then notes the rid of the key.
  for (let lookups = 0; lookups < 20; lookups++) {
    const lookup = items.read(KEY);
    await untilWaiting();
    respond();
    await lookup;
    cache.delete(KEY);
  }
  for (let rounds = 0; rounds < 5; rounds++) await untilWaiting();
  published(items, undefined, before);
  cache.delete(KEY);
  const reading = items.read(KEY);
  await untilWaiting();
  published(items, before, after);
  respond();
  expect((await reading)?.lsn).toBe(1);
  expect((await items.read(KEY))?.lsn).toBe(2);
});

test('an item of a snapshot is not kept once a later write is published', async () => {
  const [before, after] = [itemOf(KEY, 7, 1), itemOf(KEY, 7, 2)];
  const store = await storeOf([[KEY, before]]);
  const cache = new RecordCache().forPartition();
  const items = new StoredItems({ store, cache, etagSalt: 0, itemCount: () => 1 });
  const old = items.cachedAt(1);
  published(items, before, after);
  old.offer(before);
  expect(cache.get(KEY)?.lsn).toBe(2);
  expect(old.find(7), 'later than the snapshot').toBeUndefined();
  expect(items.cachedAt(2).find(7)?.lsn).toBe(2);
});

/** Two keys that a directory of few keys takes for each other. */
function keysWithOneHint(): readonly [ItemKey, ItemKey] {
  const hints = new RidHints(1);
  for (let id = 0; ; id++) {
    const key = keyOf('a', `${id}`);
    const other = hints.get(key.hash);
    if (other !== undefined) return [keyOf('a', `${other}`), key];
    hints.set(key.hash, id);
  }
}

test('keys that share a rid hint are never taken for each other', async () => {
  const [first, second] = keysWithOneHint();
  expect(first.text).not.toBe(second.text);
  const engine = memoryEngine();
  const partition = await openForTest(await engine.open('partition'), { cacheBytes: 1 });
  const filler = Array.from({ length: 20 }, (_, id) => keyOf('b', `${id}`));
  for (const key of filler) await put(partition, 'create', key, 'filler');
  // Lookups until rid hints are kept.
  for (const key of filler) await partition.read(key);
  for (let rounds = 0; rounds < 5; rounds++) await untilWaiting();
  await put(partition, 'create', first, 'first');
  expect(await partition.read(second), 'absent, though there is a hint').toBeUndefined();
  expect(textOf(await partition.read(first))).toBe('first');
  await put(partition, 'create', second, 'second');
  expect(textOf(await partition.read(first))).toBe('first');
  expect(textOf(await partition.read(second))).toBe('second');
  await put(partition, 'replace', first, 'first again');
  expect(textOf(await partition.read(second))).toBe('second');
  await remove(partition, second);
  expect(textOf(await partition.read(first))).toBe('first again');
  expect(await partition.read(second)).toBeUndefined();
  await partition.close();
  await engine.close();
});
