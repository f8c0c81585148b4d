// Goal: writes of many clients at the same time are reported as what they were. Method: the stock driver, tasks at once.
import type { Db } from 'mongodb';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Account, ENGINES, startAccount } from '../harness.ts';

describe.each(ENGINES)('%s', (engine) => {
  let account: Account;
  let db: Db;
  beforeAll(async () => {
    account = await startAccount({ engine, isOpen: true });
    db = (await account.connect({ maxPoolSize: 20 })).db('t');
  });
  afterAll(async () => {
    expect(account.failures).toEqual([]);
    await account.close();
  });

  test('inserts into a full capped collection at the same time are not refused', async () => {
    const log = await db.createCollection('log', { capped: true, size: 1e6, max: 50 });
    await log.insertMany(Array.from({ length: 50 }, (_, n) => ({ n })));
    const tasks = Array.from({ length: 16 }, async (_, task) => {
      for (let n = 0; n < 5; n++) await log.insertOne({ task, n });
    });
    await Promise.all(tasks);
    expect(await log.countDocuments()).toBe(50);
    expect(await log.countDocuments({ task: { $exists: true } })).toBe(50);
  });
});
