// Goal: a write that may be stored is reported as such, and one that is not as not applied.
// Method: a store whose commits end in an error of the engine.
import { expect, test } from 'vitest';
import { DomainError } from '../../base/index.ts';
import type { Store } from '../../engine/index.ts';
import { memoryEngine } from '../../engine/memory/index.ts';
import { keyOf, openForTest, put } from '../test-kit.ts';

test('only writes that were sent to the store have an unknown outcome', async () => {
  const store = await memoryEngine().open('p');
  const lost = Promise.withResolvers<void>();
  const failing: Store = { ...viewOf(store), name: store.name, commit: () => lost.promise };
  const partition = await openForTest(failing);
  const code = (write: Promise<unknown>) => write.catch((error: DomainError) => error.code);
  const sent = code(put(partition, 'create', keyOf('a', '1'), 'sent'));
  await new Promise((resolve) => setImmediate(resolve));
  const collected = code(put(partition, 'create', keyOf('a', '2'), 'collected'));
  lost.reject(new DomainError('outcomeUnknown', 'the connection is lost'));
  expect(await Promise.all([sent, collected])).toEqual(['outcomeUnknown', 'unavailable']);
  expect(await code(put(partition, 'create', keyOf('a', '3'), 'late'))).toBe('unavailable');
  expect(partition.hasFailed).toBe(true);
});

test('a write that replicas do not acknowledge is answered in time, and goes on', async () => {
  const store = await memoryEngine().open('p');
  const acknowledged = Promise.withResolvers<void>();
  let writeRefusal: string | undefined;
  const slow: Store = {
    ...viewOf(store),
    name: store.name,
    answerWithinMs: 1,
    get writeRefusal() {
      return writeRefusal;
    },
    commit: (batch) => acknowledged.promise.then(() => store.commit(batch)),
  };
  const partition = await openForTest(slow);
  const code = (write: Promise<unknown>) => write.catch((error: DomainError) => error.code);
  const sent = put(partition, 'create', keyOf('a', '1'), 'sent');
  await new Promise((resolve) => setImmediate(resolve));
  const collected = put(partition, 'create', keyOf('a', '2'), 'collected');
  expect(await Promise.all([code(sent), code(collected)])).toEqual([
    'outcomeUnknown',
    'outcomeUnknown',
  ]);
  expect([partition.hasFailed, partition.isIdle]).toEqual([false, false]);
  writeRefusal = 'Writes need 3 members of the replica set, and 2 are there.';
  await expect(put(partition, 'create', keyOf('a', '3'), 'refused')).rejects.toMatchObject({
    code: 'unavailable',
    message: writeRefusal,
  });
  expect(await partition.read(keyOf('a', '1'))).toBeUndefined();
  acknowledged.resolve();
  writeRefusal = undefined;
  await put(partition, 'create', keyOf('a', '4'), 'next');
  for (const id of ['1', '2', '4']) expect(await partition.read(keyOf('a', id))).toBeDefined();
  expect(await partition.read(keyOf('a', '3'))).toBeUndefined();
});

function viewOf(store: Store): Store {
  const view = { ...store };
  for (const name of ['get', 'getMany', 'dereference', 'scan', 'scanKeys', 'snapshot'] as const)
    Object.assign(view, { [name]: store[name].bind(store) });
  return view;
}
