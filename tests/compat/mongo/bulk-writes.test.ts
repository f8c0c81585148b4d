// Goal: what the driver's own suites found in writes of many documents, and around them. Method: the stock driver.
import {
  type AnyBulkWriteOperation,
  type ClientBulkWriteModel,
  Long,
  type MongoClient,
} from 'mongodb';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Account, startAccount } from './harness.ts';

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

/** Models of any collection: the ids of these tests are numbers. */
type Schemas = Record<string, { _id: number; n?: number }>;
type Model = ClientBulkWriteModel<Schemas>;

const insert = (namespace: string, id: number): Model => ({
  name: 'insertOne',
  namespace,
  document: { _id: id },
});

test('an ordered bulkWrite over collections ends at the first duplicate, and what came before is there', async () => {
  const models: Model[] = [
    insert('b.one', 1),
    insert('b.one', 2),
    insert('b.two', 1),
    { name: 'updateOne', namespace: 'b.one', filter: { _id: 2 }, update: { $set: { n: 1 } } },
    insert('b.one', 3),
    insert('b.one', 1),
    insert('b.one', 4),
  ];
  const error = await client.bulkWrite<Schemas>(models).catch((refused) => refused);
  expect([...error.writeErrors].map(([at, { code }]) => [at, code])).toEqual([[5, 11000]]);
  expect(error.partialResult).toMatchObject({ insertedCount: 4, modifiedCount: 1 });
  const db = client.db('b');
  expect(await db.collection('one').find().sort({ _id: 1 }).toArray()).toEqual([
    { _id: 1 },
    { _id: 2, n: 1 },
    { _id: 3 },
  ]);
  expect(await db.collection('two').countDocuments()).toBe(1);
});

test('an unordered bulkWrite tells each duplicate by its place', async () => {
  await client.db('u').collection<{ _id: number }>('c').insertOne({ _id: 2 });
  const models = [1, 2, 3, 3, 4].map((id) => insert('u.c', id));
  const error = await client
    .bulkWrite<Schemas>(models, { ordered: false })
    .catch((refused) => refused);
  expect([...error.writeErrors.keys()]).toEqual([1, 3]);
  expect(error.partialResult.insertedCount).toBe(3);
});

test('the results of a bulkWrite of thousands come in several batches', async () => {
  const models = Array.from({ length: 3000 }, (_, id) => insert('many.c', id));
  const result = await client.bulkWrite<Schemas>(models, { verboseResults: true });
  expect(result.insertedCount).toBe(3000);
  expect(result.insertResults?.size).toBe(3000);
});

test('refusals of an insert of thousands name the index of each document', async () => {
  const rows = client.db('many').collection<{ _id: number }>('d');
  await rows.insertMany([{ _id: 100 }, { _id: 2500 }]);
  const documents = Array.from({ length: 3000 }, (_, id) => ({ _id: id }));
  const placesOf = async (ordered: boolean) => {
    const error = await rows.insertMany(documents, { ordered }).catch((refused) => refused);
    return { at: error.writeErrors.map(({ index }: { index: number }) => index), of: error.result };
  };
  expect(await placesOf(true)).toMatchObject({ at: [100], of: { insertedCount: 100 } });
  await rows.deleteMany({ _id: { $lt: 100 } });
  const all = await placesOf(false);
  expect(all.at).toEqual([100, 2500]);
  expect(await rows.countDocuments()).toBe(3000);
});

test('a repeated bulkWrite inserts nothing twice', async () => {
  const db = client.db('admin');
  const command = {
    bulkWrite: 1,
    ops: [1, 2, 3].map((id) => ({ insert: 0, document: { _id: id } })),
    nsInfo: [{ ns: 'again.c' }],
    txnNumber: Long.fromNumber(1),
  };
  await client.withSession(async (session) => {
    const first = await db.command(command, { session });
    const second = await db.command(command, { session });
    expect([first.nInserted, second.nInserted, second.nErrors]).toEqual([3, 3, 0]);
    expect(second.retriedStmtIds).toEqual([0, 1, 2]);
  });
  expect(await client.db('again').collection('c').countDocuments()).toBe(3);
});

test('an upsert makes a document whose _id is longer than a note', async () => {
  const rows = client.db('long').collection<{ _id: string; n: number }>('c');
  const id = 'a'.repeat(100_000);
  const made = await rows.updateOne({ _id: id }, { $set: { n: 1 } }, { upsert: true });
  expect(made.upsertedId).toBe(id);
  const bulk: AnyBulkWriteOperation<{ _id: string; n: number }>[] = [
    { updateOne: { filter: { _id: `b${id}` }, update: { $set: { n: 2 } }, upsert: true } },
  ];
  expect((await rows.bulkWrite(bulk)).upsertedIds[0]).toBe(`b${id}`);
  expect((await rows.findOne({ _id: id }))?.n).toBe(1);
});

