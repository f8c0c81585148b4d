// Goal: a sort that is read from an index has the order of a sort in memory, over types, arrays, directions, pages and
// splits. Method: random documents, indexes and queries from a printed seed; each query is run as the planner likes and
// with a hint that forbids indexes.
import { Decimal128, type Document, Double, Long, ObjectId } from 'mongodb';
import { expect, test } from 'vitest';
import { type Account, startAccount } from '../harness.ts';
import { Dice, testRounds } from './rounds.ts';

const DOCUMENTS = 150;

/** What documents have beside plain values: each makes the index less useful. */
const KINDS = ['plain', 'arrays', 'objects'] as const;
type Kind = (typeof KINDS)[number];

/** An index has arrays under one field at most. */
interface Shape {
  readonly kind: Kind;
  readonly many: 'a' | 'b' | 'n';
}

function scalar(dice: Dice): unknown {
  const n = dice.below(12) - 4;
  return dice.of<() => unknown>([
    () => n,
    () => n,
    () => new Double(n + 0.5),
    () => Long.fromNumber(n),
    () => Decimal128.fromString(`${n}.25`),
    () => `text ${n}`,
    () => 'é'.repeat(300) + n,
    () => null,
    () => n > 0,
    () => new Date(n * 1000),
    () => new ObjectId('5f3a0011223344556677889'.padEnd(24, String(Math.abs(n) % 10))),
  ])();
}

function value(dice: Dice, { kind, many }: Shape, field: string): unknown {
  if (kind !== 'plain' && field === many && dice.below(4) === 0)
    return Array.from({ length: dice.below(4) }, () => scalar(dice));
  if (kind === 'objects' && dice.below(6) === 0) return { x: scalar(dice), 1: 'one' };
  return scalar(dice);
}

function documentOf(dice: Dice, shape: Shape, _id: number): Document {
  const made: Document = { _id, k: dice.below(7), city: dice.of(['a', 'b', 'c']) };
  if (dice.below(6) > 0) made.a = value(dice, shape, 'a');
  if (dice.below(6) > 0) made.b = value(dice, shape, 'b');
  made.n =
    shape.kind === 'plain' || shape.many !== 'n'
      ? { c: scalar(dice) }
      : [{ c: scalar(dice) }, dice.below(2) ? { d: 1 } : 5];
  return made;
}

type Pattern = [string, 1 | -1][];

function pattern(dice: Dice): Pattern {
  const fields = dice.of([
    ['a'],
    ['a', 'b'],
    ['city', 'a'],
    ['city', 'b', 'a'],
    ['n.c'],
    ['b', 'n.c'],
  ]);
  return [...fields, '_id'].map((field) => [field, dice.of([1, -1] as const)]);
}

function filterOf(dice: Dice, index: Pattern): Document {
  const filter: Document = {};
  if (index[0]?.[0] === 'city' || dice.below(4) === 0) filter.city = dice.of(['a', 'b']);
  const field = dice.of(['a', 'b', 'n.c', 'none']);
  if (field !== 'none')
    filter[field] = dice.of<() => unknown>([
      () => ({ $gte: dice.below(6) - 2 }),
      () => ({ $lt: dice.below(6) }),
      () => ({ $gt: 'text ', $lte: 'text 3' }),
      () => ({ $in: [dice.below(6), null, 'text 1'] }),
      () => dice.below(6),
      () => ({ $exists: true }),
    ])();
  return filter;
}

