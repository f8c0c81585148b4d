// Goal: counts, values of a field, groups and joins that come from an index, or from folds in the partitions, are those of
// a look at all documents. Method: random documents of all types from a printed seed, in two collections, one without
// indexes; what is asked of the second goes through a stage that needs a stream.
import {
  Binary,
  BSON,
  BSONSymbol,
  Code,
  Decimal128,
  type Document,
  Double,
  Int32,
  Long,
  MaxKey,
  MinKey,
  ObjectId,
  Timestamp,
} from 'mongodb';
import { expect, test } from 'vitest';
import { seededRandom } from '../../../../src/base/index.ts';
import { type Account, startAccount } from '../harness.ts';
import { testRounds } from './rounds.ts';

const DOCUMENTS = 250;

/** What documents have beside values that are whole in a key. */
const SHAPES = ['plain', 'plain', 'single', 'arrays', 'objects'] as const;
type Shape = (typeof SHAPES)[number];

interface Dice {
  below(count: number): number;
  of<T>(list: readonly T[]): T;
}

function newDice(seed: number): Dice {
  const random = seededRandom(seed);
  return {
    below: (count) => random.below(count),
    of: (list) => list[random.below(list.length)] as (typeof list)[number],
  };
}

function scalar(dice: Dice): unknown {
  const n = dice.below(5) - 2;
  return dice.of<() => unknown>([
    () => n,
    () => n,
    () => new Double(n),
    () => new Double(n + 0.5),
    () => Long.fromNumber(n),
    () => Long.fromString('9007199254740993'),
    () => Decimal128.fromString(`${n}.0`),
    () => Decimal128.fromString(`${n}.5`),
    () =>
      Decimal128.fromString(dice.of(['NaN', '-NaN', 'Infinity', '-Infinity', '9007199254740993'])),
    () => new Double(dice.of([Number.NaN, Number.POSITIVE_INFINITY, -0])),
    () => `text ${n}`,
    () => new BSONSymbol(`text ${n}`),
    () => 'é'.repeat(300) + n,
    () => '\0',
    () => null,
    () => n > 0,
    () => new Date(n * 1000),
    () => new Timestamp({ t: 1, i: n + 2 }),
    () => new ObjectId(`5f3a001122334455667788${n + 12}`),
    () => new Binary(Buffer.alloc(n + 2, 7)),
    () => dice.of([new MinKey(), new MaxKey()]),
  ])();
}

function value(dice: Dice, shape: Shape): unknown {
  const kind = dice.below(5);
  if (shape === 'single' && kind === 0) return [scalar(dice)];
  if ((shape === 'arrays' || shape === 'objects') && kind === 0)
    return Array.from({ length: dice.below(4) }, () => scalar(dice));
  if (shape === 'objects' && kind === 1)
    return dice.of<unknown>([
      { x: scalar(dice) },
      [[scalar(dice)]],
      [{ x: 1 }, scalar(dice)],
      /a/i,
      new Code('1'),
      new Binary(Buffer.alloc(700, 1)),
    ]);
  return scalar(dice);
}

function documentOf(dice: Dice, shape: Shape, _id: number): Document {
  const made: Document = { _id, k: dice.below(7) };
  if (dice.below(6) > 0) made.a = value(dice, shape);
  if (dice.below(6) > 0) made.b = value(dice, shape === 'plain' ? 'plain' : 'single');
  const inner = dice.below(5) > 0 ? { c: value(dice, shape) } : { d: 1 };
  made.n = shape === 'plain' || dice.below(3) > 0 ? inner : [inner, dice.of<unknown>([5, inner])];
  return made;
}

function testOf(dice: Dice): unknown {
  const bound = () => scalar(dice);
  return dice.of<() => unknown>([
    () => ({ $eq: bound() }),
    () => ({ $eq: dice.of<unknown>([[bound()], [], [[bound()]], { x: bound() }]) }),
    () => ({ $in: [bound(), bound(), dice.of([1, 1, null])] }),
    () => ({ $in: [] }),
    () => ({ $gt: bound() }),
    () => ({ $gte: bound(), $lt: bound() }),
    () => ({ $gte: -1, $lt: 2 }),
    () => ({ $lte: 1.5 }),
    () => ({ $lt: bound() }),
    () => ({ $gte: bound() }),
    () => ({ $exists: true }),
    () => ({ $ne: bound() }),
  ])();
}

