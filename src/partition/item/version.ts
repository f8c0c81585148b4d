/**
 * One write with its item, kept for a while where the container wants all versions. Format version 1; do not renumber.
 *
 *   0  kind u8         1  timestampSec u32    5  previous lsn u48    11  record
 *
 * The record is the item after the write, or the item that was deleted.
 */
import { assert, type Bytes, bufferOf, readU32 } from '../../base/index.ts';
import type { Entry } from '../../engine/index.ts';
import type { Item, Lsn } from './item.ts';
import { lsnOfLogKey, versionKey } from './keyspace.ts';
import { decodeRecord, primaryOfRecord } from './record.ts';

const HEADER_BYTES = 11;

/** Place in the list = number on disk. `expire`: deleted because its time to live was over. */
const KINDS = ['create', 'replace', 'delete', 'expire'] as const;

export type VersionKind = (typeof KINDS)[number];

export interface Version {
  readonly kind: VersionKind;
  readonly lsn: Lsn;
  readonly timestampSec: number;
  /** LSN of the write before this one; 0 where the item was created. */
  readonly previousLsn: Lsn;
  /** The item after the write; for a deletion, before it. */
  readonly item: Item;
}

export function encodeVersion(version: Version, operation: number): Entry {
  const { kind, lsn, timestampSec, previousLsn, item } = version;
  const value = Buffer.allocUnsafe(HEADER_BYTES + item.record.length);
  value.writeUInt8(KINDS.indexOf(kind), 0);
  value.writeUInt32BE(timestampSec, 1);
  value.writeUIntBE(previousLsn, 5, 6);
  value.set(item.record, HEADER_BYTES);
  return { key: versionKey(lsn, operation, item.rid), value };
}

export function decodeVersion({ key, value }: Entry, etagSalt: number): Version {
  const view = bufferOf(value);
  const kind = KINDS[view.readUInt8(0)];
  assert(kind !== undefined, 'version: unknown kind');
  return {
    kind,
    lsn: lsnOfLogKey(key),
    timestampSec: view.readUInt32BE(1),
    previousLsn: view.readUIntBE(5, 6),
    item: decodeRecord(view.subarray(HEADER_BYTES), etagSalt),
  };
}

/** The time of a version, without decoding the rest. */
export function timestampOfVersion(value: Bytes): number {
  return readU32(value, 1);
}

export function primaryOfVersion(value: Bytes): Bytes {
  return primaryOfRecord(value.subarray(HEADER_BYTES));
}
