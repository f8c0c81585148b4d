// Goal: indexes are declared, listed, used and dropped, and unique ones refuse. Method: the stock driver, exact replies;
// that an index is used shows in the charge.
import type { Collection, IndexSpecification, MongoClient } from 'mongodb';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Account, ENGINES, startAccount } from '../harness.ts';

interface Person {
  _id: number;
  city: string;
  age: number;
  tags?: string[];
  mail?: string;
}

describe.each(ENGINES)('%s', (engine) => {
  let account: Account;
  let client: MongoClient;
  beforeAll(async () => {
    account = await startAccount({ engine });
    client = await account.connect({ maxPoolSize: 1 });
  });
  afterAll(async () => {
    expect(account.failures).toEqual([]);
    await account.close();
  });

  async function filled(name: string, count = 600): Promise<Collection<Person>> {
    const people = client.db('i').collection<Person>(name);
    await people.insertMany(
      Array.from({ length: count }, (_, _id) => ({
        _id,
        city: `city ${_id % 30}`,
        age: _id % 50,
        tags: [`t${_id % 7}`, `u${_id % 11}`],
      })),
    );
    return people;
  }

  const charge = async (): Promise<number> =>
    (await client.db('i').command({ getLastRequestStatistics: 1 })).RequestCharge;

  test('an index is built while another serves, and makes finds cheaper', async () => {
    const people = await filled('people');
    const ids = async (filter: object) =>
      (await people.find(filter).sort({ _id: 1 }).toArray()).map(({ _id }) => _id);
    const byCity = { city: 'city 4', age: { $gte: 30 } };
    const expected = await ids(byCity);
    const scanned = await charge();
    expect(
      await client
        .db('i')
        .command({ createIndexes: 'people', indexes: [{ key: { city: 1 }, name: 'city_1' }] }),
    ).toMatchObject({
      createdCollectionAutomatically: false,
      numIndexesBefore: 1,
      numIndexesAfter: 2,
      ok: 1,
    });
    expect(await ids(byCity)).toEqual(expected);
    const indexed = await charge();
    expect(indexed).toBeLessThan(scanned / 2);
    const other = await account.connect();
    const building = other.db('i').collection<Person>('people').createIndex({ tags: 1, age: -1 });
    expect(await ids(byCity)).toEqual(expected);
    expect(await charge()).toBe(indexed);
    expect(await building).toBe('tags_1_age_-1');
    expect(await ids({ tags: 't3', age: { $lt: 4 } })).toEqual([
      3, 52, 101, 150, 353, 402, 451, 500,
    ]);
    expect(await charge()).toBeLessThan(scanned / 2);
    expect(await people.indexes()).toEqual([
      { v: 2, key: { _id: 1 }, name: '_id_' },
      { v: 2, key: { city: 1 }, name: 'city_1' },
      { v: 2, key: { tags: 1, age: -1 }, name: 'tags_1_age_-1' },
    ]);
  });

  test('two bounds that two elements of an array meet are found through the index', async () => {
    const lists = client.db('i').collection<{ _id: number; a: number[] }>('lists');
    await lists.insertMany([
      { _id: 1, a: [1, 9] },
      { _id: 2, a: [4] },
      { _id: 3, a: [] },
    ]);
    await lists.createIndex({ a: 1 });
    expect(await lists.find({ a: { $gt: 5, $lt: 3 } }).toArray()).toEqual([{ _id: 1, a: [1, 9] }]);
    expect(
      await lists
        .find({ a: { $in: [4, 9] } })
        .sort({ _id: 1 })
        .map(({ _id }) => _id)
        .toArray(),
    ).toEqual([1, 2]);
    expect(await lists.find({ a: [] }).toArray()).toEqual([{ _id: 3, a: [] }]);
    expect(
      await lists
        .find({ $or: [{ a: 4 }, { _id: 3 }] })
        .sort({ _id: 1 })
        .map(({ _id }) => _id)
        .toArray(),
    ).toEqual([2, 3]);
  });

  test('a unique index refuses a second value with its key', async () => {
    const mails = client.db('i').collection<{ _id: number; mail: string }>('mails');
    await mails.insertMany([
      { _id: 1, mail: 'a' },
      { _id: 2, mail: 'b' },
    ]);
    await mails.createIndex({ mail: 1 }, { unique: true });
    const refusal = {
      code: 11000,
      message:
        'E11000 duplicate key error collection: i.mails index: mail_1 dup key: { mail: "a" }',
      keyPattern: { mail: 1 },
      keyValue: { mail: 'a' },
    };
    await expect(mails.insertOne({ _id: 3, mail: 'a' })).rejects.toMatchObject(refusal);
    await expect(mails.updateOne({ _id: 2 }, { $set: { mail: 'a' } })).rejects.toMatchObject(
      refusal,
    );
    await mails.insertOne({ _id: 4, mail: 'c' });
    await mails.updateOne({ _id: 1 }, { $set: { mail: 'd' } });
    await mails.insertOne({ _id: 3, mail: 'a' });
    expect(await mails.indexes()).toContainEqual({
      v: 2,
      key: { mail: 1 },
      name: 'mail_1',
      unique: true,
    });
  });

  test('a partial unique index refuses only what its filter has, and hides nothing from finds', async () => {
    const users = client.db('i').collection<{ _id: number; mail: string; left?: boolean }>('users');
    await users.insertMany([
      { _id: 1, mail: 'a', left: true },
      { _id: 2, mail: 'a', left: false },
    ]);
    await users.createIndex(
      { mail: 1 },
      { unique: true, partialFilterExpression: { left: false } },
    );
    await users.insertOne({ _id: 3, mail: 'a', left: true });
    await users.insertOne({ _id: 4, mail: 'a' });
    const refusal = { code: 11000, keyPattern: { mail: 1 }, keyValue: { mail: 'a' } };
    await expect(users.insertOne({ _id: 5, mail: 'a', left: false })).rejects.toMatchObject(
      refusal,
    );
    await expect(users.updateOne({ _id: 3 }, { $set: { left: false } })).rejects.toMatchObject(
      refusal,
    );
    const ids = (filter: object) =>
      users
        .find(filter)
        .sort({ _id: 1 })
        .map(({ _id }) => _id)
        .toArray();
    expect(await ids({ mail: 'a' })).toEqual([1, 2, 3, 4]);
    expect(await ids({ mail: 'a', left: false })).toEqual([2]);
  });

  test('a partial index demands nothing of documents that it lacks', async () => {
    const partialFilterExpression = { c: 1 };
    const cases: [Record<string, 1 | string>, object, number][] = [
      [{ a: 1, b: 1 }, { a: [1], b: [2] }, 171],
      [{ a: '2dsphere' }, { a: 'nowhere' }, 16755],
      [{ a: 'hashed' }, { a: [1] }, 16766],
    ];
    for (const [at, [key, document, code]] of cases.entries()) {
      const before = client.db('i').collection(`demands${at}`);
      await before.createIndex(key as IndexSpecification, { partialFilterExpression });
      const { insertedId: _id } = await before.insertOne({ ...document });
      await expect(before.insertOne({ ...document, c: 1 })).rejects.toMatchObject({ code });
      await expect(before.updateOne({ _id }, { $set: { c: 1 } })).rejects.toMatchObject({ code });
      await before.updateOne({ _id }, { $set: { d: 1 } });
      const after = client.db('i').collection(`demanded${at}`);
      await after.insertOne({ ...document });
      await after.createIndex(key as IndexSpecification, { partialFilterExpression });
      expect(await after.indexes()).toHaveLength(2);
    }
  });

  test('two arrays in one element are refused by an index over both', async () => {
    const nested = client.db('i').collection('nested');
    await nested.createIndex({ 'a.b': 1, 'a.c': 1 });
    const refusal = { code: 171, message: 'cannot index parallel arrays [c] [b]' };
    await expect(nested.insertOne({ a: [{ b: [1], c: [2] }] })).rejects.toMatchObject(refusal);
    await expect(nested.insertOne({ a: [1, { b: [], c: [] }] })).rejects.toMatchObject(refusal);
    await nested.insertOne({
      a: [
        { b: [1], c: 2 },
        { b: 1, c: [2] },
      ],
    });
  });

  test('a unique index over what is there twice is refused and leaves nothing', async () => {
    const twice = client.db('i').collection('twice');
    await twice.insertMany([{ a: 1 }, { a: 1 }]);
    await expect(twice.createIndex({ a: 1 }, { unique: true })).rejects.toMatchObject({
      code: 11000,
    });
    expect(await twice.indexes()).toEqual([{ v: 2, key: { _id: 1 }, name: '_id_' }]);
  });

  test('indexes are dropped by name, by key and all together', async () => {
    const people = await filled('dropped', 10);
    await people.createIndexes([
      { key: { age: 1 } },
      { key: { city: -1 }, name: 'by city' },
      { key: { 'a.b': 1 }, sparse: true },
    ]);
    expect(
      await client.db('i').command({ dropIndexes: 'dropped', index: 'by city' }),
    ).toMatchObject({
      nIndexesWas: 4,
      ok: 1,
    });
    expect(
      await client.db('i').command({ dropIndexes: 'dropped', index: { age: 1 } }),
    ).toMatchObject({
      nIndexesWas: 3,
      ok: 1,
    });
    await expect(people.dropIndex('none')).rejects.toMatchObject({
      code: 27,
      message: 'index not found with name [none]',
    });
    await expect(people.dropIndex('_id_')).rejects.toMatchObject({ code: 72 });
    expect(await people.dropIndexes()).toBe(true);
    expect((await people.indexes()).map(({ name }) => name)).toEqual(['_id_']);
  });

  test('what cannot be declared is refused by its code', async () => {
    const people = await filled('refused', 3);
    await people.createIndex({ age: 1 });
    expect(await people.createIndex({ age: 1 })).toBe('age_1');
    const code = async (key: object, options: object = {}) =>
      people.createIndex(key as never, options).then(
        () => 0,
        ({ code }) => code,
      );
    expect(await code({ age: 1 }, { name: 'other' })).toBe(85);
    expect(await code({ city: 1 }, { name: 'age_1' })).toBe(86);
    expect(await code({ city: 'unknown' })).toBe(67);
    expect(await code({ '$**': 1, city: 1 })).toBe(67);
    expect(await code({ when: 1, city: 1 }, { expireAfterSeconds: 5 })).toBe(67);
    expect(await code({ city: 'hashed' }, { unique: true })).toBe(16764);
    expect(await code({ city: 1 }, { sparse: true, partialFilterExpression: { age: 1 } })).toBe(67);
    await client
      .db('i')
      .admin()
      .command({ shardCollection: 'i.sharded', key: { k: 'hashed' } });
    await expect(
      client.db('i').collection('sharded').createIndex({ a: 1 }, { unique: true }),
    ).rejects.toMatchObject({
      code: 67,
      message: 'cannot create unique index over { a: 1 } with shard key pattern { k: 1 }',
    });
    await client.db('i').collection('sharded').createIndex({ k: 1, a: 1 }, { unique: true });
  });
});
