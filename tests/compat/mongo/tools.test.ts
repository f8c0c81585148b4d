/** Goal: what tools that dump, restore and describe ask of the server. Method: the commands that they send. */
import { Long, type MongoClient, ObjectId, Timestamp } from 'mongodb';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Account, startAccount } from './harness.ts';

let account: Account;
let client: MongoClient;

beforeAll(async () => {
  account = await startAccount();
  client = await account.connect();
});
afterAll(() => account.close());

const EMPTY = new Timestamp({ t: 0, i: 0 });

test('a restored document keeps its empty timestamps', async () => {
  const db = client.db('restored');
  const docs = db.collection<{ _id: number; at: Timestamp }>('docs');
  await db.command({
    insert: 'docs',
    documents: [{ _id: 1, at: EMPTY }],
    bypassEmptyTsReplacement: true,
  });
  await db.command({ insert: 'docs', documents: [{ _id: 2, at: EMPTY }] });
  await db.command({
    update: 'docs',
    updates: [{ q: { _id: 3 }, u: { at: EMPTY }, upsert: true }],
    bypassEmptyTsReplacement: true,
  });
  await db.command({
    findAndModify: 'docs',
    query: { _id: 2 },
    update: { at: EMPTY },
    bypassEmptyTsReplacement: true,
  });
  await client.db('admin').command({
    bulkWrite: 1,
    nsInfo: [{ ns: 'restored.docs' }],
    ops: [{ insert: 0, document: { _id: 4, at: EMPTY } }],
    bypassEmptyTsReplacement: true,
  });
  const found = await docs.find().sort({ _id: 1 }).toArray();
  expect(found.map(({ _id, at }) => [_id, at.toString()])).toEqual([
    [1, '0'],
    [2, '0'],
    [3, '0'],
    [4, '0'],
  ]);
  await db.command({ insert: 'docs', documents: [{ _id: 5, at: EMPTY }] });
  expect((await docs.findOne({ _id: 5 }))?.at.high).toBeGreaterThan(0);
});

test('a text index that was read from listIndexes is created as it was', async () => {
  const db = client.db('restored');
  await db
    .collection('texts')
    .createIndex({ title: 'text', body: 'text' }, { weights: { body: 3 } });
  const [, spec] = await db.collection('texts').indexes();
  await db.command({ createIndexes: 'copies', indexes: [spec] });
  expect((await db.collection('copies').indexes())[1]).toEqual(spec);
});

test('a time series is dumped as buckets, and restored from them', async () => {
  const db = client.db('series');
  const options = { timeField: 't', metaField: 'place', granularity: 'minutes' } as const;
  const source = await db.createCollection('source', { timeseries: options });
  expect(await source.indexes()).toEqual([{ v: 2, key: { place: 1, t: 1 }, name: 'place_1_t_1' }]);
  const t = new Date('2026-11-19T04:12:34.500Z');
  const documents = [
    { _id: new ObjectId(), t, place: { room: 1 }, v: 1.5, 'a.b': 'dotted' },
    { _id: new ObjectId(), t: new Date(t.getTime() + 1), v: Long.fromNumber(2) },
  ];
  await source.insertMany(documents);
  const buckets = await db
    .collection('system.buckets.source')
    .find({}, { hint: { _id: 1 }, promoteLongs: false })
    .toArray();
  expect(await db.collection('system.buckets.source').countDocuments()).toBe(2);
  const hour = new Date('2026-11-19T04:00:00.000Z');
  const { place, ...first } = documents[0] as (typeof documents)[0];
  expect(buckets[0]).toEqual({
    _id: expect.any(ObjectId),
    control: { version: 1, min: { ...first, t: hour }, max: first },
    meta: place,
    data: Object.fromEntries(Object.entries(first).map(([name, value]) => [name, { 0: value }])),
  });
  expect(buckets[0]?._id.getTimestamp()).toEqual(hour);
  await db.createCollection('copy', { timeseries: options });
  const copy = db.collection('system.buckets.copy');
  expect((await copy.insertMany(buckets, { ordered: false })).insertedCount).toBe(2);
  const sort = { t: 1 } as const;
  expect(
    await db.collection('copy').find({}, { promoteLongs: false }).sort(sort).toArray(),
  ).toEqual(documents);
  const compressed = { _id: new ObjectId(), control: { version: 2 }, data: {} };
  await expect(copy.insertOne(compressed)).rejects.toMatchObject({ code: 238 });
});

test('the shards, the sharded collections and their chunks are in config', async () => {
  await client.db('admin').command({ shardCollection: 'shop.orders', key: { customer: 'hashed' } });
  await client.db('shop').createCollection('plain');
  const config = client.db('config');
  expect(await config.collection('shards').find().toArray()).toEqual([
    { _id: 'globaldb', host: `globaldb/127.0.0.1:${account.port}`, state: 1 },
  ]);
  expect(await config.collection('databases').findOne({ _id: 'shop' as never })).toEqual({
    _id: 'shop',
    primary: 'globaldb',
  });
  const [sharded] = await config.collection('collections').find().toArray();
  expect(sharded).toMatchObject({ _id: 'shop.orders', key: { customer: 'hashed' } });
  const chunks = await config.collection('chunks').find({ uuid: sharded?.uuid }).toArray();
  expect(chunks.map(({ shard }) => shard)).toEqual(['globaldb']);
  expect(await config.collection('tags').find().toArray()).toEqual([]);
  expect(await config.collection('nothing').find().toArray()).toEqual([]);
  expect(await config.collection('version').countDocuments()).toBe(1);
  expect(await client.db('local').collection('system.replset').findOne()).toMatchObject({
    _id: 'globaldb',
    members: [{ _id: 0, host: `127.0.0.1:${account.port}` }],
  });
});
