// Goal: commands about the server answer what is true, in MongoDB's words. Method: the stock driver; exact replies.
import { Binary, type MongoClient, UUID } from 'mongodb';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Account, startAccount } from './harness.ts';

let account: Account;
let client: MongoClient;
beforeAll(async () => {
  account = await startAccount({ hasTestCommands: true });
  client = await account.connect({ promoteLongs: true });
});
afterAll(async () => {
  expect(account.failures).toEqual([]);
  await account.close();
});

const admin = () => client.db('admin');

test('parameters of the cluster are asked for one by one, several at a time or all', async () => {
  const one = expect.objectContaining({ _id: 'defaultMaxTimeMS', readOperations: 0 });
  expect(await admin().command({ getClusterParameter: 'defaultMaxTimeMS' })).toMatchObject({
    clusterParameters: [one],
  });
  const all = await admin().command({ getClusterParameter: '*' });
  expect(all.clusterParameters.length).toBeGreaterThan(1);
  expect(all.clusterParameters).toContainEqual(one);
  await expect(admin().command({ getClusterParameter: ['none'] })).rejects.toMatchObject({
    code: 4,
  });
  await expect(admin().command({ getClusterParameter: 1 })).rejects.toMatchObject({ code: 14 });
});

test('a parameter of the cluster is set, shown with the time of its change, and set back by null', async () => {
  const shown = async (name: string) =>
    (await admin().command({ getClusterParameter: name })).clusterParameters[0];
  const set = (value: object) => admin().command({ setClusterParameter: value });
  await set({ changeStreams: { expireAfterSeconds: 60 } });
  const { clusterParameterTime: time, ...rest } = await shown('changeStreams');
  expect(rest).toEqual({ _id: 'changeStreams', expireAfterSeconds: 60 });
  await set({ changeStreams: { expireAfterSeconds: 60 } });
  expect((await shown('changeStreams')).clusterParameterTime).toEqual(time);
  await set({ changeStreams: { expireAfterSeconds: null } });
  expect((await shown('changeStreams')).expireAfterSeconds).toBe(3600);
  for (const [value, code] of [
    [{}, 4],
    [{ changeStreams: { expireAfterSeconds: 0 } }, 2],
    [{ changeStreams: { expireAfterSeconds: 'x' } }, 14],
    [{ changeStreamOptions: { preAndPostImages: { expireAfterSeconds: 'on' } } }, 2],
    [{ changeStreams: {}, changeStreamOptions: {} }, 72],
  ] as const)
    await expect(set(value)).rejects.toMatchObject({ code });
});

test('a block of writes refuses the writes of clients until its reason is gone', async () => {
  const rows = client.db('blocked').collection('rows');
  await rows.insertOne({ _id: 1 as never });
  const block = (global: boolean, reason?: string) =>
    admin().command({ setUserWriteBlockMode: 1, global, ...(reason && { reason }) });
  await block(true);
  const refused = { code: 371, codeName: 'UserWritesBlocked' };
  await expect(rows.insertOne({})).rejects.toMatchObject(refused);
  await expect(rows.drop()).rejects.toMatchObject(refused);
  expect(await rows.countDocuments()).toBe(1);
  await expect(block(false, 'DiskUseThresholdExceeded')).rejects.toMatchObject({ code: 20 });
  await block(false);
  await rows.insertOne({});
});

test('profile keeps a bound, a share and a filter, and shows them to the next', async () => {
  const db = client.db('profiled');
  const filter = { op: 'query' };
  expect(await db.command({ profile: 0, slowms: 7, sampleRate: 0.5, filter })).toMatchObject({
    was: 0,
    slowms: 100,
    sampleRate: 1,
  });
  expect(
    await db.command({ profile: 0, slowms: 100, sampleRate: 1, filter: 'unset' }),
  ).toMatchObject({ slowms: 7, sampleRate: 0.5, filter: { op: { $eq: 'query' } } });
});

