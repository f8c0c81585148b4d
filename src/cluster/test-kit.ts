/** What the tests of the cluster share: keys, and partitions on any engine. */
import { FakeClock, textToBytes } from '../base/index.ts';
import type { Store } from '../engine/index.ts';
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
import type { PartitionHandleOptions } from './routing/partition-handle.ts';

const KEYS = new ItemKeys({
  definition: { paths: ['/pk'], kind: 'Hash', version: 2 },
  format: 2,
});

export function keyOf(partitionKey: string, id: string): ItemKey {
  return KEYS.keyOf([partitionKey], [id]);
}

export const HANDLE_OPTIONS: PartitionHandleOptions = {
  finisher: (body) => body,
  etagSalt: 1,
  ridPrefix: 1,
  indexing: new Indexing({
    isOff: false,
    included: ['/*'],
    excluded: [],
    always: [],
    composites: [],
    codec: jsonCodec,
  }),
  retentionSec: 0,
  defaultTtlSec: undefined,
  search: undefined,
};

/** An index of the texts that `put` writes, of which no two items of a partition key may have the same. */
export const UNIQUE_TEXTS = new Indexing({
  ...HANDLE_OPTIONS.indexing.options,
  declared: [{ id: 1, parts: [{ path: '/text', isDescending: false }] }],
  uniqueKeys: { constraints: [{ id: 1, paths: ['/text'] }], partitionKey: [] },
});

export function openForTest(
  store: Store,
  indexing: Indexing = HANDLE_OPTIONS.indexing,
): Promise<Partition> {
  const cache = new RecordCache(1024 * 1024).forPartition();
  const clock = new FakeClock(1_000_000);
  return openPartition({ store, clock, cache, ...HANDLE_OPTIONS, indexing });
}

export async function put(
  partition: Partition,
  kind: 'create' | 'replace',
  key: ItemKey,
  text: string,
): Promise<void> {
  const body = textToBytes(JSON.stringify({ text }));
  await partition.write(commandOf({ kind, key, encoding: 'json', body, ttlSec: 0 }));
}
