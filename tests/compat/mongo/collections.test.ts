// Goal: options of collections, views, users and the wire around them behave as in MongoDB. Method: the stock driver.
import { MongoClient, UUID } from 'mongodb';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Account, KEY, startAccount } from './harness.ts';

let account: Account;
let client: MongoClient;
beforeAll(async () => {
  account = await startAccount({ hasTestCommands: true });
  client = await account.connect({ compressors: ['zlib'] });
});
afterAll(async () => {
  expect(account.failures).toEqual([]);
  await account.close();
});

test.each(['snappy', 'zlib', 'zstd'] as const)(
  'messages compressed with %s arrive whole',
  async (name) => {
    const packed = await account.connect({ compressors: [name] });
    const rows = packed.db('compressed').collection<{ _id: number; text: string }>(name);
    const documents = Array.from({ length: 300 }, (_, n) => ({ _id: n, text: 'ab'.repeat(n) }));
    await rows.insertMany(documents);
    expect(await rows.find({}, { sort: { _id: 1 } }).toArray()).toEqual(documents);
    const hello = await packed.db('admin').command({ hello: 1, compression: ['none', name] });
    expect(hello.compression).toEqual([name]);
  },
);

test('a capped collection keeps the last documents, and a tailable cursor waits for more', async () => {
  const db = client.db('c');
  const log = await db.createCollection<{ _id: number }>('log', {
    capped: true,
    size: 1e6,
    max: 3,
  });
  for (let id = 1; id <= 5; id++) await log.insertOne({ _id: id });
  expect((await log.find().toArray()).map(({ _id }) => _id)).toEqual([3, 4, 5]);
  const tail = log.find({}, { tailable: true, awaitData: true });
  expect(
    [await tail.next(), await tail.next(), await tail.next()].map((each) => each?._id),
  ).toEqual([3, 4, 5]);
  await log.insertOne({ _id: 6 });
  expect(await tail.next()).toEqual({ _id: 6 });
  await tail.close();
});

test('a view is its pipeline; it cannot be written', async () => {
  const db = client.db('c');
  await db.collection<{ _id: number; n: number }>('all').insertMany([
    { _id: 1, n: 1 },
    { _id: 2, n: 2 },
    { _id: 3, n: 3 },
  ]);
  const view = await db.createCollection<{ _id: number; n: number }>('large', {
    viewOn: 'all',
    pipeline: [{ $match: { n: { $gt: 1 } } }],
  });
  expect(await view.find({}, { sort: { _id: -1 } }).toArray()).toEqual([
    { _id: 3, n: 3 },
    { _id: 2, n: 2 },
  ]);
  expect(await view.countDocuments()).toBe(2);
  expect(await view.distinct('n')).toEqual([2, 3]);
  await expect(view.insertOne({ _id: 9, n: 9 })).rejects.toMatchObject({ code: 166 });
});

test('a collection is renamed, in its database and to another', async () => {
  const db = client.db('c');
  await db.collection<{ _id: number }>('old').insertOne({ _id: 1 });
  await db.collection<{ _id: number }>('taken').insertOne({ _id: 2 });
  await expect(db.renameCollection('old', 'taken')).rejects.toMatchObject({ code: 48 });
  await db.renameCollection('old', 'taken', { dropTarget: true });
  expect(await db.collection('taken').find().toArray()).toEqual([{ _id: 1 }]);
  await db.admin().command({ renameCollection: 'c.taken', to: 'other.moved' });
  expect(await client.db('other').collection('moved').find().toArray()).toEqual([{ _id: 1 }]);
  expect(await db.listCollections({ name: 'taken' }).toArray()).toEqual([]);
});

describe('users', () => {
  test('a user reads and writes where the roles allow it', async () => {
    await client.db('c').command({ createUser: 'ann', pwd: 'secret', roles: ['read'] });
    const uri = `mongodb://ann:secret@127.0.0.1:${account.port}/c?replicaSet=globaldb`;
    const ann = new MongoClient(uri);
    await ann.connect();
    expect(await ann.db('c').collection('all').countDocuments()).toBe(3);
    await expect(ann.db('c').collection('all').insertOne({})).rejects.toMatchObject({ code: 13 });
    await expect(ann.db('d').collection('x').find().toArray()).rejects.toMatchObject({ code: 13 });
    await ann.close();
    await client.db('c').command({ dropUser: 'ann' });
    const gone = new MongoClient(uri);
    await expect(gone.connect()).rejects.toMatchObject({ code: 18 });
    await gone.close();
  });
});

