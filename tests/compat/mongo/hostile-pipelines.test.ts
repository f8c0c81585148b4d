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

const ROWS = 20_000;
const total = { $sum: '$at' };

test('a running total over 20,000 documents adds each of them once', async () => {
  const items = client.db('hostile').collection<{ _id: number; at: number }>('rows');
  await items.insertMany(Array.from({ length: ROWS }, (_, at) => ({ _id: at, at })));
  const windowed = (output: object) => [
    { $setWindowFields: { sortBy: { at: 1 }, output } },
    { $sort: { _id: -1 } },
    { $limit: 1 },
  ];
  const documents = ['unbounded', 'current'];
  const rows = await items
    .aggregate(
      windowed({
        sum: { ...total, window: { documents } },
        before: { ...total, window: { documents: ['unbounded', -1] } },
        ids: { $push: '$_id', window: { documents: [-2, 0] } },
      }),
    )
    .toArray();
  const sum = (ROWS * (ROWS - 1)) / 2;
  const _id = ROWS - 1;
  expect(rows).toEqual([{ _id, at: _id, sum, before: sum - _id, ids: [_id - 2, _id - 1, _id] }]);
});

test('lists of a growing window are those of their document', async () => {
  const rows = await client
    .db('hostile')
    .collection('rows')
    .aggregate([
      { $match: { _id: { $lt: 4 } } },
      {
        $setWindowFields: {
          sortBy: { at: 1 },
          output: { ids: { $push: '$_id', window: { documents: ['unbounded', 'current'] } } },
        },
      },
    ])
    .toArray();
  expect(rows.map(({ ids }) => ids)).toEqual([[0], [0, 1], [0, 1, 2], [0, 1, 2, 3]]);
});

test.each<[string, object[]]>([
  [
    'a product of documents',
    [
      {
        $lookup: {
          from: 'rows',
          let: { own: '$at' },
          pipeline: [{ $match: { $expr: { $lt: ['$at', '$$own'] } } }],
          as: 'less',
        },
      },
    ],
  ],
  [
    'a filter of 20,000 parts',
    [{ $match: { $and: Array.from({ length: ROWS }, (_, at) => ({ at: { $ne: -at - 1 } })) } }],
  ],
])(
  '%s over 20,000 documents ends when its time is over, and others are served',
  async (_name, stages) => {
    const work = client
      .db('hostile')
      .collection('rows')
      .aggregate([...stages, { $count: 'rows' }], { maxTimeMS: 1000 })
      .toArray();
    let isDone = false;
    const ended = expect(
      work.finally(() => {
        isDone = true;
      }),
    ).rejects.toMatchObject({ codeName: 'MaxTimeMSExpired' });
    let reads = 0;
    while (!isDone) {
      await other.db('hostile').collection<Doc>('small').findOne({ _id: 1 });
      reads++;
    }
    await ended;
    expect(reads).toBeGreaterThan(1);
  },
);

test('a filter that looks at 100,000 elements 50,000 times is refused', async () => {
  const parts = Array.from({ length: 50_000 }, (_, at) => ({ list: { $ne: -at - 1 } }));
  const items = client.db('hostile').collection<Doc>('long');
  await expect(items.find({ $and: parts }).toArray()).rejects.toMatchObject({
    codeName: 'BadValue',
    message:
      'The query exceeded the time that it may take to evaluate; make it simpler, or add a filter.',
  });
});

test('200,000 values of $all and a polygon of 200,000 corners are answered', async () => {
  const items = client.db('hostile').collection<Doc & { at?: number[] }>('answered');
  const list = Array.from({ length: 200_000 }, (_, at) => at);
  await items.insertMany([
    { _id: 1, list },
    { _id: 2, at: [10, 10] },
  ]);
  const idsOf = (filter: object) => items.find(filter, { projection: { _id: 1 } }).toArray();
  expect(await idsOf({ list: { $all: list } })).toEqual([{ _id: 1 }]);
  const corners = list.map((at) => {
    const angle = (2 * Math.PI * at) / list.length;
    return [100 * Math.cos(angle), 100 * Math.sin(angle)];
  });
  expect(await idsOf({ at: { $geoWithin: { $polygon: corners } } })).toEqual([{ _id: 2 }]);
});