function filterOf(dice: Dice): Document {
  const filter: Document = {};
  for (const field of ['a', 'b', 'n.c', 'k'])
    if (dice.below(3) === 0) filter[field] = field === 'k' ? dice.below(7) : testOf(dice);
  return filter;
}

/** All types and kinds of numbers, in an order of their own where the order is free. */
const exact = (found: unknown): string => BSON.EJSON.stringify(found, { relaxed: false });
const inAnyOrder = (found: readonly unknown[]): readonly string[] => found.map(exact).sort();

/** What a filter, and every other stage of this kind, is not folded behind. */
const STREAM = { $limit: 1_000_000 };

async function round(account: Account, seed: number): Promise<void> {
  const dice = newDice(seed);
  const client = await account.connect();
  const exactClient = await account.connect({ promoteValues: false });
  const db = client.db(`r${seed}`);
  const [own, plain] = [db.collection('own'), db.collection('plain')];
  const exactDb = exactClient.db(`r${seed}`);
  const [exactOwn, exactPlain] = [exactDb.collection('own'), exactDb.collection('plain')];
  const isSharded = dice.below(2) === 0;
  if (isSharded)
    for (const name of ['own', 'plain'])
      await db.admin().command({ shardCollection: `r${seed}.${name}`, key: { k: 'hashed' } });
  const shape = dice.of(SHAPES);
  const documents = Array.from({ length: DOCUMENTS }, (_, _id) => documentOf(dice, shape, _id));
  const sparse = dice.below(3) === 0;
  const indexes = dice.of<readonly Document[]>([
    [{ a: 1 }, { b: -1 }, { 'n.c': 1 }],
    [
      { a: -1, k: 1 },
      { 'n.c': 1, b: -1 },
    ],
    [{ k: 1, a: 1, b: 1 }, { a: 1 }, { 'n.c': -1 }],
  ]);
  for (const key of indexes)
    await own.createIndex(key as never, { sparse }).catch((error) => {
      throw new Error(`${JSON.stringify(key)}: ${error.message}`);
    });
  // Two parts of an index must not both be arrays: such documents are in neither collection.
  for (const document of documents) {
    const isThere = await own.insertOne({ ...document }).then(
      () => true,
      (error) => {
        if (error.code !== 171) throw error;
        return false;
      },
    );
    if (isThere) await plain.insertOne({ ...document });
  }
  if (isSharded)
    for (const name of ['own', 'plain']) {
      const database = account.service.databases.find(`r${seed}`);
      const found = database && account.service.containers.find(database, name);
      if (found !== undefined) await account.service.resizer.split(found, '0');
    }
  for (let at = 0; at < 25; at++) {
    const filter = at === 0 ? {} : filterOf(dice);
    const what = `${shape} ${JSON.stringify(indexes)} ${sparse} ${exact(filter)}`;
    const expected = await plain.aggregate([{ $match: filter }, STREAM]).toArray();
    const count = expected.length;
    expect(await own.countDocuments(filter), what).toBe(count);
    expect((await db.command({ count: 'own', query: filter })).n, what).toBe(count);
    const [counted] = await own.aggregate([{ $match: filter }, { $count: 'n' }]).toArray();
    expect(counted?.n ?? 0, what).toBe(count);
    expect(inAnyOrder(await own.find(filter).toArray()), what).toEqual(inAnyOrder(expected));
    const group = dice.of<Document>([
      { _id: '$a', n: { $sum: 1 }, some: { $addToSet: '$k' } },
      { _id: { k: '$k' }, total: { $sum: '$n.c' }, first: { $first: '$_id' } },
      { _id: null, all: { $push: '$b' }, n: { $count: {} } },
      { _id: '$$ROOT.b' },
    ]);
    const before = dice.of<readonly Document[]>([
      [],
      [{ $project: { a: 1, b: 1, k: 1, n: 1 } }],
      [{ $set: { b: '$k' } }, { $match: { b: { $gt: 2 } } }],
      [{ $match: { $expr: { $gt: ['$k', 1] } } }, { $unset: 'n' }],
    ]);
    const folded = own.aggregate([{ $match: filter }, ...before, { $group: group }]);
    const streamed = plain.aggregate([{ $match: filter }, STREAM, ...before, { $group: group }]);
    expect(await grouped(folded), what).toEqual(await grouped(streamed));
  }
  for (const field of ['a', 'b', 'n.c', 'n', 'k', 'none']) {
    const [values = [], expected = []] = await Promise.all([
      exactOwn.distinct(field),
      exactPlain.distinct(field, { _id: { $gte: 0 } } as never),
    ]);
    const what = `${shape} ${JSON.stringify(indexes)} distinct ${field}`;
    // An index of several fields finds another document first, which may have another kind of the same number.
    const isFirst = !indexes.some((key) => Object.keys(key)[0] === field && Object.keys(key)[1]);
    if (isFirst && !isSharded) expect(exact(values), what).toBe(exact(expected));
    expect(values.length, what).toBe(expected.length);
    expect(values.map(plainKind).map(exact), what).toEqual(expected.map(plainKind).map(exact));
  }
  await joins(own, plain);
}

