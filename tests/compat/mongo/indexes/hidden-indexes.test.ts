// Goal: a hidden index is used by nothing. Method: the stock driver, explanations with what was examined.
import type { Collection, Db, MongoClient } from 'mongodb';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Account, startAccount } from '../harness.ts';

let account: Account;
let client: MongoClient;
let db: Db;

beforeAll(async () => {
  account = await startAccount();
  client = await account.connect();
  db = client.db('hidden');
});

afterAll(async () => {
  expect(account.failures).toEqual([]);
  await account.close();
});

async function filled(name: string): Promise<Collection> {
  const collection = db.collection(name);
  await collection.insertMany(
    Array.from({ length: 2000 }, (_, at) => ({ _id: at as never, a: at, b: at % 10 })),
  );
  return collection;
}

test('nothing is looked up in a hidden index, and it is kept and unique all the same', async () => {
  const collection = await filled('hidden');
  await collection.createIndex({ a: 1 }, { unique: true });
  const examined = async () => {
    const { executionStats } = await collection.find({ a: 5 }).explain('executionStats');
    return executionStats.totalDocsExamined as number;
  };
  expect(await examined()).toBe(1);
  await db.command({ collMod: 'hidden', index: { name: 'a_1', hidden: true } });
  expect(await examined()).toBe(2000);
  await expect(collection.insertOne({ a: 5 })).rejects.toMatchObject({ code: 11000 });
  await collection.insertOne({ a: 5000 });
  await db.command({ collMod: 'hidden', index: { name: 'a_1', hidden: false } });
  expect(await collection.find({ a: 5000 }).toArray()).toHaveLength(1);
  expect(await examined()).toBe(1);
});

test('a search by distance needs an index that is not hidden', async () => {
  const collection = db.collection('places');
  const at = { type: 'Point', coordinates: [0, 0] };
  await collection.createIndex({ at: '2dsphere' }, { hidden: true });
  await collection.insertOne({ at });
  const stage = { $geoNear: { near: at, distanceField: 'd' } };
  await expect(collection.aggregate([stage]).toArray()).rejects.toMatchObject({ code: 27 });
  await db.command({ collMod: 'places', index: { name: 'at_2dsphere', hidden: false } });
  expect(await collection.aggregate([stage]).toArray()).toHaveLength(1);
});
