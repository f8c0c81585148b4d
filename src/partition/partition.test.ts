// Goal: a partition decides, stores and reads exactly as its contract says, on synchronous, asynchronous and disk engines.
// Method: one table of behaviours run on three engines, plus a seeded model with reopenings.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import {
  bytesToLatin1,
  bytesToText,
  type DomainError,
  FakeClock,
  seededRandom,
} from '../base/index.ts';
import { asyncEngine } from '../engine/async-engine.ts';
import type { Engine, Store } from '../engine/index.ts';
import { memoryEngine } from '../engine/memory/index.ts';
import { sqliteEngine } from '../engine/sqlite/index.ts';
import { commandOf } from './commit/command/write-command.ts';
import type { Item, ItemKey } from './item/item.ts';
import { logAfter, PREFIX_LOG, PREFIX_TOMBSTONE } from './item/keyspace.ts';
import type { Partition } from './partition.ts';
import type { PartitionReader } from './partition-reader.ts';
import { keyOf, openForTest, put, putOp, remove, textOf } from './test-kit.ts';

const directory = mkdtempSync(join(tmpdir(), 'mesocosm-partition-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const engines: readonly [string, () => Engine][] = [
  ['memory', () => memoryEngine()],
  ['delayed', () => asyncEngine(memoryEngine())],
  ['sqlite', () => sqliteEngine({ directory: mkdtempSync(join(directory, 'engine-')) })],
];

const codeOf = (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => 'ok',
    (error: DomainError) => error.code,
  );

test('a deletion that is stored but not published is not in the change log, since reads still find the item', async () => {
  const engine = memoryEngine();
  const store = await engine.open('partition');
  let gate: Promise<void> = Promise.resolve();
  const commit: Store['commit'] = async (batch) => {
    await store.commit(batch);
    await gate;
  };
  const slow = new Proxy(store, {
    get: (target, name) => {
      if (name === 'commit') return commit;
      const value = Reflect.get(target, name);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
  const partition = await openForTest(slow);
  const key = keyOf('a', '1');
  await put(partition, 'create', key, 'hello');
  const open = Promise.withResolvers<void>();
  gate = open.promise;
  const removed = remove(partition, key);
  while (await store.get(key.primary)) await new Promise((resolve) => setImmediate(resolve));
  expect(await partition.read(key)).toBeDefined();
  expect(await partition.changes.after(1, 10)).toEqual({ changes: [], upTo: 1, more: false });
  open.resolve();
  await removed;
  expect(await partition.read(key)).toBeUndefined();
  const page = await partition.changes.after(1, 10);
  expect(page).toMatchObject({ changes: [{ kind: 'delete', lsn: 2 }], upTo: 2 });
  await partition.close();
  await engine.close();
});

describe.each(engines)('partition on %s', (_, makeEngine) => {
  async function withPartition(
    use: (partition: Partition, store: Store, engine: Engine) => Promise<void>,
  ): Promise<void> {
    const engine = makeEngine();
    const store = await engine.open('partition');
    const partition = await openForTest(store);
    try {
      await use(partition, store, engine);
    } finally {
      await partition.close();
      await engine.close();
    }
  }

  test('a read item has the rid, etag and time that the committer assigned', () =>
    withPartition(async (partition) => {
      const key = keyOf('a', '1');
      const effect = await put(partition, 'create', key, 'hello');
      const item = (await partition.read(key)) as Item;
      const rid = 3 * 2 ** 40 + 1;
      expect(bytesToText(item.body)).toBe(`hello|rid=${rid}|ts=1000`);
      expect(item.rid).toBe(rid);
      expect(item.lsn).toBe(1);
      expect(item.etag).toBe('"0000abcd-0000-0000-0000-000000000080"');
      expect(effect?.kind).toBe('created');
      expect(effect?.item?.etag).toBe(item.etag);
      expect(partition.lsn).toBe(1);
    }));

  test('the same id under two partition keys is two items', () =>
    withPartition(async (partition) => {
      await put(partition, 'create', keyOf('a', '1'), 'in a');
      await put(partition, 'create', keyOf('b', '1'), 'in b');
      expect(textOf(await partition.read(keyOf('a', '1')))).toBe('in a');
      expect(textOf(await partition.read(keyOf('b', '1')))).toBe('in b');
    }));

  test('a reader has one consistent view, whatever is written and read since, and caches nothing old', () =>
    withPartition(async (partition) => {
      const keys = ['kept', 'replaced', 'deleted'].map((id) => keyOf('a', id));
      const [kept, replaced, deleted] = keys as [ItemKey, ItemKey, ItemKey];
      for (const key of keys) await put(partition, 'create', key, 'old');
      const rids = await Promise.all(
        keys.map(async (key) => (await partition.read(key))?.rid ?? 0),
      );
      const textsOf = async (reader: PartitionReader) =>
        (await reader.readMany(rids)).map((item) => textOf(item));
      const reader = await partition.reader();
      await put(partition, 'replace', replaced, 'new');
      await remove(partition, deleted);
      expect(await textsOf(reader)).toEqual(['old', 'old', 'old']);
      const later = await partition.reader();
      expect(await textsOf(later)).toEqual(['old', 'new', undefined]);
      // Read again, from what the first reads may have cached.
      expect(await textsOf(reader)).toEqual(['old', 'old', 'old']);
      expect(await textsOf(later)).toEqual(['old', 'new', undefined]);
      for (const [key, text] of [
        [kept, 'old'],
        [replaced, 'new'],
        [deleted, undefined],
      ] as const)
        expect(textOf(await partition.read(key))).toBe(text);
      reader.release();
      later.release();
    }));

  test('refusals: exists, missing, etag', () =>
    withPartition(async (partition) => {
      const key = keyOf('a', '1');
      const created = await put(partition, 'create', key, 'one');
      const etag = created?.item?.etag as string;
      expect(await codeOf(put(partition, 'create', key, 'two'))).toBe('itemExists');
      expect(await codeOf(put(partition, 'replace', keyOf('a', '2'), 'x'))).toBe('itemNotFound');
      expect(await codeOf(remove(partition, keyOf('a', '2')))).toBe('itemNotFound');
      expect(await codeOf(put(partition, 'replace', key, 'two', '"other"'))).toBe(
        'preconditionFailed',
      );
      expect(await codeOf(put(partition, 'upsert', key, 'two', '"other"'))).toBe(
        'preconditionFailed',
      );
      expect(await codeOf(remove(partition, key, '"other"'))).toBe('preconditionFailed');
      expect(textOf(await partition.read(key))).toBe('one');
      const replaced = await put(partition, 'replace', key, 'two', etag);
      expect(replaced?.kind).toBe('replaced');
      expect(replaced?.item?.rid).toBe(created?.item?.rid);
      expect(replaced?.item?.etag).not.toBe(etag);
      expect((await remove(partition, key, '*'))?.kind).toBe('deleted');
      expect(await partition.read(key)).toBeUndefined();
    }));

  test('exactly one of many concurrent creates of one item succeeds', () =>
    withPartition(async (partition) => {
      const key = keyOf('a', '1');
      const codes = await Promise.all(
        Array.from({ length: 50 }, (_, n) => codeOf(put(partition, 'create', key, `${n}`))),
      );
      expect(codes.filter((code) => code === 'ok')).toHaveLength(1);
      expect(codes[0]).toBe('ok');
      expect(textOf(await partition.read(key))).toBe('0');
      expect(partition.statistics().itemCount).toBe(1);
    }));

  test('create, replace, delete and create again in one turn of the event loop leave one item, log and count', () =>
    withPartition(async (partition, store) => {
      const key = keyOf('a', '1');
      const other = keyOf('a', '2');
      await put(partition, 'create', other, 'kept before');
      await Promise.all([
        put(partition, 'create', key, 'one'),
        put(partition, 'replace', key, 'two'),
        remove(partition, key),
        put(partition, 'create', key, 'three'),
        remove(partition, other),
        put(partition, 'create', other, 'again'),
      ]);
      expect(textOf(await partition.read(key))).toBe('three');
      expect(textOf(await partition.read(other))).toBe('again');
      const options = { limit: 10, bytesMax: 10_000 };
      const log = await store.scan(logAfter(PREFIX_LOG, 0), options);
      expect(log.entries).toHaveLength(2);
      const tombstones = await store.scan(logAfter(PREFIX_TOMBSTONE, 0), options);
      expect(tombstones.entries.length).toBeGreaterThanOrEqual(1);
      expect(partition.statistics()).toMatchObject({ lsn: 7, itemCount: 2 });
    }));

  test('expired tombstones are deleted', async () => {
    const engine = makeEngine();
    const store = await engine.open('partition');
    const clock = new FakeClock(1_000_000);
    const partition = await openForTest(store, { clock });
    await put(partition, 'create', keyOf('a', '1'), 'x');
    await remove(partition, keyOf('a', '1'));
    const count = async () =>
      (await store.scan(logAfter(PREFIX_TOMBSTONE, 0), { limit: 10, bytesMax: 1000 })).entries
        .length;
    expect(await count()).toBe(1);
    clock.advance(25 * 3600 * 1000);
    await put(partition, 'create', keyOf('a', '2'), 'x');
    await put(partition, 'create', keyOf('a', '3'), 'x');
    await partition.close();
    const reopened = await engine.open('partition');
    expect(
      (await reopened.scan(logAfter(PREFIX_TOMBSTONE, 0), { limit: 10, bytesMax: 1000 })).entries,
    ).toHaveLength(0);
    await engine.close();
  });

  test('a fenced partition refuses writes and returns the last LSN', () =>
    withPartition(async (partition) => {
      const write = put(partition, 'create', keyOf('a', '1'), 'x');
      expect(await partition.fence()).toBe(1);
      await write;
      expect(await codeOf(put(partition, 'create', keyOf('a', '2'), 'x'))).toBe('partitionGone');
      expect(textOf(await partition.read(keyOf('a', '1')))).toBe('x');
    }));

  test('pages in rid order and in key order, whatever the page size', () =>
    withPartition(async (partition) => {
      const ids = ['b', 'a', 'd', 'c', 'e'];
      for (const id of ids) await put(partition, 'create', keyOf('a', id), id);
      await put(partition, 'create', keyOf('zz', 'other'), 'other');
      for (const limit of [1, 2, 3, 10]) {
        const byRid = await collect((after) =>
          partition.scanByRid({ after, limit, bytesMax: 1_000_000 }, undefined),
        );
        expect(byRid).toEqual([...ids, 'other']);
        const { epk } = keyOf('a', '');
        const within = { min: epk, max: Buffer.concat([epk, Uint8Array.of(0)]) };
        const byKey = await collect((after) =>
          partition.scanByKey({ after, limit, bytesMax: 1_000_000 }, within),
        );
        expect(byKey).toEqual(['a', 'b', 'c', 'd', 'e']);
        const inRange = await collect((after) =>
          partition.scanByRid({ after, limit, bytesMax: 1_000_000 }, within),
        );
        expect(inRange).toEqual(ids);
      }
    }));

  const seed = Number(process.env.MESOCOSM_SEED ?? 20261115);
  test(`random histories agree with a model and survive reopening (seed ${seed})`, async () => {
    const random = seededRandom(seed);
    const engine = makeEngine();
    let partition = await openForTest(await engine.open('partition'), { cacheBytes: 4096 });
    const model = new Map<string, string>();
    for (let round = 0; round < 12; round++) {
      const jobs = Array.from({ length: 30 }, async () => {
        const id = `${random.below(12)}`;
        const key = keyOf(`pk${random.below(3)}`, id);
        const text = `v${random.below(1_000_000)}`;
        const name = `${key.text}`;
        const kind = (['create', 'upsert', 'replace', 'delete'] as const)[random.below(4)];
        // Decisions are made in the order of the calls, so the model can be updated at once.
        const exists = model.has(name);
        const expected =
          kind === 'create'
            ? exists
              ? 'itemExists'
              : 'ok'
            : kind === 'upsert' || exists
              ? 'ok'
              : 'itemNotFound';
        if (expected === 'ok') {
          if (kind === 'delete') model.delete(name);
          else model.set(name, text);
        }
        const job =
          kind === 'delete' ? remove(partition, key) : put(partition, kind as 'create', key, text);
        expect(await codeOf(job)).toBe(expected);
      });
      await Promise.all(jobs);
      const items = await collectItems(partition);
      const found = new Map(items.map((item) => [bytesToLatin1(item.primary), textOf(item)]));
      expect(found).toEqual(model);
      const { itemCount, itemBytes } = partition.statistics();
      expect(itemCount).toBe(model.size);
      const before = partition.statistics();
      await partition.close();
      partition = await openForTest(await engine.open('partition'), { cacheBytes: 4096 });
      expect(partition.statistics()).toEqual(before);
      expect(itemBytes).toBe(items.reduce((sum, item) => sum + item.record.length, 0));
    }
    await partition.close();
    await engine.close();
  });
});

test('a failed commit fails every write under way and marks the partition as failed', async () => {
  const engine = memoryEngine();
  const store = await engine.open('partition');
  let isBroken = false;
  const brittle = new Proxy(store, {
    get(target, name) {
      if (name === 'commit' && isBroken) return () => Promise.reject(new Error('disk full'));
      const member = Reflect.get(target, name);
      return typeof member === 'function' ? member.bind(target) : member;
    },
  });
  const partition = await openForTest(brittle);
  await put(partition, 'create', keyOf('a', '1'), 'x');
  isBroken = true;
  const codes = await Promise.all([
    codeOf(put(partition, 'create', keyOf('a', '2'), 'x')),
    codeOf(put(partition, 'create', keyOf('a', '2'), 'y')),
    codeOf(partition.write(commandOf(putOp('replace', keyOf('a', '1'), 'z')))),
  ]);
  expect(codes).toEqual(['unavailable', 'unavailable', 'unavailable']);
  expect(partition.hasFailed).toBe(true);
  isBroken = false;
  expect(await codeOf(put(partition, 'create', keyOf('a', '3'), 'x'))).toBe('unavailable');
  expect(textOf(await partition.read(keyOf('a', '1')))).toBe('x');
});

async function collectItems(partition: Partition): Promise<Item[]> {
  const items: Item[] = [];
  let after: string | undefined;
  do {
    const page = await partition.scanByRid({ after, limit: 7, bytesMax: 1_000_000 }, undefined);
    items.push(...page.items);
    after = page.next;
  } while (after !== undefined);
  return items;
}

type PageOf = ReturnType<Partition['scanByRid']>;

async function collect(
  page: (after: string | undefined) => PageOf,
): Promise<(string | undefined)[]> {
  const texts: (string | undefined)[] = [];
  let after: string | undefined;
  do {
    const { items, next } = await page(after);
    texts.push(...items.map(textOf));
    after = next;
  } while (after !== undefined);
  return texts;
}
