// Goal: every way of giving throughput limits the partitions it should, and offers change what they promise.
// Method: the facade on a memory engine with a fake clock; point reads and writes as load.
import { afterEach, expect, test } from 'vitest';
import { DomainError, FakeClock, seededRandom, textToBytes } from '../../base/index.ts';
import {
  type ContainerRecord,
  DEFAULT_INDEXING_POLICY,
  type ThroughputSetting,
} from '../../catalog/index.ts';
import type { Route } from '../../cluster/index.ts';
import { memoryEngine } from '../../engine/memory/index.ts';
import { ANYTHING } from '../../query/index.ts';
import { NORMAL_CLASS, type RequestClass, requestClassOf } from '../../throughput/index.ts';
import { effectivePartitionKey } from '../../value/index.ts';
import {
  DEFAULT_SETTINGS,
  type OfferChange,
  openService,
  type Service,
  type Settings,
} from '../index.ts';

const clock = new FakeClock();
let service: Service;

afterEach(() => service.close());

async function open(settings: Partial<Settings> = {}): Promise<void> {
  service = await openService({
    engine: memoryEngine(),
    clock,
    random: seededRandom(1),
    settings: { ...DEFAULT_SETTINGS, burstSec: 0, ...settings },
    homes: [],
  });
}

const manual = (requestUnits: number): ThroughputSetting => ({ kind: 'manual', requestUnits });

async function create(
  id: string,
  throughput?: ThroughputSetting,
  shared?: ThroughputSetting,
): Promise<ContainerRecord> {
  const database = service.databases.find('db') ?? (await service.databases.create('db', shared));
  return service.containers.create(database.rid, {
    id,
    partitionKey: { paths: ['/pk'], kind: 'Hash', version: 2 },
    home: 'nosql',
    indexingPolicy: DEFAULT_INDEXING_POLICY,
    uniqueKeys: [],
    policies: {},
    throughput,
  });
}

const read = (container: ContainerRecord, pk: string, requestClass: RequestClass = NORMAL_CLASS) =>
  service.items.read(container, { partitionKey: [pk], rowKey: ['x'] }, undefined, requestClass);

/** Point reads of 1 RU until one is refused; within a few, since charges are added up in binary fractions. */
async function readUntilRefused(container: ContainerRecord, pk: string): Promise<number> {
  for (let count = 0; count < 100_000; count++)
    try {
      await read(container, pk);
    } catch (error) {
      expect(error).toMatchObject({ code: 'throttled' });
      return count;
    }
  return Number.POSITIVE_INFINITY;
}

const routesOf = (container: ContainerRecord): readonly Route[] =>
  service.containers.routes(container);

/** A key of each partition, in order. */
function keysOf(container: ContainerRecord): readonly string[] {
  const keys = new Map<string, string>();
  for (let at = 0; keys.size < container.partitions.length; at++) {
    const epk = effectivePartitionKey([`k${at}`], container.partitionKey);
    keys.set(service.items.partitionIdOf(container, epk), `k${at}`);
  }
  return container.partitions.map(({ id }) => keys.get(id) as string);
}

const current = ({ databaseRid, rid }: ContainerRecord): ContainerRecord =>
  service.containers.findByRid(databaseRid, rid) as ContainerRecord;

const write = (container: ContainerRecord, pk: string, id: string) =>
  service.items.write(container, {
    kind: 'create',
    partitionKey: [pk],
    rowKey: [id],
    body: textToBytes(JSON.stringify({ id })),
    ttlSec: 0,
  });

const scale = (container: ContainerRecord, change: Partial<OfferChange>) =>
  service.offers.replace(current(container).throughput?.offerRid ?? 0, {
    setting: undefined,
    migration: undefined,
    ...change,
  });

test('a partition gives a second of its share, refuses with the time to wait, and serves after it', async () => {
  await open();
  const container = await create('c', manual(1000));
  expect(await readUntilRefused(container, 'a')).toBeCloseTo(900, -1);
  const error = await Promise.resolve()
    .then(() => read(container, 'a'))
    .catch((refusal: DomainError) => refusal);
  expect(error).toBeInstanceOf(DomainError);
  expect(error).toMatchObject({
    code: 'throttled',
    message: 'Request rate is large. More Request Units may be needed, so no changes were made.',
    retryAfterMs: expect.any(Number),
    responseInfo: { partitionId: '0', charge: 0, lsn: 0 },
  });
  clock.advance((error as DomainError).retryAfterMs ?? 0);
  expect(await read(container, 'a')).toMatchObject({ charge: 1 });
});

test('a hot key is limited by its one partition; its neighbours are not', async () => {
  await open();
  const container = await create('c', manual(30_000));
  const [hot = '', ...others] = keysOf(container);
  expect(others).toHaveLength(2);
  expect(await readUntilRefused(container, hot)).toBeCloseTo(9000, -1);
  for (const key of others) expect(await read(container, key)).toMatchObject({ charge: 1 });
  const [first, second] = routesOf(container).map((route) => service.containers.budget(route));
  expect(first).toMatchObject({
    provisioned: 10_000,
    throttled: 1,
    normalizedPercent: expect.closeTo(90, 0),
  });
  expect(second).toMatchObject({ provisioned: 10_000, throttled: 0, requestUnits: 1 });
});

