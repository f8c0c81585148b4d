// Goal: nothing is written between fsync with `lock` and fsyncUnlock. Method: the stock driver on two connections.
import type { MongoClient } from 'mongodb';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Account, startAccount } from './harness.ts';

let account: Account;
let keeper: MongoClient;
let writer: MongoClient;
beforeAll(async () => {
  account = await startAccount();
  keeper = await account.connect();
  writer = await account.connect();
});
afterAll(async () => {
  expect(account.failures).toEqual([]);
  await account.close();
});

const lock = () => keeper.db('admin').command({ fsync: 1, lock: true });
const unlock = () => keeper.db('admin').command({ fsyncUnlock: 1 });

test('fsyncUnlock releases what fsync locked, as often as it was locked', async () => {
  expect(await lock()).toMatchObject({
    info: 'now locked against writes, use db.fsyncUnlock() to unlock',
    lockCount: 1,
    ok: 1,
  });
  expect(await lock()).toMatchObject({ lockCount: 2 });
  expect(await unlock()).toMatchObject({
    info: 'fsyncUnlock completed',
    lockCount: 1,
  });
  expect(await unlock()).toMatchObject({ lockCount: 0 });
  await expect(unlock()).rejects.toMatchObject({
    code: 20,
    message: 'fsyncUnlock called when not locked',
  });
  expect(await keeper.db('admin').command({ fsync: 1 })).not.toHaveProperty('lockCount');
});

test('a write under the lock waits for the unlock, or ends with its time; reads go on', async () => {
  const items = writer.db('d').collection<{ _id: number }>('items');
  await items.insertOne({ _id: 1 });
  await lock();
  await expect(
    writer.db('d').command({ insert: 'items', documents: [{ _id: 2 }], maxTimeMS: 20 }),
  ).rejects.toMatchObject({ code: 50, message: 'operation exceeded time limit' });
  await expect(
    items.aggregate([{ $out: 'copied' }], { maxTimeMS: 20 }).toArray(),
  ).rejects.toMatchObject({ code: 50 });
  const waiting = items.insertOne({ _id: 3 });
  expect(await items.find().toArray()).toEqual([{ _id: 1 }]);
  await unlock();
  expect(await waiting).toEqual({ acknowledged: true, insertedId: 3 });
  expect(await items.find().toArray()).toEqual([{ _id: 1 }, { _id: 3 }]);
});
