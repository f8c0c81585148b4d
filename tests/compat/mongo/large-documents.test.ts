// Goal: documents with very many fields and arrays with very many elements are written, found and changed like any
// other, and other clients are served meanwhile. Method: the driver, with a second client that reads beside it.
import type { Collection, Document, MongoClient } from 'mongodb';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Account, startAccount } from './harness.ts';

const FIELDS = 200_000;
const ENTRIES_MAX = 50_000;

let account: Account;
let other: MongoClient;
let documents: (name: string) => Collection<Document & { _id: number }>;

beforeAll(async () => {
  account = await startAccount();
  const client = await account.connect();
  other = await account.connect();
  documents = (name) => client.db('large').collection(name);
});

afterAll(async () => {
  expect(account.failures).toEqual([]);
  await account.close();
});

function wide(base = 0): Document & { _id: number } {
  const document: Document & { _id: number } = { _id: 1 };
  for (let at = 0; at < FIELDS; at++) document[`p${at}`] = at + base;
  return document;
}

const numbers = (count: number, from = 0): number[] =>
  Array.from({ length: count }, (_, at) => from + at);

/** What the work gives, and how often another client has read meanwhile. */
async function beside<T>(work: Promise<T>): Promise<{ result: T; reads: number }> {
  let isDone = false;
  const ended = work.finally(() => {
    isDone = true;
  });
  ended.catch(() => {});
  let reads = 0;
  while (!isDone) {
    await other.db('large').collection<{ _id: number }>('small').findOne({ _id: 1 });
    reads++;
  }
  return { result: await ended, reads };
}

test('others are served while documents of 200,000 fields are written, changed and read', {
  timeout: 120_000,
}, async () => {
  const items = documents('wide');
  const written = await beside(
    (async () => {
      await items.insertOne(wide());
      await items.updateOne({ _id: 1 }, { $set: { p5: -1 }, $unset: { p6: 1 } });
      await items.updateOne({ _id: 1 }, [{ $set: { p7: { $add: ['$p8', 1] } } }]);
      await items.updateMany({ p9: 9 }, { $inc: { p9: 1 } });
      const after = await items.findOneAndUpdate(
        { _id: 1 },
        { $inc: { p10: 5 } },
        { returnDocument: 'after', projection: { p5: 1, p6: 1, p7: 1, p9: 1, p10: 1 } },
      );
      const left = await items.findOne({ p9: 10 }, { projection: { p0: 0 } });
      const [sizes] = await items
        .aggregate([{ $project: { size: { $size: { $objectToArray: '$$ROOT' } } } }])
        .toArray();
      await items.replaceOne({ _id: 1 }, wide(1));
      const replaced = await items.findOne({ _id: 1 });
      const { deletedCount } = await items.deleteOne({ _id: 1, p3: 4 });
      return { after, left, sizes, replaced, deletedCount };
    })(),
  );
  const { after, left, sizes, replaced, deletedCount } = written.result;
  expect(after).toEqual({ _id: 1, p5: -1, p7: 9, p9: 10, p10: 15 });
  expect(Object.keys(left ?? {})).toHaveLength(FIELDS - 1);
  expect(sizes).toEqual({ _id: 1, size: FIELDS });
  expect(replaced).toEqual(wide(1));
  expect(deletedCount).toBe(1);
  expect(await items.countDocuments()).toBe(0);
  // Each of the ten steps lets others go on several times.
  expect(written.reads).toBeGreaterThan(20);
});

test('changes of one large document at a time lose nothing', { timeout: 60_000 }, async () => {
  const items = documents('counted');
  await items.insertOne({ _id: 1, list: numbers(100_000), count: 0 });
  await Promise.all(
    numbers(8).map(() =>
      items.updateOne({ _id: 1 }, { $inc: { count: 1 }, $push: { list: -1 } as never }),
    ),
  );
  const found = await items.findOne({ _id: 1 });
  expect([found?.count, found?.list.length]).toEqual([8, 100_008]);
});