test('writes that start together are not all admitted on the same balance', async () => {
  await open();
  const container = await create('c', manual(400));
  const writes = Array.from({ length: 200 }, (_, at) => write(container, 'a', `i${at}`));
  const results = await Promise.allSettled(writes);
  const admitted = results.filter(({ status }) => status === 'fulfilled').length;
  // 360 RU at 4.95 each; the last may overdraw.
  expect(admitted).toBe(73);
});

test('a refused write gives back what it did not cost', async () => {
  await open();
  const container = await create('c', manual(400));
  await write(container, 'a', 'same');
  for (let at = 0; at < 300; at++)
    await expect(write(container, 'a', 'same')).rejects.toMatchObject({ code: 'itemExists' });
  const [route] = routesOf(container);
  expect(service.containers.budget(route as Route).requestUnits).toBeCloseTo(304.46);
});

test('nothing is refused where throughput is only reported', async () => {
  await open({ throughputMode: 'report' });
  const container = await create('c', manual(400));
  expect(await readUntilRefused(container, 'a')).toBe(Number.POSITIVE_INFINITY);
  const [route] = routesOf(container);
  expect(service.containers.budget(route as Route)).toMatchObject({
    requestUnits: 100_000,
    provisioned: 400,
    throttled: 0,
  });
});

test('a new offer holds for the next request, also of those who hold the container as it was', async () => {
  await open();
  const container = await create('c', manual(1000));
  expect(await readUntilRefused(container, 'a')).toBeCloseTo(900, -1);
  const offer = await scale(container, { setting: manual(5000) });
  expect(offer.throughput).toMatchObject({ highestEver: 5000, setting: manual(5000) });
  clock.advance(1000);
  expect(await readUntilRefused(container, 'a')).toBeCloseTo(4500, -1);
  await scale(container, { setting: manual(2000) });
  clock.advance(1000);
  expect(await readUntilRefused(current(container), 'a')).toBeCloseTo(1800, -1);
});

test('throughput above what the partitions serve asks for more of them, and is pending until then', async () => {
  await open();
  const container = await create('c', manual(10_000));
  await service.balancer.close();
  const offer = await scale(container, { setting: manual(40_000) });
  expect(service.offers.isReplacePending(offer)).toBe(true);
  // One partition serves no more than the limit of a partition.
  expect(await readUntilRefused(container, 'a')).toBeCloseTo(9000, -1);
  const small = await create('small', manual(400));
  expect(service.offers.isReplacePending(await scale(small, { setting: manual(800) }))).toBe(false);
});

test('containers that share throughput draw from the same partitions of their database', async () => {
  await open();
  const first = await create('first', undefined, manual(20_000));
  const second = await create('second');
  const own = await create('own', manual(1000));
  expect(first.partitions).toHaveLength(2);
  const [a = '', b = ''] = keysOf(first);
  expect(await readUntilRefused(first, a)).toBeCloseTo(9000, -1);
  expect(await readUntilRefused(second, a)).toBe(0);
  expect(await readUntilRefused(second, b)).toBeCloseTo(9000, -1);
  expect(await readUntilRefused(first, b)).toBe(0);
  expect(await readUntilRefused(own, a)).toBeCloseTo(900, -1);
});

test('a new offer of the database holds for all that share it', async () => {
  await open();
  const first = await create('first', undefined, manual(1000));
  const second = await create('second');
  expect(await readUntilRefused(first, 'a')).toBeCloseTo(900, -1);
  const [offer] = service.offers.list();
  const rid = offer?.throughput.offerRid ?? 0;
  const change = { setting: manual(20_000), migration: undefined };
  await service.balancer.close();
  const replaced = await service.offers.replace(rid, change);
  expect(service.offers.isReplacePending(replaced)).toBe(true);
  clock.advance(1000);
  // A partition of 10,000 RU/s each; containers that have one still draw from the first.
  expect(await readUntilRefused(second, 'a')).toBeCloseTo(9000, -1);
  expect(service.offers.minimum(replaced)).toBe(400);
});

test('autoscale serves its maximum at once and reports how far it scaled', async () => {
  await open();
  const container = await create('c', { kind: 'autoscale', requestUnitsMax: 4000 });
  const [offer] = service.offers.list();
  if (offer === undefined) throw new Error('no offer');
  expect(service.offers.scaledThroughput(offer)).toBe(400);
  expect(await readUntilRefused(container, 'a')).toBeCloseTo(3600, -1);
  expect(service.offers.scaledThroughput(offer)).toBeCloseTo(3600, -1);
  clock.advance(4_000_000);
  expect(service.offers.scaledThroughput(offer)).toBe(400);
});

