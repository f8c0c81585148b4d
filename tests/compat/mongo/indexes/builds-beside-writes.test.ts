// Goal: an index that is declared while documents are written has all of them. Method: the stock driver; inserts, updates
// and the command are sent at once, and the documents are counted by the index afterwards.
import type { Collection } from 'mongodb';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Account, ENGINES, startAccount } from '../harness.ts';

interface Item {
  _id: number;
  k: number;
}

const ITEMS = 60;
const ROUNDS = 10;

describe.each(ENGINES)('%s', (engine) => {
  let account: Account;
  let collection: (name: string) => Promise<Collection<Item>>;
  beforeAll(async () => {
    account = await startAccount({ engine });
    const client = await account.connect();
    collection = (name) => client.db('beside').createCollection<Item>(name);
  });
  afterAll(async () => {
    expect(account.failures).toEqual([]);
    await account.close();
  });

  test('documents that were being inserted and changed when an index was made are found by it', async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const items = await collection(`plain${round}`);
      await items.insertMany(Array.from({ length: ITEMS }, (_, at) => ({ _id: -at - 1, k: -1 })));
      await Promise.all([
        ...Array.from({ length: ITEMS }, (_, at) => items.insertOne({ _id: at, k: at })),
        ...Array.from({ length: ITEMS }, (_, at) =>
          items.updateOne({ _id: -at - 1 }, { $set: { k: ITEMS + at } }),
        ),
        items.createIndex({ k: 1 }),
      ]);
      const found = await Promise.all(
        Array.from({ length: 2 * ITEMS }, (_, k) => items.countDocuments({ k })),
      );
      expect(found).toEqual(Array.from({ length: 2 * ITEMS }, () => 1));
    }
  });

  test('values of documents that were being inserted when a unique index was made are taken', async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const items = await collection(`unique${round}`);
      await Promise.all([
        ...Array.from({ length: ITEMS }, (_, at) => items.insertOne({ _id: at, k: at })),
        items.createIndex({ k: 1 }, { unique: true }),
      ]);
      for (let k = 0; k < ITEMS; k++)
        await expect(items.insertOne({ _id: 1000 + k, k })).rejects.toMatchObject({ code: 11000 });
    }
  });
});
