// Goal: unique indexes refuse exactly what MongoDB refuses, at once and when they are built over documents; those that a
// version before has made stay as they were. Method: the stock driver, exact codes.
import type { Collection, Document } from 'mongodb';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Account, ENGINES, startAccount } from '../harness.ts';

const codeOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'ok',
    (error) => error.code,
  );

type Case = readonly [string, Document, Document, readonly Document[], readonly unknown[]];

const CASES: readonly Case[] = [
  [
    'tells documents with names in another order apart',
    { a: 1 },
    {},
    [{ a: { x: 1, y: 2 } }, { a: { y: 2, x: 1 } }, { a: [{ x: 1, y: 2 }] }],
    ['ok', 'ok', 11000],
  ],
  [
    'tells places of arrays apart',
    { 'a.0': 1 },
    {},
    [{ a: [1] }, { a: [2] }, { a: [1, 3] }],
    ['ok', 'ok', 11000],
  ],
  [
    'has null of elements without the field',
    { 'a.b': 1 },
    {},
    [{ a: [{ b: 1 }, {}] }, { a: [{ b: 2 }, {}] }],
    ['ok', 11000],
  ],
  [
    'holds for empty arrays that exist',
    { b: 1 },
    { partialFilterExpression: { a: { $exists: true } } },
    [{ a: [], b: 1 }, { a: [], b: 1 }, { b: 1 }],
    ['ok', 11000, 'ok'],
  ],
  [
    'holds for places that exist',
    { b: 1 },
    { partialFilterExpression: { 'a.0': { $exists: true } } },
    [
      { a: [1], b: 1 },
      { a: [2], b: 1 },
      { a: [], b: 1 },
    ],
    ['ok', 11000, 'ok'],
  ],
  [
    'holds for null and for what is missing',
    { b: 1 },
    { partialFilterExpression: { a: null } },
    [{ b: 1 }, { a: null, b: 1 }, { a: 1, b: 1 }],
    ['ok', 11000, 'ok'],
  ],
];

describe.each(ENGINES)('a unique index on %s', (engine) => {
  let account: Account;
  let collection: (name: string) => Collection;
  beforeAll(async () => {
    account = await startAccount({ engine });
    const client = await account.connect();
    collection = (name) => client.db('unique').collection(name);
  });
  afterAll(async () => {
    expect(account.failures).toEqual([]);
    await account.close();
  });

  test.each(CASES)('%s', async (name, key, options, documents, codes) => {
    const made = collection(`${name} at once`);
    await made.createIndex(key, { unique: true, ...options });
    const found: unknown[] = [];
    for (const document of documents) found.push(await codeOf(made.insertOne({ ...document })));
    expect(found).toEqual(codes);
    const { deletedCount } = await made.deleteMany({});
    expect(deletedCount).toBe(codes.filter((code) => code === 'ok').length);
    expect(await codeOf(made.insertOne({ ...(documents[0] as Document) }))).toBe('ok');

    const built = collection(`${name} later`);
    const build = () => codeOf(built.createIndex(key, { unique: true, ...options }));
    await built.insertMany(documents.map((document) => ({ ...document })));
    expect(await build()).toBe(11000);
    await built.deleteMany({});
    await built.insertMany(
      documents.filter((_, at) => codes[at] === 'ok').map((document) => ({ ...document })),
    );
    expect(await build()).toBe('ok');
  });

  test('of the version before compares what it did, until it is created again', async () => {
    const old = collection('old');
    await old.createIndex({ a: 1 }, { unique: true });
    const { service } = account;
    const found = () => {
      const database = service.databases.find('unique');
      const container = database && service.containers.find(database, 'old');
      if (container === undefined) throw new Error('the collection is there');
      return container;
    };
    const definition = found().indexes?.find(({ unique }) => unique !== undefined);
    if (definition === undefined) throw new Error('the index is declared');
    const { id: _id, isUniqueByHome: _byHome, ...before } = definition;
    await old.dropIndexes();
    const { container, index } = await service.indexes.create(found(), before);
    await service.indexes.whenBuilt(container, index.id);
    await old.insertOne({ _id: 1 as never, a: { x: 1, y: 2 } });
    const other = () => codeOf(old.insertOne({ a: { y: 2, x: 1 } }));
    expect(await other()).toBe(11000);
    await old.deleteOne({ _id: 1 as never });
    expect(await other()).toBe('ok');
    await old.dropIndexes();
    await old.createIndex({ a: 1 }, { unique: true });
    expect(await codeOf(old.insertOne({ a: { x: 1, y: 2 } }))).toBe('ok');
  });
});
