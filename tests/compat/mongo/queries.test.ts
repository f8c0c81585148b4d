// Goal: the stock driver finds and changes documents by every family of operators. Method: one account, exact results.
import type { Db, MongoClient } from 'mongodb';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Account, startAccount } from './harness.ts';

let account: Account;
let client: MongoClient;
let db: Db;

beforeAll(async () => {
  account = await startAccount();
  client = await account.connect();
  db = client.db('queries');
});

afterAll(async () => {
  expect(account.failures).toEqual([]);
  await account.close();
});

interface Doc {
  _id: number;
  [name: string]: unknown;
}

async function filled(name: string, documents: readonly Doc[]) {
  const collection = db.collection<Doc>(name);
  await collection.insertMany([...documents]);
  const ids = async (filter: object, options: object = {}) =>
    (await collection.find(filter, options).toArray()).map(({ _id }) => _id);
  return { collection, ids };
}

describe('filters', () => {
  test('expressions, schemas, scripts', async () => {
    const { ids } = await filled('computed', [
      { _id: 1, a: 1, b: 2 },
      { _id: 2, a: 3, b: 2 },
      { _id: 3, a: 'x' },
    ]);
    expect(await ids({ $expr: { $gt: ['$a', '$b'] } })).toEqual([2, 3]);
    expect(await ids({ $expr: { $gt: ['$a', '$$least'] } }, { let: { least: 2 } })).toEqual([2, 3]);
    const schema = { required: ['b'], properties: { a: { bsonType: 'number', minimum: 2 } } };
    expect(await ids({ $jsonSchema: schema })).toEqual([2]);
    expect(await ids({ $where: 'this.a > this.b' })).toEqual([2]);
    expect(await ids({ $or: [{ $where: 'return this.a === 1' }, { a: 'x' }] })).toEqual([1, 3]);
  });

  test('places', async () => {
    const at = (x: number, y: number) => ({ type: 'Point', coordinates: [x, y] });
    const { collection, ids } = await filled('places', [
      { _id: 1, at: at(0, 0), flat: [0, 0] },
      { _id: 2, at: at(10, 10), flat: [10, 10] },
      { _id: 3, at: at(50, 50), flat: [50, 50] },
    ]);
    const ring = [
      [-1, -1],
      [20, -1],
      [20, 20],
      [-1, 20],
      [-1, -1],
    ];
    const area = { $geometry: { type: 'Polygon', coordinates: [ring] } };
    expect(await ids({ at: { $geoWithin: area } })).toEqual([1, 2]);
    expect(await ids({ at: { $geoIntersects: { $geometry: at(50, 50) } } })).toEqual([3]);
    expect(
      await ids({
        flat: {
          $geoWithin: {
            $box: [
              [-1, -1],
              [11, 11],
            ],
          },
        },
      }),
    ).toEqual([1, 2]);
    expect(await ids({ flat: { $geoWithin: { $center: [[10, 10], 1] } } })).toEqual([2]);
    const near = { at: { $near: { $geometry: at(11, 11) } } };
    await expect(ids(near)).rejects.toMatchObject({ code: 291 });
    await collection.createIndex({ at: '2dsphere' });
    expect(await ids(near)).toEqual([2, 1, 3]);
    const within = { $geometry: at(11, 11), $maxDistance: 200_000 };
    expect(await ids({ at: { $near: within } })).toEqual([2]);
    // A point without $geometry around it is one as well, and its distances are metres beside it.
    expect(await ids({ at: { $near: at(11, 11) } })).toEqual(await ids(near));
    expect(await ids({ at: { $near: at(11, 11), $maxDistance: 1 } })).toEqual([]);
    await expect(collection.insertOne({ _id: 4, at: 'nowhere' })).rejects.toMatchObject({
      code: 16755,
    });
  });

  test('words, by score', async () => {
    const { collection, ids } = await filled('words', [
      { _id: 1, text: 'a quick brown fox' },
      { _id: 2, text: 'brown dogs and brown bread' },
      { _id: 3, text: 'white bread' },
    ]);
    await expect(ids({ $text: { $search: 'dog' } })).rejects.toMatchObject({ code: 27 });
    await collection.createIndex({ text: 'text' });
    expect(await ids({ $text: { $search: 'dog' } })).toEqual([2]);
    expect(await ids({ $text: { $search: '"brown fox" bread' } })).toEqual([1]);
    expect(await ids({ $text: { $search: 'brown -dogs' } })).toEqual([1]);
    const score = { $meta: 'textScore' };
    const scored = await collection
      .find({ $text: { $search: 'brown' } }, { projection: { score } })
      .sort({ score })
      .toArray();
    expect(scored.map(({ _id, score }) => [_id, score])).toEqual([
      [2, 1.125],
      [1, 0.6666666666666666],
    ]);
  });

  test('collations order and match', async () => {
    const { collection, ids } = await filled('collated', [
      { _id: 1, name: 'b' },
      { _id: 2, name: 'A' },
      { _id: 3, name: 'a' },
      { _id: 4, name: '\u00e9' },
    ]);
    const english = { locale: 'en', strength: 2 } as const;
    expect(await ids({ name: 'a' }, { collation: english })).toEqual([2, 3]);
    expect(await ids({}, { sort: { name: 1 }, collation: { locale: 'en' } })).toEqual([3, 2, 1, 4]);
    expect(await collection.distinct('name', {}, { collation: english })).toHaveLength(3);
    const changed = await collection.updateMany(
      { name: 'A' },
      { $set: { seen: true } },
      { collation: english },
    );
    expect(changed.modifiedCount).toBe(2);
  });
});