async function round(account: Account, seed: number): Promise<void> {
  const dice = new Dice(seed);
  const client = await account.connect();
  const db = client.db(`r${seed}`);
  const isSharded = dice.below(2) === 0;
  if (isSharded) await db.admin().command({ shardCollection: `r${seed}.c`, key: { k: 'hashed' } });
  const collection = db.collection('c');
  const shape: Shape = { kind: dice.of(KINDS), many: dice.of(['a', 'b', 'n'] as const) };
  const index = pattern(dice);
  const isEarly = dice.below(2) === 0;
  const build = () => collection.createIndex(new Map(index));
  if (isEarly) await build();
  await collection.insertMany(
    Array.from({ length: DOCUMENTS }, (_, _id) => documentOf(dice, shape, _id)) as never[],
  );
  if (!isEarly) await build();
  for (let at = 0; at < 20; at++)
    await collection.updateOne({ _id: dice.below(DOCUMENTS) as never }, [
      {
        $set: {
          a: { $literal: value(dice, shape, 'a') },
          b: { $literal: value(dice, shape, 'b') },
        },
      },
    ]);
  if (isSharded) await split(account, seed);
  for (let query = 0; query < 8; query++) {
    const filter = filterOf(dice, index);
    const isBackwards = dice.below(2) === 0;
    const from = filter.city !== undefined && index[0]?.[0] === 'city' ? dice.below(2) : 0;
    const sort = new Map(
      index.slice(from).map(([field, direction]) => [field, isBackwards ? -direction : direction]),
    ) as Map<string, 1 | -1>;
    const skip = dice.of([0, 0, 3]);
    const limit = dice.of([0, 0, 1, 10, 70]);
    const find = () => collection.find(filter).sort(sort).skip(skip).limit(limit);
    const expected = await idsOf(find().hint({ $natural: 1 }));
    const what = JSON.stringify({ shape, index, filter, sort: [...sort], skip, limit });
    expect(await idsOf(find().batchSize(dice.of([2, 7, 200]))), what).toEqual(expected);
    const pipeline = [
      { $match: filter },
      { $sort: Object.fromEntries(sort) },
      ...(skip > 0 ? [{ $skip: skip }] : []),
      ...(limit > 0 ? [{ $limit: limit }] : []),
    ];
    expect(await idsOf(collection.aggregate(pipeline)), what).toEqual(expected);
  }
}

async function idsOf(cursor: { toArray(): Promise<Document[]> }): Promise<number[]> {
  return (await cursor.toArray()).map(({ _id }) => _id);
}

function containerOf({ service }: Account, seed: number) {
  const database = service.databases.find(`r${seed}`);
  const found = database && service.containers.find(database, 'c');
  if (found === undefined) throw new Error('no such collection');
  return found;
}

async function split(account: Account, seed: number): Promise<void> {
  await account.service.resizer.split(containerOf(account, seed), '0');
}

testRounds({
  title: 'sorts from an index are sorts in memory',
  count: 10,
  timeoutMs: 120_000,
  run: round,
});

test('a sort with a limit reads from the index no more than it returns', async () => {
  const account = await startAccount({});
  try {
    const client = await account.connect({ maxPoolSize: 1 });
    const db = client.db('cost');
    const collection = db.collection<Document>('c');
    await collection.insertMany(
      Array.from({ length: 2000 }, (_, _id) => ({
        _id,
        a: _id % 40,
        b: (_id * 7919) % 2000,
      })) as never[],
    );
    const charge = async () => (await db.command({ getLastRequestStatistics: 1 })).RequestCharge;
    const firstTen = () => collection.find({ a: 3 }).sort({ b: -1 }).limit(10);
    const expected = await idsOf(firstTen());
    const scanned = await charge();
    await collection.createIndex({ a: 1, b: 1 });
    expect(await idsOf(firstTen())).toEqual(expected);
    expect(await charge()).toBeLessThan(scanned / 20);
    expect(await idsOf(collection.find().sort({ _id: -1 }).limit(3))).toEqual([1999, 1998, 1997]);
    expect(await charge()).toBeLessThan(scanned / 20);
    expect(await idsOf(collection.find({ _id: { $in: [7, 5, 7] as never[] } }))).toEqual([5, 7]);
    expect(await charge()).toBeLessThan(scanned / 20);
    expect(await idsOf(collection.find({ _id: { $gt: 4, $lte: 6 } as never }))).toEqual([5, 6]);
    expect(await charge()).toBeLessThan(scanned / 20);
    const plan = (await firstTen().explain('queryPlanner')).queryPlanner.winningPlan;
    expect(plan).toMatchObject({
      stage: 'LIMIT',
      inputStage: {
        stage: 'FETCH',
        inputStage: { stage: 'IXSCAN', indexName: 'a_1_b_1', direction: 'backward' },
      },
    });
    const piped = await collection.aggregate([{ $sort: { a: 1 } }]).explain('queryPlanner');
    expect(piped.queryPlanner.winningPlan).toMatchObject({
      stage: 'FETCH',
      inputStage: { stage: 'IXSCAN', direction: 'forward' },
    });
    expect((await collection.find().sort({ b: 1 }).explain()).queryPlanner.winningPlan.stage).toBe(
      'SORT',
    );
  } finally {
    await account.close();
  }
});
