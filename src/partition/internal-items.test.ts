// Goal: shadows and headers are stored, moved and removed like items, and only decisions see them.
// Method: a partition on synchronous and asynchronous engines; every way of reading; seeded histories against a model.
import { describe, expect, test } from 'vitest';
import { bytesToText, FakeClock, seededRandom, textToBytes } from '../base/index.ts';
import { asyncEngine } from '../engine/async-engine.ts';
import type { Engine, KeyRange, Store } from '../engine/index.ts';
import { memoryEngine } from '../engine/memory/index.ts';
import { updateOf } from './commit/command/transaction.ts';
import type { Updaters } from './commit/command/updater.ts';
import type { FeedMode } from './history/feed.ts';
import type { IndexPage } from './index/read/index-view.ts';
import { Indexing } from './index/terms/indexing.ts';
import { ITEM_FLAGS, type Item, type ItemKey } from './item/item.ts';
import { primaryRange } from './item/keyspace.ts';
import type { Partition } from './partition.ts';
import {
  indexingForTest,
  KEYS_FOR_TEST,
  keyOf,
  openForTest,
  put,
  remove,
  textOf,
} from './test-kit.ts';

const engines: readonly [string, () => Engine][] = [
  ['memory', () => memoryEngine()],
  ['delayed', () => asyncEngine(memoryEngine())],
];

const KEY = keyOf('a', '1');
const PAGE = { after: undefined, limit: 100, bytesMax: 1_000_000 };

/** Puts what the arguments say; the reply is what was there. */
const updaters: Updaters = {
  set: (current, args) => {
    const { text, flags, ttlSec, isDeletion } = JSON.parse(bytesToText(args));
    const reply = current.map((item) => (item === undefined ? '' : describeItem(item)));
    if (isDeletion) return { kind: 'delete', reply };
    return { kind: 'put', body: textToBytes(text), flags, ttlSec, reply };
  },
};

function describeItem(item: Item): string {
  return `${item.isInternal ? (item.isShadow ? 'shadow ' : 'header ') : ''}${textOf(item)}`;
}

interface Setting {
  readonly text?: string;
  readonly flags?: number;
  readonly ttlSec?: number;
  readonly isDeletion?: boolean;
  readonly alsoReads?: readonly ItemKey[];
}

async function set(partition: Partition, key: ItemKey, setting: Setting) {
  const { alsoReads, ...args } = { ttlSec: 0, text: '{}', ...setting };
  const { command, effects } = updateOf({
    kind: 'update',
    key,
    encoding: 'json',
    createsAbsent: true,
    updater: 'set',
    args: textToBytes(JSON.stringify(args)),
    alsoReads,
  });
  await partition.write(command);
  return { kind: effects[0]?.kind, was: effects[0]?.reply };
}

const shadow = (text: string, ttlSec = 0): Setting => ({ text, flags: ITEM_FLAGS.shadow, ttlSec });
const header = (text: string): Setting => ({ text, flags: ITEM_FLAGS.header });

const textsOf = (items: readonly (Item | undefined)[]) => items.map(textOf).sort();

/** What each way of reading finds. */
async function seen(partition: Partition, keys: readonly ItemKey[]): Promise<readonly unknown[]> {
  const byRid = textsOf((await partition.scanByRid(PAGE, undefined)).items);
  const everything = { min: new Uint8Array(0), max: Uint8Array.of(0xff) };
  const byKey = textsOf((await partition.scanByKey(PAGE, everything)).items);
  const points = await Promise.all(keys.map((key) => partition.read(key)));
  const reader = await partition.reader();
  const scanned = textsOf((await reader.scanByRid(PAGE, undefined)).items);
  const { itemCount } = reader.context;
  reader.release();
  const feed = async (mode: FeedMode) =>
    (
      await partition.changes.feed({
        ...PAGE,
        mode,
        after: 0,
        within: undefined,
        sinceSec: undefined,
      })
    ).changes
      .flatMap((change) => (change.kind === 'write' ? [textOf(change.item)] : []))
      .sort();
  const lists = [byRid, byKey, scanned, textsOf(points.filter((item) => item !== undefined))];
  for (const list of [...lists, await feed('latest'), await feed('latestAndDeleted')])
    expect(list).toEqual(byRid);
  expect(itemCount).toBe(byRid.length);
  expect(partition.statistics().itemCount).toBe(byRid.length);
  return byRid;
}