test('projections keep, leave out and compute', async () => {
  const { collection } = await filled('projected', [{ _id: 1, a: [1, 5, 9], b: { c: 1, d: 2 } }]);
  const one = (projection: object, filter: object = {}) =>
    collection.findOne(filter, { projection });
  expect(await one({ a: { $slice: 1 } })).toEqual({ _id: 1, a: [1], b: { c: 1, d: 2 } });
  expect(await one({ 'a.$': 1 }, { a: { $gt: 4 } })).toEqual({ _id: 1, a: [5] });
  expect(await one({ _id: 0, sum: { $add: ['$b.c', '$b.d'] } })).toEqual({ sum: 3 });
  expect(await one({ _id: 0, b: { c: 1 } })).toEqual({ b: { c: 1 } });
  await expect(one({ a: 1, b: 0 })).rejects.toMatchObject({ code: 31254 });
});

test('updates by position, filter and pipeline', async () => {
  const { collection } = await filled('changed', [{ _id: 1, list: [1, 5, 9], n: 1 }]);
  const list = async () => (await collection.findOne({ _id: 1 }))?.list;
  await collection.updateOne({ list: { $gt: 4 } }, { $set: { 'list.$': 6 } });
  expect(await list()).toEqual([1, 6, 9]);
  const large = [{ each: { $gte: 6 } }];
  await collection.updateOne({}, { $inc: { 'list.$[each]': 1 } as never }, { arrayFilters: large });
  expect(await list()).toEqual([1, 7, 10]);
  await collection.updateOne({}, [{ $set: { n: { $add: ['$n', 41] } } }, { $unset: 'list' }]);
  expect(await collection.findOne()).toEqual({ _id: 1, n: 42 });
  await expect(collection.updateOne({}, { $set: { _id: 2 } })).rejects.toMatchObject({ code: 66 });
});

test('bulkWrite writes to several collections', async () => {
  const reply = await db.admin().command({
    bulkWrite: 1,
    ordered: false,
    nsInfo: [{ ns: 'queries.one' }, { ns: 'queries.two' }],
    ops: [
      { insert: 0, document: { _id: 1 } },
      { insert: 0, document: { _id: 1 } },
      { update: 1, filter: { _id: 5 }, updateMods: { $set: { a: 1 } }, upsert: true },
      { delete: 0, filter: { _id: 1 } },
    ],
  });
  expect(reply).toMatchObject({ nErrors: 1, nInserted: 1, nUpserted: 1, nDeleted: 1, nMatched: 0 });
  expect(reply.cursor.firstBatch.map(({ ok }: { ok: number }) => ok)).toEqual([1, 0, 1, 1]);
});

test('a validator refuses documents and says which', async () => {
  const validator = { $jsonSchema: { required: ['name'] } };
  const people = await db.createCollection<Doc>('validated', { validator });
  await expect(people.insertOne({ _id: 1 })).rejects.toMatchObject({
    code: 121,
    errInfo: { failingDocumentId: 1 },
  });
  await people.insertOne({ _id: 1 }, { bypassDocumentValidation: true });
  await people.insertOne({ _id: 2, name: 'n' });
  await expect(people.updateOne({ _id: 2 }, { $unset: { name: 1 } })).rejects.toMatchObject({
    code: 121,
  });
});

test('a hint of a sparse index finds what the index has', async () => {
  const { collection, ids } = await filled('hinted', [{ _id: 1, a: 1 }, { _id: 2 }]);
  await collection.createIndex({ a: 1 }, { sparse: true });
  expect(await ids({}, { hint: 'a_1' })).toEqual([1]);
  await expect(ids({}, { hint: 'none' })).rejects.toMatchObject({ code: 2 });
  expect(await collection.indexes()).toEqual([
    { v: 2, key: { _id: 1 }, name: '_id_' },
    { v: 2, key: { a: 1 }, name: 'a_1', sparse: true },
  ]);
});
