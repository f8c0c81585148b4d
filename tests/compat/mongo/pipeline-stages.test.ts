// Goal: stages that write, explain and describe behave as in MongoDB. Method: the stock driver.
import { Decimal128, Double, Long, type MongoClient } from 'mongodb';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Account, startAccount } from './harness.ts';

interface Item {
  _id: number;
  [field: string]: unknown;
}

let account: Account;
let client: MongoClient;
beforeAll(async () => {
  account = await startAccount();
  client = await account.connect();
});
afterAll(async () => {
  expect(account.failures).toEqual([]);
  await account.close();
});

test('$out that fails half way leaves the collection as it was, with its indexes', async () => {
  const db = client.db('out');
  await db.collection<Item>('source').insertMany([
    { _id: 1, n: 1 },
    { _id: 2, n: 1 },
  ]);
  const target = db.collection<Item>('target');
  await target.insertOne({ _id: 9, n: 9 });
  await target.createIndex({ n: 1 }, { unique: true });
  await expect(
    db
      .collection('source')
      .aggregate([{ $out: 'target' }])
      .toArray(),
  ).rejects.toMatchObject({ code: 11000 });
  expect(await target.find().toArray()).toEqual([{ _id: 9, n: 9 }]);
  await db
    .collection('source')
    .aggregate([{ $match: { _id: 1 } }, { $out: 'target' }])
    .toArray();
  expect(await target.find().toArray()).toEqual([{ _id: 1, n: 1 }]);
  expect((await target.indexes()).map(({ name }) => name)).toEqual(['_id_', 'n_1']);
  const names = (await db.listCollections({}, { nameOnly: true }).toArray()).map(
    ({ name }) => name,
  );
  expect(names.sort()).toEqual(['source', 'target']);
});

test('$out makes a time-series collection and refuses other options for it', async () => {
  const db = client.db('out');
  const source = db.collection<Item>('measured');
  await source.insertOne({ _id: 1, at: new Date(0), v: 1 });
  const out = (timeseries: object): Promise<unknown> =>
    source.aggregate([{ $out: { db: 'out', coll: 'series', timeseries } }]).toArray();
  await out({ timeField: 'at' });
  const [made] = await db.listCollections({ name: 'series' }).toArray();
  expect(made).toMatchObject({ type: 'timeseries', options: { timeseries: { timeField: 'at' } } });
  await expect(out({ timeField: 'v' })).rejects.toMatchObject({ code: 7406103 });
  await expect(out({ timeField: 1 })).rejects.toMatchObject({ code: 14 });
});

test('$merge merges the others when one document is refused', async () => {
  const db = client.db('merge');
  await db.collection<Item>('source').insertMany([
    { _id: 1, z: 1, a: 1 },
    { _id: 2, z: 2, a: 2 },
  ]);
  const target = db.collection<Item>('target');
  await target.insertOne({ _id: 1 });
  await expect(
    db
      .collection('source')
      .aggregate([{ $merge: { into: 'target', whenMatched: 'fail' } }])
      .toArray(),
  ).rejects.toMatchObject({ code: 11000 });
  expect(await target.find().toArray()).toEqual([{ _id: 1 }, { _id: 2, z: 2, a: 2 }]);
});

test('$merge does not change an _id that another field found', async () => {
  const db = client.db('merge');
  const target = db.collection<Item>('keyed');
  await target.createIndex({ k: 1 }, { unique: true });
  await target.insertOne({ _id: 1, k: 'a' });
  await db.collection<Item>('others').insertOne({ _id: 2, k: 'a' });
  await expect(
    db
      .collection('others')
      .aggregate([{ $merge: { into: 'keyed', on: 'k' } }])
      .toArray(),
  ).rejects.toMatchObject({ code: 66 });
});

test('explaining a pipeline that writes writes nothing, and parses it', async () => {
  const db = client.db('explained');
  await db.collection<Item>('source').insertOne({ _id: 1 });
  const explain = (stage: object): Promise<unknown> =>
    db.command({ aggregate: 'source', pipeline: [stage], explain: true });
  expect(await explain({ $out: 'made' })).toMatchObject({ ok: 1, explainVersion: '1' });
  await expect(explain({ $nothing: 1 })).rejects.toMatchObject({ code: 40324 });
  expect(await db.listCollections({ name: 'made' }).toArray()).toEqual([]);
});

