// Goal: the index entries of an item follow the policy, are exact after every write, and are built again during writes
// when the policy changes. Method: golden entries; a seeded history compared with a recount.
import { describe, expect, test } from 'vitest';
import { bytesToLatin1, bytesToText, seededRandom } from '../../../base/index.ts';
import { asyncEngine } from '../../../engine/async-engine.ts';
import type { Engine, KeyRange, Store } from '../../../engine/index.ts';
import { memoryEngine } from '../../../engine/memory/index.ts';
import {
  ARRAY_ELEMENT,
  type Path,
  parsePath,
  TRUNCATED,
  type Value,
} from '../../../value/index.ts';
import { commandOf, type PlainOp } from '../../commit/command/write-command.ts';
import type { Item } from '../../item/item.ts';
import { newItem } from '../../item/record.ts';
import type { Partition } from '../../partition.ts';
import { indexingForTest, keyOf, openForTest, put, putOp, remove } from '../../test-kit.ts';
import type { IndexPage } from '../read/index-view.ts';
import { IndexPaths } from './index-paths.ts';
import {
  INDEX_ENTRIES,
  INDEX_LOG_RANGE,
  type Indexing,
  pathPrefix,
  ridOfEntry,
  valueOfTerm,
} from './indexing.ts';

function itemOf(value: Value): Item {
  return newItem({
    primary: new Uint8Array(0),
    rid: 7,
    version: { salt: 0, lsn: 1, operation: 0 },
    timestampSec: 0,
    ttlSec: 0,
    encoding: 'json',
    body: Buffer.from(JSON.stringify(value)),
  });
}

/** The values an item is found by under a path. */
function valuesAt(indexing: Indexing, item: Item, path: string): Value[] {
  const prefix = bytesToLatin1(pathPrefix(parsePath(path)));
  return indexing
    .entriesOf(item)
    .filter((entry) => entry.startsWith(prefix))
    .map((entry) => {
      expect(ridOfEntry(entry)).toBe(7);
      const value = valueOfTerm(entry);
      if (value !== TRUNCATED) return value;
      return entry.charCodeAt(prefix.length) === 0x1e ? 'an array' : 'an object';
    });
}

test('every value under its path, arrays and objects by kind', () => {
  const item = itemOf({
    id: 'x',
    n: 1.5,
    no: null,
    yes: true,
    tags: ['a', 'b', 'a'],
    deep: { list: [{ k: 1 }, { k: 2 }], empty: {} },
    _etag: 'e',
    _rid: 'r',
    _ts: 5,
  });
  const at = (path: string) => valuesAt(indexingForTest({}), item, path);
  expect(at('/id')).toEqual(['x']);
  expect(at('/n')).toEqual([1.5]);
  expect(at('/no')).toEqual([null]);
  expect(at('/yes')).toEqual([true]);
  expect(at('/tags')).toEqual(['an array']);
  expect(at('/tags/[]')).toEqual(['a', 'b', 'a']);
  expect(at('/deep/list/[]')).toEqual(['an object', 'an object']);
  expect(at('/deep/list/[]/k')).toEqual([1, 2]);
  expect(at('/deep/empty')).toEqual(['an object']);
  expect(at('/_ts')).toEqual([5]);
  expect(at('/_etag')).toEqual([]);
  expect(at('/_rid')).toEqual([]);
  expect(at('/missing')).toEqual([]);
});

test.each<[string[], string[], string[], Record<string, boolean>]>([
  [['/*'], [], [], { '/a': true, '/a/b': true, '/a/[]': true }],
  [['/*'], ['/a/*'], [], { '/a': false, '/a/b/c': false, '/ab': true }],
  [['/*'], ['/a/?'], [], { '/a': false, '/a/b': true }],
  [['/*', '/a/b/*'], ['/a/*'], [], { '/a/x': false, '/a/b': true, '/a/b/c': true }],
  [['/a/?'], ['/*'], [], { '/a': true, '/a/b': false, '/b': false }],
  [['/a/[]/b/?'], ['/*'], [], { '/a/[]/b': true, '/a/b': false, '/a/[]': false }],
  [['/*'], ['/*'], ['/pk/?'], { '/pk': true, '/x': false }],
  [['/"a b"/?'], ['/*'], [], { '/"a b"': true }],
])('included %j, excluded %j, always %j', (included, excluded, always, expected) => {
  const paths = new IndexPaths({ included, excluded, always });
  for (const [path, isIndexed] of Object.entries(expected))
    expect([path, paths.isIndexed(parsePath(path))]).toEqual([path, isIndexed]);
});

