/** From changes of the feed to events. */
import type { FeedChange } from '../../../partition/index.ts';
import { type Bson, type BsonDocument, Extended, readBson } from '../../../value/index.ts';
import { type ClusterClock, type LogicalTime, timestampOf } from '../cluster-clock.ts';
import type { Collection } from '../collections/collection.ts';
import { collectionUuid } from '../collections/collection-uuid.ts';
import { MongoError } from '../errors.ts';
import { valueAt } from '../query/path.ts';
import { documentOf } from '../reply.ts';
import { describeUpdate } from './diff.ts';
import type { StreamOptions } from './options.ts';
import type { WriteHints } from './write-hints.ts';

/** One change with what is known about it. */
export interface FoundChange {
  readonly collection: Collection;
  readonly kind: 'insert' | 'update' | 'delete';
  readonly lsn: number;
  /** The place among the changes of one commit. */
  readonly operation: number;
  readonly timestampSec: number;
  readonly previousLsn: number;
  readonly rid: number;
  /** After the change; for a deletion, before it. Undefined where only the key is known. */
  readonly document: BsonDocument | undefined;
}

export interface EventParts {
  readonly options: StreamOptions;
  readonly hints: WriteHints;
  readonly clock: ClusterClock;
  /** The version before a change, where it is still kept. */
  before(change: FoundChange): Promise<BsonDocument | undefined>;
  /** The document as it is now. */
  lookup(change: FoundChange): Promise<BsonDocument | undefined>;
}

export function foundChange(
  collection: Collection,
  change: FeedChange,
  operation: number,
): FoundChange | undefined {
  if (change.kind === 'deletion') return undefined;
  const { lsn } = change;
  const item = change.kind === 'write' ? change.item : change.version.item;
  const document = readBson(item.body);
  const common = { collection, lsn, operation, rid: item.rid, document };
  if (change.kind === 'write')
    return { ...common, kind: 'insert', timestampSec: item.timestampSec, previousLsn: 0 };
  const { kind, timestampSec, previousLsn } = change.version;
  const kinds = {
    create: 'insert',
    replace: 'update',
    delete: 'delete',
    expire: 'delete',
  } as const;
  return { ...common, kind: kinds[kind], timestampSec, previousLsn };
}

export function timeOf(change: FoundChange, hints: WriteHints): LogicalTime {
  const hint = hints.find(change.collection.container, change.lsn);
  return hint?.time ?? { high: change.timestampSec, low: 1 };
}

/** The event without its token. */
export async function eventOf(
  change: FoundChange,
  time: LogicalTime,
  parts: EventParts,
): Promise<Map<string, Bson>> {
  const { options, hints } = parts;
  const { collection, kind, document } = change;
  const before = kind === 'insert' ? undefined : await beforeOf(change, parts);
  const hint = hints.find(collection.container, change.lsn);
  const isReplacement =
    kind === 'update' && (hint?.style === 'replacement' || before === undefined);
  const event = new Map<string, Bson>([
    ['operationType', isReplacement ? 'replace' : kind],
    ['clusterTime', timestampOf(time)],
    ['wallTime', new Extended({ kind: 'date', ms: change.timestampSec * 1000 })],
  ]);
  await addFullDocument(event, change, isReplacement, parts);
  const { database, collection: name } = collection.namespace;
  event.set('ns', documentOf({ db: database, coll: name }));
  if (document !== undefined) event.set('documentKey', documentKey(collection, document));
  if (kind === 'update' && !isReplacement && before !== undefined && document !== undefined)
    event.set(
      'updateDescription',
      describeUpdate(before, document, {
        isExpanded: options.isExpanded,
        isPipeline: hint?.style === 'pipeline',
      }),
    );
  if (options.isExpanded) event.set('collectionUUID', collectionUuid(collection.container));
  if (options.beforeChange !== 'off' && kind !== 'insert')
    event.set('fullDocumentBeforeChange', imageBefore(change, before, options));
  return event;
}

function beforeOf(change: FoundChange, parts: EventParts): Promise<BsonDocument | undefined> {
  if (change.kind === 'delete') return Promise.resolve(change.document);
  const { collection, lsn, rid } = change;
  const kept = parts.hints.before(collection.container, lsn, rid);
  return kept === undefined ? parts.before(change) : Promise.resolve(readBson(kept));
}

function documentKey({ shardKey }: Collection, document: BsonDocument): BsonDocument {
  const key = new Map<string, Bson>();
  if (shardKey !== undefined && shardKey.join('.') !== '_id') {
    const value = valueAt(document, shardKey);
    if (value !== undefined) key.set(shardKey.join('.'), value);
  }
  return key.set('_id', document.get('_id') ?? null);
}

function keepsImages({ options }: Collection): boolean {
  const images = options.get('changeStreamPreAndPostImages');
  return images instanceof Map && images.get('enabled') === true;
}

async function addFullDocument(
  event: Map<string, Bson>,
  change: FoundChange,
  isReplacement: boolean,
  { options, lookup }: EventParts,
): Promise<void> {
  const { kind, document, collection } = change;
  if (kind === 'delete') return;
  if (kind === 'insert' || isReplacement) {
    event.set('fullDocument', document ?? null);
    return;
  }
  if (options.fullDocument === 'default') return;
  if (options.fullDocument === 'updateLookup') {
    event.set('fullDocument', (await lookup(change)) ?? null);
    return;
  }
  if (!keepsImages(collection) && options.fullDocument === 'required') throw noImage('post');
  event.set('fullDocument', keepsImages(collection) ? (document ?? null) : null);
}

function imageBefore(
  { collection }: FoundChange,
  before: BsonDocument | undefined,
  { beforeChange }: StreamOptions,
): Bson {
  const image = keepsImages(collection) ? before : undefined;
  if (image === undefined && beforeChange === 'required') throw noImage('pre');
  return image ?? null;
}

function noImage(which: 'pre' | 'post'): MongoError {
  return new MongoError(
    'NoMatchingDocument',
    `Change stream was configured to require a ${which}-image for all update, delete and replace events, but the ${which}-image was not found for event`,
    { labels: ['NonResumableChangeStreamError'] },
  );
}
