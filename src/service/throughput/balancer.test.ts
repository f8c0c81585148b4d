// Goal: partitions split by themselves when data or throughput grow, and a key that fills one alone is refused.
// Method: a service in memory with limits of kilobytes; after each burst of writes the test waits until the balancer has no jobs.
import { afterEach, expect, test } from 'vitest';
import { type DomainError, FakeClock, seededRandom, textToBytes } from '../../base/index.ts';
import { type ContainerRecord, DEFAULT_INDEXING_POLICY } from '../../catalog/index.ts';
import type { KeyWarning, MoveStep, SplitFailure } from '../../cluster/index.ts';
import { memoryEngine } from '../../engine/memory/index.ts';
import { DEFAULT_SETTINGS, openService, type Service, type Settings } from '../index.ts';

let service: Service;
let failures: SplitFailure[] = [];
let warnings: KeyWarning[] = [];
let onStep: (step: MoveStep) => void = () => undefined;

afterEach(() => service.close());

const engine = memoryEngine();
let database = 0;

async function open(settings: Partial<Settings>, on = memoryEngine()): Promise<void> {
  failures = [];
  warnings = [];
  onStep = () => undefined;
  service = await openService({
    engine: on,
    clock: new FakeClock(),
    random: seededRandom(1),
    settings: { ...DEFAULT_SETTINGS, throughputMode: 'report', ...settings },
    homes: [],
    onSplitFailure: (failure) => failures.push(failure),
    onKeyNearLimit: (warning) => warnings.push(warning),
    onMoveStep: (step) => onStep(step),
  });
}

async function create(requestUnits: number, hasKey = true): Promise<ContainerRecord> {
  const { rid } = await service.databases.create(`db${database++}`, undefined);
  return service.containers.create(rid, {
    id: 'c',
    partitionKey: hasKey ? { paths: ['/pk'], kind: 'Hash', version: 2 } : undefined,
    home: 'nosql',
    indexingPolicy: DEFAULT_INDEXING_POLICY,
    uniqueKeys: [],
    policies: {},
    throughput: { kind: 'manual', requestUnits },
  });
}

const current = ({ databaseRid, rid }: ContainerRecord) =>
  service.containers.findByRid(databaseRid, rid) as ContainerRecord;

function write(container: ContainerRecord, pk: string, id: string, bytes = 500) {
  const body = textToBytes(JSON.stringify({ id, pk, text: 'x'.repeat(bytes) }));
  const address = { partitionKey: [pk], rowKey: [id] };
  return service.items.write(current(container), { kind: 'upsert', ...address, body, ttlSec: 0 });
}

async function partitionBytes(container: ContainerRecord): Promise<readonly number[]> {
  const routes = service.containers.routes(current(container));
  const all = await Promise.all(routes.map((route) => service.containers.statistics(route)));
  return all.map(({ itemBytes }) => itemBytes);
}

function expectTiles({ partitions }: ContainerRecord): void {
  expect(partitions[0]?.min).toBe('');
  partitions.forEach(({ max }, at) => {
    expect(max).toBe(partitions[at + 1]?.min ?? 'FF');
  });
}

test('a partition that reaches its storage limit splits, again and again', async () => {
  await open({ partitionStorageLimit: 20_000 });
  const container = await create(1000);
  for (let n = 0; n < 200; n++) {
    await write(container, `k${n}`, 'x');
    await service.balancer.whenIdle();
  }
  const bytes = await partitionBytes(container);
  expect(bytes.length).toBeGreaterThan(6);
  for (const size of bytes) expect(size).toBeLessThan(21_000);
  expectTiles(current(container));
  expect(failures).toEqual([]);
  expect(service.resizer.log.totals.split.done).toBe(bytes.length - 1);
  expect(service.resizer.log.list(container)[0]).toMatchObject({ kind: 'split', state: 'done' });
});

