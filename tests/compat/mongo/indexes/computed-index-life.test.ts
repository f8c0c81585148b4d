// Goal: indexes that the API computes refuse, expire, are explained, survive restarts, and stay small; those that the
// version before only described are built. Method: the stock driver, exact replies and explanations.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Collection, Document } from 'mongodb';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { mongoHome } from '../../../../src/api/mongo/index.ts';
import { type Account, ENGINES, startAccount } from '../harness.ts';

const codeOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'ok',
    (error) => error.code,
  );

describe.each(ENGINES)('%s', (engine) => {
  let account: Account;
  let collection: (name: string) => Collection;
  beforeAll(async () => {
    account = await startAccount({ engine });
    const client = await account.connect();
    collection = (name) => client.db('life').collection(name);
  });
  afterAll(async () => {
    expect(account.failures).toEqual([]);
    await account.close();
  });

  test('a unique index with a collation refuses what the collation finds equal', async () => {
    const people = collection('people');
    const options = { unique: true, collation: { locale: 'en', strength: 2 } };
    await people.createIndex({ name: 1 }, options);
    await people.insertOne({ name: 'Cafe' });
    expect(await codeOf(people.insertOne({ name: 'CAFE' }))).toBe(11000);
    expect(await codeOf(people.insertOne({ name: 'café' }))).toBe('ok');
    expect(await codeOf(people.updateOne({ name: 'café' }, { $set: { name: 'cafe' } }))).toBe(
      11000,
    );
    expect(await codeOf(people.insertOne({ name: { first: 'Bob' } }))).toBe('ok');
    expect(await codeOf(people.insertOne({ name: { first: 'BOB' } }))).toBe(11000);
    await people.deleteOne({ name: 'Cafe' });
    expect(await codeOf(people.insertOne({ name: 'CaFe' }))).toBe('ok');
  });

  test('a unique index with a collation is not built over equal texts', async () => {
    const people = collection('doubles');
    await people.insertMany([{ name: 'a' }, { name: 'A' }]);
    const build = (strength: number) =>
      codeOf(
        people.createIndex({ name: 1 }, { unique: true, collation: { locale: 'en', strength } }),
      );
    expect(await build(2)).toBe(11000);
    expect(await build(3)).toBe('ok');
  });

  test('an update that nests a document too deeply is refused, and others beside it are written', async () => {
    const nested = (depth: number): Document => (depth === 0 ? {} : { a: nested(depth - 1) });
    const path = (steps: number) => ['deep', ...Array(steps - 1).fill('a')].join('.');
    for (const [name, key] of Object.entries({
      text: { '$**': 'text' },
      places: { a: '2dsphere' },
    })) {
      const deep = collection(`deep ${name}`);
      await deep.createIndex(key as never);
      await deep.insertMany([{ _id: 1 as never }, { _id: 2 as never }]);
      const deepen = (steps: number, more = {}) =>
        codeOf(
          deep.updateOne({ _id: 1 as never, ...more }, { $set: { [path(steps)]: nested(99) } }),
        );
      const beside = codeOf(deep.updateOne({ _id: 2 as never }, { $set: { n: 1 } }));
      expect(await Promise.all([deepen(102), deepen(150), beside])).toEqual([15, 15, 'ok']);
      expect(await deepen(101)).toBe('ok');
      expect(await codeOf(deep.updateOne({ _id: 1 as never }, { $set: { n: 1 } }))).toBe('ok');
      const upsert = { $set: { [path(150)]: nested(99) } };
      expect(await codeOf(deep.updateOne({ _id: 3 as never }, upsert, { upsert: true }))).toBe(15);
      expect(await codeOf(deep.deleteOne({ _id: 1 as never }))).toBe('ok');
    }
  });

  test('a unique index with a filter of any form holds for exactly its documents', async () => {
    const people = collection('partial');
    const partialFilterExpression = {
      $or: [{ kind: { $in: ['a', 'b'] } }, { mail: { $type: 'string' }, age: { $gt: 5 } }],
    };
    await people.createIndex({ mail: 1 }, { unique: true, partialFilterExpression });
    const insert = (document: Document) => codeOf(people.insertOne(document));
    expect(await insert({ mail: 'm', kind: 'c' })).toBe('ok');
    expect(await insert({ mail: 'm', kind: 'd', age: 5 })).toBe('ok');
    expect(await insert({ mail: 'm', kind: 'a' })).toBe('ok');
    expect(await insert({ mail: 'm', kind: ['x', 'b'] })).toBe(11000);
    expect(await insert({ mail: 'm', age: 6 })).toBe(11000);
    expect(await codeOf(people.updateOne({ kind: 'c' }, { $set: { kind: 'b' } }))).toBe(11000);
    expect(await codeOf(people.updateOne({ kind: 'a' }, { $set: { kind: 'e' } }))).toBe('ok');
    expect(await insert({ mail: 'm', age: 6 })).toBe('ok');
  });

  test('explanations name the index', async () => {
    const all = collection('explained');
    await all.createIndex({ place: '2dsphere' });
    await all.createIndex({ at: '2d' });
    await all.createIndex({ words: 'text' });
    await all.createIndex({ 'w.$**': 1 });
    await all.createIndex({ a: 1, h: 'hashed' });
    await all.createIndex({ name: 1 }, { collation: { locale: 'en', strength: 2 } });
    await all.createIndex({ p: 1 }, { partialFilterExpression: { p: { $in: [1, 2] } } });
    const collation = { locale: 'en', strength: 2 };
    const stages = async (filter: Document, options = {}) => {
      const { queryPlanner } = await all.find(filter, options).explain('queryPlanner');
      const names: string[] = [];
      for (let plan = queryPlanner.winningPlan; plan !== undefined; plan = plan.inputStage)
        names.push(plan.indexName === undefined ? plan.stage : `${plan.stage} ${plan.indexName}`);
      return names.join(' < ');
    };
    const $geometry = { type: 'Point', coordinates: [1, 2] };
    expect(await stages({ place: { $near: { $geometry } } })).toBe(
      'GEO_NEAR_2DSPHERE place_2dsphere',
    );
    expect(await stages({ place: { $geoIntersects: { $geometry } } })).toBe(
      'FETCH < IXSCAN place_2dsphere',
    );
    expect(await stages({ at: { $near: [1, 2] } })).toBe('GEO_NEAR_2D at_2d');
    expect(await stages({ $text: { $search: 'x' } })).toBe(
      'TEXT_MATCH words_text < FETCH < IXSCAN words_text',
    );
    expect(await stages({ 'w.x.y': 5 })).toBe('FETCH < IXSCAN w.$**_1');
    expect(await stages({ 'w.x.y': null })).toBe('COLLSCAN');
    expect(await stages({ a: 5, h: 6 })).toBe('FETCH < IXSCAN a_1_h_hashed');
    expect(await stages({ name: 'x' }, { collation })).toBe('FETCH < IXSCAN name_1');
    expect(await stages({ p: 2 })).toBe('FETCH < IXSCAN p_1');
  });

  test('documents with very many words and paths have one entry, and are found', async () => {
    const large = collection('large');
    await large.createIndex({ '$**': 1 });
    await large.createIndex({ t: 'text' });
    const words = Array.from({ length: 150_000 }, (_, at) => `w${at}`).join(' ');
    const fields = Object.fromEntries(Array.from({ length: 100_000 }, (_, at) => [`f${at}`, at]));
    await large.insertMany([
      { _id: 1, t: words, fields, n: 7 },
      { _id: 2, t: 'w1', n: 8 },
    ] as never);
    const ids = async (filter: Document) =>
      (await large.find(filter, { projection: { _id: 1 } }).toArray()).map(({ _id }) => _id);
    expect(await ids({ $text: { $search: 'w149999' } })).toEqual([1]);
    expect(await ids({ $text: { $search: 'w1' } })).toEqual([1, 2]);
    expect(await ids({ 'fields.f99999': 99_999 })).toEqual([1]);
    expect(await ids({ n: { $gt: 7 } })).toEqual([2]);
    await large.updateOne({ _id: 1 as never }, { $set: { t: 'w2', fields: {} } });
    expect(await ids({ $text: { $search: 'w1' } })).toEqual([2]);
    expect(await ids({ n: 7 })).toEqual([1]);
  });

  test('a transaction finds what it has written itself', async () => {
    const texts = collection('texts');
    await texts.createIndex({ t: 'text' });
    await texts.insertMany([{ t: 'old one' }, { t: 'old two' }]);
    const client = await account.connect();
    const inside = client.db('life').collection('texts');
    const session = client.startSession();
    const found = async () => {
      const rows = await inside.find({ $text: { $search: 'new' } }, { session }).toArray();
      return rows.map(({ t }) => t).sort();
    };
    await session.withTransaction(async () => {
      await inside.updateOne({ t: 'old one' }, { $set: { t: 'new one' } }, { session });
      await inside.insertOne({ t: 'a new three' }, { session });
      expect(await found()).toEqual(['a new three', 'new one']);
      expect(await texts.countDocuments({ $text: { $search: 'new' } })).toBe(0);
    });
    await session.endSession();
    expect(await texts.countDocuments({ $text: { $search: 'new' } })).toBe(2);
    expect(await texts.countDocuments({ $text: { $search: 'one' } })).toBe(1);
  });
});