describe.each(engines)('on the %s engine', (_, makeEngine) => {
  const setUp = async (options: Parameters<typeof openForTest>[1] = {}) => {
    const clock = new FakeClock(1_000_000);
    const store = await makeEngine().open('partition');
    const open = () => openForTest(store, { updaters, clock, ...options });
    return { clock, store, open, partition: await open() };
  };

  test('readers do not see them, decisions do', async () => {
    const { partition, open } = await setUp();
    const keys = [KEY, keyOf('a', '2'), keyOf('a', '3')];
    const [one, two, three] = keys as [ItemKey, ItemKey, ItemKey];
    await put(partition, 'create', one, 'one');
    await put(partition, 'create', two, 'two');
    expect(await set(partition, two, shadow('gone'))).toEqual({ kind: 'deleted', was: ['two'] });
    expect(await set(partition, three, header('head'))).toEqual({ kind: 'created', was: [''] });
    expect(await seen(partition, keys)).toEqual(['one']);
    const joined = await set(partition, one, { text: 'first', alsoReads: [two, three] });
    expect(joined).toEqual({ kind: 'replaced', was: ['one', 'shadow gone', 'header head'] });
    const again = await open();
    expect(await seen(again, keys)).toEqual(['first']);
    expect(await set(again, two, shadow('again'))).toEqual({
      kind: 'replaced',
      was: ['shadow gone'],
    });
    await expect(put(again, 'replace', two, 'x')).rejects.toMatchObject({ code: 'itemNotFound' });
    await expect(remove(again, two)).rejects.toMatchObject({ code: 'itemNotFound' });
    expect((await put(again, 'create', two, 'new'))?.kind).toBe('created');
    expect((await put(again, 'upsert', three, 'over'))?.kind).toBe('created');
    expect(await seen(again, keys)).toEqual(['first', 'new', 'over']);
    expect(await set(again, two, { ...shadow('x'), isDeletion: true })).toMatchObject({
      kind: 'deleted',
    });
    expect(await seen(again, keys)).toEqual(['first', 'over']);
  });

  test('scans that want internal items get them, unless they have expired', async () => {
    const { partition, clock } = await setUp({ defaultTtlSec: -1 });
    await put(partition, 'create', KEY, 'one');
    await set(partition, keyOf('a', '2'), shadow('short', 5));
    await set(partition, keyOf('a', '3'), shadow('long', 50));
    const scan = async () => {
      const range = primaryRange(new Uint8Array(0), Uint8Array.of(0xff));
      const rest = { isReversed: false, isDistinct: false, includesInternal: true };
      return textsOf(
        (await partition.scanKeys({ ...PAGE, ...rest, keys: KEYS_FOR_TEST, range })).items,
      );
    };
    expect(await scan()).toEqual(['long', 'one', 'short']);
    clock.advance(5000);
    expect(await scan()).toEqual(['long', 'one']);
    for (let steps = 0; (await partition.sweep(10)).hasMore; steps++) expect(steps).toBeLessThan(9);
    const { itemCount } = partition.statistics();
    expect(itemCount).toBe(1);
    expect(await set(partition, keyOf('a', '2'), header('h'))).toEqual({
      kind: 'created',
      was: [''],
    });
  });

  test('an expired item is a shadow for decisions where its API wants that, swept or not', async () => {
    const leaving: Updaters = {
      ...updaters,
      'json.expired': ([item]) => ({
        kind: 'put',
        body: textToBytes(`rest of ${textOf(item)}`),
        flags: ITEM_FLAGS.shadow,
        ttlSec: 50,
      }),
    };
    const { partition, clock, open } = await setUp({ defaultTtlSec: -1, updaters: leaving });
    const keys = ['1', '2', '3', '4', '5'].map((id) => keyOf('a', id));
    const [one, two, three, four, five] = keys as [ItemKey, ItemKey, ItemKey, ItemKey, ItemKey];
    for (const key of keys) await set(partition, key, { text: 'short', ttlSec: 5 });
    clock.advance(5000);
    const unswept = await set(partition, one, { text: 'over', ttlSec: -1 });
    expect(unswept.was).toEqual(['shadow short']);
    expect((await put(partition, 'create', two, 'new'))?.kind).toBe('created');
    await expect(remove(partition, three)).rejects.toMatchObject({ code: 'itemNotFound' });
    await set(partition, five, { isDeletion: true });
    for (let steps = 0; (await partition.sweep(10)).hasMore; steps++) expect(steps).toBeLessThan(9);
    expect(await seen(partition, keys)).toEqual(['new', 'over']);
    expect((await set(partition, three, { text: 'late', ttlSec: -1 })).was).toEqual([
      'shadow rest of short',
    ]);
    expect((await set(partition, five, shadow('x', 1))).was).toEqual(['']);
    clock.advance(50_000);
    for (let steps = 0; (await partition.sweep(10)).hasMore; steps++) expect(steps).toBeLessThan(9);
    expect((await set(partition, four, { text: 'last', ttlSec: -1 })).was).toEqual(['']);
    const texts = ['last', 'late', 'new', 'over'];
    expect(await seen(partition, keys)).toEqual(texts);
    const again = await open();
    expect(await seen(again, keys)).toEqual(texts);
    expect(again.statistics()).toEqual(partition.statistics());
    expect(again.statistics().itemCount).toBe(4);
  });

  test('versions tell of the item that a shadow replaced, and of nothing else', async () => {
    const { partition } = await setUp({ retentionSec: 3600 });
    await set(partition, KEY, shadow('never there'));
    await put(partition, 'create', KEY, 'one');
    await set(partition, KEY, shadow('gone'));
    await set(partition, KEY, shadow('still gone'));
    await put(partition, 'upsert', KEY, 'two');
    const { changes } = await partition.changes.feed({
      ...PAGE,
      mode: 'all',
      after: 0,
      within: undefined,
      sinceSec: undefined,
    });
    expect(
      changes.map((change) =>
        change.kind === 'version' ? [change.version.kind, textOf(change.version.item)] : [],
      ),
    ).toEqual([
      ['create', 'one'],
      ['delete', 'one'],
      ['create', 'two'],
    ]);
  });

  test.each([3, 4])(
    'no index has them, whenever it is made, and values are free (seed %i)',
    async (seed) => {
      const random = seededRandom(seed);
      const indexing = () =>
        indexingForTest({
          uniqueKeys: { constraints: [{ paths: ['/n'] }], partitionKey: ['/pk'] },
          composites: [[{ path: '/n', isDescending: false }]],
        });
      const { open, store } = await setUp({ indexing: indexing() });
      let partition = await open();
      const model = new Map<string, number>();
      for (let step = 0; step < 120; step++) {
        const id = String(random.below(8));
        const key = keyOf('a', id);
        const n = random.below(12);
        const text = JSON.stringify({ pk: 'a', n });
        const drawn = random.below(10);
        if (drawn < 5) {
          const isTaken = [...model].some(([other, value]) => other !== id && value === n);
          const end = await put(partition, 'upsert', key, text).then(
            () => 'ok',
            ({ code }) => code,
          );
          expect(end, `seed ${seed}, step ${step}`).toBe(isTaken ? 'uniqueKeyViolation' : 'ok');
          if (!isTaken) model.set(id, n);
        } else if (drawn < 8) {
          await set(partition, key, drawn < 7 ? shadow(text) : header('not JSON'));
          model.delete(id);
        } else if (drawn === 8) {
          partition = await open();
        } else {
          partition.changeIndexing(
            new Indexing({ ...indexing().options, excluded: [`/x${step}`] }),
          );
          while (partition.indexes.progressPercent() < 100)
            await new Promise((resolve) => setImmediate(resolve));
          partition.changeIndexing(indexing());
          while (partition.indexes.progressPercent() < 100)
            await new Promise((resolve) => setImmediate(resolve));
        }
        expect(await indexedCount(partition), `seed ${seed}, step ${step}`).toBe(model.size);
        expect(partition.statistics().itemCount).toBe(model.size);
      }
      expect(await uniqueCount(store)).toBe(model.size);
    },
  );
});

/** Entries of the composite index, which has one per item. */
async function indexedCount(partition: Partition): Promise<number> {
  const reader = await partition.reader();
  let range: KeyRange | undefined = { start: Uint8Array.of(0x21), end: Uint8Array.of(0x22) };
  let count = 0;
  while (range !== undefined) {
    const page: IndexPage = await reader.scanIndex(range, { limit: 1000, bytesMax: 1_000_000 });
    count += page.entries.length;
    range = page.rest;
  }
  reader.release();
  return count;
}

async function uniqueCount(store: Store): Promise<number> {
  const range = { start: Uint8Array.of(0x12), end: Uint8Array.of(0x13) };
  return (await store.scan(range, { limit: 1000, bytesMax: 1_000_000 })).entries.length;
}
