// Goal: a command ends when its client is gone. Method: drivers that close their connection after a moment.
import type { Db, MongoClient } from 'mongodb';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { type Account, startAccount } from '../harness.ts';

let account: Account;
let db: Db;
/** Closes a connection whose reply takes longer than a moment. */
let impatient: MongoClient;
beforeAll(async () => {
  account = await startAccount({ isOpen: true, hasTestCommands: true });
  db = (await account.connect()).db('t');
  impatient = await account.connect({
    appName: 'impatient',
    socketTimeoutMS: 50,
    retryReads: false,
    retryWrites: false,
  });
});
afterAll(async () => {
  expect(account.failures).toEqual([]);
  await account.close();
});

/** How the last command of this name ended. */
function outcomeOf(command: string): Promise<unknown> {
  return vi.waitUntil(
    () => account.reports.findLast(({ operation }) => operation === command)?.outcome,
    { timeout: 30_000 },
  );
}

test('an aggregate ends when its client is gone', async () => {
  const items = Array.from({ length: 1500 }, (_, _id) => ({ _id, x: _id }));
  await db.collection<{ _id: number }>('items').insertMany(items);
  const pipeline = [{ $match: { $expr: { $gt: ['$x', '$$x'] } } }, { $count: 'n' }];
  const lookup = { $lookup: { from: 'items', let: { x: '$x' }, pipeline, as: 'found' } };
  const reply = impatient
    .db('t')
    .collection('items')
    .aggregate([lookup, { $count: 'n' }]);
  await expect(reply.toArray()).rejects.toThrow('timed out');
  expect(await outcomeOf('aggregate')).toBe('invalidInput');
  const running = await db.admin().command({ currentOp: 1, ns: 't.items' });
  expect(running.inprog).toEqual([]);
});

test('a write that a fail point holds back is not run when its client is gone', async () => {
  await db.admin().command({
    configureFailPoint: 'failCommand',
    mode: { times: 1 },
    data: {
      failCommands: ['update'],
      appName: 'impatient',
      blockConnection: true,
      blockTimeMS: 500,
    },
  });
  const held = db.collection<{ _id: number }>('held');
  const reply = impatient
    .db('t')
    .collection<{ _id: number }>('held')
    .updateOne({ _id: 1 }, { $set: { x: 1 } }, { upsert: true });
  await expect(reply).rejects.toThrow('timed out');
  expect(await outcomeOf('update')).toBe('invalidInput');
  expect(await held.countDocuments()).toBe(0);
});