/** Lists that depend on the order of partitions are compared without it. */
async function grouped(cursor: { toArray(): Promise<Document[]> }): Promise<readonly string[]> {
  const rows = await cursor.toArray();
  for (const row of rows)
    for (const name of ['some', 'all'])
      if (Array.isArray(row[name])) row[name] = inAnyOrder(row[name]);
  return inAnyOrder(rows);
}

/** Equal numbers of all kinds, and equal texts, as one. */
function plainKind(found: unknown): unknown {
  if (found instanceof BSONSymbol) return found.valueOf();
  if (found instanceof Double || found instanceof Int32 || found instanceof Long)
    return Number(found.toString());
  if (found instanceof Decimal128) return Number(found.toString());
  if (typeof found === 'number') return found + 0;
  if (Array.isArray(found)) return found.map(plainKind);
  return found;
}

type Documents = ReturnType<
  ReturnType<Awaited<ReturnType<Account['connect']>>['db']>['collection']
>;

async function joins(own: Documents, plain: Documents): Promise<void> {
  const from = (to: Documents, more: Document) => ({
    $lookup: { from: to.collectionName, as: 'found', ...more },
  });
  const forms: readonly Document[] = [
    { localField: 'a', foreignField: 'a' },
    { localField: 'n.c', foreignField: 'n.c' },
    { localField: 'a', foreignField: 'b', pipeline: [{ $match: { k: { $gt: 2 } } }] },
    { let: { v: '$a' }, pipeline: [{ $match: { $expr: { $eq: ['$a', '$$v'] } } }] },
    {
      let: { v: '$n', k: '$k' },
      pipeline: [
        {
          $match: {
            $expr: {
              $and: [{ $eq: ['$$v.c', '$n.c'] }, { $in: ['$k', ['$$k', { $literal: 1 }]] }],
            },
          },
        },
      ],
    },
    { localField: 'k', foreignField: '_id' },
  ];
  for (const form of forms) {
    const rows = async (to: Documents) => {
      const last = [{ $limit: 40 }, from(to, form), { $project: { found: '$found._id' } }];
      const found = await plain.aggregate([{ $sort: { _id: 1 } }, ...last]).toArray();
      return found.map(({ _id, found: ids }) => [_id, [...ids].sort((a, b) => a - b)]);
    };
    expect(await rows(own), JSON.stringify(form)).toEqual(await rows(plain));
  }
}

testRounds({
  title: 'what comes from an index is what the documents have',
  count: 4,
  timeoutMs: 240_000,
  run: round,
});

