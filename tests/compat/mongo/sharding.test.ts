// Goal: sharded collections are partitioned containers: cursors survive splits. Method: the stock driver, exact replies.
import { Decimal128, Long, type MongoClient, ObjectId } from 'mongodb';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Account, ENGINES, startAccount } from './harness.ts';

const decimal = (digits: string) => Decimal128.fromString(digits);

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

  function container(name: string) {
    const database = account.service.databases.find('s');
    const found = database && account.service.containers.find(database, name);
    if (found === undefined) throw new Error('no such collection');
    return found;
  }

  test('tools that list shards find one, and may enable sharding', async () => {
    const admin = client.db('admin');
    expect(await admin.command({ enableSharding: 's' })).toMatchObject({ ok: 1 });
    expect((await admin.command({ listShards: 1 })).shards).toEqual([
      { _id: 'globaldb', host: `globaldb/127.0.0.1:${account.port}`, state: 1 },
    ]);
    expect(await admin.command({ balancerStatus: 1 })).toMatchObject({ inBalancerRound: false });
  });

  test('shardCollection has the documented reply', async () => {
    const db = client.db('s');
    expect(
      await db.admin().command({ shardCollection: 's.uni', key: { 'a.b': 'hashed' } }),
    ).toMatchObject({
      _t: 'ShardCollectionResponse',
      collectionsharded: 's.uni',
      ok: 1,
    });
    expect(container('uni').partitionKey).toEqual({ paths: ['/a/b'], kind: 'Hash', version: 2 });
    await expect(
      db.admin().command({ shardCollection: 's.uni', key: { x: 'hashed' } }),
    ).rejects.toMatchObject({ code: 20 });
    await expect(
      db.admin().command({ shardCollection: 's.two', key: { x: 1, y: 1 } }),
    ).rejects.toMatchObject({ code: 2 });
  });

  test('a sort over mixed types at batchSize 2 goes on across a split', async () => {
    await client
      .db('s')
      .admin()
      .command({ shardCollection: 's.mixed', key: { k: 'hashed' } });
    const mixed = client
      .db('s')
      .collection<{ _id: number; k: number; v?: object | string | number | boolean | null }>(
        'mixed',
      );
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
    await mixed.insertMany(
      values.map((v, _id) => (v === undefined ? { _id, k: _id } : { _id, k: _id, v })),
    );
    const cursor = mixed.find().sort({ v: 1, _id: 1 }).batchSize(2);
    const ids: number[] = [];
    for await (const { _id } of cursor) {
      ids.push(_id);
      if (ids.length === 3) await account.service.resizer.split(container('mixed'), '0');
    }
    expect(ids).toEqual([2, 10, 3, 1, 9, 8, 0, 4, 7, 5, 6]);
    expect(container('mixed').partitions.length).toBe(2);
  });

  test('a cursor without a sort returns every document once across a split', async () => {
    await client
      .db('s')
      .admin()
      .command({ shardCollection: 's.many', key: { k: 'hashed' } });
    const many = client
      .db('s')
      .collection<{ _id: number; k: string; list: number[]; x?: number }>('many');
    await many.insertMany(
      Array.from({ length: 500 }, (_, _id) => ({ _id, k: `k${_id % 50}`, list: [_id, -_id] })),
    );
    const seen: number[] = [];
    for await (const { _id } of many.find({ list: { $lte: 0 } }).batchSize(2)) {
      seen.push(_id);
      if (seen.length === 100) await account.service.resizer.split(container('many'), '0');
    }
    expect(seen.sort((a, b) => a - b)).toEqual(Array.from({ length: 500 }, (_, at) => at));
    expect(
      await many
        .find({ k: 'k7' })
        .sort({ _id: 1 })
        .map(({ _id }) => _id)
        .toArray(),
    ).toMatchObject([7, 57, 107, 157, 207, 257, 307, 357, 407, 457]);
    expect(await many.findOne({ _id: 7 })).toEqual({ _id: 7, k: 'k7', list: [7, -7] });
    expect(
      await many.updateMany({ k: { $in: ['k1', 'k2'] } }, { $push: { list: 9 } }),
    ).toMatchObject({ matchedCount: 20, modifiedCount: 20 });
    expect(
      await many.findOneAndUpdate(
        { k: 'k3' },
        { $set: { x: 1 } },
        { sort: { _id: -1 }, returnDocument: 'after', projection: { x: 1 } },
      ),
    ).toEqual({ _id: 453, x: 1 });
    await expect(many.updateOne({ _id: 7, k: 'k7' }, { $set: { k: 'k8' } })).rejects.toMatchObject({
      code: 66,
      message: "Performing an update on the path 'k' would modify the immutable field 'k'",
    });
  });

  test('_ids that differ in the order of their names are two, and numbers of all kinds are one', async () => {
    const ids = client.db('s').collection<{ _id: number | object }>('ids');
    await ids.insertMany([{ _id: { a: 1, b: 2 } }, { _id: { b: 2, a: 1 } }, { _id: 1 }]);
    await expect(ids.insertOne({ _id: Long.fromNumber(1) })).rejects.toMatchObject({
      code: 11000,
      keyValue: { _id: 1 },
    });
    expect(await ids.findOne({ _id: { b: 2, a: 1 } })).toEqual({ _id: { b: 2, a: 1 } });
    expect(await ids.countDocuments()).toBe(3);
  });

  test('zeros of all kinds and signs are one _id of a collection that is sharded by it', async () => {
    const name = 'zeros';
    await client.db('admin').command({ shardCollection: `s.${name}`, key: { _id: 'hashed' } });
    const zeros = client.db('s').collection<{ _id: number | Decimal128 | Long }>(name);
    await zeros.insertOne({ _id: 0 });
    for (const zero of [-0, Long.fromNumber(0), ...['0', '-0', '0E+5', '-0.00'].map(decimal)]) {
      await expect(zeros.insertOne({ _id: zero })).rejects.toMatchObject({ code: 11000 });
      expect(await zeros.findOne({ _id: zero })).toEqual({ _id: 0 });
    }
  });

  test('a cursor goes on through another connection of its session, and in no other', async () => {
    const db = client.db('s');
    const session = client.startSession();
    const { cursor } = await db.command(
      { find: 'many', sort: { _id: 1 }, batchSize: 2 },
      { session },
    );
    const more = { getMore: cursor.id, collection: 'many', batchSize: 2 };
    await expect(db.command(more)).rejects.toMatchObject({ code: 50738 });
    const { cursor: next } = await db.command(more, { session });
    expect(next.nextBatch.map(({ _id }: { _id: number }) => _id)).toEqual([2, 3]);
    await session.endSession();
    await db.command({ killCursors: 'many', cursors: [cursor.id] });
  });

  test('cursors are killed, and unknown ones are not found', async () => {
    const cursor = client.db('s').collection('many').find().batchSize(2);
    await cursor.next();
    const { id } = cursor;
    expect(await client.db('s').command({ killCursors: 'many', cursors: [id] })).toMatchObject({
      cursorsKilled: [id],
      cursorsNotFound: [],
      cursorsAlive: [],
      cursorsUnknown: [],
      ok: 1,
    });
    await expect(client.db('s').command({ getMore: id, collection: 'many' })).rejects.toMatchObject(
      { code: 43, message: `cursor id ${id} not found` },
    );
  });
});