test('a fixed container never splits', async () => {
  await open({ partitionStorageLimit: 2000, logicalPartitionLimit: 2000 });
  const container = await create(400);
  for (let n = 0; n < 3; n++) await write(container, `k${n}`, 'x');
  await service.balancer.whenIdle();
  // All keys together have the bytes that one of them may have.
  await expect(write(container, 'k3', 'x')).rejects.toMatchObject({
    code: 'partitionKeyFull',
    message:
      'The container has one partition, which reached its maximum size of 1.95 KB. ' +
      'Scale it to 1000 RU/s or more, and it is divided among as many partitions as it needs.',
  });
  await write(container, 'k2', 'x', 400);
  expect(current(container).partitions).toHaveLength(1);
  await expect(service.resizer.split(container, '0')).rejects.toThrow('one partition for ever');
  expect(failures).toEqual([]);
});

test('a fixed container without a key says that it has none when it is full', async () => {
  await open({ partitionStorageLimit: 2000, logicalPartitionLimit: 2000 });
  const container = await create(400, false);
  const writeKeyless = (id: string) =>
    service.items.write(current(container), {
      kind: 'upsert',
      partitionKey: [undefined],
      rowKey: [id],
      body: textToBytes(JSON.stringify({ id, text: 'x'.repeat(500) })),
      ttlSec: 0,
    });
  for (let n = 0; n < 3; n++) await writeKeyless(`i${n}`);
  await service.balancer.whenIdle();
  await expect(writeKeyless('i3')).rejects.toMatchObject({
    code: 'partitionKeyFull',
    message:
      'The container has one partition, which reached its maximum size of 1.95 KB. ' +
      'It has no partition key: migrate its items to a container that has one.',
  });
});

test('a full fixed container that is scaled to unlimited takes writes at once and splits', async () => {
  await open({ partitionStorageLimit: 8000, logicalPartitionLimit: 8000 });
  const container = await create(400);
  let refusal: unknown;
  for (let n = 0; n < 20 && refusal === undefined; n++) {
    await write(container, `k${n}`, 'x').catch((error: DomainError) => {
      refusal = error.message;
    });
    await service.balancer.whenIdle();
  }
  expect(refusal).toContain('Scale it to 1000 RU/s');
  const rid = service.offers.list()[0]?.throughput.offerRid ?? 0;
  const setting = { kind: 'manual', requestUnits: 1000 } as const;
  await service.offers.replace(rid, { setting, migration: undefined });
  // There was no write since.
  for (let n = 20; n < 40; n++) await write(container, `k${n}`, 'x');
  await service.balancer.whenIdle();
  expect(current(container).kind).toBe('unlimited');
  expect(current(container).partitions.length).toBeGreaterThan(1);
  for (let n = 40; n < 60; n++) await write(container, `k${n}`, 'x');
  expect(failures).toEqual([]);
});

test('a partition beyond its limit is split by the change of its kind, without a write', async () => {
  await open({ partitionStorageLimit: 8000, logicalPartitionLimit: 8000 });
  const container = await create(400);
  // One write may go beyond the limit before writes are checked.
  for (let n = 0; n < 10; n++) await write(container, `k${n}`, 'x');
  await write(container, 'k10', 'x', 4000);
  await service.balancer.whenIdle();
  const rid = service.offers.list()[0]?.throughput.offerRid ?? 0;
  const setting = { kind: 'manual', requestUnits: 1000 } as const;
  await service.offers.replace(rid, { setting, migration: undefined });
  await service.balancer.whenIdle();
  expect(current(container).partitions).toHaveLength(2);
});

