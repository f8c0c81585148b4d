// Goal: a handle keeps the state of a partition consistent. Method: open, close, cut over and limit a handle whose
// partition is in memory, and look at what each user of it would see.
import { expect, test } from 'vitest';
import { seededRandom } from '../../base/index.ts';
import { memoryEngine } from '../../engine/memory/index.ts';
import { KeySizes } from '../../partition/index.ts';
import { HANDLE_OPTIONS, keyOf, openForTest } from '../test-kit.ts';
import { PartitionHandle, type WriteLimits } from './partition-handle.ts';

const newHandle = () => new PartitionHandle('c/0', HANDLE_OPTIONS, 0, seededRandom(1));
const openInMemory = async () => openForTest(await memoryEngine().open('c/0'));

test('a partition is used only while it is neither being opened nor being closed', async () => {
  const handle = newHandle();
  expect(handle.use(5)).toBeUndefined();
  expect(handle.lastUsedMs).toBe(5);
  const opening = handle.open(openInMemory());
  expect(handle.changing).toBeDefined();
  const partition = await opening;
  expect(handle.use(6)).toBe(partition);
  expect(handle.isClosable).toBe(false);
  await new Promise((resolve) => setImmediate(resolve));
  expect(handle.isClosable).toBe(true);
  const closing = handle.close(partition.close());
  expect([handle.use(7), handle.isClosable]).toEqual([undefined, false]);
  await closing;
  expect([handle.partition, handle.changing]).toEqual([undefined, undefined]);
});

test('opening twice at once is a bug', async () => {
  const handle = newHandle();
  const opening = handle.open(openInMemory());
  await expect(handle.open(openInMemory())).rejects.toThrow('opened twice');
  await opening;
});

test('a partition that cannot be opened leaves the handle as it was', async () => {
  const handle = newHandle();
  await expect(handle.open(Promise.reject(new Error('no file')))).rejects.toThrow('no file');
  expect([handle.partition, handle.changing]).toEqual([undefined, undefined]);
});

test('callers wait for a cut-over until it ends, and there is one at a time', async () => {
  const handle = newHandle();
  const end = handle.beginCutover();
  const { cutover } = handle;
  expect(() => handle.beginCutover()).toThrow('one cut-over at a time');
  end();
  await cutover;
  expect(handle.cutover).toBeUndefined();
});

test('sizes known before are forgotten when the partition is opened again', async () => {
  const handle = newHandle();
  handle.checkWrites(100, undefined);
  handle.reviewAt(1000);
  expect([handle.isReviewDue(999), handle.isReviewDue(1000)]).toEqual([false, true]);
  await handle.open(openInMemory());
  expect([handle.limits, handle.isReviewDue(0)]).toEqual([undefined, true]);
});

test('key sizes counted for limits that are gone are ignored', () => {
  const handle = newHandle();
  handle.checkWrites(100, 500);
  const before = handle.limits as WriteLimits;
  handle.stopChecking(before);
  handle.checkWrites(100, undefined);
  handle.setKeySizes(before, new KeySizes(100));
  handle.stopChecking(before);
  expect(handle.limits).toEqual({ keyMax: 100, wholeMax: undefined, sizes: undefined });
});

test('the first write of a second key makes the partition due for a review', () => {
  const handle = newHandle();
  const { epk } = keyOf('one', 'id');
  handle.setOnlyKey(epk);
  handle.reviewAt(1000);
  handle.noteWrite(epk);
  expect([handle.onlyKey, handle.isReviewDue(0)]).toEqual([epk, false]);
  handle.noteWrite(keyOf('two', 'id').epk);
  expect([handle.onlyKey, handle.isReviewDue(0)]).toEqual([undefined, true]);
});
