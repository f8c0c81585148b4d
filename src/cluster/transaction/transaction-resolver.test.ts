// Goal: a partition that is opened applies known outcomes before it serves. Method: a store whose commits are held up for
// longer than a partition waits for an unknown outcome.
import { afterEach, expect, test, vi } from 'vitest';
import { FakeClock } from '../../base/index.ts';
import { memoryEngine } from '../../engine/memory/index.ts';
import type { Partition } from '../../partition/index.ts';
import type { PartitionRegistry } from '../routing/partition-registry.ts';
import type { Router } from '../routing/router.ts';
import { keyOf, openForTest } from '../test-kit.ts';
import { encodeLocator } from './partition-locator.ts';
import { TransactionResolver } from './transaction-resolver.ts';

const ID = '00112233445566778899001122334455';
const KEY = keyOf('p', 'x');

afterEach(() => {
  vi.useRealTimers();
});

test('a part of a transaction was seen after a restart of a busy machine', async () => {
  const partition = await openPrepared();
  const resolver = newResolver();
  const held = Promise.withResolvers<void>();
  const resolve = partition.transactions.resolve.bind(partition.transactions);
  partition.transactions.resolve = (id, isCommitted) =>
    held.promise.then(() => resolve(id, isCommitted));
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  let serves = false;
  const recovery = resolver.recover(partition)?.then(() => {
    serves = true;
  });
  await vi.advanceTimersByTimeAsync(60_000);
  expect(serves).toBe(false);
  vi.useRealTimers();
  held.resolve();
  await recovery;
  expect(partition.transactions.state.isEmpty).toBe(true);
});

test('a partition served without an outcome after its process had been held up for seconds', async () => {
  const partition = await openPrepared();
  const resolver = newResolver();
  const answer = Promise.withResolvers<boolean>();
  resolver.isCommitted = () => answer.promise;
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  let serves = false;
  const recovery = resolver.recover(partition)?.then(() => {
    serves = true;
  });
  // What fires after a pause, however long it was.
  await vi.advanceTimersToNextTimerAsync();
  expect(serves).toBe(false);
  await vi.advanceTimersByTimeAsync(5000);
  expect(serves, 'nobody waits for ever').toBe(true);
  vi.useRealTimers();
  answer.resolve(true);
  await recovery;
});

test('a committed write was not seen where its store failed in the second phase and was opened by a reader', async () => {
  const partition = await openPrepared();
  const resolver = newResolver();
  resolver.begin(ID);
  await resolver.recover(partition);
  expect(partition.transactions.state.isEmpty, 'not decided yet').toBe(false);
  resolver.committed(ID);
  await resolver.recover(partition);
  expect(partition.transactions.state.isEmpty).toBe(true);
});

/** A partition with a prepared transaction whose coordinator's container is gone, so that it is known to be aborted. */
async function openPrepared(): Promise<Partition> {
  const store = await memoryEngine().open('c/0');
  const partition = await openForTest(store);
  const coordinator = encodeLocator({ container: { databaseRid: 1, rid: 2 }, epk: KEY.epk });
  const op = { kind: 'read', key: KEY, etag: undefined } as const;
  await partition.transactions.prepare(ID, { coordinator, deadlineMs: 1 }, [op], {
    firstNumber: 1,
  });
  return partition;
}

function newResolver(): TransactionResolver {
  return new TransactionResolver({
    router: {} as Router,
    registry: {} as PartitionRegistry,
    clock: new FakeClock(1_000_000),
    current: () => undefined,
  });
}
