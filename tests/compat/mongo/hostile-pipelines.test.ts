// Goal: a pipeline that makes far more rows than memory holds ends with an error of its own, and others go on meanwhile.
// Method: products of long arrays with a time limit, and a second client that reads beside them.
import type { MongoClient } from 'mongodb';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Account, startAccount } from './harness.ts';

const ELEMENTS = 100_000;

let account: Account;
let client: MongoClient;
let other: MongoClient;

beforeAll(async () => {
  account = await startAccount();
  client = await account.connect();
  other = await account.connect();
  const list = Array.from({ length: ELEMENTS }, (_, at) => at);
  await client.db('hostile').collection<Doc>('long').insertOne({ _id: 1, list, same: 1 });
});

afterAll(async () => {
  expect(account.failures).toEqual([]);
  await account.close();
});

interface Doc {
  _id: number;
  list?: readonly number[];
  same?: number;
}

const unwind = { $unwind: '$list' };
const lookup = (from: object) => ({ $lookup: { from: 'long', as: 'found', ...from } });

test.each<[string, object[]]>([
  ['$unwind of what a $lookup pipeline found', [unwind, lookup({ pipeline: [unwind] })]],
  [
    '$unwind of what a correlated $lookup found',
    [unwind, lookup({ let: { own: '$list' }, pipeline: [unwind] })],
  ],
  ['$unwind in $unwind', [{ $addFields: { found: '$list' } }, unwind]],
])('%s: the time is over, the process is not', async (_name, stages) => {
  const pipeline = [...stages, { $unwind: '$found' }, { $count: 'rows' }];
  let isDone = false;
  const running = client
    .db('hostile')
    .collection('long')
    .aggregate(pipeline, { maxTimeMS: 2000 })
    .toArray()
    .finally(() => {
      isDone = true;
    });
  const refused = expect(running).rejects.toMatchObject({ codeName: 'MaxTimeMSExpired' });
  let reads = 0;
  while (!isDone) {
    await other.db('hostile').collection<Doc>('small').findOne({ _id: 1 });
    reads++;
  }
  await refused;
  expect(reads).toBeGreaterThan(1);
});

test('an unwound array gives every row once, in order', async () => {
  const rows = await client
    .db('hostile')
    .collection('long')
    .aggregate([unwind, { $group: { _id: null, count: { $sum: 1 }, sum: { $sum: '$list' } } }])
    .toArray();
  expect(rows).toEqual([{ _id: null, count: ELEMENTS, sum: (ELEMENTS * (ELEMENTS - 1)) / 2 }]);
});

test('filters of 150,000 parts and links to 200,000 values do not overflow the stack', async () => {
  const items = client.db('hostile').collection<Doc>('linked');
  const list = Array.from({ length: 200_000 }, (_, at) => at);
  await items.insertMany([
    { _id: 1, list },
    { _id: 2, same: 5 },
  ]);
  const alternatives = Array.from({ length: 150_000 }, (_, at) => ({ same: at }));
  const idsOf = (filter: object) => items.find(filter, { projection: { _id: 1 } }).toArray();
  expect(await idsOf({ $or: alternatives })).toEqual([{ _id: 2 }]);
  const absent = Array.from({ length: 150_000 }, (_, at) => ({ [`x${at}`]: null }));
  expect(await idsOf({ $and: absent })).toEqual([{ _id: 1 }, { _id: 2 }]);
  const graph = {
    from: 'linked',
    startWith: 1,
    connectFromField: 'list',
    connectToField: '_id',
    as: 'reached',
  };
  const rows = await items
    .aggregate([
      { $match: { _id: 1 } },
      { $graphLookup: graph },
      { $project: { 'reached._id': 1 } },
    ])
    .toArray();
  expect(rows).toEqual([{ _id: 1, reached: [{ _id: 1 }, { _id: 2 }] }]);
});
