// Goal: transactions over two collections and several partitions are all or nothing. Method: the stock driver.
import type { ClientSession, MongoClient } from 'mongodb';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Account, ENGINES, startAccount } from './harness.ts';

interface Balance {
  _id: string;
  n: number;
}

describe.each(ENGINES)('%s', (engine) => {
  let account: Account;
  let client: MongoClient;
  beforeAll(async () => {
    account = await startAccount({ engine });
    client = await account.connect();
    await client
      .db('t')
      .admin()
      .command({ shardCollection: 't.entries', key: { account: 'hashed' } });
  });
  afterAll(async () => {
    expect(account.failures).toEqual([]);
    await account.close();
  });

  const balances = () => client.db('t').collection<Balance>('balances');
  const entries = () =>
    client.db('t').collection<{ _id: string; account: string; n: number }>('entries');

  async function transfer(session: ClientSession, id: string, n: number): Promise<void> {
    await balances().updateOne({ _id: 'a' }, { $inc: { n: -n } }, { session });
    await balances().updateOne({ _id: 'b' }, { $inc: { n } }, { session });
    await entries().insertMany(
      ['a', 'b', 'c', 'd'].map((key) => ({ _id: `${id} ${key}`, account: key, n })),
      { session },
    );
  }

  const uniqueItems = async (name: string) => {
    const items = client.db('t').collection<{ _id: number; k: number }>(name);
    await items.createIndex({ k: 1 }, { unique: true });
    await items.insertMany([
      { _id: 1, k: 1 },
      { _id: 2, k: 2 },
    ]);
    return items;
  };

  test('a duplicate is refused by its statement, with the index and its value', async () => {
    const items = await uniqueItems('refused');
    const refusal = {
      code: 11000,
      message: 'E11000 duplicate key error collection: t.refused index: k_1 dup key: { k: 1 }',
      keyPattern: { k: 1 },
      keyValue: { k: 1 },
    };
    const session = client.startSession();
    session.startTransaction();
    await expect(items.insertOne({ _id: 3, k: 1 }, { session })).rejects.toMatchObject(refusal);
    await session.abortTransaction();
    session.startTransaction();
    const change = items.updateOne({ _id: 2 }, { $set: { k: 1 } }, { session });
    await expect(change).rejects.toMatchObject(refusal);
    await session.abortTransaction();
    session.startTransaction();
    await items.insertOne({ _id: 3, k: 5 }, { session });
    const own = items.insertOne({ _id: 4, k: 5 }, { session });
    await expect(own).rejects.toMatchObject({ ...refusal, message: /k: 5/, keyValue: { k: 5 } });
    await session.abortTransaction();
    expect(await items.countDocuments()).toBe(2);
    await session.endSession();
  });

  test('a duplicate of what others have written since is refused by the commit in the same words', async () => {
    const items = await uniqueItems('raced');
    const session = client.startSession();
    session.startTransaction();
    await items.insertOne({ _id: 3, k: 5 }, { session });
    await items.insertOne({ _id: 4, k: 5 });
    await expect(session.commitTransaction()).rejects.toMatchObject({
      code: 11000,
      message: 'E11000 duplicate key error collection: t.raced index: k_1 dup key: { k: 5 }',
      keyPattern: { k: 1 },
      keyValue: { k: 5 },
    });
    await session.endSession();
  });

  test('unique values are exchanged in a transaction', async () => {
    const items = await uniqueItems('exchanged');
    const session = client.startSession();
    await session.withTransaction(async () => {
      for (const [_id, k] of [
        [1, 99],
        [2, 1],
        [1, 2],
      ] as const)
        await items.updateOne({ _id }, { $set: { k } }, { session });
    });
    expect(await items.find().sort({ _id: 1 }).toArray()).toEqual([
      { _id: 1, k: 2 },
      { _id: 2, k: 1 },
    ]);
    await session.endSession();
  });

  test('a commit writes both collections; an abort writes none', async () => {
    await balances().insertMany([
      { _id: 'a', n: 100 },
      { _id: 'b', n: 0 },
    ]);
    const session = client.startSession();
    session.startTransaction();
    await transfer(session, 'first', 30);
    expect(await balances().findOne({ _id: 'a' }, { session })).toEqual({ _id: 'a', n: 70 });
    expect(
      await entries()
        .find({ n: 30 }, { session })
        .sort({ _id: 1 })
        .map(({ account: key }) => key)
        .toArray(),
    ).toEqual(['a', 'b', 'c', 'd']);
    expect(await balances().findOne({ _id: 'a' })).toEqual({ _id: 'a', n: 100 });
    expect(await entries().countDocuments()).toBe(0);
    await session.commitTransaction();
    expect(await balances().find().sort({ _id: 1 }).toArray()).toEqual([
      { _id: 'a', n: 70 },
      { _id: 'b', n: 30 },
    ]);
    expect(await entries().countDocuments()).toBe(4);

    session.startTransaction();
    await transfer(session, 'second', 70);
    await session.abortTransaction();
    expect(await balances().findOne({ _id: 'a' })).toEqual({ _id: 'a', n: 70 });
    expect(await entries().countDocuments()).toBe(4);
    await session.endSession();
  });

  test('a conflict has the label that makes drivers begin again', async () => {
    await balances().insertOne({ _id: 'x', n: 0 });
    const [one, two] = [client.startSession(), client.startSession()];
    one.startTransaction();
    two.startTransaction();
    await balances().updateOne({ _id: 'x' }, { $inc: { n: 1 } }, { session: one });
    const refusal = await balances()
      .updateOne({ _id: 'x' }, { $inc: { n: 1 } }, { session: two })
      .then(
        () => undefined,
        (error) => ({
          code: error.code,
          isTransient: error.hasErrorLabel('TransientTransactionError'),
        }),
      );
    await one.commitTransaction();
    expect(refusal).toEqual({ code: 112, isTransient: true });
    expect(await balances().findOne({ _id: 'x' })).toEqual({ _id: 'x', n: 1 });
    await Promise.all([one.endSession(), two.endSession()]);
  });

  /** Resolves when the server has begun so many writes that it has not ended: they wait. */
  async function waiting(namespace: string, count: number): Promise<void> {
    for (;;) {
      const { inprog } = await client
        .db('admin')
        .command({ currentOp: 1, ns: namespace, active: true });
      if (inprog.length >= count) return;
    }
  }

  test('a write outside waits for a transaction, and counts of ordered writes are whole', async () => {
    const held = client.db('t').collection<Balance>('held');
    await held.insertMany(['a', 'b', 'c'].map((_id) => ({ _id, n: 0 })));
    const session = client.startSession();
    session.startTransaction();
    await held.updateOne({ _id: 'b' }, { $inc: { n: 10 } }, { session });
    await held.insertOne({ _id: 'd', n: 10 }, { session });
    const one = held.updateOne({ _id: 'b' }, { $inc: { n: 1 } });
    const many = held.updateMany({}, { $inc: { n: 100 } });
    const found = held.findOneAndUpdate({ _id: 'b' }, { $inc: { n: 1 } });
    const bulk = held.bulkWrite([
      { updateOne: { filter: { _id: 'a' }, update: { $inc: { n: 1 } } } },
      { updateOne: { filter: { _id: 'b' }, update: { $inc: { n: 1 } } } },
      { updateOne: { filter: { _id: 'c' }, update: { $inc: { n: 1 } } } },
    ]);
    const inserts = held
      .insertMany(['e', 'd', 'f'].map((_id) => ({ _id, n: 0 })))
      .catch((error) => ({ code: error.code, inserted: error.result.insertedCount }));
    await waiting('t.held', 5);
    await session.commitTransaction();
    await session.endSession();
    expect(await one).toMatchObject({ matchedCount: 1, modifiedCount: 1 });
    expect((await many).matchedCount).toBeGreaterThanOrEqual(3);
    expect((await found)?.n).toBeGreaterThanOrEqual(10);
    expect(await bulk).toMatchObject({ matchedCount: 3, modifiedCount: 3 });
    expect(await inserts).toEqual({ code: 11000, inserted: 1 });
    expect(await held.findOne({ _id: 'b' })).toEqual({ _id: 'b', n: 113 });
    expect(await held.countDocuments()).toBe(5);
  });

  test('a write that waits for a transaction sees its abort, and ends by maxTimeMS', async () => {
    const left = client.db('t').collection<Balance>('left');
    await left.insertOne({ _id: 'a', n: 0 });
    const session = client.startSession();
    session.startTransaction();
    await left.updateOne({ _id: 'a' }, { $set: { n: 10 } }, { session });
    await expect(
      left.updateOne({ _id: 'a' }, { $inc: { n: 1 } }, { maxTimeMS: 100 }),
    ).rejects.toMatchObject({ code: 50 });
    const written = left.updateOne({ _id: 'a' }, { $inc: { n: 1 } });
    await waiting('t.left', 1);
    await session.abortTransaction();
    await session.endSession();
    expect(await written).toMatchObject({ matchedCount: 1, modifiedCount: 1 });
    expect(await left.findOne({ _id: 'a' })).toEqual({ _id: 'a', n: 1 });
  });

  test('withTransaction of 8 clients loses no increment', async () => {
    await balances().insertOne({ _id: 'shared', n: 0 });
    const clients = await Promise.all(Array.from({ length: 8 }, () => account.connect()));
    await Promise.all(
      clients.map((each, at) =>
        each.withSession((session) =>
          session.withTransaction(async () => {
            const db = each.db('t');
            const found = await db
              .collection<Balance>('balances')
              .findOne({ _id: 'shared' }, { session });
            await db
              .collection<Balance>('balances')
              .updateOne({ _id: 'shared' }, { $set: { n: (found?.n ?? 0) + 1 } }, { session });
            await db
              .collection<{ _id: string; account: string; n: number }>('entries')
              .insertOne({ _id: `shared ${at}`, account: `${at}`, n: 1 }, { session });
          }),
        ),
      ),
    );
    expect(await balances().findOne({ _id: 'shared' })).toEqual({ _id: 'shared', n: 8 });
    expect(await entries().countDocuments({ _id: /^shared/ })).toBe(8);
  });

  test('a refused statement ends the transaction', async () => {
    const session = client.startSession();
    session.startTransaction();
    await balances().updateOne({ _id: 'b' }, { $inc: { n: 1000 } }, { session });
    await expect(
      balances()
        .find({ a: { $foo: 1 } }, { session })
        .toArray(),
    ).rejects.toMatchObject({ code: 2 });
    await expect(balances().findOne({ _id: 'b' }, { session })).rejects.toMatchObject({
      code: 251,
      codeName: 'NoSuchTransaction',
    });
    await session.abortTransaction();
    expect(await balances().findOne({ _id: 'b' })).toEqual({ _id: 'b', n: 30 });
    await session.endSession();
  });

  test('create of a collection that exists is refused in a transaction, which does not drop it', async () => {
    await client.db('t').createCollection('existing');
    await client
      .db('t')
      .collection('existing')
      .insertOne({ _id: 1 as never });
    const session = client.startSession();
    session.startTransaction();
    await expect(client.db('t').command({ create: 'existing' }, { session })).rejects.toMatchObject(
      {
        code: 48,
        message: 'Collection t.existing already exists.',
      },
    );
    await session.abortTransaction();
    session.startTransaction();
    await expect(
      client.db('t').collection('existing').createIndex({ a: 1 }, { session }),
    ).rejects.toMatchObject({
      code: 263,
      message:
        'Cannot create new indexes on existing collection t.existing in a multi-document transaction.',
    });
    await session.abortTransaction();
    await session.endSession();
    expect(await client.db('t').collection('existing').countDocuments()).toBe(1);
    expect(await client.db('t').listCollections({ name: 'existing' }).toArray()).toHaveLength(1);
  });

  test('what cannot be in a transaction is refused', async () => {
    const session = client.startSession();
    session.startTransaction();
    await expect(client.db('t').command({ count: 'balances' }, { session })).rejects.toMatchObject({
      code: 263,
      message: "Cannot run 'count' in a multi-document transaction.",
    });
    await session.abortTransaction();
    await session.endSession();
  });
});
