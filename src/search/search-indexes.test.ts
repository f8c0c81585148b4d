// Goal: the indexes of a partition catch up before a search, and their memory together stays within its bound.
// Method: partitions on the memory engine, searches between writes, a bound that fits one of two.
import { expect, test } from 'vitest';
import { systemClock, textToBytes } from '../base/index.ts';
import type { Engine } from '../engine/index.ts';
import { memoryEngine } from '../engine/memory/index.ts';
import {
  commandOf,
  Indexing,
  type ItemKey,
  ItemKeys,
  openPartition,
  type Partition,
  RecordCache,
} from '../partition/index.ts';
import { jsonCodec } from '../value/index.ts';
import { SearchIndexes, SearchMemory, type SearchSpec } from './search-indexes.ts';

const SPEC: SearchSpec = {
  vectors: [],
  texts: [{ path: '/text', language: 'en' }],
  codec: jsonCodec,
  fingerprint: '',
};

const unindexed = { isOff: true, included: [], excluded: [], always: [], composites: [] };

async function open(engine: Engine, name: string): Promise<Partition> {
  return openPartition({
    store: await engine.open(name),
    clock: systemClock,
    finisher: (body) => body,
    etagSalt: 0,
    ridPrefix: 0,
    retentionSec: 0,
    defaultTtlSec: undefined,
    indexing: new Indexing({ ...unindexed, codec: jsonCodec }),
    cache: new RecordCache(1024 * 1024).forPartition(),
  });
}

function keyOf(id: string): ItemKey {
  return new ItemKeys({
    definition: { paths: ['/pk'], kind: 'Hash', version: 2 },
    format: 2,
  }).keyOf(['a'], [id]);
}

async function found(indexes: SearchIndexes, phrase: string): Promise<number | undefined> {
  const access = await indexes.access({ kind: 'text', path: ['text'], phrases: [phrase] });
  return access?.containing('all').size;
}

async function write(partition: Partition, id: string, text: string): Promise<void> {
  const body = textToBytes(JSON.stringify({ id, text }));
  const put = { kind: 'upsert', key: keyOf(id), encoding: 'json', body, ttlSec: 0 } as const;
  await partition.write(commandOf(put));
}

test('every search sees all writes before it; other paths have no index', async () => {
  const partition = await open(memoryEngine(), 'p');
  const indexes = new SearchIndexes(partition, SPEC, new SearchMemory());
  expect(await found(indexes, 'river')).toBe(0);
  await write(partition, '1', 'the river bends');
  await write(partition, '2', 'rivers run');
  expect(await found(indexes, 'river')).toBe(2);
  await write(partition, '1', 'the stone');
  await partition.write(commandOf({ kind: 'delete', key: keyOf('2') }));
  expect([await found(indexes, 'river'), await found(indexes, 'stones')]).toEqual([0, 1]);
  const other = indexes.access({ kind: 'text', path: ['other'], phrases: ['river'] });
  expect(await other).toBeUndefined();
  await partition.close();
});

test('the least recently used index is dropped first and built again; one that does not fit is not built', async () => {
  const engine = memoryEngine();
  const [a, b] = [await open(engine, 'a'), await open(engine, 'b')];
  for (const partition of [a, b])
    for (let n = 0; n < 20; n++) await write(partition, `${n}`, 'some words of a text');
  const whole = new SearchIndexes(a, SPEC, new SearchMemory());
  await found(whole, 'text');
  const memory = new SearchMemory(whole.bytes * 1.5);
  const [first, second] = [new SearchIndexes(a, SPEC, memory), new SearchIndexes(b, SPEC, memory)];
  for (let round = 0; round < 2; round++) {
    expect(await found(first, 'text')).toBe(20);
    expect(second.bytes).toBe(0);
    expect(await found(second, 'text')).toBe(20);
    expect(first.bytes).toBe(0);
  }
  const small = new SearchIndexes(a, SPEC, new SearchMemory(whole.bytes / 2));
  expect(await found(small, 'text')).toBeUndefined();
  expect(small.bytes).toBe(0);
  for (const partition of [a, b]) await partition.close();
});