test('an array step is no property name', () => {
  const paths = new IndexPaths({ included: ['/a/[]/?'], excluded: ['/*'], always: [] });
  const step: Path = ['a', ARRAY_ELEMENT];
  expect(paths.isIndexed(step)).toBe(true);
  expect(paths.isIndexed(['a', '[]'])).toBe(false);
});

describe.each<[string, () => Engine]>([
  ['memory', () => memoryEngine()],
  ['delayed', () => asyncEngine(memoryEngine())],
])('index on %s', (_, makeEngine) => {
  async function found(partition: Partition): Promise<readonly string[]> {
    const reader = await partition.reader();
    const entries: string[] = [];
    for (let range: KeyRange | undefined = INDEX_ENTRIES; range !== undefined; ) {
      const page: IndexPage = await reader.scanIndex(range, { limit: 50, bytesMax: 1e9 });
      entries.push(...page.entries);
      range = page.rest;
    }
    reader.release();
    return entries;
  }

  async function recounted(partition: Partition, indexing: Indexing): Promise<string[]> {
    const page = await partition.scanByRid(
      { after: undefined, limit: 1e6, bytesMax: 1e9 },
      undefined,
    );
    const entries = page.items.flatMap((item) => indexing.entriesOf(item));
    return [...new Set(entries)].sort();
  }

  const seed = Number(process.env.MESOCOSM_SEED ?? 77);
  test(`entries follow random writes and policy changes (seed ${seed})`, async () => {
    const random = seededRandom(seed);
    const engine = makeEngine();
    const policies = [
      indexingForTest({}),
      indexingForTest({ included: ['/a/*'], excluded: ['/*'] }),
      indexingForTest({ isOff: true }),
      indexingForTest({
        composites: [
          [
            { path: '/a', isDescending: false },
            { path: '/b', isDescending: true },
          ],
        ],
      }),
    ];
    let indexing = policies[0] as Indexing;
    const open = async () => {
      const store = await engine.open('partition');
      const options = { indexing, indexMemoryEntries: 200 };
      return { store, partition: await openForTest(store, options) };
    };
    let { store, partition } = await open();
    for (let round = 0; round < 25; round++) {
      const jobs = Array.from({ length: 30 }, () => {
        const key = keyOf(`pk${random.below(3)}`, `${random.below(15)}`);
        const text = JSON.stringify({
          a: random.below(3),
          b: `t${random.below(3)}`,
          c: [random.below(2)],
        });
        const job =
          random.below(4) === 0 ? remove(partition, key) : put(partition, 'upsert', key, text);
        return job.catch(() => undefined);
      });
      if (random.below(2) === 0) {
        indexing = policies[random.below(policies.length)] as Indexing;
        partition.changeIndexing(indexing);
      }
      await Promise.all(jobs);
      const end = random.below(5);
      if (end === 0) await partition.close();
      // As after a crash: entries that are only in memory are lost.
      if (end === 1) await store.close();
      if (end < 2) ({ store, partition } = await open());
      while (partition.indexes.progressPercent() < 100) await new Promise((r) => setImmediate(r));
      await put(partition, 'upsert', keyOf('pk', 'last'), '{}');
      expect(await found(partition)).toEqual(await recounted(partition, indexing));
    }
    await partition.close();
    await engine.close();
  });

  test(`entries of high cardinality are added and removed with their items (seed ${seed})`, async () => {
    const random = seededRandom(seed);
    const engine = makeEngine();
    const indexing = indexingForTest({
      composites: [
        [
          { path: '/rare', isDescending: true },
          { path: '/shared', isDescending: false },
        ],
      ],
    });
    const open = async () => {
      const store = await engine.open('partition');
      return { store, partition: await openForTest(store, { indexing, indexMemoryEntries: 3000 }) };
    };
    let { store, partition } = await open();
    const write = (kind: 'create' | 'upsert', number: number, rare: string) => {
      const value = { rare, list: [rare, rare, `${rare} again`], shared: random.below(3) };
      const op = putOp(kind, keyOf('pk', `${number}`), JSON.stringify(value));
      return partition.write(commandOf({ ...op, value } as PlainOp));
    };
    for (let round = 0; round < 12; round++) {
      const first = round * 100;
      const jobs: Promise<unknown>[] = [];
      for (let number = first; number < first + 100; number++)
        jobs.push(write('create', number, `value ${random.below(2) ? number : number - 1}`));
      // Some change or are deleted before they are durable, others long after.
      for (let count = 0; count < 30; count++) {
        const number = random.below(first + 100);
        if (random.below(2)) jobs.push(write('upsert', number, `value ${random.below(2000)}`));
        else jobs.push(remove(partition, keyOf('pk', `${number}`)).catch(() => undefined));
      }
      await Promise.all(jobs);
      if (round % 3 === 2) continue;
      expect(await found(partition)).toEqual(await recounted(partition, indexing));
      if (round % 5 === 4) await store.close();
      if (round % 5 === 4) ({ store, partition } = await open());
    }
    expect(await found(partition)).toEqual(await recounted(partition, indexing));
    await partition.close();
    await engine.close();
  });

  test('very many removed terms are logged in parts and stay removed after a crash', async () => {
    const engine = makeEngine();
    const indexing = indexingForTest({});
    let store: Store = await engine.open('partition');
    let partition = await openForTest(store, { indexing });
    const text = JSON.stringify({
      list: Array.from({ length: 8000 }, (_, n) => `a text of some length, number ${n}`),
    });
    const ids = ['1', '2', '3'];
    await Promise.all(ids.map((id) => put(partition, 'create', keyOf('a', id), text)));
    await partition.close();
    store = await engine.open('partition');
    partition = await openForTest(store, { indexing });
    await Promise.all(ids.map((id) => put(partition, 'replace', keyOf('a', id), '{"list":[1]}')));
    const log = await store.scan(INDEX_LOG_RANGE, { limit: 100, bytesMax: 1e9 });
    expect(log.entries.length).toBeGreaterThan(1);
    await store.close();
    partition = await openForTest(await engine.open('partition'), { indexing });
    expect(await found(partition)).toEqual(await recounted(partition, indexing));
    await partition.close();
    await engine.close();
  });

  test('a reader has one consistent view', async () => {
    const engine = makeEngine();
    const partition = await openForTest(await engine.open('partition'), {
      indexing: indexingForTest({}),
    });
    const effect = await put(partition, 'create', keyOf('a', '1'), '{"a":1}');
    const reader = await partition.reader();
    await put(partition, 'replace', keyOf('a', '1'), '{"a":2}');
    const rid = effect?.item?.rid as number;
    const [item] = await reader.readMany([rid]);
    expect(item && bytesToText(item.body)).toMatch(/^\{"a":1\}/);
    const prefix = pathPrefix(['a']);
    const page = await reader.scanIndex(
      { start: prefix, end: Buffer.concat([prefix, Uint8Array.of(0xff)]) },
      { limit: 10, bytesMax: 1000 },
    );
    expect(page.entries.map(valueOfTerm)).toEqual([1]);
    reader.release();
    await partition.close();
    await engine.close();
  });
});
test.each([
  [[false, true], { isReversed: false }],
  [[true, false], { isReversed: true }],
  [[false, false], undefined],
  [[true, true], undefined],
])('a composite index serves its order and the reverse: descending %j', ([a, b], expected) => {
  const indexing = indexingForTest({
    composites: [
      [
        { path: '/a', isDescending: false },
        { path: '/b', isDescending: true },
      ],
    ],
  });
  const order = [
    { path: ['a'], isDescending: a === true },
    { path: ['b'], isDescending: b === true },
  ];
  const match = indexing.compositeFor(order);
  if (expected === undefined) expect(match).toBeUndefined();
  else expect(match).toMatchObject(expected);
});
