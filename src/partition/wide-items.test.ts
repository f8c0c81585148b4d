// Goal: an item with very many values is written, replaced, removed, moved and indexed like any other, and a partition
// with such an item opens again. Method: items of 130,000 list entries or 20,000 properties; every way of writing and
// removing them; the index compared with the entries of the items.
import { describe, expect, test } from 'vitest';
import { FakeClock, seededRandom, textToBytes } from '../base/index.ts';
import type { KeyRange, Store } from '../engine/index.ts';
import { memoryEngine } from '../engine/memory/index.ts';
import { jsonCodec } from '../value/index.ts';
import { transactionOf } from './commit/command/transaction.ts';
import { commandOf, type PlainOp } from './commit/command/write-command.ts';
import type { IndexPage } from './index/read/index-view.ts';
import { INDEX_ENTRIES, type Indexing } from './index/terms/indexing.ts';
import type { BodyFinisher, ItemKey } from './item/item.ts';
import { openPartition } from './open-partition.ts';
import type { Partition } from './partition.ts';
import { RecordCache } from './read/record-cache.ts';
import { indexingForTest, keyOf } from './test-kit.ts';

const ENTRIES = 130_000;
const PROPERTIES = 20_000;

const distinct = Array.from({ length: ENTRIES }, (_, at) => at);
const repeated = distinct.map((at) => at % 3);
const properties = Object.fromEntries(
  Array.from({ length: PROPERTIES }, (_, at) => [`p${at}`, at % 7]),
);

const WIDE: readonly (readonly [string, object])[] = [
  ['repeated entries', { list: repeated }],
  ['distinct properties', properties],
];

const KEY = keyOf('a', 'wide');
const SMALL = { list: [1] };

/** Adds a property, as APIs do. */
const finisher: BodyFinisher = Object.assign(
  (body: Uint8Array, { timestampSec }: { timestampSec: number }) =>
    Buffer.concat([body.subarray(0, -1), textToBytes(`,"_ts":${timestampSec}}`)]),
  {
    ofValue: (value: unknown, { timestampSec }: { timestampSec: number }) =>
      ({ ...(value as object), _ts: timestampSec }) as never,
  },
);

const clock = new FakeClock(1_000_000_000);

async function open(
  store: Store,
  options: { indexing?: Indexing; defaultTtlSec?: number } = {},
): Promise<{ partition: Partition; failures: Error[] }> {
  const failures: Error[] = [];
  const partition = await openPartition({
    store,
    clock,
    finisher,
    etagSalt: 1,
    ridPrefix: 3,
    retentionSec: 0,
    defaultTtlSec: options.defaultTtlSec,
    indexing: options.indexing ?? indexingForTest({ codec: jsonCodec }),
    cache: new RecordCache(1024 * 1024).forPartition(),
    onFailure: (error) => failures.push(error),
  });
  return { partition, failures };
}

function write(partition: Partition, kind: 'create' | 'replace' | 'upsert', value: object) {
  const body = textToBytes(JSON.stringify({ id: 'wide', ...value }));
  return partition.write(commandOf({ kind, key: KEY, encoding: 'json', body, ttlSec: 0 }));
}

/** The partition opened from what is stored now, as if the process had ended. */
async function crashed(
  store: Store,
  indexing?: Indexing,
): Promise<{ partition: Partition; store: Store }> {
  const { entries } = await store.scan(
    { start: Uint8Array.of(0), end: undefined },
    { limit: 10_000_000, bytesMax: 1e9 },
  );
  const left = await memoryEngine().open('c/0');
  await left.commit({ puts: entries });
  const { partition } = await open(left, indexing === undefined ? {} : { indexing });
  return { partition, store: left };
}

async function indexOf(partition: Partition): Promise<Set<string>> {
  const reader = await partition.reader();
  const entries = new Set<string>();
  for (let range: KeyRange | undefined = INDEX_ENTRIES; range !== undefined; ) {
    const page: IndexPage = await reader.scanIndex(range, { limit: 1_000_000, bytesMax: 1e9 });
    for (const entry of page.entries) entries.add(entry);
    range = page.rest;
  }
  reader.release();
  return entries;
}

async function expectIndexed(
  partition: Partition,
  indexing = indexingForTest({ codec: jsonCodec }),
): Promise<void> {
  const { items } = await partition.stored.scanByRid(
    { after: undefined, limit: 1000, bytesMax: 1e9 },
    undefined,
  );
  const expected = new Set<string>();
  for (const item of items) for (const entry of indexing.entriesOf(item)) expected.add(entry);
  const found = await indexOf(partition);
  expect(found.size).toBe(expected.size);
  for (const entry of expected) if (!found.has(entry)) expect.fail('an entry is missing');
}