test('$collStats scales sizes, and refuses to count a view', async () => {
  const db = client.db('stats');
  await db.collection<Item>('stored').insertOne({ _id: 1 });
  await db.createCollection('seen', { viewOn: 'stored', pipeline: [] });
  const stats = (name: string, options: object): Promise<object[]> =>
    db
      .collection(name)
      .aggregate([{ $collStats: options }])
      .toArray();
  expect(await stats('stored', { storageStats: { scale: 2.9 } })).toMatchObject([
    { storageStats: { scaleFactor: 2, count: 1 } },
  ]);
  expect(await stats('stored', { latencyStats: { histograms: true } })).toMatchObject([
    { latencyStats: { reads: { histogram: [] } } },
  ]);
  await expect(stats('stored', { storageStats: { scale: 0 } })).rejects.toMatchObject({ code: 2 });
  await expect(stats('seen', { count: {} })).rejects.toMatchObject({ code: 166 });
  await expect(stats('absent', { count: {} })).rejects.toMatchObject({ code: 26 });
});

test('$listLocalSessions shows the session of the caller', async () => {
  await client.withSession(async (session) => {
    const admin = client.db('admin');
    const rows = await admin
      .aggregate([{ $listLocalSessions: {} }, { $match: { '_id.id': session.id?.id } }], {
        session,
      })
      .toArray();
    expect(rows).toMatchObject([{ lastUse: expect.any(Date) }]);
    await expect(
      admin.aggregate([{ $listLocalSessions: { allUsers: 1 } }]).toArray(),
    ).rejects.toMatchObject({ code: 14 });
  });
});

test('index filters are kept by shape, shown by explain, and cleared', async () => {
  const db = client.db('filters');
  const items = db.collection<Item>('items');
  await items.insertOne({ _id: 1, a: 1, b: 1 });
  await items.createIndexes([{ key: { a: 1 } }, { key: { a: 1, b: 1 } }]);
  const set = (query: object, indexes: unknown[]): Promise<unknown> =>
    db.command({ planCacheSetFilter: 'items', query, indexes });
  await set({ a: 1 }, [{ a: 1 }]);
  await set({ a: 7 }, ['a_1_b_1']);
  expect(await db.command({ planCacheListFilters: 'items' })).toMatchObject({
    filters: [{ query: { a: 7 }, sort: {}, projection: {}, indexes: ['a_1_b_1'] }],
  });
  expect(await items.find({ a: 3 }).explain('queryPlanner')).toMatchObject({
    queryPlanner: {
      indexFilterSet: true,
      winningPlan: { inputStage: { indexName: 'a_1_b_1' } },
    },
  });
  await db.command({ planCacheClearFilters: 'items', query: { a: 2 } });
  expect(await db.command({ planCacheListFilters: 'items' })).toMatchObject({ filters: [] });
  await expect(set({ a: 1 }, [])).rejects.toMatchObject({ code: 2 });
});

test('a query that its settings reject is refused, whatever its values are', async () => {
  const admin = client.db('admin');
  const items = client.db('settings').collection<Item>('items');
  await items.insertOne({ _id: 1, a: 1 });
  const query = { find: 'items', filter: { a: 1 }, $db: 'settings' };
  const made = await admin.command({ setQuerySettings: query, settings: { reject: true } });
  await expect(items.find({ a: 5 }).toArray()).rejects.toMatchObject({ code: 411 });
  expect(await items.find({ a: 1, b: { $exists: false } }).toArray()).toEqual([{ _id: 1, a: 1 }]);
  expect(await admin.aggregate([{ $querySettings: {} }]).toArray()).toMatchObject([
    { queryShapeHash: made.queryShapeHash, settings: { reject: true } },
  ]);
  await admin.command({ removeQuerySettings: made.queryShapeHash });
  expect(await items.find({ a: 1 }).toArray()).toEqual([{ _id: 1, a: 1 }]);
});

test('a decimal with an exponent is in the group of the same whole number', async () => {
  const numbers = client.db('groups').collection<Item>('numbers');
  await numbers.insertMany([
    { _id: 1, n: 100 },
    { _id: 2, n: Decimal128.fromString('1E+2') },
    { _id: 3, n: new Double(100) },
  ]);
  const groups = numbers.aggregate([{ $group: { _id: '$n', count: { $sum: 1 } } }]);
  expect(await groups.toArray()).toEqual([{ _id: 100, count: 3 }]);
  expect(await numbers.distinct('n')).toEqual([100]);
});

test('groups, sorts and filters read only the fields that they need, whatever else a document has', async () => {
  const items = client.db('fields').collection<Item>('items');
  await items.insertMany(
    Array.from({ length: 300 }, (_, at) => ({
      _id: at,
      other: { deep: [at, 'text', /pattern/, null, new Date(at)] },
      kind: `k${at % 3}`,
      size: { n: at % 10, list: [at, -at] },
    })),
  );
  expect(
    await items
      .aggregate([
        { $match: { 'size.n': { $gte: 5 } } },
        { $group: { _id: '$kind', n: { $sum: '$size.n' }, last: { $last: '$$ROOT._id' } } },
        { $sort: { _id: 1 } },
      ])
      .toArray(),
  ).toEqual([
    { _id: 'k0', n: 350, last: 297 },
    { _id: 'k1', n: 350, last: 298 },
    { _id: 'k2', n: 350, last: 299 },
  ]);
  const top = { $top: { sortBy: { 'size.list': -1 }, output: '$_id' } };
  expect(await items.aggregate([{ $group: { _id: null, top } }]).toArray()).toEqual([
    { _id: null, top: 299 },
  ]);
  const sorted = await items
    .aggregate([{ $sort: { 'size.n': -1, _id: 1 } }, { $skip: 1 }, { $limit: 2 }])
    .toArray();
  expect(sorted.map(({ _id, other }) => [_id, other.deep.length])).toEqual([
    [19, 5],
    [29, 5],
  ]);
});

