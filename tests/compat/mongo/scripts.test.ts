// Goal: functions of clients run in the sandbox wherever MongoDB takes them, with its types, codes and limits. Method:
// the stock driver on every engine, exact results; hostile functions beside a second client that reads.
import {
  Binary,
  type Db,
  Decimal128,
  Int32,
  Long,
  MaxKey,
  type MongoClient,
  ObjectId,
} from 'mongodb';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Account, ENGINES, startAccount } from './harness.ts';

interface Doc {
  _id: number | string;
  [name: string]: unknown;
}

const js = (body: string, ...args: unknown[]) => ({ $function: { body, args, lang: 'js' } });
const sum = {
  init: 'function (from) { return { total: from || 0, n: 0 }; }',
  accumulate: 'function (state, x) { state.total += x; state.n++; return state; }',
  accumulateArgs: ['$n'],
  merge: 'function (a, b) { return { total: a.total + b.total, n: a.n + b.n }; }',
  lang: 'js',
};

describe.each(ENGINES)('on %s', (engine) => {
  let account: Account;
  let client: MongoClient;
  let db: Db;

  beforeAll(async () => {
    account = await startAccount({ engine, settings: { scriptTimeLimitMs: 1000 } });
    client = await account.connect();
    db = client.db('scripts');
    await db.collection<Doc>('c').insertMany([
      { _id: 1, k: 'a', n: 1, list: [1, 2, 3] },
      { _id: 2, k: 'b', n: 2, list: [] },
      { _id: 3, k: 'a', n: 3, list: [4] },
    ]);
  });

  afterAll(async () => {
    expect(account.failures).toEqual([]);
    await account.close();
  });

  const rows = (...pipeline: object[]) => db.collection('c').aggregate(pipeline).toArray();
  const ids = async (filter: object) =>
    (await db.collection<Doc>('c').find(filter).toArray()).map(({ _id }) => _id);

  test('$function in stages', async () => {
    const twice = js('function (x) { return x * 2; }', '$n');
    expect(await rows({ $project: { twice } })).toEqual([
      { _id: 1, twice: 2 },
      { _id: 2, twice: 4 },
      { _id: 3, twice: 6 },
    ]);
    expect(
      await rows(
        { $set: { n: twice } },
        { $match: { $expr: { $gt: ['$n', 2] } } },
        { $count: 'n' },
      ),
    ).toEqual([{ n: 2 }]);
    expect(
      await rows({ $match: { $expr: js('(k) => k === "a"', '$k') } }, { $project: { n: 1 } }),
    ).toEqual([
      { _id: 1, n: 1 },
      { _id: 3, n: 3 },
    ]);
    expect(
      await rows({ $skip: 1 }, { $match: { $or: [{ n: 9 }, { $expr: js('n => n == 3', '$n') }] } }),
    ).toHaveLength(1);
    expect(await rows({ $group: { _id: js('k => k + k', '$k'), n: { $sum: twice } } })).toEqual([
      { _id: 'aa', n: 8 },
      { _id: 'bb', n: 4 },
    ]);
    expect(
      await rows({
        $project: { _id: 0, l: { $map: { input: '$list', in: js('x => x + 1', '$$this') } } },
      }),
    ).toEqual([{ l: [2, 3, 4] }, { l: [] }, { l: [5] }]);
    expect(
      await rows({ $limit: 1 }, { $project: { n: js('x => x + 1', js('x => x * 10', twice)) } }),
    ).toEqual([{ _id: 1, n: 21 }]);
    expect(
      await rows(
        { $redact: { $cond: [js('n => n > 1', '$$ROOT.n'), '$$KEEP', '$$PRUNE'] } },
        { $count: 'n' },
      ),
    ).toEqual([{ n: 2 }]);
    expect(
      await rows(
        {
          $lookup: {
            from: 'c',
            let: { own: twice },
            pipeline: [
              { $match: { $expr: js('(a, b) => a === b', '$n', '$$own') } },
              { $project: { n: 1 } },
            ],
            as: 'found',
          },
        },
        { $project: { found: 1 } },
      ),
    ).toEqual([
      { _id: 1, found: [{ _id: 2, n: 2 }] },
      { _id: 2, found: [] },
      { _id: 3, found: [] },
    ]);
    expect(
      await rows(
        {
          $setWindowFields: {
            sortBy: { n: 1 },
            output: { s: { $sum: twice, window: { documents: ['unbounded', 'current'] } } },
          },
        },
        { $project: { s: 1 } },
      ),
    ).toEqual([
      { _id: 1, s: 2 },
      { _id: 2, s: 6 },
      { _id: 3, s: 12 },
    ]);
    expect(
      await rows({
        $facet: { a: [{ $match: { $expr: js('n => n < 3', '$n') } }, { $count: 'n' }] },
      }),
    ).toEqual([{ a: [{ n: 2 }] }]);
  });

  test('equal calls of two documents are two calls', async () => {
    const made = await rows({ $project: { r: js('function () { return Math.random(); }') } });
    expect(new Set(made.map(({ r }) => r)).size).toBe(3);
  });

  test('$function in find and in updates', async () => {
    const odd = { $expr: js('n => n % 2 === 1', '$n') };
    expect(await ids(odd)).toEqual([1, 3]);
    expect(await ids({ ...odd, k: 'a', n: { $gt: 1 } })).toEqual([3]);
    expect(await db.collection('c').countDocuments(odd)).toBe(2);
    expect(await db.collection('c').distinct('k', odd)).toEqual(['a']);
    const projection = { n: js('n => n + 0.5', '$n') };
    expect(await db.collection('c').findOne({ n: 2 }, { projection })).toEqual({ _id: 2, n: 2.5 });
    const changed = await db.collection('c').updateMany(odd, { $set: { odd: true } });
    expect(changed.modifiedCount).toBe(2);
    expect(
      await db.collection('c').deleteMany({ odd: true, $expr: js('() => false') }),
    ).toMatchObject({
      deletedCount: 0,
    });
    await db.collection('c').updateMany({}, { $unset: { odd: 1 } });
  });

  test('$where', async () => {
    expect(await ids({ $where: 'this.n > 1' })).toEqual([2, 3]);
    expect(
      await ids({ $where: 'function () { return obj.k === "a" && this.list.length === 1; }' }),
    ).toEqual([3]);
    expect(await ids({ n: { $lt: 3 }, $where: 'return this.n % 2 === 1' })).toEqual([1]);
    await expect(rows({ $match: { $where: 'true' } })).rejects.toMatchObject({ code: 2 });
    const result = await db
      .collection('c')
      .updateOne({ $where: 'this.n === 2' }, { $inc: { m: 1 } });
    expect(result.modifiedCount).toBe(1);
    await db.collection<Doc>('c').updateOne({ _id: 2 }, { $unset: { m: 1 } });
  });

  test('values of all types there and back', async () => {
    const sent = {
      _id: 1,
      id: new ObjectId('64b7f0c2a1b2c3d4e5f60718'),
      date: new Date(1e12),
      long: Long.fromString('9007199254740993'),
      decimal: Decimal128.fromString('1.50'),
      regex: /a.b/i,
      bytes: new Binary(Buffer.from([1, 2, 3])),
      uuid: new Binary(Buffer.alloc(16, 7), 4),
      max: new MaxKey(),
      none: null,
      deep: { $: 'tag', list: [1.5, 'x', true] },
      int: new Int32(3),
      double: 4,
    };
    const types = db.collection('types');
    await types.insertOne(sent as never, { promoteValues: false } as never);
    const body =
      'function (d) { return { same: d, kinds: [d.id.str, d.date.getTime(), d.long.toNumber() + 1, d.regex.test("AxB"), d.bytes.length(), d.uuid.hex().length, typeof d.double] }; }';
    const [made] = await types
      .aggregate([{ $replaceWith: js(body, '$$ROOT') }], {
        promoteValues: false,
        promoteLongs: false,
      })
      .toArray();
    const [stored] = await types
      .aggregate([], { promoteValues: false, promoteLongs: false })
      .toArray();
    expect(made?.same).toEqual(stored);
    expect(made?.kinds.map(Number)).toEqual([
      Number('64b7f0c2a1b2c3d4e5f60718'),
      1e12,
      9007199254740992,
      1,
      3,
      32,
      Number.NaN,
    ]);
    const kinds = (value: string) =>
      types
        .aggregate([{ $project: { _id: 0, t: { $type: js(`() => (${value})`) } } }])
        .toArray()
        .then(([row]) => row?.t);
    expect(await kinds('1')).toBe('double');
    expect(await kinds('NumberInt(1)')).toBe('int');
    expect(await kinds('NumberLong("5")')).toBe('long');
    expect(await kinds('new NumberDecimal("1e3")')).toBe('decimal');
    expect(await kinds('undefined')).toBe('undefined');
    expect(await kinds('ISODate("2020-01-01")')).toBe('date');
    expect(await kinds('new Timestamp(1, 2)')).toBe('timestamp');
    expect(await kinds('MinKey()')).toBe('minKey');
    expect(await kinds('function () {}')).toBe('javascript');
  });

  test('$accumulator', async () => {
    const finalize = 'function (s) { return s.total / s.n; }';
    const group = (more: object) =>
      rows(
        { $group: { _id: '$k', v: { $accumulator: { ...sum, ...more } } } },
        { $sort: { _id: 1 } },
      );
    expect(await group({ finalize })).toEqual([
      { _id: 'a', v: 2 },
      { _id: 'b', v: 2 },
    ]);
    expect(await group({ initArgs: [10] })).toEqual([
      { _id: 'a', v: { total: 14, n: 2 } },
      { _id: 'b', v: { total: 12, n: 1 } },
    ]);
    const output = { v: { $accumulator: sum } };
    expect(await rows({ $bucketAuto: { groupBy: '$n', buckets: 1, output } })).toEqual([
      { _id: { min: 1, max: 3 }, v: { total: 6, n: 3 } },
    ]);
    expect(await rows({ $bucket: { groupBy: '$n', boundaries: [0, 2, 4], output } })).toEqual([
      { _id: 0, v: { total: 1, n: 1 } },
      { _id: 2, v: { total: 5, n: 2 } },
    ]);
    const many = db.collection('many');
    await many.insertMany(Array.from({ length: 3000 }, (_, n) => ({ n })));
    expect(
      await many.aggregate([{ $group: { _id: null, v: { $accumulator: sum } } }]).toArray(),
    ).toEqual([{ _id: null, v: { total: 4498500, n: 3000 } }]);
  });

  test.each<[string, object, number]>([
    ['no object', { $function: 1 }, 31260],
    ['no body', { $function: { args: [], lang: 'js' } }, 31261],
    ['a body that is not constant', { $function: { body: '$x', args: [], lang: 'js' } }, 31432],
    ['a body that is a number', { $function: { body: 1, args: [], lang: 'js' } }, 31262],
    ['no args', { $function: { body: 'x', lang: 'js' } }, 31263],
    ['args that are no array', { $function: { body: 'x', args: 1, lang: 'js' } }, 31266],
    ['no language', { $function: { body: 'x', args: [] } }, 31418],
    ['another language', { $function: { body: 'x', args: [], lang: 'py' } }, 31419],
    ['a syntax error', js('function ( {'), 139],
    ['no function', js('1'), 139],
    ['an error', js('() => { throw new Error("boom"); }'), 139],
    ['a cycle', js('() => { const a = {}; a.a = a; return a; }'), 139],
  ])('$function is refused: %s', async (_name, x, code) => {
    await expect(rows({ $project: { x } })).rejects.toMatchObject({ code });
  });

  test.each<[string, object | number, number]>([
    ['no object', 1, 4544703],
    ['init that is not constant', { ...sum, init: '$x' }, 4544701],
    ['init that is a number', { ...sum, init: 1 }, 4544702],
    ['a language that is a number', { ...sum, lang: 1 }, 4544704],
    ['another language', { ...sum, lang: 'py' }, 4544705],
    ['an unknown field', { ...sum, other: 1 }, 4544706],
    ['no init', { ...sum, init: '' }, 4544707],
    ['no accumulate', { ...sum, accumulate: '' }, 4544708],
    ['no merge', { ...sum, merge: '' }, 4544709],
    ['no arguments', { init: sum.init, accumulate: sum.accumulate, merge: sum.merge }, 4544710],
    ['arguments of init that are no array', { ...sum, initArgs: 1 }, 4544711],
    ['arguments that are no array', { ...sum, accumulateArgs: '$n' }, 4544712],
    ['an error', { ...sum, accumulate: '() => { throw 1; }' }, 139],
  ])('$accumulator is refused: %s', async (_name, $accumulator, code) => {
    await expect(rows({ $group: { _id: 1, x: { $accumulator } } })).rejects.toMatchObject({ code });
  });

  test('a validator has no functions', async () => {
    const validator = { $expr: js('() => true') };
    await expect(db.createCollection('checked', { validator })).rejects.toMatchObject({
      code: 4660800,
    });
  });

  describe('mapReduce', () => {
    const functions = {
      mapReduce: 'c',
      map: 'function () { emit(this.k, this.n); }',
      reduce: 'function (key, values) { return Array.sum(values); }',
    };
    const stored = (name: string) => db.collection(name).find().sort({ _id: 1 }).toArray();

    test('inline', async () => {
      expect(await db.command({ ...functions, out: { inline: 1 } })).toMatchObject({
        results: [
          { _id: 'a', value: 4 },
          { _id: 'b', value: 2 },
        ],
        ok: 1,
      });
      const more = {
        ...functions,
        query: { n: { $gt: 1 } },
        sort: { n: -1 },
        limit: 1,
        scope: { factor: 10 },
        finalize: 'function (key, value) { return { [key]: value * factor }; }',
        out: { inline: 1 },
      };
      expect((await db.command(more)).results).toEqual([{ _id: 'a', value: { a: 30 } }]);
      expect(
        (await db.command({ ...functions, mapReduce: 'nothing', out: { inline: 1 } })).results,
      ).toEqual([]);
    });

    test('into a collection', async () => {
      await db.collection<Doc>('out').insertOne({ _id: 'z', value: 1 });
      expect(await db.command({ ...functions, out: 'out' })).toMatchObject({
        result: 'out',
        ok: 1,
      });
      const both = [
        { _id: 'a', value: 4 },
        { _id: 'b', value: 2 },
      ];
      expect(await stored('out')).toEqual(both);
      await db.collection<Doc>('out').insertOne({ _id: 'c', value: 7 });
      await db.command({ ...functions, out: { reduce: 'out' } });
      expect(await stored('out')).toEqual([
        { _id: 'a', value: 8 },
        { _id: 'b', value: 4 },
        { _id: 'c', value: 7 },
      ]);
      await db.command({ ...functions, out: { merge: 'out' } });
      expect(await stored('out')).toEqual([...both, { _id: 'c', value: 7 }]);
    });

    test.each<[string, object, number]>([
      ['no map', { map: null }, 40414],
      ['a map that is a number', { map: 1 }, 14],
      ['no output', { out: null }, 40414],
      ['an output that is a number', { out: 1 }, 2],
      ['two outputs', { out: { inline: 1, merge: 'x' } }, 2],
      ['an unknown field', { other: 1 }, 40415],
      ['an error', { map: 'function () { throw new Error("x"); }' }, 139],
      ['one argument of emit', { map: 'function () { emit(1); }' }, 139],
    ])('is refused: %s', async (_name, more, code) => {
      await expect(db.command({ ...functions, out: { inline: 1 }, ...more })).rejects.toMatchObject(
        { code },
      );
    });
  });

  describe('hostile functions end with an error of their own, and others go on', () => {
    test.each<[string, string, number]>([
      ['an endless loop', '() => { for (;;); }', 139],
      ['a memory bomb', '() => { const a = []; for (;;) a.push(new Array(1e5).fill("x")); }', 139],
      ['endless recursion', 'function f() { return f() + 1; }', 139],
      ['a regular expression bomb', '() => /^(a+)+$/.test("a".repeat(40) + "b")', 139],
      ['changed built-in functions', '() => { Array.prototype.map = null; return [1]; }', 139],
    ])('%s', async (_name, body, code) => {
      const other = await account.connect();
      let isDone = false;
      const running = rows({ $project: { x: js(body) } })
        .then(
          (made) => made.length,
          (error: { code: number }) => error.code,
        )
        .finally(() => {
          isDone = true;
        });
      let reads = 0;
      while (!isDone) {
        await other.db('scripts').collection<Doc>('c').findOne({ _id: 1 });
        reads++;
      }
      expect(await running).toBe(code);
      expect(reads).toBeGreaterThan(1);
      expect(await rows({ $limit: 1 }, { $project: { x: js('() => "well"') } })).toEqual([
        { _id: 1, x: 'well' },
      ]);
    });

    test('the time of a command', async () => {
      const slow = db
        .collection('c')
        .aggregate([{ $project: { x: js('() => { for (;;); }') } }], { maxTimeMS: 200 })
        .toArray();
      await expect(slow).rejects.toMatchObject({ codeName: 'MaxTimeMSExpired' });
    });
  });
});
