/** Shared by the tests of this layer: keys, operations, and an open partition on any engine. */
import { bytesToText, type Clock, FakeClock, textToBytes } from '../base/index.ts';
import type { Store } from '../engine/index.ts';
import { type Codec, jsonCodec } from '../value/index.ts';
import type { Updaters } from './commit/command/updater.ts';
import { commandOf, type PlainOp } from './commit/command/write-command.ts';
import { Indexing, type IndexingOptions } from './index/terms/indexing.ts';
import type { StoreFormat } from './item/format.ts';
import type { BodyFinisher, Item, ItemKey } from './item/item.ts';
import { ItemKeys } from './item/item-keys.ts';
import { openPartition } from './open-partition.ts';
import type { Partition } from './partition.ts';
import { RecordCache } from './read/record-cache.ts';

export const KEYS_FOR_TEST = new ItemKeys({
  definition: { paths: ['/pk'], kind: 'Hash', version: 2 },
  format: 2,
});

/** Appends the stamp to the body, so that tests see it. */
const finisherForTest: BodyFinisher = (body, { rid, timestampSec }) =>
  textToBytes(`${bytesToText(body)}|rid=${rid}|ts=${timestampSec}`);

/** Off unless a test says otherwise: most bodies of these tests are plain words. */
export function indexingForTest(changes: Partial<IndexingOptions> = { isOff: true }): Indexing {
  return new Indexing({
    isOff: false,
    included: ['/*'],
    excluded: [],
    always: [],
    composites: [],
    codec: finishedJson,
    ...changes,
  });
}

/** Decodes the client's part of a finished body. */
const finishedJson: Codec = {
  ...jsonCodec,
  decode: (body) => jsonCodec.decode(textToBytes(bytesToText(body).split('|')[0] as string)),
};

export function keyOf(partitionKey: string, id: string): ItemKey {
  return KEYS_FOR_TEST.keyOf([partitionKey], [id]);
}

export function openForTest(
  store: Store,
  options: {
    readonly clock?: Clock;
    readonly cacheBytes?: number;
    readonly indexing?: Indexing;
    readonly indexMemoryEntries?: number;
    readonly retentionSec?: number;
    readonly defaultTtlSec?: number;
    readonly updaters?: Updaters;
    readonly format?: StoreFormat;
    readonly onFailure?: (error: Error) => void;
  } = {},
): Promise<Partition> {
  return openPartition({
    store,
    clock: options.clock ?? new FakeClock(1_000_000),
    finisher: finisherForTest,
    updaters: options.updaters,
    format: options.format,
    etagSalt: 0xabcd,
    ridPrefix: 3,
    retentionSec: options.retentionSec ?? 0,
    defaultTtlSec: options.defaultTtlSec,
    indexing: options.indexing ?? indexingForTest(),
    ...(options.onFailure && { onFailure: options.onFailure }),
    ...(options.indexMemoryEntries === undefined
      ? {}
      : { indexMemoryEntries: options.indexMemoryEntries }),
    cache: new RecordCache(options.cacheBytes ?? 1024 * 1024).forPartition(),
  });
}

type PutKind = 'create' | 'upsert' | 'replace';

export async function put(
  partition: Partition,
  kind: PutKind,
  key: ItemKey,
  text: string,
  ifMatch?: string,
) {
  const { effects } = await partition.write(commandOf(putOp(kind, key, text, ifMatch)));
  return effects[0];
}

export function putOp(kind: PutKind, key: ItemKey, text: string, ifMatch?: string): PlainOp {
  return { kind, key, encoding: 'json', body: textToBytes(text), ttlSec: 0, ifMatch };
}

export async function remove(partition: Partition, key: ItemKey, ifMatch?: string) {
  const { effects } = await partition.write(commandOf({ kind: 'delete', key, ifMatch }));
  return effects[0];
}

/** The client's part of a finished body. */
export function textOf(item: Item | undefined): string | undefined {
  return item === undefined ? undefined : bytesToText(item.body).split('|')[0];
}