test('throughput that is raised splits until there are enough partitions, empty or not', async () => {
  await open({});
  const [empty, full] = [await create(10_000), await create(10_000)];
  for (let n = 0; n < 30; n++) await write(full, `k${n}`, 'x');
  for (const container of [empty, full]) {
    const offer = service.offers.list().find((one) => one.container?.rid === container.rid);
    const setting = { kind: 'manual', requestUnits: 40_000 } as const;
    const rid = offer?.throughput.offerRid ?? 0;
    await service.offers.replace(rid, { setting, migration: undefined });
    await service.balancer.whenIdle();
    const { partitions } = current(container);
    expect(partitions).toHaveLength(4);
    expect(partitions.map((partition) => partition.throughputFraction)).toEqual(
      Array(4).fill(0.25),
    );
    expectTiles(current(container));
  }
  expect(current(empty).partitions.map(({ min }) => min.slice(0, 2))).toEqual([
    '',
    '10',
    '20',
    '30',
  ]);
});

test('splits for throughput that a stop prevented are done after the next start', async () => {
  await open({}, engine);
  const container = await create(10_000);
  await service.balancer.close();
  const rid = service.offers.list()[0]?.throughput.offerRid ?? 0;
  const setting = { kind: 'manual', requestUnits: 20_000 } as const;
  await service.offers.replace(rid, { setting, migration: undefined });
  await service.close();
  await open({}, engine);
  await service.balancer.whenIdle();
  expect(current(container).partitions).toHaveLength(2);
});

test('a key that fills a partition alone stops growing; everything else goes on', async () => {
  await open({ partitionStorageLimit: 10_240, logicalPartitionLimit: 10_240 });
  const container = await create(1000);
  const refused: DomainError[] = [];
  for (let n = 0; n < 40; n++) {
    await write(container, 'one', `i${n}`).catch((error: DomainError) => refused.push(error));
    await service.balancer.whenIdle();
  }
  expect(refused[0]).toMatchObject({
    code: 'partitionKeyFull',
    message: 'Partition key reached maximum size of 10 KB',
  });
  expect(failures).toEqual([]);
  expect(current(container).partitions).toHaveLength(1);
  const bytes = (await partitionBytes(container))[0] ?? 0;
  expect(bytes).toBeLessThan(11_500);
  await write(container, 'one', 'i0', 500);
  await write(container, 'one', 'i0', 400);
  await expect(write(container, 'one', 'i0', 2000)).rejects.toThrow('Partition key reached');
  const read = { partitionKey: ['one'], rowKey: ['i1'] };
  expect((await service.items.read(current(container), read, undefined)).item).toBeDefined();
  for (const id of ['i1', 'i2', 'i3'])
    await service.items.write(current(container), {
      kind: 'delete',
      partitionKey: ['one'],
      rowKey: [id],
    });
  await write(container, 'one', 'again');
  // With a second key the partition can be split between the two.
  await write(container, 'two', 'x', 3000);
  await service.balancer.whenIdle();
  expect(current(container).partitions).toHaveLength(2);
  await write(container, 'two', 'y', 3000);
});

test('a split that fails is reported, and tried again only after the partition has grown by a tenth', async () => {
  await open({ partitionStorageLimit: 10_000 });
  const container = await create(1000);
  let tries = 0;
  onStep = (step) => {
    if (step !== 'fence') return;
    tries++;
    throw new Error('no luck');
  };
  for (let n = 0; n < 40; n++) {
    await write(container, `k${n}`, 'x', 200);
    await service.balancer.whenIdle();
  }
  const [bytes = 0] = await partitionBytes(container);
  expect(current(container).partitions).toHaveLength(1);
  expect(tries).toBe(Math.floor(Math.log(bytes / 10_000) / Math.log(1.1)) + 1);
  expect(failures).toHaveLength(tries);
  expect(failures[0]).toMatchObject({ partitionId: '0', error: { message: 'no luck' } });
  expect(service.resizer.log.totals.split).toMatchObject({ done: 0, failed: tries });
  onStep = () => undefined;
  for (let n = 40; n < 60; n++) await write(container, `k${n}`, 'x', 200);
  await service.balancer.whenIdle();
  expect(current(container).partitions.length).toBeGreaterThan(1);
});