test('findOneAndUpdate returns a document that is longer than a note', async () => {
  const rows = client.db('long').collection<{ _id: number; n: number; text: string }>('d');
  const text = 'x'.repeat(200_000);
  await rows.insertOne({ _id: 1, n: 1, text });
  const update = { $inc: { n: 1 } };
  expect(await rows.findOneAndUpdate({ _id: 1 }, update)).toEqual({ _id: 1, n: 1, text });
  const after = await rows.findOneAndUpdate({ n: 2 }, update, { returnDocument: 'after' });
  expect(after).toEqual({ _id: 1, n: 3, text });
});

test('measurements of a time series may have the same _id', async () => {
  const db = client.db('series');
  await db.createCollection('t', { timeseries: { timeField: 'at', metaField: 'of' } });
  const rows = db.collection<{ _id: number; at: Date; of: string; n: number }>('t');
  const [early, late] = [new Date(1000), new Date(2000)];
  await rows.insertMany([
    { _id: 1, at: early, of: 'a', n: 1 },
    { _id: 1, at: late, of: 'a', n: 2 },
    { _id: 2, at: late, of: 'b', n: 3 },
  ]);
  const found = await rows.find({ _id: 1 }).sort({ at: 1 }).toArray();
  expect(found.map(({ n }) => n)).toEqual([1, 2]);
  expect((await rows.updateMany({ of: 'a' }, { $set: { of: 'c' } })).modifiedCount).toBe(2);
  expect((await rows.deleteMany({ of: 'c' })).deletedCount).toBe(2);
  expect(await rows.countDocuments()).toBe(1);
});

test('an explained pipeline takes no write concern, and $out no linearizable read concern', async () => {
  const db = client.db('e');
  const pipeline = [{ $out: 'there' }];
  const explained = { aggregate: 'c', pipeline, cursor: {}, writeConcern: { w: 1 } };
  await expect(db.command({ explain: explained })).rejects.toMatchObject({ code: 9 });
  const linearizable = { readConcern: { level: 'linearizable' } };
  await expect(
    db.command({ aggregate: 'c', pipeline, cursor: {}, ...linearizable }),
  ).rejects.toMatchObject({ code: 72 });
});

test('search indexes are refused with the words that drivers look for', async () => {
  const rows = client.db('e').collection('c');
  await expect(rows.listSearchIndexes().toArray()).rejects.toMatchObject({
    code: 31082,
    message: expect.stringContaining('Atlas'),
  });
});

test('a bulkWrite, create and createIndex of a transaction show nothing before its commit', async () => {
  const db = client.db('t');
  const names = async () => (await db.listCollections().toArray()).map(({ name }) => name).sort();
  await client.withSession(async (session) => {
    session.startTransaction();
    await client.bulkWrite<Schemas>([insert('t.bulk', 1)], { session });
    await db.createCollection('made', { session });
    await db.collection('indexed').createIndex({ n: 1 }, { session });
    expect(await names()).toEqual([]);
    await expect(db.collection('indexed').indexes()).rejects.toMatchObject({ code: 26 });
    await session.commitTransaction();
  });
  expect(await names()).toEqual(['bulk', 'indexed', 'made']);
});

test('an insert that meets the insert of another transaction is refused as a whole, transiently', async () => {
  const rows = client.db('t').collection<{ _id: number }>('rows');
  await rows.insertOne({ _id: 0 });
  const [one, other] = [client.startSession(), client.startSession()];
  one.startTransaction();
  other.startTransaction();
  await rows.insertOne({ _id: 1 }, { session: one });
  const error = await rows.insertOne({ _id: 1 }, { session: other }).catch((refused) => refused);
  expect(error).toMatchObject({ code: 112, codeName: 'WriteConflict' });
  expect(error.hasErrorLabel('TransientTransactionError')).toBe(true);
  await one.commitTransaction();
  await other.abortTransaction().catch(() => undefined);
  await Promise.all([one.endSession(), other.endSession()]);
});

test('getMore takes a time only where the cursor waits for data; on an empty collection none waits', async () => {
  const db = client.db('tail');
  const log = await db.createCollection<{ _id: number }>('log', { capped: true, size: 4096 });
  const awaiting = { find: 'log', tailable: true, awaitData: true, batchSize: 1 };
  expect((await db.command(awaiting)).cursor.id.toString()).toBe('0');
  await log.insertMany([{ _id: 1 }, { _id: 2 }]);
  const more = async (find: object) => {
    const { cursor } = await db.command({ ...find, batchSize: 1 });
    return db.command({ getMore: cursor.id, collection: 'log', maxTimeMS: 1 });
  };
  expect((await more(awaiting)).cursor.nextBatch).toEqual([{ _id: 2 }]);
  await expect(more({ find: 'log', tailable: true })).rejects.toMatchObject({ code: 2 });
  await expect(more({ find: 'log' })).rejects.toMatchObject({ code: 2 });
});

test('an update with an unknown stage fails as a command, one with a stage that updates lack as a statement', async () => {
  const db = client.db('stages');
  const run = (stage: object) => db.command({ update: 'c', updates: [{ q: {}, u: [stage] }] });
  await expect(run({ $nope: 1 })).rejects.toMatchObject({ code: 40324 });
  await expect(run({ $set: {}, $unset: 'a' })).rejects.toMatchObject({ code: 40323 });
  expect(await run({ $match: {} })).toMatchObject({ ok: 1, writeErrors: [{ code: 72 }] });
});
