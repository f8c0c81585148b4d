// Goal: `$meta` tells of documents what the search knows of them, and a hint decides their order. Method: the stock
// driver, small collections, exact results.
import { type Db, type Document, Long, type MongoClient } from 'mongodb';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Account, startAccount } from './harness.ts';

let account: Account;
let client: MongoClient;
let db: Db;

beforeAll(async () => {
  account = await startAccount();
  client = await account.connect();
  db = client.db('metadata');
});

afterAll(async () => {
  expect(account.failures).toEqual([]);
  await account.close();
});

interface Doc {
  _id: number;
  [name: string]: unknown;
}

async function filled(name: string, documents: readonly Doc[], ...indexes: readonly object[]) {
  const collection = db.collection<Doc>(name);
  for (const index of indexes) await collection.createIndex(index as Record<string, 1>);
  await collection.insertMany([...documents]);
  return collection;
}

const score = { $meta: 'textScore' };
const point = (x: number, y: number) => ({ type: 'Point', coordinates: [x, y] });

describe('text scores in pipelines', () => {
  const documents = [
    { _id: 1, text: 'fig pie', kind: 'a' },
    { _id: 2, text: 'fig fig fig', kind: 'b' },
    { _id: 3, text: 'plum', kind: 'a' },
    { _id: 4, text: 'fig', kind: 'a' },
  ];
  const found = { $match: { $text: { $search: 'fig' } } };
  const scores = [
    { _id: 2, score: 1.75 },
    { _id: 4, score: 1.1 },
    { _id: 1, score: 0.75 },
  ];

  test('the everyday form sorts and shows', async () => {
    const words = await filled('words', documents, { text: 'text' });
    expect(
      await words.aggregate([found, { $sort: { score } }, { $project: { score } }]).toArray(),
    ).toEqual(scores);
    const later = [
      found,
      { $addFields: { score } },
      { $sort: { score: -1 } },
      { $unset: ['text', 'kind'] },
    ];
    expect(await words.aggregate(later).toArray()).toEqual(scores);
  });

  test('scores are kept by the stages between', async () => {
    const words = db.collection('words');
    const stages = [
      { $addFields: { list: [1, 2] } },
      { $unwind: '$list' },
      { $replaceRoot: { newRoot: { _id: '$_id', list: '$list', kind: '$kind' } } },
      { $lookup: { from: 'none', localField: '_id', foreignField: '_id', as: 'none' } },
      { $sort: { list: 1, score } },
      { $match: { $expr: { $gt: [score, 1] } } },
      { $redact: '$$DESCEND' },
      { $project: { score, list: 1 } },
    ];
    expect(await words.aggregate([found, ...stages]).toArray()).toEqual([
      { _id: 2, list: 1, score: 1.75 },
      { _id: 4, list: 1, score: 1.1 },
      { _id: 2, list: 2, score: 1.75 },
      { _id: 4, list: 2, score: 1.1 },
    ]);
  });

  test('groups fold scores, and have none themselves', async () => {
    const words = db.collection('words');
    const best = { $group: { _id: '$kind', best: { $max: score } } };
    const rest = [{ $sort: { _id: 1 } }, { $addFields: { score } }];
    expect(await words.aggregate([found, best, ...rest]).toArray()).toEqual([
      { _id: 'a', best: 1.1 },
      { _id: 'b', best: 1.75 },
    ]);
    const top = { $group: { _id: null, top: { $top: { sortBy: { score }, output: '$_id' } } } };
    expect(await words.aggregate([found, top]).toArray()).toEqual([{ _id: null, top: 2 }]);
    const facets = { $facet: { all: [{ $project: { score } }], count: [{ $count: 'n' }] } };
    expect(await words.aggregate([found, { $sort: { score } }, facets]).toArray()).toEqual([
      { all: scores, count: [{ n: 3 }] },
    ]);
  });

  test('a view over a search has scores', async () => {
    await db.createCollection('figs', { viewOn: 'words', pipeline: [found] });
    const shown = [{ $sort: { score } }, { $project: { score } }];
    expect(await db.collection('figs').aggregate(shown).toArray()).toEqual(scores);
  });

  test('without a search there are none (40218)', async () => {
    const words = db.collection('words');
    for (const pipeline of [
      [{ $project: { score } }],
      [{ $sort: { score } }],
      [{ $group: { _id: score } }],
      [{ $project: { at: { $meta: 'geoNearDistance' } } }],
      [{ $lookup: { from: 'words', pipeline: [{ $project: { score } }], as: 'x' } }],
    ])
      await expect(words.aggregate(pipeline).toArray()).rejects.toMatchObject({ code: 40218 });
    await expect(words.find().sort({ score }).toArray()).rejects.toMatchObject({ code: 40218 });
    const wrong = words.aggregate([{ $project: { score: { $meta: ['textScore'] } } }]).toArray();
    await expect(wrong).rejects.toMatchObject({ code: 17307 });
  });
});

