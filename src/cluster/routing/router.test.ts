// Goal: an operation that found its partition replaced is repeated on the new one, after the cut-over of its own
// partition and of no other. Method: a router over handles that are never opened, and a container changed by the test.
import { expect, test } from 'vitest';
import { DomainError, FakeClock, seededRandom } from '../../base/index.ts';
import { type ContainerRecord, DEFAULT_INDEXING_POLICY } from '../../catalog/index.ts';
import { memoryEngine } from '../../engine/memory/index.ts';
import { RecordCache } from '../../partition/index.ts';
import { Budgets } from '../budgets.ts';
import { HomeApis } from '../container/home-api.ts';
import { keyOf } from '../test-kit.ts';
import { PartitionRegistry } from './partition-registry.ts';
import { Router } from './router.ts';

function containerWith(ids: readonly string[], bounds: readonly string[]): ContainerRecord {
  return {
    id: 'c',
    databaseRid: 1,
    rid: 2,
    etag: '"1"',
    timestampSec: 0,
    kind: 'unlimited',
    partitionKey: { paths: ['/pk'], kind: 'Hash', version: 2 },
    home: 'nosql',
    encoding: 'json',
    indexingPolicy: DEFAULT_INDEXING_POLICY,
    uniqueKeys: [],
    policies: {},
    partitions: ids.map((id, at) => ({
      id,
      min: bounds[at] as string,
      max: bounds[at + 1] as string,
      parents: [],
      ridPrefix: at,
      throughputFraction: 1 / ids.length,
      timestampSec: 0,
    })),
    nextPartitionId: 9,
    routingVersion: 1,
  };
}

function setUp() {
  const clock = new FakeClock(1_000_000);
  let current: ContainerRecord | undefined = containerWith(['0', '1'], ['', '20', 'FF']);
  const registry = new PartitionRegistry({
    engine: memoryEngine(),
    clock,
    random: seededRandom(1),
    cache: new RecordCache(1024),
  });
  const budgets = new Budgets(
    {
      throughputMode: 'report',
      capacityMode: 'serverless',
      partitionThroughputLimit: 1,
      burstSec: 0,
    },
    { databaseByRid: () => undefined, containerByRid: () => current },
    clock,
  );
  const router = new Router({
    registry,
    budgets,
    homes: new HomeApis([]),
    current: () => current,
  });
  const change = (container: ContainerRecord | undefined) => {
    current = container;
  };
  return { router, container: current, change };
}

const gone = () => new DomainError('partitionGone', 'The partition was replaced by others.');
const { epk } = keyOf('some key', 'id');

test('an operation on a key waits for the cut-over of its partition and finds the new one', async () => {
  const { router, container, change } = setUp();
  const { handle } = router.routing(container).forKey(epk);
  const endCutover = handle.beginCutover();
  const attempts: string[] = [];
  const retried = router.retryForKey(gone(), container, epk, ({ partition }) => {
    attempts.push(partition.id);
    return 'done';
  });
  await new Promise((resolve) => setImmediate(resolve));
  expect(attempts).toEqual([]);
  change(containerWith(['2', '3'], ['', '20', 'FF']));
  endCutover();
  expect(await retried).toBe('done');
  expect(attempts).toEqual([
    ['2', '3'][router.routing(container).routes.findIndex((route) => route.handle === handle)],
  ]);
});

test('an operation on a key does not wait for the cut-over of another partition', async () => {
  const { router, container } = setUp();
  const own = router.routing(container).forKey(epk);
  const other = router.routing(container).routes.find((route) => route !== own);
  other?.handle.beginCutover();
  expect(await router.retryForKey(gone(), container, epk, ({ partition }) => partition.id)).toBe(
    own.partition.id,
  );
});

test('errors of other kinds are not repeated', async () => {
  const { router, container } = setUp();
  const refused = router.withRerouting(container, () => {
    throw new DomainError('throttled', 'no');
  });
  await expect(refused).rejects.toMatchObject({ code: 'throttled' });
});

test('a container that was deleted meanwhile is not tried again', async () => {
  const { router, container, change } = setUp();
  change(undefined);
  const attempt = () => Promise.reject(gone());
  await expect(router.withRerouting(container, attempt)).rejects.toMatchObject({
    code: 'partitionGone',
  });
});

test('a partition that is replaced again and again is given up', async () => {
  const { router, container } = setUp();
  let attempts = 0;
  const attempt = () => {
    attempts++;
    throw gone();
  };
  await expect(router.withRerouting(container, attempt)).rejects.toMatchObject({
    code: 'partitionGone',
  });
  expect(attempts).toBe(11);
});

test('containers of the first version keep the keys that they have', () => {
  const { router } = setUp();
  const first = containerWith(['0'], ['', 'FF']);
  const keyBytes = (container: ContainerRecord) =>
    router.routing(container).keys.keyOf(['a'], ['x'.repeat(600)]).primary.length;
  // Texts in terms have 512 bytes and a digest; row keys are whole.
  expect(keyBytes(first)).toBe(1 + 17 + 3 + 1 + 512 + 1 + 16);
  expect(keyBytes({ ...first, keyFormat: 2 })).toBe(1 + 17 + 3 + 1 + 600 + 1);
});
