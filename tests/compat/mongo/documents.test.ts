// Goal: the stock driver writes and finds documents. Method: exact replies, on every engine.
import { BSON, Decimal128, Double, Int32, Long, type MongoClient, ObjectId } from 'mongodb';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Account, ENGINES, startAccount } from './harness.ts';

describe.each(ENGINES)('%s', (engine) => {
  let account: Account;
  let client: MongoClient;
  beforeAll(async () => {
    account = await startAccount({ engine });
    client = await account.connect();
  });
  afterAll(async () => {
    expect(account.failures).toEqual([]);
    await account.close();
  });

  test('an array of 10,000 elements has all of 10,000 values, in time', async () => {
    const arrays = client.db('docs').collection<{ _id: number; a: number[] }>('arrays');
    const values = Array.from({ length: 10_000 }, (_, at) => at);
    await arrays.insertMany([
      { _id: 1, a: values },
      { _id: 2, a: values.slice(1) },
    ]);
    const found = await arrays
      .find({ a: { $all: values } })
      .project({ _id: 1 })
      .toArray();
    expect(found).toEqual([{ _id: 1 }]);
  });

  test('all statements of an update see one time', async () => {
    const times = client.db('docs').collection<{ _id: number }>('times');
    await times.insertMany(Array.from({ length: 200 }, (_, _id) => ({ _id })));
    const updates = Array.from({ length: 200 }, (_, _id) => ({
      q: { _id },
      u: [{ $set: { at: '$$NOW' } }],
    }));
    await client.db('docs').command({ update: 'times', updates });
    expect(await times.distinct('at')).toHaveLength(1);
  });

  test('a document comes back as it was written, kinds of numbers included', async () => {
    const types = client.db('docs').collection('types');
    const document = {
      _id: new ObjectId('5f3a00112233445566778899'),
      int: new Int32(1),
      double: new Double(1),
      long: Long.fromString('9007199254740993'),
      decimal: Decimal128.fromString('1.50'),
      when: new Date(5),
      nested: { '2': 'b', '1': 'a', list: [1, null, 'x'] },
    };
    expect(await types.insertOne(document)).toEqual({
      acknowledged: true,
      insertedId: document._id,
    });
    const found = await types.findOne({ _id: document._id }, { promoteValues: false });
    expect(found).toEqual({
      ...document,
      nested: { '2': 'b', '1': 'a', list: [new Int32(1), null, 'x'] },
    });
    expect(await types.findOne({ _id: new ObjectId() })).toBeNull();
  });

  test('insertMany of 1,000 with a duplicate in the middle, ordered', async () => {
    const many = client.db('docs').collection<{ _id: number }>('ordered');
    const documents = Array.from({ length: 1000 }, (_, at) => ({ _id: at === 500 ? 499 : at }));
    await expect(many.insertMany(documents)).rejects.toMatchObject({
      code: 11000,
      insertedCount: 500,
      message:
        'E11000 duplicate key error collection: docs.ordered index: _id_ dup key: { _id: 499 }',
      writeErrors: [{ index: 500, err: { code: 11000 } }],
    });
    await expect(many.insertOne({ _id: 7 })).rejects.toMatchObject({
      code: 11000,
      keyPattern: { _id: 1 },
      keyValue: { _id: 7 },
    });
    expect(await many.countDocuments()).toBe(500);
  });

  test('insertMany of 1,000 with a duplicate in the middle, not ordered', async () => {
    const many = client.db('docs').collection<{ _id: number }>('unordered');
    const documents = Array.from({ length: 1000 }, (_, at) => ({ _id: at === 500 ? 499 : at }));
    await expect(many.insertMany(documents, { ordered: false })).rejects.toMatchObject({
      code: 11000,
      insertedCount: 999,
      writeErrors: [{ index: 500 }],
    });
    expect(await many.countDocuments()).toBe(999);
    expect(await many.countDocuments({ _id: { $gte: 500 } })).toBe(499);
  });

  test('16 clients increment one document of an unsharded collection', async () => {
    const counters = client
      .db('docs')
      .collection<{ _id: string; n: number; by?: string }>('counters');
    await counters.insertOne({ _id: 'c', n: 0 });
    const clients = await Promise.all(Array.from({ length: 16 }, () => account.connect()));
    const results = await Promise.all(
      clients.flatMap((each, by) =>
        Array.from({ length: 10 }, () =>
          each
            .db('docs')
            .collection<{ _id: string }>('counters')
            .updateOne({ _id: 'c' }, { $inc: { n: 1 }, $set: { by: `client ${by}` } }),
        ),
      ),
    );
    expect(results.every(({ matchedCount }) => matchedCount === 1)).toBe(true);
    expect((await counters.findOne({ _id: 'c' }))?.n).toBe(160);
  });

  test('updates report what they matched, changed and made', async () => {
    const items = client.db('docs').collection<{ _id: number; a?: number; b?: string }>('updates');
    await items.insertMany([
      { _id: 1, a: 1 },
      { _id: 2, a: 1 },
      { _id: 3, a: 2 },
    ]);
    expect(await items.updateOne({ a: 1 }, { $set: { b: 'x' } })).toMatchObject({
      matchedCount: 1,
      modifiedCount: 1,
      upsertedCount: 0,
      upsertedId: null,
    });
    expect(await items.updateMany({ a: 1 }, { $set: { b: 'x' } })).toMatchObject({
      matchedCount: 2,
      modifiedCount: 1,
    });
    expect(
      await items.updateOne(
        { _id: 9 },
        { $set: { a: 5 }, $setOnInsert: { b: 'new' } },
        { upsert: true },
      ),
    ).toMatchObject({ matchedCount: 0, modifiedCount: 0, upsertedCount: 1, upsertedId: 9 });
    expect(await items.findOne({ _id: 9 })).toEqual({ _id: 9, a: 5, b: 'new' });
    expect(await items.replaceOne({ _id: 9 }, { b: 'replaced' })).toMatchObject({
      matchedCount: 1,
      modifiedCount: 1,
    });
    expect(await items.findOne({ _id: 9 })).toEqual({ _id: 9, b: 'replaced' });
    expect(
      await items.findOneAndUpdate({ a: 2 }, { $inc: { a: 1 } }, { returnDocument: 'after' }),
    ).toEqual({ _id: 3, a: 3 });
    expect(await items.findOneAndDelete({ a: 3 })).toEqual({ _id: 3, a: 3 });
    expect(await items.deleteMany({ a: 1 })).toEqual({ acknowledged: true, deletedCount: 2 });
    expect(await items.find().toArray()).toEqual([{ _id: 9, b: 'replaced' }]);
    await expect(items.updateOne({ _id: 9 }, { $set: { _id: 10 } })).rejects.toMatchObject({
      code: 66,
    });
    const untyped = client.db('docs').collection('updates');
    await expect(untyped.updateOne({ b: 'replaced' }, { $inc: { b: 1 } })).rejects.toMatchObject({
      code: 14,
      message: expect.stringContaining("has the field 'b' of non-numeric type string"),
    });
  });

  test('a sort over mixed types at batchSize 2 has the order of MongoDB', async () => {
    const mixed = client
      .db('docs')
      .collection<{ _id: number; v?: object | string | number | boolean | null }>('mixed');
    const values = [
      'b',
      2,
      null,
      [3, 0],
      { x: 1 },
      true,
      new Date(1),
      new ObjectId('5f3a00112233445566778899'),
      Long.fromString('9007199254740993'),
      9007199254740992,
      undefined,
    ];
    await mixed.insertMany(values.map((v, _id) => (v === undefined ? { _id } : { _id, v })));
    const ids = async (direction: 1 | -1) =>
      (await mixed.find().sort({ v: direction, _id: 1 }).batchSize(2).toArray()).map(
        ({ _id }) => _id,
      );
    expect(await ids(1)).toEqual([2, 10, 3, 1, 9, 8, 0, 4, 7, 5, 6]);
    expect(await ids(-1)).toEqual([6, 5, 7, 4, 0, 8, 9, 3, 1, 2, 10]);
    expect(await mixed.find({ v: 3 }).toArray()).toEqual([{ _id: 3, v: [3, 0] }]);
  });

  test('a document of 16 MiB is written, read and replaced', async () => {
    const large = client.db('docs').collection<{ _id: number; text: string }>('large');
    // Length, `_id` as int32, the name and length of the text, and two zeros.
    const text = 'x'.repeat(16 * 1024 * 1024 - 4 - 9 - 10 - 2);
    expect(BSON.calculateObjectSize({ _id: 1, text })).toBe(16 * 1024 * 1024);
    await large.insertOne({ _id: 1, text });
    expect((await large.findOne({ _id: 1 }))?.text === text).toBe(true);
    expect(await large.replaceOne({ _id: 1 }, { text: 'small' })).toMatchObject({
      matchedCount: 1,
      modifiedCount: 1,
    });
    expect(await large.findOne({ _id: 1 })).toEqual({ _id: 1, text: 'small' });
  });

  test('a document of 16 MiB is found by a filter, counted, updated and piped', async () => {
    const large = client.db('docs').collection<{ _id: number; a: number; text: string }>('found');
    const text = 'x'.repeat(16 * 1024 * 1024 - 100);
    await large.insertMany([
      { _id: 1, a: 1, text },
      { _id: 2, a: 1, text: 'small' },
    ]);
    expect((await large.findOne({ a: 1 }))?.text === text).toBe(true);
    expect(await large.find({ a: 1 }).project({ a: 1 }).sort({ a: 1, _id: 1 }).toArray()).toEqual([
      { _id: 1, a: 1 },
      { _id: 2, a: 1 },
    ]);
    expect(await large.countDocuments({ a: 1 })).toBe(2);
    expect(await large.updateMany({ a: 1 }, { $inc: { a: 1 } })).toMatchObject({
      modifiedCount: 2,
    });
    const pipeline = [{ $match: { a: 2 } }, { $group: { _id: '$a', n: { $sum: 1 } } }];
    expect(await large.aggregate(pipeline).toArray()).toEqual([{ _id: 2, n: 2 }]);
  });

  test('an empty collation of an update or delete is none', async () => {
    const items = client.db('docs').collection('collated');
    await items.insertMany([{ a: 'x' }, { a: 'X' }]);
    const none = { collation: {} as never };
    expect(await items.updateMany({ a: 'x' }, { $set: { b: 1 } }, none)).toMatchObject({
      matchedCount: 1,
    });
    expect(await items.findOneAndUpdate({ a: 'X' }, { $set: { b: 2 } }, none)).toMatchObject({
      a: 'X',
    });
    expect(await items.deleteMany({ a: 'x' }, none)).toMatchObject({ deletedCount: 1 });
  });

  test('databases and collections come and go', async () => {
    const db = client.db('coming');
    await db.createCollection('a');
    await db.createCollection('a');
    await expect(db.createCollection('a', { validationLevel: 'off' })).rejects.toMatchObject({
      code: 48,
      codeName: 'NamespaceExists',
    });
    await db.collection('b').insertOne({ x: 1 });
    expect(
      (await db.listCollections({}, { nameOnly: true }).toArray()).map(({ name }) => name),
    ).toEqual(['a', 'b']);
    expect(await db.collection('b').drop()).toBe(true);
    expect(
      (await client.db().admin().listDatabases({ nameOnly: true })).databases.map(
        ({ name }) => name,
      ),
    ).toContain('coming');
    await db.dropDatabase();
    expect(await db.listCollections().toArray()).toEqual([]);
    expect(await db.collection('a').find().toArray()).toEqual([]);
  });

  test('counts, distinct values and small pipelines', async () => {
    const sales = client
      .db('docs')
      .collection<{ _id: number; shop: string; n: number; tags: string[] }>('sales');
    await sales.insertMany([
      { _id: 1, shop: 'a', n: 5, tags: ['x', 'y'] },
      { _id: 2, shop: 'b', n: 7, tags: [] },
      { _id: 3, shop: 'a', n: 1, tags: ['y'] },
    ]);
    expect(await sales.distinct('tags')).toEqual(['x', 'y']);
    expect(await sales.estimatedDocumentCount()).toBe(3);
    expect(
      await sales
        .aggregate([
          { $match: { n: { $gt: 0 } } },
          {
            $group: {
              _id: '$shop',
              total: { $sum: '$n' },
              count: { $sum: 1 },
              most: { $max: '$n' },
            },
          },
          { $sort: { total: 1 } },
        ])
        .toArray(),
    ).toEqual([
      { _id: 'a', total: 6, count: 2, most: 5 },
      { _id: 'b', total: 7, count: 1, most: 7 },
    ]);
    expect(
      await sales
        .aggregate([
          { $sort: { n: -1 } },
          { $skip: 1 },
          { $limit: 1 },
          { $project: { n: 1, _id: 0 } },
        ])
        .toArray(),
    ).toEqual([{ n: 5 }]);
    expect(
      await sales.find({ tags: { $all: ['y'] } }, { projection: { shop: 1 } }).toArray(),
    ).toEqual([
      { _id: 1, shop: 'a' },
      { _id: 3, shop: 'a' },
    ]);
  });
});
