/** The UUID of a collection: made of the numbers that name its container for life. */
import { createHash } from 'node:crypto';
import type { ContainerRecord } from '../../../catalog/index.ts';
import { type Bson, Extended } from '../../../value/index.ts';
import type { Call } from '../call.ts';
import { MongoError } from '../errors.ts';
import type { Collection } from './collection.ts';
import type { Namespace } from './namespace.ts';

const UUID_BYTES = 16;

export function collectionUuid({ databaseRid, rid }: ContainerRecord): Extended {
  const digest = createHash('sha256').update(`collection ${databaseRid} ${rid}`).digest();
  const bytes = digest.subarray(0, UUID_BYTES);
  bytes[6] = ((bytes[6] as number) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] as number) & 0x3f) | 0x80;
  return new Extended({ kind: 'binary', bytes: new Uint8Array(bytes), subtype: 4 });
}

/** Throws CollectionUUIDMismatch where the client names another collection than it means. */
export function checkUuid(
  { body, database }: Call,
  namespace: Namespace,
  collection: Collection | undefined,
): void {
  const sent = body.get('collectionUUID') ?? null;
  if (sent === null) return;
  const payload = sent instanceof Extended ? sent.payload : undefined;
  if (payload?.kind !== 'binary' || payload.subtype !== 4)
    throw new MongoError(
      'TypeMismatch',
      "BSON field 'collectionUUID' is the wrong binData type, expected type 'UUID'",
    );
  if (payload.bytes.length !== UUID_BYTES)
    throw new MongoError(
      'InvalidUUID',
      'uuid must be a 16-byte binary field with UUID (4) subtype',
    );
  const own = collection && collectionUuid(collection.container).payload;
  const isSame =
    own?.kind === 'binary' &&
    Buffer.compare(Buffer.from(own.bytes), Buffer.from(payload.bytes)) === 0;
  if (isSame) return;
  throw new MongoError('CollectionUUIDMismatch', 'Collection UUID does not match that specified', {
    more: new Map<string, Bson>([
      ['db', database],
      ['collectionUUID', sent],
      ['expectedCollection', namespace.collection],
      ['actualCollection', null],
    ]),
  });
}
