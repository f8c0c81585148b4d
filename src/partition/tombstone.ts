/** What stays of a deleted item for a while: when it went and who it was. Stored as timestamp u32, primary key. */
import { andThen, type Bytes, type MaybePromise, TOMBSTONE_RETENTION_SEC } from '../base/index.ts';
import type { ReadView } from '../engine/index.ts';
import { logAfter, PREFIX_TOMBSTONE } from './keyspace.ts';

/** Tombstones looked at in one go. */
const EXPIRED_COUNT_MAX = 1000;
const EXPIRED_BYTES_MAX = 1024 * 1024;

export interface Tombstone {
  readonly timestampSec: number;
  readonly primary: Bytes;
}

export function encodeTombstone(tombstone: Tombstone): Bytes {
  const bytes = Buffer.allocUnsafe(4 + tombstone.primary.length);
  bytes.writeUInt32BE(tombstone.timestampSec, 0);
  bytes.set(tombstone.primary, 4);
  return bytes;
}

export function decodeTombstone(bytes: Bytes): Tombstone {
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return { timestampSec: view.readUInt32BE(0), primary: view.subarray(4) };
}

/** Keys of tombstones that have served movers and feeds long enough, oldest first. */
export function expiredTombstones(view: ReadView, nowSec: number): MaybePromise<readonly Bytes[]> {
  const options = { limit: EXPIRED_COUNT_MAX, bytesMax: EXPIRED_BYTES_MAX };
  return andThen(view.scan(logAfter(PREFIX_TOMBSTONE, 0), options), ({ entries }) => {
    const kept = entries.findIndex(
      ({ value }) => decodeTombstone(value).timestampSec > nowSec - TOMBSTONE_RETENTION_SEC,
    );
    return entries.slice(0, kept < 0 ? undefined : kept).map(({ key }) => key);
  });
}