test('a split that fails after its commit does not drop its children', async () => {
  await open({});
  const container = await create(1000);
  for (let n = 0; n < 20; n++) await write(container, `k${n}`, 'x', 200);
  onStep = (step) => {
    if (step === 'done') throw new Error('no luck');
  };
  await expect(service.resizer.split(container, '0')).rejects.toThrow('no luck');
  expect(current(container).partitions.map(({ id }) => id)).toEqual(['1', '2']);
  for (let n = 0; n < 20; n++) {
    const address = { partitionKey: [`k${n}`], rowKey: ['x'] };
    const { item } = await service.items.read(current(container), address, undefined);
    expect(item).toBeDefined();
  }
  await write(container, 'k0', 'y', 200);
});

test('a key among others has its limit too, and is reported once, at 80 percent', async () => {
  await open({ partitionStorageLimit: 1_000_000, logicalPartitionLimit: 20_480 });
  const container = await create(1000);
  for (let n = 0; n < 100; n++) await write(container, `k${n}`, 'x', 100);
  await service.balancer.whenIdle();
  const refused: DomainError[] = [];
  for (let n = 0; n < 60; n++) {
    await write(container, 'one', `i${n}`).catch((error: DomainError) => refused.push(error));
    await service.balancer.whenIdle();
  }
  expect(refused[0]).toMatchObject({
    code: 'partitionKeyFull',
    message: 'Partition key reached maximum size of 20 KB',
  });
  const [route] = service.containers.routes(current(container));
  const [heavy, ...others] = route?.handle.limits?.sizes?.heavy() ?? [];
  expect(others).toEqual([]);
  expect(heavy?.bytes).toBeGreaterThan(19_500);
  expect(heavy?.bytes).toBeLessThan(20_800);
  // Others go on, and so does this one where it shrinks.
  await write(container, 'k1', 'y', 5000);
  await write(container, 'one', 'i0', 10);
  await write(container, 'one', 'more', 100);
  expect(warnings.map(({ partitionId, bytesMax }) => [partitionId, bytesMax])).toEqual([
    ['0', 20_480],
  ]);
  expect(warnings[0]?.key.bytes).toBeGreaterThanOrEqual(0.8 * 20_480);
  expect(warnings[0]?.key.bytes).toBeLessThan(0.9 * 20_480);
  expect(failures).toEqual([]);
});

test('concurrent writers of one key do not get beyond its limit together', async () => {
  await open({ partitionStorageLimit: 1_000_000, logicalPartitionLimit: 20_480 });
  const container = await create(1000);
  for (let n = 0; n < 35; n++) {
    await write(container, 'one', `i${n}`, 400);
    await service.balancer.whenIdle();
  }
  const results = await Promise.allSettled(
    Array.from({ length: 30 }, (_, n) => write(container, 'one', `j${n}`, 400)),
  );
  expect(results.filter(({ status }) => status === 'rejected').length).toBeGreaterThan(20);
  expect((await partitionBytes(container))[0]).toBeLessThan(20_480 + 600);
});

test('keys are counted again when small ones may have become large', async () => {
  await open({ partitionStorageLimit: 10_000_000, logicalPartitionLimit: 20_480 });
  const container = await create(1000);
  for (let n = 0; n < 40; n++) await write(container, `k${n}`, 'x', 500);
  await service.balancer.whenIdle();
  for (let n = 0; n < 60; n++)
    for (const key of ['a', 'b', 'c']) {
      await write(container, key, `i${n}`).catch(() => undefined);
      await service.balancer.whenIdle();
    }
  const [route] = service.containers.routes(current(container));
  const heavy = route?.handle.limits?.sizes?.heavy() ?? [];
  expect(heavy).toHaveLength(3);
  for (const { bytes } of heavy) expect(bytes).toBeLessThan(20_800);
  expect(warnings).toHaveLength(3);
});