test('a user with SCRAM-SHA-1 only logs in without naming it', async () => {
  const mechanisms = ['SCRAM-SHA-1'];
  const user = { createUser: 'old', pwd: 'secret', roles: ['read'], mechanisms };
  await client.db('c').command(user);
  const hello = await client.db('admin').command({ hello: 1, saslSupportedMechs: 'c.old' });
  expect(hello.saslSupportedMechs).toEqual(mechanisms);
  const old = new MongoClient(`mongodb://old:secret@127.0.0.1:${account.port}/c`);
  expect(await old.db('c').command({ ping: 1 })).toMatchObject({ ok: 1 });
  await old.close();
});

test('fail points make drivers send reads again', async () => {
  const admin = client.db('admin');
  await admin.command({
    configureFailPoint: 'failCommand',
    mode: { times: 1 },
    data: { failCommands: ['find'], errorCode: 11_600 },
  });
  expect(await client.db('c').collection('all').find().toArray()).toHaveLength(3);
});

test('a failure on purpose that ends the server is a new state, so that drivers clear their pool', async () => {
  const admin = client.db('admin');
  const data = { failCommands: ['ping'], errorCode: 91 };
  await admin.command({ configureFailPoint: 'failCommand', mode: { times: 1 }, data });
  const refused = await admin.command({ ping: 1 }).catch((error: unknown) => error);
  expect(refused).toMatchObject({ code: 91, errorLabels: ['ResetPool'] });
  expect(await admin.command({ ping: 1 })).toMatchObject({ ok: 1 });
});

test('a fail point by the name of an application holds for its first message', async () => {
  const data = { failCommands: ['isMaster', 'hello'], closeConnection: true, appName: 'unlucky' };
  const configure = { configureFailPoint: 'failCommand', mode: 'alwaysOn', data };
  await client.db('admin').command(configure);
  const unlucky = new MongoClient(account.uri(), {
    appName: 'unlucky',
    serverSelectionTimeoutMS: 100,
  });
  await expect(unlucky.connect()).rejects.toMatchObject({ name: 'MongoServerSelectionError' });
  await unlucky.close();
  await client.db('admin').command({ configureFailPoint: 'failCommand', mode: 'off' });
});

test('validate takes the field that pymongo sends', async () => {
  const reply = await client.db('c').command({ validate: 'all', scandata: false, full: false });
  expect(reply).toMatchObject({ ns: 'c.all', valid: true });
});

test('a standalone says so, and takes no transactions', async () => {
  const single = await startAccount({ topology: 'standalone' });
  const direct = new MongoClient(
    `mongodb://localhost:${encodeURIComponent(KEY)}@127.0.0.1:${single.port}/`,
  );
  const hello = await direct.db('admin').command({ hello: 1 });
  expect(hello).not.toHaveProperty('setName');
  expect(hello).not.toHaveProperty('operationTime');
  await direct.db('s').collection<{ _id: number }>('c').insertOne({ _id: 1 });
  expect(await direct.db('s').collection('c').countDocuments()).toBe(1);
  await direct.close();
  expect(single.failures).toEqual([]);
  await single.close();
});

test('custom actions set and show throughput', async () => {
  const db = client.db('actions');
  await db.command({ customAction: 'CreateCollection', collection: 'c', offerThroughput: 500 });
  expect(await db.command({ customAction: 'GetCollection', collection: 'c' })).toMatchObject({
    database: 'actions',
    collection: 'c',
    provisionedThroughput: 500,
  });
});

test('what a shell asks about the server: the replica set, operations under way, sizes', async () => {
  const admin = client.db('admin');
  const address = `127.0.0.1:${account.port}`;
  expect(await admin.command({ replSetGetStatus: 1 })).toMatchObject({
    set: 'globaldb',
    myState: 1,
    members: [{ _id: 0, name: address, stateStr: 'PRIMARY', health: 1, self: true }],
    ok: 1,
  });
  expect(await admin.command({ replSetGetConfig: 1 })).toMatchObject({
    config: { _id: 'globaldb', version: 1, members: [{ _id: 0, host: address, votes: 1 }] },
  });
  const under = await admin
    .aggregate([{ $currentOp: {} }, { $match: { op: 'command' } }])
    .toArray();
  expect(under.map(({ command }) => Object.keys(command)[0])).toContain('aggregate');
  const sized = client.db('c').collection<{ _id: number; n: number }>('sized');
  await sized.createIndex({ n: 1 });
  await sized.insertOne({ _id: 1, n: 1 });
  const [stats] = await sized.aggregate([{ $collStats: { storageStats: {} } }]).toArray();
  expect(stats?.storageStats).toMatchObject({ count: 1, nindexes: 2, capped: false });
  expect(Object.keys(stats?.storageStats.indexSizes)).toEqual(['_id_', 'n_1']);
});