test('a serverless account has no offers and a cap per partition', async () => {
  await open({ capacityMode: 'serverless' });
  const container = await create('c');
  expect(service.offers.list()).toEqual([]);
  expect(await readUntilRefused(container, 'a')).toBeCloseTo(4500, -1);
  await expect(create('given', manual(400))).rejects.toMatchObject({
    message:
      'Setting offer throughput or autopilot on container is not supported for serverless accounts.',
  });
});

test('unused throughput is spent in a burst', async () => {
  await open({ burstSec: 300 });
  const container = await create('c', manual(400));
  await read(container, 'a');
  clock.advance(300_000);
  clock.advance(1000 - (clock.nowMs() % 1000));
  for (let second = 0; second < 40; second++) {
    expect(await readUntilRefused(container, 'a')).toBeCloseTo(3000, -1);
    clock.advance(1000);
  }
});

test('low priority is refused first, a throughput bucket by its share', async () => {
  await open();
  const container = await create('c', manual(1000));
  await scale(container, { bucketLimits: [{ id: 1, maxPercent: 10 }] });
  const attempt = (requestClass: RequestClass): Promise<string> =>
    Promise.resolve()
      .then(() => read(container, 'a', requestClass))
      .then(
        () => 'ok',
        (error: DomainError) => error.code,
      );
  for (let at = 0; at < 90; at++) expect(await attempt(requestClassOf(false, 1))).toBe('ok');
  expect(await attempt(requestClassOf(false, 1))).toBe('bucketThrottled');
  expect(await attempt(requestClassOf(false, 2))).toBe('ok');
  for (let at = 0; at < 400; at++) await attempt(NORMAL_CLASS);
  expect(await attempt(requestClassOf(true, 0))).toBe('throttled');
  expect(await attempt(NORMAL_CLASS)).toBe('ok');
});

test('kinds change by migration only', async () => {
  await open();
  const container = await create('c', manual(1000));
  const autoscale = { kind: 'autoscale', requestUnitsMax: 5000 } as const;
  await expect(scale(container, { setting: autoscale })).rejects.toMatchObject({
    code: 'invalidInput',
    message: expect.stringContaining('x-ms-cosmos-migrate-offer-to-autopilot'),
  });
  await expect(scale(container, { migration: 'toManual' })).rejects.toThrow('manual already');
  const to = async (change: Partial<OfferChange>) =>
    (await scale(container, change)).throughput.setting;
  expect(await to({ migration: 'toAutoscale' })).toEqual({
    kind: 'autoscale',
    requestUnitsMax: 1000,
  });
  expect(await to({ setting: autoscale })).toEqual(autoscale);
  await expect(scale(container, { setting: manual(1000) })).rejects.toThrow('manual-throughput');
  expect(await to({ migration: 'toManual' })).toEqual(manual(5000));
  expect(await to({ setting: autoscale, migration: 'toAutoscale' })).toEqual(autoscale);
});

test('the etag of an offer guards its change; offers go with what they belong to', async () => {
  await open();
  const container = await create('c', manual(1000));
  const rid = container.throughput?.offerRid ?? 0;
  const change = { setting: manual(1100), migration: undefined };
  await expect(service.offers.replace(rid, change, '"other"')).rejects.toMatchObject({
    code: 'preconditionFailed',
  });
  await service.offers.replace(rid, change, container.throughput?.etag);
  await service.containers.delete(current(container));
  expect(service.offers.list()).toEqual([]);
  await expect(service.offers.replace(rid, change)).rejects.toMatchObject({
    code: 'offerNotFound',
  });
});

test('a database has at most 25 containers that share, and any number with their own', async () => {
  await open();
  await create('c0', undefined, manual(1000));
  for (let at = 1; at < 25; at++) await create(`c${at}`);
  await expect(create('c25')).rejects.toThrow('maximum of 25');
  await create('own', manual(400));
});

test('a query is paid by the partitions it looked at, each by its part', async () => {
  await open();
  const container = await create('c', manual(20_000));
  const [a = '', b = ''] = keysOf(container);
  for (let at = 0; at < 90; at++) await write(container, a, `a${at}`);
  for (let at = 0; at < 10; at++) await write(container, b, `b${at}`);
  const used = () =>
    routesOf(container).map((route) => service.containers.budget(route).requestUnits);
  const before = used();
  const page = await service.queries.run(container, {
    query: {
      condition: ANYTHING,
      shape: {
        kind: 'streaming',
        rowsOf: (item) => [{ item, keys: [] }],
        order: undefined,
        skip: 0,
        take: Number.POSITIVE_INFINITY,
      },
    },
    ranges: [{ min: '', max: 'FF' }],
    continuation: undefined,
    limit: 1000,
    sessionToken: undefined,
  });
  expect(page.rows).toHaveLength(100);
  const [first = 0, second = 0] = used().map((after, at) => after - (before[at] ?? 0));
  expect(first + second).toBeCloseTo(page.charge);
  // 2.2 RU for each partition, then by the items loaded.
  expect(first / second).toBeCloseTo((440 + 90 * 12) / (440 + 10 * 12));
});
