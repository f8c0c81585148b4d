/** The events of collections that are made, renamed or dropped, and which of them end a stream. */
import { type Bson, type BsonDocument, Extended } from '../../../value/index.ts';
import { type LogicalTime, timestampOf } from '../cluster-clock.ts';
import { documentOf } from '../reply.ts';
import type { StreamOptions } from './options.ts';
import type { SchemaChange } from './schema-changes.ts';

/** Databases whose changes no stream shows. */
export const INTERNAL_DATABASES: ReadonlySet<string> = new Set(['admin', 'config', 'local']);

export interface EventTime {
  readonly time: LogicalTime;
  readonly wallMs: number;
}

export function concerns(
  { database, collection }: StreamOptions,
  { namespace, to }: SchemaChange,
): boolean {
  if (database === undefined) return !INTERNAL_DATABASES.has(namespace.database);
  if (collection === undefined) return namespace.database === database;
  const isOwn = (name: typeof namespace | undefined): boolean =>
    name?.database === database && name.collection === collection;
  return isOwn(namespace) || isOwn(to);
}

/** A stream of a collection ends with it, one of a database with the database. */
export function endsStream(
  { database, collection }: StreamOptions,
  { kind }: SchemaChange,
): boolean {
  if (collection !== undefined) return kind === 'drop' || kind === 'rename';
  return database !== undefined && kind === 'dropDatabase';
}

export function schemaEvent(
  { kind, namespace, description }: SchemaChange,
  isExpanded: boolean,
  now: EventTime,
): Map<string, Bson> {
  const event = headerOf(kind, now);
  const { database, collection } = namespace;
  event.set(
    'ns',
    documentOf(collection === '' ? { db: database } : { db: database, coll: collection }),
  );
  if (description instanceof Map) {
    const to = description.get('to');
    if (kind === 'rename' && to !== undefined) event.set('to', to);
    if (isExpanded) event.set('operationDescription', description as BsonDocument);
  }
  return event;
}

export function headerOf(kind: string, { time, wallMs }: EventTime): Map<string, Bson> {
  return new Map<string, Bson>([
    ['operationType', kind],
    ['clusterTime', timestampOf(time)],
    ['wallTime', new Extended({ kind: 'date', ms: wallMs })],
  ]);
}

export function eventTime(event: BsonDocument, otherwise: LogicalTime): LogicalTime {
  const time = event.get('clusterTime');
  return time instanceof Extended && time.payload.kind === 'timestamp' ? time.payload : otherwise;
}
