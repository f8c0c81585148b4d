// Goal: partitions are open within a bound, the least recently used are closed first, none that is in use, and one that
// failed is opened again. Method: a registry over an engine in memory that counts its open stores.
import { expect, test } from 'vitest';
import { DomainError, FakeClock, seededRandom } from '../../base/index.ts';
import type { Batch, Engine } from '../../engine/index.ts';
import { memoryEngine } from '../../engine/memory/index.ts';
import { RecordCache } from '../../partition/index.ts';
import { HANDLE_OPTIONS } from '../test-kit.ts';
import type { PartitionHandle } from './partition-handle.ts';
import { type PartitionFailure, PartitionRegistry } from './partition-registry.ts';

function setUp(openPartitionsMax: number) {
  const inner = memoryEngine();
  const open = new Set<string>();
  const failing = new Set<string>();
  let mostOpen = 0;
  const engine: Engine = {
    ...inner,
    list: () => inner.list(),
    drop: (name) => inner.drop(name),
    close: () => inner.close(),
    async open(name) {
      const store = await inner.open(name);
      open.add(name);
      mostOpen = Math.max(mostOpen, open.size);
      const close = store.close.bind(store);
      const commit = store.commit.bind(store);
      return Object.assign(store, {
        commit: async (batch: Batch) => {
          if (failing.has(name)) throw new DomainError('unavailable', 'the disk failed');
          await commit(batch);
        },
        close: async () => {
          await close();
          open.delete(name);
        },
      });
    },
  };
  const clock = new FakeClock(1_000_000);
  const failures: PartitionFailure[] = [];
  const registry = new PartitionRegistry({
    engine,
    clock,
    random: seededRandom(1),
    cache: new RecordCache(1024 * 1024),
    openPartitionsMax,
    onFailure: (failure) => failures.push(failure),
  });
  const handleOf = (number: number): PartitionHandle =>
    registry.handle(`c/${number}`, HANDLE_OPTIONS);
  const failCommits = (name: string) => failing.add(name);
  return { registry, handleOf, clock, open, failures, failCommits, mostOpen: () => mostOpen };
}

const nextTick = () => new Promise((resolve) => setImmediate(resolve));

test('10,000 containers are used one after the other with eight partitions open at most', async () => {
  const { registry, handleOf, mostOpen, open } = setUp(8);
  for (let number = 0; number < 10_000; number++) {
    await registry.partition(handleOf(number));
    await nextTick();
  }
  expect(mostOpen()).toBe(8);
  expect(registry.openCount).toBe(8);
  await registry.close();
  expect(open.size).toBe(0);
});

test('the least recently used is closed first, and none that is in use', async () => {
  const { registry, handleOf, clock, open } = setUp(3);
  const use = async (number: number) => {
    clock.advance(1);
    const partition = await registry.partition(handleOf(number));
    await nextTick();
    return partition;
  };
  const release = (await use(0)).hold();
  await use(1);
  await use(2);
  await use(1);
  await use(3);
  expect([...open].sort()).toEqual(['c/0', 'c/1', 'c/3']);
  release();
  await use(4);
  expect([...open].sort()).toEqual(['c/1', 'c/3', 'c/4']);
  await registry.close();
});

test('many that are opened at once keep to the bound', async () => {
  const { registry, handleOf, mostOpen } = setUp(8);
  for (let round = 0; round < 5; round++) {
    const wanted = Array.from({ length: 6 }, (_, at) => handleOf(round * 6 + at));
    await Promise.all(wanted.map((each) => registry.partition(each)));
    await nextTick();
  }
  expect(mostOpen()).toBeLessThanOrEqual(8);
  await registry.close();
});

test('where all are in use a few more are opened, then requests wait', async () => {
  const { registry, handleOf, mostOpen } = setUp(4);
  const releases: (() => void)[] = [];
  for (let number = 0; number < 6; number++)
    releases.push((await registry.partition(handleOf(number))).hold());
  const seventh = Promise.resolve(registry.partition(handleOf(6)));
  await nextTick();
  expect(handleOf(6).partition).toBeUndefined();
  for (const release of releases) release();
  expect((await seventh).statistics().itemCount).toBe(0);
  expect(mostOpen()).toBe(6);
  await registry.close();
});

test('a query under way on a partition that failed gets unavailable when the partition is opened again', async () => {
  const { registry, handleOf, failures, failCommits } = setUp(8);
  const failing = await registry.partition(handleOf(0));
  const reader = await failing.reader();
  const scan = async () => reader.scanByRid({ after: undefined, limit: 1, bytesMax: 1 }, undefined);
  expect((await scan()).items).toEqual([]);
  failCommits('c/0');
  await expect(
    failing.deleteRange({ start: new Uint8Array([1]), end: new Uint8Array([2]) }),
  ).rejects.toMatchObject({ code: 'unavailable' });
  expect(failures).toHaveLength(1);
  // It reads on until somebody needs the partition again.
  expect((await scan()).items).toEqual([]);
  expect(await registry.partition(handleOf(0))).not.toBe(failing);
  await expect(scan()).rejects.toMatchObject({
    code: 'unavailable',
    message: 'Store c/0 was closed.',
  });
  reader.release();
  await registry.close();
  const late = async () => registry.partition(handleOf(0));
  await expect(late()).rejects.toMatchObject({ code: 'unavailable' });
});

test('a request that comes while a store is dropped does not open it again', async () => {
  const { registry, handleOf, open } = setUp(8);
  const handle = handleOf(1);
  await registry.partition(handle);
  const dropped = registry.drop(['c/1']);
  const late = Promise.resolve()
    .then(() => registry.partition(handle))
    .catch((error: unknown) => error);
  expect(await late).toMatchObject({ code: 'partitionGone' });
  await dropped;
  expect(open.size).toBe(0);
  await registry.close();
});