test('counts read entries, values of a field one document each, and plans say so', async () => {
  const account = await startAccount({});
  try {
    const client = await account.connect();
    const db = client.db('plans');
    const collection = db.collection<Document>('c');
    await collection.createIndex({ city: 1 });
    await collection.createIndex({ a: 1, b: -1 });
    const documents = Array.from({ length: 2000 }, (_, _id) => ({
      _id,
      city: `c${_id % 20}`,
      a: _id % 50,
      b: _id,
    }));
    await collection.insertMany(documents as never[]);
    const explain = async (command: Document) => {
      const { queryPlanner, executionStats } = await db.command({
        explain: command,
        verbosity: 'executionStats',
      });
      const { totalKeysExamined: keys, totalDocsExamined: read } = executionStats;
      const stages: string[] = [];
      for (let plan = queryPlanner.winningPlan; plan !== undefined; plan = plan.inputStage)
        stages.push(plan.indexName === undefined ? plan.stage : `${plan.stage} ${plan.indexName}`);
      return { stages, keys, read };
    };
    const count = (query: Document) => explain({ count: 'c', query });
    const aggregate = (...pipeline: Document[]) =>
      explain({ aggregate: 'c', pipeline, cursor: {} });
    expect(await count({})).toEqual({ stages: ['RECORD_STORE_FAST_COUNT'], keys: 0, read: 0 });
    const byCity = { stages: ['COUNT', 'COUNT_SCAN city_1'], keys: 200, read: 0 };
    expect(await count({ city: { $in: ['c3', 'c5'] } })).toEqual(byCity);
    const byBoth = { stages: ['COUNT', 'COUNT_SCAN a_1_b_-1'], keys: 20, read: 0 };
    expect(await count({ a: 7, b: { $gte: 1000, $lt: 2000 } })).toEqual(byBoth);
    expect(await count({ a: 7, city: 'c7' })).toMatchObject({
      stages: ['COUNT', 'FETCH', 'IXSCAN city_1'],
    });
    expect(await count({ a: null })).toMatchObject({ read: 0, keys: 0 });
    const counting = { $group: { _id: 1, n: { $sum: 1 } } };
    expect(await aggregate({ $match: { city: 'c3' } }, counting)).toEqual({
      stages: ['GROUP', 'COUNT_SCAN city_1'],
      keys: 100,
      read: 0,
    });
    expect(await aggregate({ $count: 'n' })).toEqual({
      stages: ['GROUP', 'RECORD_STORE_FAST_COUNT'],
      keys: 0,
      read: 0,
    });
    expect(await aggregate({ $group: { _id: '$city', n: { $sum: '$b' } } })).toMatchObject({
      stages: ['GROUP', 'COLLSCAN'],
      read: 2000,
    });
    const distinct = await explain({ distinct: 'c', key: 'city', query: {} });
    expect(distinct).toMatchObject({
      stages: ['PROJECTION_COVERED', 'DISTINCT_SCAN city_1'],
      read: 20,
    });
    expect(distinct.keys).toBeLessThan(1000);
    expect(await explain({ distinct: 'c', key: 'b', query: {} })).toMatchObject({
      stages: ['COLLSCAN'],
      read: 2000,
    });
    const [joined] = await collection
      .aggregate([
        { $match: { _id: 3 } },
        {
          $lookup: {
            from: 'c',
            let: { own: '$city' },
            pipeline: [{ $match: { $expr: { $eq: ['$city', '$$own'] } } }, { $count: 'n' }],
            as: 'same',
          },
        },
      ])
      .toArray();
    expect(joined?.same).toEqual([{ n: 100 }]);
    // A document with several values has several entries: they are not counted.
    await collection.insertOne({ _id: -1, city: ['c3', 'c5'] } as never);
    const several = await count({ city: { $in: ['c3', 'c5'] } });
    expect(several).toMatchObject({ stages: ['COUNT', 'FETCH', 'IXSCAN city_1'], read: 201 });
    expect(await collection.countDocuments({ city: { $in: ['c3', 'c5'] } })).toBe(201);
    expect(await collection.distinct('city')).toHaveLength(20);
  } finally {
    await account.close();
  }
});

test('distinct values from an index have an empty array that is an element', async () => {
  const account = await startAccount({ engine: 'memory' });
  try {
    const db = (await account.connect()).db('empty');
    const rows: Document[] = [{ a: [[]] }, { a: [] }, { a: 1 }];
    for (let at = 0; at < 50; at++) rows.push({ a: 2 });
    await db.collection('indexed').createIndex({ a: 1 });
    for (const name of ['indexed', 'plain']) {
      await db.collection(name).insertMany(rows.map((row) => ({ ...row })));
      expect(await db.collection(name).distinct('a')).toEqual([1, 2, []]);
    }
  } finally {
    await account.close();
  }
});