describe.each(WIDE)('an item of %s', { timeout: 240_000 }, (_, wide) => {
  test('is created, replaced by itself, by a small one and back, and deleted', async () => {
    const { partition, failures } = await open(await memoryEngine().open('c/0'));
    await write(partition, 'create', wide);
    await expectIndexed(partition);
    await write(partition, 'replace', wide);
    await expectIndexed(partition);
    await write(partition, 'replace', SMALL);
    await expectIndexed(partition);
    await write(partition, 'upsert', { ...wide, other: true });
    await partition.write(commandOf({ kind: 'delete', key: KEY }));
    expect((await indexOf(partition)).size).toBe(0);
    expect(failures).toEqual([]);
    await partition.close();
  });

  test('expires', async () => {
    const { partition } = await open(await memoryEngine().open('c/0'), { defaultTtlSec: 10 });
    await write(partition, 'create', wide);
    clock.advance(20_000);
    expect((await partition.sweep(100)).removed).toHaveLength(1);
    expect((await indexOf(partition)).size).toBe(0);
    await partition.close();
  });

  test('is removed with its partition key', async () => {
    const { partition } = await open(await memoryEngine().open('c/0'));
    await write(partition, 'create', wide);
    await partition.deleteRange({ start: Uint8Array.of(0), end: Uint8Array.of(255) });
    while ((await partition.sweep(100)).hasMore);
    expect(partition.statistics().itemCount).toBe(0);
    expect((await indexOf(partition)).size).toBe(0);
    await partition.close();
  });

  test('is indexed under a new policy', async () => {
    const { partition, failures } = await open(await memoryEngine().open('c/0'));
    await write(partition, 'create', wide);
    const indexing = indexingForTest({ codec: jsonCodec, excluded: ['/id/?'] });
    partition.changeIndexing(indexing);
    while (partition.indexes.progressPercent() < 100)
      await new Promise((resolve) => setImmediate(resolve));
    await expectIndexed(partition, indexing);
    expect(failures).toEqual([]);
    await partition.close();
  });

  test('is moved to another partition, which opens again as it was killed', async () => {
    const engine = memoryEngine();
    const { partition: source } = await open(await engine.open('c/0'));
    await write(source, 'create', wide);
    const store = await engine.open('c/1');
    const { partition: target } = await open(store);
    const item = await source.stored.read(KEY);
    await target.imports.items([{ key: KEY, item }], source.lsn);
    await target.imports.items([{ key: KEY, item }], source.lsn);
    await expectIndexed(target);
    const { partition: again } = await crashed(store);
    await expectIndexed(again);
  });

  test('is found after a crash, and so is the item that replaced it', async () => {
    const store = await memoryEngine().open('c/0');
    const { partition } = await open(store);
    await write(partition, 'create', wide);
    const second = await crashed(store);
    await expectIndexed(second.partition);
    await write(second.partition, 'replace', { ...SMALL, at: 2 });
    const third = await crashed(second.store);
    await expectIndexed(third.partition);
    await write(third.partition, 'replace', wide);
    await third.partition.write(commandOf({ kind: 'delete', key: KEY }));
    const { partition: fourth } = await crashed(third.store);
    expect((await indexOf(fourth)).size).toBe(0);
  });
});

test('an item of 130,000 distinct entries is created and deleted', {
  timeout: 240_000,
}, async () => {
  const { partition, failures } = await open(await memoryEngine().open('c/0'));
  await write(partition, 'create', { list: distinct });
  await partition.write(commandOf({ kind: 'delete', key: KEY }));
  expect((await indexOf(partition)).size).toBe(0);
  expect(failures).toEqual([]);
});

const SEED = 20_261_117;

test(`random histories of wide and small items agree with a recount (seed ${SEED})`, {
  timeout: 240_000,
}, async () => {
  const random = seededRandom(SEED);
  const policies = [
    indexingForTest({ codec: jsonCodec }),
    indexingForTest({
      codec: jsonCodec,
      excluded: ['/list/*'],
      composites: [
        [
          { path: '/n', isDescending: false },
          { path: '/_ts', isDescending: true },
        ],
      ],
      computed: [
        {
          name: 'first',
          definition: 'list[0]',
          compute: (item) => (item as { list?: number[] }).list?.[0],
        },
      ],
      included: ['/*', '/first/?'],
    }),
  ];
  const keys = ['k0', 'k1', 'k2'].map((id) => keyOf('a', id));
  const value = () => {
    const length = random.below(2) === 0 ? 3 : 3000;
    const from = random.below(4) * 1000;
    return { n: random.below(3), list: Array.from({ length }, (_, at) => 100_000 + from + at) };
  };
  const put = (key: ItemKey): PlainOp => {
    const body = textToBytes(JSON.stringify(value()));
    return { kind: 'upsert', key, encoding: 'json', body, ttlSec: 0 };
  };
  let policy = 0;
  let store: Store = await memoryEngine().open('c/0');
  let { partition } = await open(store, { indexing: policies[policy] as Indexing });
  for (let step = 0; step < 120; step++) {
    clock.advance(random.below(3) * 500);
    const key = keys[random.below(keys.length)] as ItemKey;
    // Concurrent writes collect in one group, and one makes the found terms of another invalid.
    const writes = Array.from({ length: 1 + random.below(4) }, () => {
      if (random.below(5) > 0) return partition.write(commandOf(put(key)));
      const ops = [put(key), put(keys[0] as ItemKey), { kind: 'delete', key } as const];
      return partition.write(transactionOf(ops).command);
    });
    if (random.below(4) === 0) writes.push(partition.write(commandOf({ kind: 'delete', key })));
    await Promise.allSettled(writes);
    const event = random.below(8);
    if (event === 0) {
      policy = 1 - policy;
      partition.changeIndexing(policies[policy] as Indexing);
      if (random.below(2) === 0) await partition.write(commandOf(put(key)));
      while (partition.indexes.progressPercent() < 100)
        await new Promise((resolve) => setImmediate(resolve));
    } else if (event === 1) {
      ({ partition, store } = await crashed(store, policies[policy]));
    }
    await expectIndexed(partition, policies[policy]);
  }
});
