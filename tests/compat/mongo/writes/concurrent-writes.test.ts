// Goal: writes of many clients at the same time are reported as what they were. Method: the stock driver, tasks at once.
import type { Collection, Db } from 'mongodb';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Account, ENGINES, startAccount } from '../harness.ts';

interface Counted {
  readonly k: number;
  readonly n: number;
}

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

  test('upserts on a unique key at the same time are not refused as duplicates', async () => {
    const kinds: Record<string, (items: Collection<Counted>, k: number) => Promise<unknown>> = {
      updateOne: (items, k) => items.updateOne({ k }, { $inc: { n: 1 } }, { upsert: true }),
      findOneAndUpdate: (items, k) =>
        items.findOneAndUpdate({ k }, { $inc: { n: 1 } }, { upsert: true }),
      replaceOne: (items, k) => items.replaceOne({ k }, { k, n: 12 }, { upsert: true }),
      bulkWrite: (items, k) =>
        items.bulkWrite(
          [{ updateOne: { filter: { k }, update: { $inc: { n: 1 } }, upsert: true } }],
          { ordered: false },
        ),
    };
    for (const [name, upsert] of Object.entries(kinds)) {
      const items = db.collection<Counted>(name);
      await items.createIndex({ k: 1 }, { unique: true });
      const tasks = Array.from({ length: 12 }, async () => {
        for (let k = 0; k < 5; k++) await upsert(items, k);
      });
      await Promise.all(tasks);
      const stored = await items.find({}, { sort: { k: 1 }, projection: { _id: 0 } }).toArray();
      expect(stored).toEqual([0, 1, 2, 3, 4].map((k) => ({ k, n: 12 })));
    }
  });

  test('writes are not refused when their collection is dropped', async () => {
    const items = db.collection<Counted>('dropped');
    let isOver = false;
    const changes = [
      () => items.findOneAndUpdate({ k: 1 }, { $inc: { n: 1 } }),
      () => items.findOneAndUpdate({ k: 2 }, { $inc: { n: 1 } }, { upsert: true }),
      () => items.updateOne({}, { $inc: { n: 1 } }),
      () => items.deleteOne({ k: 3 }),
      () => items.insertOne({ k: 1, n: 1 }),
    ];
    const clients = changes.map(async (change) => {
      while (!isOver) await change();
    });
    const drops = async () => {
      for (let count = 0; count < 30; count++) {
        await items.insertOne({ k: 1, n: 1 });
        await items.drop();
      }
      isOver = true;
    };
    await Promise.all([drops(), ...clients]);
  });

  test('$out of several clients at the same time into a new collection leaves it, and nothing else', async () => {
    const out = db.client.db('out');
    const from = out.collection<{ _id: number }>('from');
    await from.insertMany([{ _id: 1 }, { _id: 2 }]);
    const write = () => from.aggregate([{ $out: 'to' }]).toArray();
    await Promise.all(Array.from({ length: 8 }, write));
    const documents = await out.collection('to').find().toArray();
    expect(documents).toEqual([{ _id: 1 }, { _id: 2 }]);
    await Promise.all([
      from.aggregate([{ $out: 'made' }]).toArray(),
      out.collection<{ _id: number }>('made').insertOne({ _id: 3 }),
    ]);
    const names = (await out.listCollections().toArray()).map(({ name }) => name);
    expect(names.sort()).toEqual(['from', 'made', 'to']);
  });

  test('$out that is refused at its end leaves no collection', async () => {
    const out = db.client.db('refused');
    const from = out.collection<{ _id: number }>('from');
    await from.insertMany(Array.from({ length: 300 }, (_, _id) => ({ _id })));
    const [written] = await Promise.allSettled([
      from.aggregate([{ $out: 'to' }]).toArray(),
      out.createCollection('to', { capped: true, size: 4096 }),
    ]);
    expect(written).toMatchObject({ status: 'rejected', reason: { code: 17152 } });
    const names = (await out.listCollections().toArray()).map(({ name }) => name);
    expect(names.sort()).toEqual(['from', 'to']);
  });

  test('an upsert whose filter asks for more than the unique key is a duplicate', async () => {
    const items = db.collection<Counted>('more');
    await items.createIndex({ k: 1 }, { unique: true });
    await items.insertOne({ k: 1, n: 1 });
    await expect(
      items.updateOne({ k: 1, n: 2 }, { $set: { n: 3 } }, { upsert: true }),
    ).rejects.toMatchObject({ code: 11000 });
    await expect(
      items.updateOne({ k: 2 }, { $set: { k: 1 } }, { upsert: true }),
    ).rejects.toMatchObject({ code: 11000 });
  });
});