test('explain of a write says what it would do, and does nothing', async () => {
  const db = client.db('would');
  const rows = db.collection<{ _id: number; a: number }>('rows');
  await rows.insertMany([
    { _id: 1, a: 1 },
    { _id: 2, a: 2 },
  ]);
  const stages = async (command: object) =>
    (await db.command({ explain: command, verbosity: 'executionStats' })).executionStats
      .executionStages;
  const update = { q: {}, u: { $set: { a: 1 } }, multi: true };
  expect(await stages({ update: 'rows', updates: [update] })).toMatchObject({
    nMatched: 2,
    nWouldModify: 1,
  });
  expect(await stages({ delete: 'rows', deletes: [{ q: {}, limit: 0 }] })).toMatchObject({
    nWouldDelete: 2,
  });
  expect(await rows.find().toArray()).toEqual([
    { _id: 1, a: 1 },
    { _id: 2, a: 2 },
  ]);
});

test('getParameter says where a parameter is set, and shows those of one place', async () => {
  const level = await admin().command({ getParameter: { showDetails: true }, logLevel: 1 });
  expect(level.logLevel).toEqual({ value: 0, settableAtRuntime: true, settableAtStartup: true });
  const atRuntime = await admin().command({
    getParameter: { allParameters: true, setAt: 'runtime' },
  });
  expect(Object.keys(atRuntime)).toContain('logLevel');
  expect(Object.keys(atRuntime)).not.toContain('authSchemaVersion');
  for (const [sent, code] of [
    [{ setAt: 'never' }, 2],
    [{ setAt: 1 }, 14],
    [{ unknown: true }, 40415],
  ] as const)
    await expect(admin().command({ getParameter: sent })).rejects.toMatchObject({ code });
});

test('top and $collStats count what was done with a collection, and forget it with the collection', async () => {
  const rows = client.db('usage').collection<{ _id: number }>('rows');
  await rows.insertMany([{ _id: 1 }, { _id: 2 }]);
  await rows.findOne({ _id: 1 });
  await rows.updateOne({ _id: 1 }, { $set: { a: 1 } });
  await rows.deleteOne({ _id: 2 });
  const totals = async () => (await admin().command({ top: 1 })).totals['usage.rows'];
  const counts = Object.entries<{ count: number }>(await totals()).map(
    ([name, { count }]) => [name, count] as const,
  );
  expect(Object.fromEntries(counts)).toEqual({
    total: 4,
    readLock: 1,
    writeLock: 3,
    queries: 1,
    getmore: 0,
    insert: 1,
    update: 1,
    remove: 1,
    commands: 0,
  });
  const [stats] = await rows.aggregate([{ $collStats: { latencyStats: {} } }]).toArray();
  expect(stats?.latencyStats.writes.ops).toBe(3);
  expect(stats?.latencyStats.writes.latency).toBeGreaterThan(0);
  await rows.drop();
  expect(await totals()).toBeUndefined();
});

test('a connection knows its address, its name and what its user may do', async () => {
  const { you } = await admin().command({ whatsmyuri: 1 });
  expect(you).toMatch(/^127\.0\.0\.1:\d+$/);
  const status = await admin().command({ connectionStatus: 1, showPrivileges: true });
  expect(status.uuid).toBeInstanceOf(UUID);
  const [privilege] = status.authInfo.authenticatedUserPrivileges;
  expect(privilege.resource).toEqual({ db: '', collection: '' });
  expect(privilege.actions).toContain('insert');
});

test('a fail point with the code of an internal error is no failure of the server', async () => {
  const data = { failCommands: ['ping'], errorCode: 1 };
  await admin().command({ configureFailPoint: 'failCommand', mode: { times: 1 }, data });
  await expect(admin().command({ ping: 1 })).rejects.toMatchObject({ code: 1 });
  expect(account.failures).toEqual([]);
  expect(account.reports.findLast(({ operation }) => operation === 'ping')?.outcome).toBe(
    'invalidInput',
  );
});

