// Goal: `$indexStats` counts the operations that use an index. Method: the stock driver, exact counts.
import type { Collection, Db, MongoClient } from 'mongodb';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Account, startAccount } from '../harness.ts';

let account: Account;
let client: MongoClient;
let db: Db;

beforeAll(async () => {
  account = await startAccount();
  client = await account.connect();
  db = client.db('uses');
});

afterAll(async () => {
  expect(account.failures).toEqual([]);
  await account.close();
});

async function usesOf(collection: Collection): Promise<Readonly<Record<string, number>>> {
  const stats = await collection.aggregate([{ $indexStats: {} }]).toArray();
  return Object.fromEntries(stats.map(({ name, accesses }) => [name, Number(accesses.ops)]));
}

async function filled(name: string): Promise<Collection> {
  const collection = db.collection(name);
  await collection.insertMany(
    Array.from({ length: 2000 }, (_, at) => ({ _id: at as never, a: at, b: at % 10 })),
  );
  return collection;
}

test('each operation counts once for the index that finds its documents', async () => {
  const collection = await filled('counted');
  await collection.createIndex({ a: 1 });
  await collection.createIndex({ b: 1 });
  expect(await usesOf(collection)).toEqual({ _id_: 0, a_1: 0, b_1: 0 });
  await collection.find({ a: 5 }).toArray();
  await collection.find({}).sort({ a: 1 }).limit(3).toArray();
  await collection.findOne({ _id: 7 as never });
  await collection.countDocuments({ a: { $gt: 3 } });
  await collection.aggregate([{ $match: { b: 2 } }, { $limit: 1 }]).toArray();
  await collection.updateOne({ b: 3 }, { $set: { c: 1 } });
  await collection.find({ c: 1 }).toArray();
  expect(await usesOf(collection)).toEqual({ _id_: 1, a_1: 3, b_1: 2 });
});

test('counts begin at zero with an index that is hidden, shown, or made again', async () => {
  const collection = await filled('begun');
  await collection.createIndex({ a: 1 });
  await collection.createIndex({ b: 1 });
  await collection.findOne({ a: 1 });
  await collection.findOne({ b: 1 });
  await db.command({ collMod: 'begun', index: { name: 'a_1', hidden: true } });
  expect(await usesOf(collection)).toEqual({ _id_: 0, a_1: 0, b_1: 1 });
  await collection.findOne({ a: 1 });
  expect(await usesOf(collection)).toEqual({ _id_: 0, a_1: 0, b_1: 1 });
  await db.command({ collMod: 'begun', index: { name: 'a_1', hidden: false } });
  await collection.findOne({ a: 1 });
  await collection.dropIndex('b_1');
  await collection.createIndex({ b: 1 });
  expect(await usesOf(collection)).toEqual({ _id_: 0, a_1: 1, b_1: 0 });
});
