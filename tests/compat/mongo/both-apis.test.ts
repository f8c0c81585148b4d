// Goal: one container, two APIs: documents through the NoSQL client, items through the driver. Method: exact answers.
import type { CosmosClient } from '@azure/cosmos';
import { Decimal128, Double, Int32, Long, type MongoClient, ObjectId } from 'mongodb';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Account, ENGINES, startAccount } from './harness.ts';

/** Any document. */
interface Loose {
  _id: string | number | object;
  [name: string]: unknown;
}

describe.each(ENGINES)('%s', (engine) => {
  let account: Account;
  let mongo: MongoClient;
  let cosmos: CosmosClient;
  beforeAll(async () => {
    account = await startAccount({ engine });
    mongo = await account.connect();
    cosmos = account.cosmos();
  });
  afterAll(async () => {
    expect(account.failures).toEqual([]);
    await account.close();
  });

  const SYSTEM = {
    _rid: expect.any(String),
    _self: expect.any(String),
    _etag: expect.any(String),
    _attachments: 'attachments/',
    _ts: expect.any(Number),
  };

  test('documents are read and queried by SQL as extended JSON', async () => {
    await mongo
      .db('both')
      .admin()
      .command({ shardCollection: 'both.read', key: { city: 'hashed' } });
    await mongo
      .db('both')
      .collection<Loose>('read')
      .insertMany([
        {
          _id: new ObjectId('5f3a00112233445566778899'),
          city: 'a',
          n: new Double(1),
          big: Long.fromString('9007199254740993'),
          price: Decimal128.fromString('1.50'),
          when: new Date(5),
          id: 'own',
        },
        { _id: 7, city: 'b', n: 2, tags: ['x', 'y'] },
        { _id: 'seven', city: 'b', n: new Int32(3) },
      ]);
    const container = cosmos.database('both').container('read');
    const { resource } = await container.item('5f3a00112233445566778899', 'a').read();
    expect(resource).toEqual({
      id: '5f3a00112233445566778899',
      _id: { $oid: '5f3a00112233445566778899' },
      city: 'a',
      n: 1,
      big: { $numberLong: '9007199254740993' },
      price: { $numberDecimal: '1.50' },
      when: { $date: '1970-01-01T00:00:00.005Z' },
      $id: 'own',
      ...SYSTEM,
    });
    const query = async (text: string) => (await container.items.query(text).fetchAll()).resources;
    expect((await query('SELECT VALUE c.id FROM c WHERE c.n > 1')).sort()).toEqual(['7', 'seven']);
    expect(
      await query("SELECT c.id, c.tags FROM c WHERE c._id = 7 AND ARRAY_CONTAINS(c.tags, 'x')"),
    ).toEqual([{ id: '7', tags: ['x', 'y'] }]);
    expect(await query("SELECT VALUE COUNT(1) FROM c WHERE c.city = 'b'")).toEqual([2]);
  });

  test('a NoSQL upsert is seen by find, and types survive the way back', async () => {
    await mongo
      .db('both')
      .admin()
      .command({ shardCollection: 'both.written', key: { city: 'hashed' } });
    const written = mongo.db('both').collection<Loose>('written');
    const container = cosmos.database('both').container('written');
    await container.items.upsert({
      id: 'x',
      city: 'a',
      n: 5,
      half: 0.5,
      when: { $date: '2020-01-31T00:00:00.000Z' },
    });
    const found = await written.findOne({ n: 5 }, { promoteValues: false });
    expect(found).toEqual({
      _id: 'x',
      city: 'a',
      n: new Int32(5),
      half: new Double(0.5),
      when: new Date('2020-01-31'),
    });
    await written.insertOne({
      _id: new ObjectId('5f3a00112233445566778899'),
      city: 'a',
      price: Decimal128.fromString('1.50'),
    });
    const { resource } = await container.item('5f3a00112233445566778899', 'a').read();
    await container.items.upsert({ ...resource, seen: true });
    expect(await written.findOne({ seen: true })).toEqual({
      _id: new ObjectId('5f3a00112233445566778899'),
      city: 'a',
      price: Decimal128.fromString('1.50'),
      seen: true,
    });
    await container.item('x', 'a').delete();
    expect(await written.countDocuments()).toBe(1);
  });

  test('an unsharded collection is a container without a key', async () => {
    await mongo
      .db('both')
      .collection<{ _id: number }>('plain')
      .insertMany([{ _id: 1 }, { _id: 2 }]);
    const container = cosmos.database('both').container('plain');
    const { resources } = await container.items.query('SELECT VALUE c._id FROM c ').fetchAll();
    expect(resources.sort()).toEqual([1, 2]);
  });
});