test('dataSize measures a range of a key', async () => {
  const rows = client.db('sizes').collection('rows');
  await rows.insertMany([1, 2, 3].map((n) => ({ _id: n as never, n })));
  const size = (more: object) => client.db('sizes').command({ dataSize: 'sizes.rows', ...more });
  expect(await size({ keyPattern: { n: 1 }, min: { n: 2 }, max: { n: 3 } })).toMatchObject({
    numObjects: 1,
    size: 21,
  });
  expect(await size({})).toMatchObject({ numObjects: 3 });
  await expect(size({ min: { n: 1 } })).rejects.toMatchObject({ code: 2 });
});

test('queries of one shape have the same hash, and queries of others do not', async () => {
  const db = client.db('shapes');
  await db.createCollection('rows');
  const hashes = async (filter: object, more = {}) => {
    const plan = await db.command({ explain: { find: 'rows', filter, ...more } });
    return [plan.queryPlanner.planCacheShapeHash, plan.queryShapeHash];
  };
  const [plan, query] = await hashes({ a: 1, b: 2 });
  expect(query).toMatch(/^[0-9A-F]{64}$/);
  expect(await hashes({ $and: [{ a: { $eq: 5 } }, { b: 6 }] })).toEqual([plan, query]);
  const [samePlan, otherQuery] = await hashes({ b: 2, a: 1 });
  expect(samePlan).toBe(plan);
  expect(otherQuery).not.toBe(query);
  for (const other of [{ a: 1 }, { a: { $gt: 1 }, b: 2 }, { $or: [{ a: 1 }, { b: 2 }] }])
    expect(await hashes(other)).not.toContain(plan);
  expect((await hashes({ a: 1, b: 2 }, { sort: { a: 1 } }))[0]).not.toBe(plan);
});

test('filemd5 is the digest of the chunks in their order', async () => {
  const chunks = client.db('files').collection('fs.chunks');
  const data = (text: string) => new Binary(Buffer.from(text));
  await chunks.insertMany([
    { files_id: 1, n: 1, data: data('b') },
    { files_id: 1, n: 0, data: data('a') },
  ]);
  expect(await client.db('files').command({ filemd5: 1 })).toMatchObject({
    numChunks: 2,
    md5: '187ef4436122d1cc2f40dc2b92f0eba0',
  });
});

test('an encrypted field takes ciphertext that is not searchable, and no plain text', async () => {
  const db = client.db('encrypted');
  const keyId = new UUID();
  const fields = [
    { path: 'ssn', bsonType: 'string', keyId },
    { path: 'name', bsonType: 'string', keyId, queries: { queryType: 'equality' } },
  ];
  await db.command({ create: 'people', encryptedFields: { fields } });
  const [listed] = await db.listCollections({ name: 'people' }).toArray();
  expect((listed as { options?: object }).options).toEqual({ encryptedFields: { fields } });
  const people = db.collection('people');
  const ciphertext = (kind: number) => new Binary(Buffer.from([kind, 1, 2, 3]), 6);
  await people.insertOne({ _id: 1 as never, ssn: ciphertext(16), age: 3 });
  const refused = { code: 121 };
  await expect(people.insertOne({ ssn: '123' })).rejects.toMatchObject(refused);
  await expect(people.insertOne({ name: ciphertext(11) })).rejects.toMatchObject(refused);
  await expect(people.updateOne({}, { $set: { ssn: 'plain' } })).rejects.toMatchObject(refused);
  for (const [wrong, code] of [
    [[{ path: '_id', keyId }], 6316403],
    [[...fields, { path: 'ssn', keyId }], 6338402],
    [[{ path: 'a', keyId, bsonType: 'string', queries: { queryType: 'range' } }], 6775201],
    [[{ path: 'a', keyId, bsonType: 'int', queries: [] }], 9783412],
  ] as const)
    await expect(
      db.command({ create: 'wrong', encryptedFields: { fields: wrong } }),
    ).rejects.toMatchObject({ code });
  const compact = { compactStructuredEncryptionData: 'people', compactionTokens: {} };
  await expect(db.command(compact)).rejects.toMatchObject({ code: 7294900 });
});