test('collMod makes a prepared index unique, unless documents repeat its values', async () => {
  const db = client.db('c');
  const items = db.collection<{ _id: number; a: number }>('prepared');
  await items.insertMany([
    { _id: 1, a: 1 },
    { _id: 2, a: 1 },
  ]);
  await items.createIndex({ a: 1 });
  const change = (index: object, more: object = {}): Promise<unknown> =>
    db.command({ collMod: 'prepared', index: { name: 'a_1', ...index }, ...more });
  await expect(change({ unique: true })).rejects.toMatchObject({ code: 72 });
  await change({ prepareUnique: true });
  await expect(change({ unique: true })).rejects.toMatchObject({ code: 359 });
  await items.deleteOne({ _id: 2 });
  expect(await change({ unique: true }, { dryRun: true })).not.toHaveProperty('unique_new');
  expect(await change({ unique: true })).toMatchObject({ unique_new: true });
  await expect(items.insertOne({ _id: 3, a: 1 })).rejects.toMatchObject({ code: 11000 });
});

test('listDatabases has the databases of the server itself, and filters them', async () => {
  const admin = client.db('admin').admin();
  const { databases } = await admin.listDatabases({ filter: { name: /^(admin|config|local)$/ } });
  expect(databases.map(({ name }) => name)).toEqual(['admin', 'config', 'local']);
});

test('a cursor ends with its collection, by a drop or another name', async () => {
  const db = client.db('ends');
  for (const end of ['drop', 'rename'] as const) {
    const rows = db.collection<{ _id: number }>(end);
    await rows.insertMany(Array.from({ length: 10 }, (_, n) => ({ _id: n })));
    const cursor = rows.find({}, { batchSize: 2 });
    await cursor.next();
    if (end === 'drop') await rows.drop();
    else await rows.rename('renamed');
    await cursor.next();
    await expect(cursor.next()).rejects.toMatchObject({ code: 175, codeName: 'QueryPlanKilled' });
  }
});

test('a cursor is killed by its id, whatever collection is named', async () => {
  const db = client.db('kills');
  await db.collection('rows').insertMany([{}, {}, {}]);
  const { cursor } = await db.command({ find: 'rows', batchSize: 1 }, { promoteLongs: false });
  const mixed = { killCursors: 'other', cursors: [cursor.id, 'x'] };
  await expect(db.command(mixed)).rejects.toMatchObject({ code: 14 });
  const killed = await db.command({ killCursors: 'other', cursors: [cursor.id, null] });
  expect(killed.cursorsKilled).toHaveLength(1);
  await expect(db.command({ killCursors: 1, cursors: [] })).rejects.toMatchObject({ code: 73 });
});

test.each([
  ['names.$x', 'names.y', {}, 20],
  ['names.system.js', 'names.y', {}, 20],
  ['names.x', 'names.y', { dropTarget: 1 }, 14],
  ['names.x', 'names.y', { dropTarget: new UUID() }, 361],
  ['names.x', 'other.y', { dropTarget: new UUID() }, 72],
  ['names.x', 'NAMES.y', {}, 13297],
])('a rename of %s to %s with %j is refused', async (from, to, more, code) => {
  const db = client.db('names');
  if (!(await db.listCollections({ name: 'x' }).hasNext())) await db.createCollection('x');
  await expect(
    client.db('admin').command({ renameCollection: from, to, ...more }),
  ).rejects.toMatchObject({ code });
});

test('a time series changes what its measurements are about, and has indexes of its own', async () => {
  const db = client.db('series');
  const rows = await db.createCollection('m', {
    timeseries: { timeField: 't', metaField: 'about' },
  });
  await rows.insertMany([
    { t: new Date(1), about: 'a', v: 1 },
    { t: new Date(2), about: 'a', v: 2 },
  ]);
  expect((await rows.updateMany({}, { $set: { about: 'b' } })).modifiedCount).toBe(2);
  const refused = { code: 72 };
  await expect(rows.updateMany({}, { $set: { v: 3 } })).rejects.toMatchObject(refused);
  await expect(rows.updateOne({}, { $set: { about: 'c' } })).rejects.toMatchObject(refused);
  expect((await rows.indexes()).map(({ name }) => name)).toEqual(['about_1_t_1']);
  await expect(rows.createIndex({ v: 1 }, { unique: true })).rejects.toMatchObject(refused);
});