describe('plans of text searches', () => {
  test('fields in front of the texts must equal a value (291)', async () => {
    const documents = [
      { _id: 1, shop: 'a', text: 'fig', title: 'fig' },
      { _id: 2, shop: 'b', text: 'fig fig', title: 'plum' },
      { _id: 3, shop: 'b', text: 'plum', title: 'fig' },
    ];
    const shops = await filled('shops', documents);
    await shops.createIndex({ shop: 1, text: 'text', title: 'text' }, { weights: { title: 10 } });
    const search = { $text: { $search: 'fig' } };
    const found = (filter: object) =>
      shops.find(filter).sort({ score }).project({ score, kind: 1 }).toArray();
    expect(await found({ shop: 'a', ...search })).toEqual([{ _id: 1, score: 12.1 }]);
    expect(await found({ shop: 'b', ...search })).toEqual([
      { _id: 3, score: 11 },
      { _id: 2, score: 1.5 },
    ]);
    for (const filter of [search, { shop: { $gt: 'a' }, ...search }])
      await expect(found(filter)).rejects.toMatchObject({ code: 291 });
  });

  test('beside a search in $or everything has an index (291)', async () => {
    const words = db.collection('words');
    const either = (other: object) =>
      words.find({ $or: [{ $text: { $search: 'plum' } }, other] }).toArray();
    expect(await either({ _id: 4 as never })).toHaveLength(2);
    await expect(either({ kind: 'b' })).rejects.toMatchObject({ code: 291 });
    await words.createIndex({ kind: 1 });
    expect(await either({ kind: 'b' })).toHaveLength(2);
  });
});

describe('distances', () => {
  const documents = [
    { _id: 1, at: point(1, 0) },
    { _id: 2, at: point(0, 0) },
  ];
  const shown = { at: 0, meta: { $meta: 'geoNearDistance' }, place: { $meta: 'geoNearPoint' } };
  const degree = 111318.84502145034;
  const expected = [
    { _id: 2, meta: 0, place: point(0, 0) },
    { _id: 1, meta: degree, place: point(1, 0) },
  ];

  test('are known behind $geoNear, without its multiplier', async () => {
    const places = await filled('places', documents, { at: '2dsphere' });
    const near = { $geoNear: { near: point(0, 0), distanceMultiplier: 2, distanceField: 'd' } };
    expect(await places.aggregate([near, { $project: { ...shown, d: 0 } }]).toArray()).toEqual(
      expected,
    );
    const backwards = [near, { $sort: { x: { $meta: 'geoNearDistance' }, _id: 1 } }, { $limit: 1 }];
    expect(await places.aggregate(backwards).toArray()).toEqual([
      { _id: 1, at: point(1, 0), d: 2 * degree },
    ]);
  });

  test('are known to a find by $near', async () => {
    const filter = { at: { $near: { $geometry: point(0, 0) } } };
    expect(await db.collection('places').find(filter).project(shown).toArray()).toEqual(expected);
    const none = db.collection('places').find({}).project(shown).toArray();
    await expect(none).rejects.toMatchObject({ code: 40218 });
  });
});

describe('keys and records', () => {
  const documents = [
    { _id: 1, a: 3, tags: ['x', 'y'] },
    { _id: 2, a: 1, tags: ['z'] },
    { _id: 3, a: 2, tags: 'y' },
  ];
  const key = { $meta: 'indexKey' };

  test('the key of the index that finds a document', async () => {
    const keyed = await filled('keyed', documents, { a: 1, _id: -1 }, { tags: 1 });
    const keys = (pipeline: object[]) =>
      keyed.aggregate([...pipeline, { $sort: { _id: 1 } }]).toArray();
    expect(await keys([{ $match: { a: { $gt: 1 } } }, { $project: { key } }])).toEqual([
      { _id: 1, key: { a: 3, _id: 1 } },
      { _id: 3, key: { a: 2, _id: 3 } },
    ]);
    expect(await keys([{ $match: { tags: 'y' } }, { $project: { key } }])).toEqual([
      { _id: 1, key: { tags: 'y' } },
      { _id: 3, key: { tags: 'y' } },
    ]);
    expect(await keys([{ $match: { b: null, _id: { $ne: 2 } } }, { $project: { key } }])).toEqual([
      { _id: 1 },
      { _id: 3 },
    ]);
  });

  test('returnKey shows keys alone, and nothing where no index is used', async () => {
    const keyed = db.collection('keyed');
    const keys = (filter: object, options: object = {}) =>
      keyed.find(filter, { returnKey: true, ...options }).toArray();
    expect(await keys({ a: { $lt: 3 } }, { sort: { a: -1 } })).toEqual([
      { a: 2, _id: 3 },
      { a: 1, _id: 2 },
    ]);
    expect(await keys({ _id: 1 })).toEqual([{ _id: 1 }]);
    expect(await keys({}, { hint: { tags: 1 } })).toEqual([
      { tags: 'x' },
      { tags: 'y' },
      { tags: 'z' },
    ]);
    expect(await keys({ b: null })).toEqual([{}, {}, {}]);
    const sorted = { sort: { a: 1 }, limit: 1, projection: { by: { $meta: 'sortKey' }, b: 1 } };
    expect(await keys({ a: 2 }, sorted)).toEqual([{ a: 2, _id: 3, by: [2] }]);
  });

  test('showRecordId tells documents apart, in the order of their creation', async () => {
    const keyed = db.collection<Doc>('keyed');
    const options = { showRecordId: true, promoteLongs: false };
    const ids = (await keyed.find({}, options).toArray()).map(({ $recordId }) => $recordId as Long);
    expect(ids.every((id) => id instanceof Long)).toBe(true);
    expect(ids.map(Number)).toEqual(ids.map(Number).sort((a, b) => a - b));
    expect(new Set(ids.map(Number)).size).toBe(3);
    for (const filter of [{ _id: 2 }, { a: 1 }, { b: null, a: { $lt: 2 } }] as object[]) {
      const [found] = await keyed.find(filter, { ...options, sort: { b: 1 } }).toArray();
      expect(Number(found?.$recordId)).toBe(Number(ids[1]));
    }
    const shown = { $project: { _id: 0, id: { $meta: 'recordId' } } };
    const piped = await keyed.aggregate([{ $sort: { a: 1 } }, shown]).toArray();
    expect(piped.map(({ id }) => Number(id))).toEqual([1, 2, 0].map((at) => Number(ids[at])));
  });

  test('sort keys, of a leading sort and of a later one', async () => {
    const by = { $project: { _id: 1, by: { $meta: 'sortKey' } } };
    const keyed = db.collection('keyed');
    const expected = [
      { _id: 2, by: [1, 2] },
      { _id: 3, by: [2, 3] },
      { _id: 1, by: [3, 1] },
    ];
    const sort = { $sort: { a: 1, _id: 1 } };
    expect(await keyed.aggregate([sort, by]).toArray()).toEqual(expected);
    expect(await keyed.aggregate([{ $set: { b: 1 } }, sort, by]).toArray()).toEqual(expected);
    const none = keyed
      .find({})
      .project({ by: { $meta: 'sortKey' } })
      .toArray();
    await expect(none).rejects.toMatchObject({ code: 2 });
  });
});

