// Goal: partitions follow the heat: split where several keys share it for minutes, merged where throughput was lowered.
// Method: a service in memory with a fake clock; in every second requests until one is refused.
import { afterEach, expect, test } from 'vitest';
import { DomainError, FakeClock, seededRandom, textToBytes } from '../../base/index.ts';
import { type ContainerRecord, DEFAULT_INDEXING_POLICY } from '../../catalog/index.ts';
import { memoryEngine } from '../../engine/memory/index.ts';
import { effectivePartitionKey } from '../../value/index.ts';
import { DEFAULT_SETTINGS, openService, type Service, type Settings } from '../index.ts';

let service: Service;
let clock: FakeClock;

afterEach(() => service.close());

async function open(settings: Partial<Settings>): Promise<void> {
  clock = new FakeClock();
  service = await openService({
    engine: memoryEngine(),
    clock,
    random: seededRandom(1),
    settings: { ...DEFAULT_SETTINGS, burstSec: 0, ...settings },
    homes: [],
    onSplitFailure: ({ error }) => {
      throw error;
    },
  });
}

async function create(requestUnits: number): Promise<ContainerRecord> {
  const { rid } = await service.databases.create('db', undefined);
  return service.containers.create(rid, {
    id: 'c',
    partitionKey: { paths: ['/pk'], kind: 'Hash', version: 2 },
    home: 'nosql',
    indexingPolicy: DEFAULT_INDEXING_POLICY,
    uniqueKeys: [],
    policies: {},
    throughput: { kind: 'manual', requestUnits },
  });
}

const current = ({ databaseRid, rid }: ContainerRecord) =>
  service.containers.findByRid(databaseRid, rid) as ContainerRecord;

/** Keys that the partition with this id owns. */
function keysOf(container: ContainerRecord, partitionId: string, count: number): string[] {
  const names = Array.from({ length: 1000 }, (_, n) => `k${n}`);
  const isHere = (name: string): boolean =>
    service.items.partitionIdOf(
      container,
      effectivePartitionKey([name], container.partitionKey),
    ) === partitionId;
  return names.filter(isHere).slice(0, count);
}

/** Some 20 RU to read. */
async function fill(container: ContainerRecord, keys: readonly string[]): Promise<void> {
  for (const pk of keys) {
    const body = textToBytes(JSON.stringify({ id: 'x', pk, text: 'x'.repeat(256_000) }));
    const write = { kind: 'create', partitionKey: [pk], rowKey: ['x'], body, ttlSec: 0 } as const;
    await service.items.write(container, write);
    clock.advance(1000);
  }
}

/** Reads in every second until refused, key after key. */
async function overload(
  container: ContainerRecord,
  keys: readonly string[],
  seconds: number,
): Promise<void> {
  let next = 0;
  for (let second = 0; second < seconds; second++) {
    for (let isServed = true; isServed; ) {
      const pk = keys[next++ % keys.length] as string;
      try {
        await service.items.read(
          current(container),
          { partitionKey: [pk], rowKey: ['x'] },
          undefined,
        );
      } catch (error) {
        expect(error).toBeInstanceOf(DomainError);
        isServed = false;
      }
    }
    clock.advance(1000);
    await service.balancer.whenIdle();
  }
}

test('a partition that refuses for minutes is split between the keys that share the heat', async () => {
  await open({ partitionThroughputLimit: 500 });
  const container = await create(1000);
  const keys = keysOf(container, '0', 8);
  await fill(container, keys);
  await overload(container, keys, 150);
  expect(current(container).partitions).toHaveLength(2);
  await overload(container, keys, 120);
  const { partitions } = current(container);
  expect(partitions.map(({ id, parents }) => [id, parents])).toEqual([
    ['2', ['0']],
    ['3', ['0']],
    ['1', []],
  ]);
  const [left, right] = partitions
    .slice(0, 2)
    .map(({ id }) => keysOf(current(container), id, 1000));
  expect(keys.filter((key) => left?.includes(key))).toHaveLength(4);
  expect(keys.filter((key) => right?.includes(key))).toHaveLength(4);
});

test.each<[string, Partial<Settings>, number, number]>([
  ['one hot key', {}, 1, 1000],
  ['one partition', { partitionThroughputLimit: 1000 }, 8, 1000],
  ['the operator does not want it', { splitsByHeat: false }, 8, 1000],
])('no split by heat: %s', async (_, settings, keyCount, requestUnits) => {
  await open({ partitionThroughputLimit: 500, ...settings });
  const container = await create(requestUnits);
  const keys = keysOf(container, '0', keyCount);
  await fill(container, keys);
  const before = container.partitions;
  await overload(container, keys, 260);
  expect(current(container).partitions).toEqual(before);
});

test('a split on request by heat cuts where half of the charges are', async () => {
  await open({ throughputMode: 'report' });
  const container = await create(1000);
  const keys = keysOf(container, '0', 40);
  const epkOf = (key: string) => effectivePartitionKey([key], container.partitionKey);
  const inOrder = [...keys].sort((a, b) => Buffer.compare(epkOf(a), epkOf(b)));
  for (const pk of keys)
    await service.items.write(container, {
      kind: 'create',
      partitionKey: [pk],
      rowKey: ['x'],
      body: textToBytes('{}'),
      ttlSec: 0,
    });
  // The first four keys have nearly all of the heat.
  for (let n = 0; n < 4000; n++)
    await service.items.read(
      container,
      { partitionKey: [inOrder[n % 4] as string], rowKey: ['x'] },
      undefined,
    );
  await service.resizer.split(container, '0', 'heat');
  const [left] = current(container).partitions;
  expect(left?.max).toBe(
    Buffer.from(epkOf(inOrder[2] as string))
      .toString('hex')
      .toUpperCase(),
  );
});

async function scale(container: ContainerRecord, requestUnits: number): Promise<void> {
  const offer = service.offers.list().find((one) => one.container?.rid === container.rid);
  const setting = { kind: 'manual', requestUnits } as const;
  await service.offers.replace(offer?.throughput.offerRid ?? 0, { setting, migration: undefined });
  await service.balancer.whenIdle();
}

test.each([
  [true, 10_000, 1],
  [true, 20_000, 2],
  [false, 10_000, 4],
])('lowered throughput: merging is %s, at %d RU/s %d partitions are left', async (on, to, left) => {
  await open({ throughputMode: 'report', mergesAfterScaleDown: on });
  const container = await create(40_000);
  await fill(container, keysOf(container, '2', 3));
  await scale(container, to);
  const { partitions } = current(container);
  expect(partitions).toHaveLength(left);
  for (const { throughputFraction } of partitions) expect(throughputFraction).toBe(1 / left);
  for (const pk of keysOf(container, '2', 3)) {
    const address = { partitionKey: [pk], rowKey: ['x'] };
    expect((await service.items.read(current(container), address, undefined)).item).toBeDefined();
  }
});

test('partitions that would be too large together are not merged', async () => {
  await open({
    throughputMode: 'report',
    mergesAfterScaleDown: true,
    partitionStorageLimit: 1_000_000,
  });
  const container = await create(40_000);
  for (const { id } of container.partitions) await fill(container, keysOf(container, id, 1));
  await scale(container, 10_000);
  expect(current(container).partitions).toHaveLength(4);
});
