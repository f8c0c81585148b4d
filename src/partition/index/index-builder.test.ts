// Goal: a declared index is built whole or is known not to be, whatever state the store has from before. Method: a
// partition that is opened again and again over one store in memory, with states that other versions leave.
import { expect, test, vi } from 'vitest';
import { textToBytes } from '../../base/index.ts';
import type { Store } from '../../engine/index.ts';
import { memoryEngine } from '../../engine/memory/index.ts';
import { INDEX_STATE_KEY } from '../item/keyspace.ts';
import type { Partition } from '../partition.ts';
import { indexingForTest, keyOf, openForTest, put } from '../test-kit.ts';
import { rangesOfIndex } from './declared/declared-indexes.ts';
import { decodeIndexState, encodeIndexState, type IndexState } from './stored/index-state.ts';
import type { Indexing } from './terms/indexing.ts';

const BARE = { included: [], excluded: ['/*'] };
const parts = [{ path: '/name', isDescending: false }];
const NONE = indexingForTest(BARE);
const UNIQUE = indexingForTest({
  ...BARE,
  declared: [{ id: 1, parts }],
  uniqueKeys: { constraints: [{ id: 1, paths: ['/name'] }], partitionKey: [] },
});

/** The store of a partition that may be opened several times. */
async function newStore(): Promise<Store> {
  const store = await memoryEngine().open('p');
  return new Proxy(store, {
    get(target, name) {
      if (name === 'close') return async () => undefined;
      const value = Reflect.get(target, name);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

async function stateIn(store: Store): Promise<IndexState> {
  return decodeIndexState((await store.get(INDEX_STATE_KEY)) as Uint8Array);
}

async function settled(partition: Partition): Promise<void> {
  const isOpen = () =>
    partition.indexes.builds().some(({ percent, isFailed }) => percent < 100 && !isFailed);
  for (let round = 0; round < 10_000 && isOpen(); round++)
    await new Promise((resolve) => setImmediate(resolve));
  expect(isOpen()).toBe(false);
}

const name = (partition: Partition, id: string, value: string): Promise<string> =>
  put(partition, 'upsert', keyOf('p', id), JSON.stringify({ name: value })).then(
    () => 'ok',
    (error) => error.code,
  );

async function inPartition(
  store: Store,
  indexing: Indexing,
  work: (partition: Partition, failures: readonly unknown[]) => Promise<void>,
): Promise<void> {
  const failures: unknown[] = [];
  const partition = await openForTest(store, {
    indexing,
    onFailure: (error) => failures.push(error),
  });
  await settled(partition);
  await work(partition, failures);
  await partition.close();
}

test('an index that an older version began to drop is live again, unique, and has no stale entries', async () => {
  const store = await newStore();
  await inPartition(store, UNIQUE, async (partition) => {
    for (const id of ['a', 'b', 'c']) expect(await name(partition, id, id)).toBe('ok');
  });
  // The version that does not know the index writes beside it, and ends before it has removed the entries.
  await store.commit({
    puts: [
      {
        key: INDEX_STATE_KEY,
        value: encodeIndexState({ ...(await stateIn(store)), declared: { 1: 'dropped' } }),
      },
      { key: Uint8Array.of(...stalePrefix(), 0, 0, 0, 0, 0, 0, 0, 9), value: new Uint8Array(0) },
    ],
  });
  for (let opening = 0; opening < 2; opening++)
    await inPartition(store, UNIQUE, async (partition, failures) => {
      expect(await name(partition, 'd', 'a')).toBe('uniqueKeyViolation');
      expect(await name(partition, 'd', 'd')).toBe('ok');
      expect(failures).toEqual([]);
    });
  expect((await stateIn(store)).declared).toEqual({ 1: 'all' });
  expect(await entryCount(store)).toBe(4);
});

test('an index that was dropped before another policy came is unique', async () => {
  const store = await newStore();
  await inPartition(store, NONE, async (partition) => {
    for (const id of ['a', 'b', 'c']) expect(await name(partition, id, id)).toBe('ok');
  });
  const state = { fingerprint: 'another', builtTo: 'all', declared: { 1: 'dropped' } } as const;
  await store.commit({ puts: [{ key: INDEX_STATE_KEY, value: encodeIndexState(state) }] });
  await inPartition(store, UNIQUE, async (partition) => {
    expect(await name(partition, 'd', 'a')).toBe('uniqueKeyViolation');
  });
  expect((await stateIn(store)).declared).toEqual({ 1: 'all' });
  expect(await entryCount(store)).toBe(3);
});

test('a unique index that cannot be built at an opening is reported once, and stays so', async () => {
  const store = await newStore();
  await inPartition(store, NONE, async (partition) => {
    await name(partition, 'a', 'same');
    await name(partition, 'b', 'same');
  });
  await inPartition(store, UNIQUE, async (partition, failures) => {
    expect(partition.indexes.builds()).toEqual([{ id: 1, percent: 0, isFailed: true }]);
    expect(failures).toMatchObject([{ code: 'uniqueKeyViolation', details: { indexId: 1 } }]);
  });
  await inPartition(store, UNIQUE, async (partition, failures) => {
    expect(partition.indexes.builds()).toEqual([{ id: 1, percent: 0, isFailed: true }]);
    expect(failures).toEqual([]);
  });
  await inPartition(store, NONE, async (partition) => {
    expect(await name(partition, 'c', 'same')).toBe('ok');
  });
  expect((await stateIn(store)).declared ?? {}).toEqual({});
});

test('an index that cannot be built is reported to who declares it, and not as a failure besides', async () => {
  const store = await newStore();
  await inPartition(store, NONE, async (partition, failures) => {
    await name(partition, 'a', 'same');
    await name(partition, 'b', 'same');
    partition.changeIndexing(UNIQUE);
    await settled(partition);
    expect(partition.indexes.builds()).toEqual([{ id: 1, percent: 0, isFailed: true }]);
    expect(failures).toEqual([]);
  });
});

test('a build goes on after a step that was refused for a moment', async () => {
  const store = await newStore();
  let refusals = 0;
  const busy = new Proxy(store, {
    get(target, property) {
      // Writes are refused once the build is under way.
      if (property === 'writeRefusal') return refusals > 0 && refusals-- > 0 ? 'Busy.' : undefined;
      return Reflect.get(target, property);
    },
  });
  await inPartition(busy, NONE, async (partition) => {
    for (let id = 0; id < 250; id++) await name(partition, `${id}`, `${id}`);
    refusals = 2;
    partition.changeIndexing(UNIQUE);
    await vi.waitUntil(() => partition.indexes.builds()[0]?.percent === 100, { timeout: 10_000 });
    expect(refusals).toBe(0);
  });
});

test('a build goes on where a partition was to be moved and stays', async () => {
  const store = await newStore();
  await inPartition(store, NONE, async (partition) => {
    for (let id = 0; id < 250; id++) await name(partition, `${id}`, `${id}`);
    partition.changeIndexing(UNIQUE);
    await partition.fence();
    for (let round = 0; round < 20; round++) await new Promise((resolve) => setImmediate(resolve));
    partition.unfence();
    await settled(partition);
    expect(partition.indexes.builds()).toEqual([{ id: 1, percent: 100, isFailed: false }]);
  });
});

/** An entry of index 1 in front of those of texts. */
function stalePrefix(): readonly number[] {
  return [...(rangesOfIndex(1)[0]?.start ?? []), ...textToBytes('\u0001')];
}

/** Single entries of index 1. */
async function entryCount(store: Store): Promise<number> {
  const [single] = rangesOfIndex(1);
  if (single === undefined) return 0;
  return (await store.scan(single, { limit: 1000, bytesMax: 1_000_000 })).entries.length;
}