describe('orders by hint', () => {
  const ids = (rows: readonly Document[]) => rows.map(({ _id }) => _id);
  const documents = [
    { _id: 3, x: 30 },
    { _id: 1, x: 10, s: 1 },
    { _id: 2, x: 20, s: 0 },
  ];

  test('a hinted index orders finds and pipelines as its scan', async () => {
    const hinted = await filled('hinted', documents, { x: 1 }, { x: -1, _id: 1 });
    await hinted.createIndex({ s: 1 }, { sparse: true });
    const found = async (hint: object) => ids(await hinted.find({}, { hint }).toArray());
    const piped = async (hint: object, ...stages: object[]) =>
      ids(await hinted.aggregate(stages, { hint }).toArray());
    expect(await found({ x: 1 })).toEqual([1, 2, 3]);
    expect(await found({ x: -1, _id: 1 })).toEqual([3, 2, 1]);
    expect(await found({ _id: 1 })).toEqual([1, 2, 3]);
    expect(await found({ s: 1 })).toEqual([2, 1]);
    expect(await piped({ x: 1 }, { $match: { x: { $gt: 10 } } })).toEqual([2, 3]);
    expect(await piped({ s: 1 }, { $limit: 1 })).toEqual([2]);
    const first = { $group: { _id: null, first: { $first: '$_id' } } };
    expect(await hinted.aggregate([first], { hint: { x: -1, _id: 1 } }).toArray()).toEqual([
      { _id: null, first: 3 },
    ]);
    expect(ids(await hinted.find({}, { hint: { x: 1 }, sort: { _id: -1 } }).toArray())).toEqual([
      3, 2, 1,
    ]);
  });

  test('$natural: -1 turns finds and pipelines around', async () => {
    const hinted = db.collection('hinted');
    const hint = { $natural: -1 };
    expect(ids(await hinted.find({}, { hint }).toArray())).toEqual([2, 1, 3]);
    expect(ids(await hinted.find({}).sort({ $natural: -1 }).toArray())).toEqual([2, 1, 3]);
    expect(ids(await hinted.aggregate([{ $limit: 2 }], { hint }).toArray())).toEqual([2, 1]);
    const compound = hinted.find({}).sort({ $natural: 1, x: 1 }).toArray();
    await expect(compound).rejects.toMatchObject({ code: 2 });
  });

  test('a write by a hint takes the first document of the index', async () => {
    const hinted = db.collection<Doc>('hinted');
    await hinted.updateOne({}, { $set: { hit: 1 } }, { hint: { x: 1 } });
    expect(ids(await hinted.find({ hit: 1 }).toArray())).toEqual([1]);
    await hinted.createIndex({ '$**': 1 });
    const changed = await hinted.updateOne({ s: 0 }, { $set: { hit: 2 } }, { hint: { '$**': 1 } });
    expect(changed.modifiedCount).toBe(1);
    const found = await hinted.findOneAndDelete({}, { hint: { x: -1, _id: 1 } });
    expect(found?._id).toBe(3);
  });
});