describe('a directory', () => {
  let directory: string;
  beforeAll(() => {
    directory = mkdtempSync(join(tmpdir(), 'mesocosm-computed-'));
  });
  afterAll(() => rmSync(directory, { recursive: true, force: true }));

  const open = (isOlder: boolean): Promise<Account> => {
    const { entries: _none, ...older } = mongoHome;
    return startAccount({ engine: 'sqlite', directory, ...(isOlder && { home: older }) });
  };
  const use = async <T>(isOlder: boolean, work: (places: Collection) => Promise<T>): Promise<T> => {
    const account = await open(isOlder);
    try {
      return await work((await account.connect()).db('old').collection('places'));
    } finally {
      expect(account.failures).toEqual([]);
      await account.close();
    }
  };
  const near = async (places: Collection) => {
    const $geometry = { type: 'Point', coordinates: [0, 0] };
    const rows = await places
      .find({ place: { $near: { $geometry } } })
      .limit(3)
      .toArray();
    return rows.map(({ _id }) => _id);
  };
  const pointAt = (x: number) => ({ type: 'Point', coordinates: [x, x] });

  test('of the version before has its indexes built, and no entry is stale after a return', async () => {
    await use(true, async (places) => {
      await places.createIndex({ place: '2dsphere' });
      const documents = Array.from({ length: 300 }, (_, at) => ({
        _id: at,
        place: pointAt(at / 4),
      }));
      await places.insertMany(documents as never);
      expect(await near(places)).toEqual([0, 1, 2]);
    });
    await use(false, async (places) => {
      expect(await near(places)).toEqual([0, 1, 2]);
      await places.updateOne({ _id: 299 as never }, { $set: { place: pointAt(0.1) } });
      expect(await near(places)).toEqual([0, 299, 1]);
    });
    await use(true, async (places) => {
      await places.updateOne({ _id: 0 as never }, { $set: { place: pointAt(50) } });
      await places.updateOne({ _id: 200 as never }, { $set: { place: pointAt(0.2) } });
      expect(await near(places)).toEqual([299, 200, 1]);
    });
    await use(false, async (places) => {
      expect(await near(places)).toEqual([299, 200, 1]);
      await places.deleteOne({ _id: 299 as never });
      expect(await near(places)).toEqual([200, 1, 2]);
    });
  });
});
