// Goal: one collation holds from the first stage of a pipeline to the last. Method: the stock driver; exact results.
import type { MongoClient } from 'mongodb';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Account, startAccount } from './harness.ts';

interface Paper {
  readonly _id: number;
  readonly name: string;
  readonly kind?: string;
}

const ANY_CASE = { locale: 'en', strength: 1 };
let account: Account;
let client: MongoClient;
beforeAll(async () => {
  account = await startAccount();
  client = await account.connect();
  const db = client.db('collated');
  await db.collection<Paper>('papers').insertMany([
    { _id: 1, name: 'resume', kind: 'A' },
    { _id: 2, name: 'Resume', kind: 'a' },
    { _id: 3, name: 'résumé', kind: 'b' },
    { _id: 4, name: 'Tea', kind: 'B' },
  ]);
});
afterAll(async () => {
  expect(account.failures).toEqual([]);
  await account.close();
});

const papers = () => client.db('collated').collection<Paper>('papers');

test.each([
  [
    [{ $sort: { _id: 1 } }, { $group: { _id: '$name', n: { $sum: 1 } } }, { $sort: { _id: 1 } }],
    [
      { _id: 'resume', n: 3 },
      { _id: 'Tea', n: 1 },
    ],
  ],
  [
    [{ $sort: { _id: 1 } }, { $group: { _id: null, names: { $addToSet: '$name' } } }],
    [{ _id: null, names: ['resume', 'Tea'] }],
  ],
  [
    [{ $group: { _id: null, last: { $bottom: { sortBy: { name: 1 }, output: '$name' } } } }],
    [{ _id: null, last: 'Tea' }],
  ],
  [
    [
      {
        $setWindowFields: {
          partitionBy: '$kind',
          sortBy: { name: 1 },
          output: { rank: { $denseRank: {} } },
        },
      },
      { $project: { rank: 1 } },
      { $sort: { _id: 1 } },
    ],
    [
      { _id: 1, rank: 1 },
      { _id: 2, rank: 1 },
      { _id: 3, rank: 1 },
      { _id: 4, rank: 2 },
    ],
  ],
  [
    [
      { $match: { _id: 4 } },
      { $lookup: { from: 'papers', localField: 'kind', foreignField: 'kind', as: 'same' } },
      { $project: { ids: '$same._id' } },
    ],
    [{ _id: 4, ids: [3, 4] }],
  ],
])('%j', async (pipeline, expected) => {
  expect(await papers().aggregate(pipeline, { collation: ANY_CASE }).toArray()).toEqual(expected);
});

test('a view has the collation that it was made with, and no command changes it', async () => {
  const db = client.db('collated');
  await db.createCollection('view', { viewOn: 'papers', collation: ANY_CASE });
  await db.createCollection('plain', { viewOn: 'papers' });
  const ids = async (name: string) =>
    (await db.collection<Paper>(name).find({ name: 'RESUME' }).toArray()).map(({ _id }) => _id);
  expect(await ids('view')).toEqual([1, 2, 3]);
  expect(await ids('plain')).toEqual([]);
  const refused = { code: 167, codeName: 'OptionNotSupportedOnView' };
  await expect(
    db
      .collection('view')
      .find({}, { collation: { locale: 'fr' } })
      .toArray(),
  ).rejects.toMatchObject(refused);
  await expect(
    papers()
      .aggregate([{ $unionWith: 'view' }])
      .toArray(),
  ).rejects.toMatchObject(refused);
});

test('a validator compares as its collection does', async () => {
  const rows = await client.db('collated').createCollection<Paper>('valid', {
    collation: ANY_CASE,
    validator: { kind: { $in: ['a'] } },
  });
  await rows.insertOne({ _id: 1, name: 'x', kind: 'A' });
  await expect(rows.insertOne({ _id: 2, name: 'x', kind: 'B' })).rejects.toMatchObject({
    code: 121,
  });
});

test('$merge wants a unique index with the collation of the pipeline', async () => {
  const into = client.db('collated').collection('merged');
  await into.createIndex({ name: 1 }, { unique: true });
  const pipeline = [{ $project: { _id: 0, name: 1 } }, { $merge: { into: 'merged', on: 'name' } }];
  await expect(
    papers().aggregate(pipeline, { collation: ANY_CASE }).toArray(),
  ).rejects.toMatchObject({ code: 51183 });
  await papers().aggregate(pipeline).toArray();
  expect(await into.countDocuments()).toBe(4);
});

test('the documents of a clustered collection come in the order of their ids', async () => {
  const rows = await client
    .db('collated')
    .createCollection<{ _id: string; n: number }>('clustered', {
      clusteredIndex: { key: { _id: 1 }, unique: true },
    });
  await rows.insertMany([
    { _id: 'c', n: 1 },
    { _id: 'a', n: 1 },
    { _id: 'b', n: 2 },
  ]);
  const ids = (filter: object, sort = {}) =>
    rows
      .find(filter, { sort })
      .map(({ _id }) => _id)
      .toArray();
  expect(await ids({})).toEqual(['a', 'b', 'c']);
  expect(await ids({ n: 1 })).toEqual(['a', 'c']);
  expect(await ids({}, { $natural: -1 })).toEqual(['c', 'b', 'a']);
});
