// Goal: an item with very many values is written, replaced, removed, moved and indexed like any other, and a partition
// with such an item opens again. Method: items of 130,000 list entries or 30,000 properties; every way of writing and
// removing them; the index compared with what the policy says of the items.
import { describe, expect, test } from 'vitest';
import { FakeClock, textToBytes } from '../base/index.ts';
import type { KeyRange, Store } from '../engine/index.ts';
import { memoryEngine } from '../engine/memory/index.ts';
import { jsonCodec } from '../value/index.ts';
import type { IndexPage } from './index-view.ts';
import { INDEX_ENTRIES, type Indexing } from './indexing.ts';
import { intentOf } from './intent.ts';
import type { Seal } from './item.ts';
import { openPartition } from './open-partition.ts';
import type { Partition } from './partition.ts';
import { RecordCache } from './record-cache.ts';
import { indexingForTest, keyOf } from './test-kit.ts';

const ENTRIES = 130_000;
const PROPERTIES = 30_000;

const distinct = Array.from({ length: ENTRIES }, (_, at) => at);
const repeated = distinct.map((at) => at % 3);
const properties = Object.fromEntries(
  Array.from({ length: PROPERTIES }, (_, at) => [`p${at}`, at % 7]),
);

const WIDE: readonly (readonly [string, object])[] = [
  ['distinct entries', { list: distinct }],
  ['repeated entries', { list: repeated }],
  ['distinct properties', properties],
];

const KEY = keyOf('a', 'wide');
const SMALL = { list: [1] };

/** Adds a property, as APIs do. */
const seal: Seal = Object.assign(
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
    seal,
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
  return partition.write(intentOf({ kind, key: KEY, encoding: 'json', body, ttlSec: 0 }));
}

/** Rather many digests than many texts: there are some hundred thousand entries. */
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

describe.each(WIDE)('an item of %s', { timeout: 60_000 }, (_, wide) => {
  test('is created, replaced by itself, by a small one and back, and deleted', async () => {
    const { partition, failures } = await open(await memoryEngine().open('c/0'));
    await write(partition, 'create', wide);
    await expectIndexed(partition);
    await write(partition, 'replace', wide);
    await expectIndexed(partition);
    await write(partition, 'replace', SMALL);
    await expectIndexed(partition);
    await write(partition, 'upsert', { ...wide, other: true });
    await expectIndexed(partition);
    await partition.write(intentOf({ kind: 'delete', key: KEY }));
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

  test('goes with its partition key', async () => {
    const { partition } = await open(await memoryEngine().open('c/0'));
    await write(partition, 'create', wide);
    await partition.erase({ start: Uint8Array.of(0), end: Uint8Array.of(255) });
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
    while (partition.indexProgressPercent() < 100)
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
    await target.adopt([{ key: KEY, item }], source.lsn);
    await target.adopt([{ key: KEY, item }], source.lsn);
    await expectIndexed(target);
    const { partition: again, failures } = await open(store);
    await expectIndexed(again);
    expect(failures).toEqual([]);
  });

  test('is found after a crash, and what replaced it', async () => {
    const store = await memoryEngine().open('c/0');
    const { partition } = await open(store);
    await write(partition, 'create', wide);
    const { partition: second } = await open(store);
    await expectIndexed(second);
    await write(second, 'replace', { ...SMALL, at: 2 });
    const { partition: third } = await open(store);
    await expectIndexed(third);
    await write(third, 'replace', wide);
    await third.write(intentOf({ kind: 'delete', key: KEY }));
    const { partition: fourth } = await open(store);
    expect((await indexOf(fourth)).size).toBe(0);
  });
});
