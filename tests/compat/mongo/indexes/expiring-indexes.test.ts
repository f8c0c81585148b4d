// Goal: every index that was given a time expires its documents, and no others. Method: the stock driver, documents whose
// dates are long over, and a round of the sweeper.
import type { Collection, Document } from 'mongodb';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Account, startAccount } from '../harness.ts';

let account: Account;
let collection: (name: string, options?: Document) => Promise<Collection>;
let changeTo: (of: Collection, name: string) => Promise<Document>;
beforeAll(async () => {
  account = await startAccount({ engine: 'memory' });
  const db = (await account.connect()).db('expiring');
  collection = (name, options) => db.createCollection(name, options);
  changeTo = ({ collectionName }, name) =>
    db.command({ collMod: collectionName, index: { name, expireAfterSeconds: 1 } });
});
afterAll(async () => {
  expect(account.failures).toEqual([]);
  await account.close();
});

const OVER = new Date(Date.now() - 3_600_000);
const LATER = new Date(Date.now() + 3_600_000);

async function left(of: Collection): Promise<readonly unknown[]> {
  // The first round may be one that was under way.
  for (let round = 0; round < 2; round++) await account.service.expirySweeper.round();
  const rows = await of
    .find({}, { projection: { _id: 1 } })
    .sort({ _id: 1 })
    .toArray();
  return rows.map(({ _id }) => _id);
}

const insert = (into: Collection, ...documents: Document[]) => into.insertMany(documents as never);

const FILTERS: readonly (readonly [string, Document])[] = [
  ['of equal values', { state: 'temporary' }],
  ['of any form', { state: { $in: ['temporary', 'short'] } }],
];

test.each(FILTERS)('an index with a filter %s expires its documents', async (name, filter) => {
  const made = await collection(`created ${name}`);
  await made.createIndex({ at: 1 }, { expireAfterSeconds: 1, partialFilterExpression: filter });
  await insert(
    made,
    { _id: 1, at: OVER, state: 'temporary' },
    { _id: 2, at: OVER, state: 'kept' },
    { _id: 3, at: LATER, state: 'temporary' },
  );
  expect(await left(made)).toEqual([2, 3]);
});

test.each(FILTERS)('collMod makes an index with a filter %s expire', async (name, filter) => {
  const made = await collection(`changed ${name}`);
  await made.createIndex({ at: 1 }, { name: 'own', partialFilterExpression: filter });
  const many = Array.from({ length: 2500 }, (_, at) => new Date(OVER.getTime() + at));
  await insert(
    made,
    { _id: 1, at: OVER, state: 'temporary' },
    { _id: 2, at: OVER, state: 'kept' },
    { _id: 3, at: many, state: 'temporary' },
  );
  expect(await left(made)).toEqual([1, 2, 3]);
  const reply = await changeTo(made, 'own');
  expect(reply).toMatchObject({ ok: 1, expireAfterSeconds_new: 1 });
  expect(await left(made)).toEqual([2]);
  expect(
    (await made.indexes()).map(({ name: own, expireAfterSeconds }) => [own, expireAfterSeconds]),
  ).toEqual([
    ['_id_', undefined],
    ['own', 1],
  ]);
});

test.each([
  ['with keys', { locale: 'en', strength: 2 }],
  ['without keys', { locale: 'en', numericOrdering: true }],
])('an index of a collection with a collation %s expires', async (name, collation) => {
  const made = await collection(`collated ${name}`, { collation });
  await made.createIndex({ at: 1 }, { expireAfterSeconds: 1 });
  await made.createIndex({ by: 1 });
  await insert(made, { _id: 1, at: OVER }, { _id: 2, at: LATER }, { _id: 3, at: 'b2' });
  expect(await left(made)).toEqual([2, 3]);
  await made.insertMany([{ _id: 10, by: OVER, at: 'B10' }] as never);
  await changeTo(made, 'by_1');
  expect(await left(made)).toEqual([2, 3]);
  // Texts are found as without the index.
  expect(await made.countDocuments({ at: 'b2' })).toBe(1);
  expect(await made.countDocuments({ at: { $gt: 'b1' } })).toBe(1);
  expect(await made.countDocuments({ at: LATER })).toBe(1);
});

test('an array of very many dates expires by the earliest', async () => {
  const made = await collection('many');
  const partialFilterExpression = { state: { $in: ['temporary'] } };
  await made.createIndex({ at: 1 }, { expireAfterSeconds: 1, partialFilterExpression });
  const from = (first: Date) =>
    Array.from({ length: 2500 }, (_, at) => new Date(first.getTime() + 60_000 * (2500 - at)));
  await insert(
    made,
    { _id: 1, at: [LATER, ...from(new Date(OVER.getTime() - 120_000))], state: 'temporary' },
    { _id: 2, at: from(LATER), state: 'temporary' },
    { _id: 3, at: from(new Date(0)), state: 'kept' },
  );
  expect(await left(made)).toEqual([2, 3]);
  expect(await made.countDocuments({ at: from(LATER)[7] as Date, state: 'temporary' })).toBe(1);
});
