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

export function openForTest(store: Store): Promise<Partition> {
  const cache = new RecordCache(1024 * 1024).forPartition();
  return openPartition({ store, clock: new FakeClock(1_000_000), cache, ...HANDLE_OPTIONS });
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