test('documents of more than 4 MB are found by an index, in its order and by ranges of _id', async () => {
  const items = documents('heavy');
  await items.createIndex({ kind: 1, at: 1 });
  const text = 'x'.repeat(5_000_000);
  for (const at of [1, 2, 3]) await items.insertOne({ _id: at, kind: 'a', at: -at, text });
  const ids = async (found: Promise<Document[]>): Promise<unknown[]> =>
    (await found).map(({ _id }) => _id);
  const options = { projection: { _id: 1 } };
  expect(await ids(items.find({ kind: 'a' }, options).toArray())).toEqual([1, 2, 3]);
  expect(await ids(items.find({ kind: 'a' }, options).sort({ at: 1 }).toArray())).toEqual([
    3, 2, 1,
  ]);
  expect(await ids(items.find({ _id: { $gte: 2 } }, options).toArray())).toEqual([2, 3]);
  expect(await ids(items.find({ _id: { $in: [3, 1] } }, options).toArray())).toEqual([1, 3]);
  expect((await items.findOne({ kind: 'a', at: -2 }))?.text).toHaveLength(text.length);
});

test('an update of 50,000 fields is checked for conflicts at once', async () => {
  const items = documents('steps');
  await items.insertOne({ _id: 1 });
  const fields = Object.fromEntries(numbers(50_000).map((at) => [`a.p${at}`, 1]));
  await items.updateOne({ _id: 1 }, { $inc: fields });
  expect(Object.keys((await items.findOne({ _id: 1 }))?.a)).toHaveLength(50_000);
  for (const more of ['a', 'a.p7', 'a.p7.x'])
    await expect(
      items.updateOne({ _id: 1 }, { $inc: fields, $set: { [more]: 1 } }),
    ).rejects.toMatchObject({
      code: 40,
      message: `Updating the path '${more}' would create a conflict at '${more === 'a' ? 'a' : 'a.p7'}'`,
    });
});

test('$addToSet and $pullAll of 100,000 values look each of them up', async () => {
  const items = documents('sets');
  const values = numbers(100_000);
  const more = numbers(1000).map((at) => ({ v: at }));
  await items.insertOne({ _id: 1, list: [5, 5, ...more] });
  await items.updateOne(
    { _id: 1 },
    { $addToSet: { list: { $each: [...values, ...more] } as never } },
  );
  const added = [5, 5, ...more, ...values.filter((value) => value !== 5)];
  expect((await items.findOne({ _id: 1 }))?.list).toEqual(added);
  await items.updateOne({ _id: 1 }, { $pullAll: { list: values } as never });
  expect((await items.findOne({ _id: 1 }))?.list).toEqual(more);
});

test('an array with more entries than an index takes is refused, wherever it comes from', async () => {
  const items = documents('entries');
  await items.createIndex({ list: 1 });
  const refusal = {
    code: 201,
    message: `the arrays of the document have more entries in the indexes of the collection than ${ENTRIES_MAX}`,
  };
  const list = numbers(ENTRIES_MAX);
  await items.insertOne({ _id: 1, list });
  await expect(items.insertOne({ _id: 2, list: [...list, -1] })).rejects.toMatchObject(refusal);
  const push = { $push: { list: -1 } as never };
  await expect(items.updateOne({ _id: 1 }, push)).rejects.toMatchObject(refusal);
  expect(await items.countDocuments({ list: ENTRIES_MAX - 1 })).toBe(1);
  await expect(items.createIndex({ list: 1 }, { name: 'u', unique: true })).rejects.toThrow();
  const plain = documents('plain');
  await plain.insertOne({ _id: 1, list: [...list, -1] });
  await expect(plain.createIndex({ list: 1 })).rejects.toMatchObject(refusal);
  expect(await plain.countDocuments({ list: -1 })).toBe(1);
});

test('an update of an array of 16,000 unique values compares the values once', async () => {
  const items = documents('unique');
  await items.createIndex({ list: 1 }, { unique: true });
  await items.insertOne({ _id: 1, list: numbers(16_000) });
  await items.updateOne({ _id: 1 }, { $push: { list: -1 } as never });
  await expect(items.insertOne({ _id: 2, list: [-1] })).rejects.toMatchObject({ code: 11000 });
  await items.updateOne({ _id: 1 }, { $pull: { list: -1 } as never });
  await items.insertOne({ _id: 2, list: [-1] });
});