test('a group that keeps more than 100 MB over all its groups is refused', async () => {
  const items = client.db('fields').collection<Item>('large');
  await items.insertMany(Array.from({ length: 30 }, (_, at) => ({ _id: at })));
  const text = { $concat: Array.from({ length: 40 }, () => 'x'.repeat(100_000)) };
  const kept = { $group: { _id: '$_id', texts: { $push: text } } };
  await expect(items.aggregate([kept]).toArray()).rejects.toMatchObject({ code: 292 });
});

test('$merge and $out write beside no transaction, and $merge into no view', async () => {
  const db = client.db('beside');
  await db.collection<Item>('source').insertOne({ _id: 1, n: 1 });
  await db.createCollection('seen', { viewOn: 'source', pipeline: [] });
  for (const stage of [{ $out: 'target' }, { $merge: 'target' }]) {
    const session = client.startSession();
    session.startTransaction();
    await expect(
      db.collection('source').aggregate([stage], { session }).toArray(),
    ).rejects.toMatchObject({ code: 263 });
    await session.abortTransaction();
    await session.endSession();
  }
  await expect(
    db
      .collection('source')
      .aggregate([{ $merge: 'seen' }])
      .toArray(),
  ).rejects.toMatchObject({ code: 166 });
  const names = (await db.listCollections({}, { nameOnly: true }).toArray()).map(
    ({ name }) => name,
  );
  expect(names.sort()).toEqual(['seen', 'source']);
});

test('$limit and $skip take the largest int64; averages and integrals of integers are doubles', async () => {
  const source = client.db('counts').collection<Item>('source');
  await source.insertMany([
    { _id: 1, n: 10 },
    { _id: 2, n: 12 },
  ]);
  const largest = Long.MAX_VALUE;
  expect(await source.aggregate([{ $limit: largest }]).toArray()).toHaveLength(2);
  expect(await source.aggregate([{ $skip: largest }]).toArray()).toEqual([]);
  const output = {
    average: { $expMovingAvg: { input: '$n', N: 2 } },
    area: { $integral: { input: '$n' }, window: { documents: ['unbounded', 'current'] } },
  };
  const stage = { $setWindowFields: { sortBy: { _id: 1 }, output } };
  const [first] = await source.aggregate([stage], { promoteValues: false }).toArray();
  expect(first).toMatchObject({ average: new Double(10), area: new Double(0) });
});

test('stages about the server are refused in pipelines over collections, and in $facet', async () => {
  const db = client.db('places');
  await db.collection<Item>('items').insertOne({ _id: 1 });
  const inLookup = (stage: object): object => ({
    $lookup: { from: 'items', pipeline: [stage], as: 'found' },
  });
  const cases: readonly (readonly [object, number])[] = [
    [{ $facet: { f: [{ $listLocalSessions: {} }] } }, 73],
    [{ $facet: { f: [{ $documents: [] }] } }, 40600],
    [{ $facet: { f: [{ $changeStream: {} }] } }, 40600],
    [{ $facet: { f: [inLookup({ $indexStats: {} })] } }, 40600],
    [{ $facet: { f: [inLookup({ $out: 'x' })] } }, 51047],
    [inLookup({ $facet: { f: [{ $out: 'x' }] } }), 40600],
    [inLookup({ $currentOp: {} }), 73],
    [{ $listClusterCatalog: {} }, 9621301],
  ];
  for (const [stage, code] of cases)
    await expect(db.collection('items').aggregate([stage]).toArray()).rejects.toMatchObject({
      code,
    });
});

test('$project computes fields in arrays of anything and keeps what is known beside exclusions', async () => {
  const items = client.db('computed').collection<Item>('items');
  await items.insertOne({ _id: 1, a: [{ b: 1 }, 5, null], c: 2 });
  const one = (stage: object): Promise<unknown> => items.aggregate([stage]).next();
  expect(await one({ $project: { 'a.b': { $literal: 9 } } })).toEqual({
    _id: 1,
    a: [{ b: 9 }, { b: 9 }, { b: 9 }],
  });
  expect(await one({ $project: { a: 0, random: { $meta: 'randVal' } } })).toMatchObject({ c: 2 });
  await expect(one({ $unset: ['a', 'a'] })).rejects.toMatchObject({ code: 31250 });
});