test('a write that a fail point holds back beyond its time is not applied', async () => {
  const db = client.db('held');
  const data = { failCommands: ['insert'], blockConnection: true, blockTimeMS: 40 };
  await client.db('admin').command({ configureFailPoint: 'failCommand', mode: { times: 1 }, data });
  const insert = { insert: 'rows', documents: [{ _id: 1 }], maxTimeMS: 10 };
  await expect(db.command(insert)).rejects.toMatchObject({ code: 50 });
  expect(await db.collection('rows').countDocuments()).toBe(0);
});

test('a write that a fail point holds back until its client is gone is not applied', async () => {
  const impatient = await account.connect({ socketTimeoutMS: 20, retryWrites: false });
  const hold = (command: string, blockTimeMS: number) =>
    client.db('admin').command({
      configureFailPoint: 'failCommand',
      mode: { times: 1 },
      data: { failCommands: [command], blockConnection: true, blockTimeMS },
    });
  await hold('insert', 60);
  const insert = impatient.db('held').collection('gone').insertOne({});
  await expect(insert).rejects.toMatchObject({ name: 'MongoNetworkTimeoutError' });
  // What is held back later and longer ends later.
  await hold('ping', 60);
  await client.db('held').command({ ping: 1 });
  expect(await client.db('held').collection('gone').countDocuments()).toBe(0);
});

test('a refused command says as well that its write concern cannot be satisfied', async () => {
  const db = client.db('concerned');
  await db.createCollection('x');
  await db.createCollection('y');
  const rename = { renameCollection: 'concerned.x', to: 'concerned.y', writeConcern: { w: 2 } };
  await expect(client.db('admin').command(rename)).rejects.toMatchObject({
    code: 48,
    errorResponse: { writeConcernError: { code: 100 } },
  });
});

test('the time of a find is that of all its batches', async () => {
  const rows = client.db('timed').collection('rows');
  await rows.insertMany([{}, {}, {}]);
  const cursor = rows.find({}, { maxTimeMS: 60_000, batchSize: 1 });
  const other = rows.find({}, { batchSize: 1 });
  await Promise.all([cursor.next(), other.next()]);
  const admin = client.db('admin');
  await admin.command({ configureFailPoint: 'maxTimeAlwaysTimeOut', mode: 'alwaysOn' });
  await expect(cursor.next()).rejects.toMatchObject({ code: 50 });
  expect(await other.toArray()).toHaveLength(2);
  await admin.command({ configureFailPoint: 'maxTimeAlwaysTimeOut', mode: 'off' });
});

test('an index shows the option background as it was sent', async () => {
  const rows = client.db('timed').collection('indexed');
  await rows.createIndexes([
    { key: { a: 1 }, name: 'a' },
    { key: { b: 1 }, name: 'b', background: false },
    { key: { c: 1 }, name: 'c', background: true },
  ]);
  const shown = (await rows.indexes()).map(({ background }) => background);
  expect(shown).toEqual([undefined, undefined, false, true]);
});

test.each([
  ['a time series', { timeseries: { timeField: 'at' } }, 'at'],
  ['a clustered collection', { clusteredIndex: { key: { _id: 1 }, unique: true } }, '_id'],
])('documents of %s expire by the option of the collection', async (_, options, field) => {
  const db = client.db('expiring');
  const rows = await db.createCollection(field, { ...options, expireAfterSeconds: 3600 });
  const [hourMs, now] = [3_600_000, Date.now()];
  await rows.insertMany([0.5, 2, 4].map((hours) => ({ [field]: new Date(now - hours * hourMs) })));
  const left = async (): Promise<number> => {
    // The first may be a round that had begun before.
    for (let round = 0; round < 2; round++) await account.service.expirySweeper.round();
    return rows.countDocuments();
  };
  expect(await left()).toBe(1);
  expect((await rows.indexes()).filter(({ name }) => name === '$expiry')).toEqual([]);
  await db.command({ collMod: field, expireAfterSeconds: 'off' });
  await rows.insertOne({ [field]: new Date(now - 5 * hourMs) });
  expect(await left()).toBe(2);
  // The index is built beside the command, and nothing expires by it before.
  await db.command({ collMod: field, expireAfterSeconds: 4 * 3600 });
  await expect.poll(left, { timeout: 60_000 }).toBe(1);
  await db.command({ collMod: field, expireAfterSeconds: 60 });
  await expect.poll(left, { timeout: 60_000 }).toBe(0);
});
