/**
 * The stored form of an item. Format versions 1 and 2; do not renumber.
 *
 *   0  version u8      1  encoding u8     2  ttlSec i32       6  timestampSec u32
 *   10 lsn u48         16 operation u16   18 rid u64          26 crc32 of the body u32
 *   30 primary key length u16             32 primary key, then the body to the end
 *
 * Version 2 has flags u8 at 32, and the primary key at 33. Only items with flags are stored so: all others are as they
 * were in containers of any age.
 *
 * `operation` is the place of the write in its command: with the LSN it makes the etag, which differs for every write.
 */
import { crc32 } from 'node:zlib';
import { assert, type Bytes, readU16, readU32, readU64 } from '../../base/index.ts';
import type { Encoding } from '../../value/index.ts';
import {
  type BodyFinisher,
  FLAGGED_HEADER_BYTES,
  FLAGS_AT,
  headerBytes,
  Item,
  type ItemFields,
  PLAIN_VERSION,
  RECORD_HEADER_BYTES,
  type Stamp,
} from './item.ts';

const FLAGGED_VERSION = 2;

/** Place in the list = number on disk. */
const ENCODINGS: readonly Encoding[] = ['json', 'bson', 'cql', 'edm'];

type RecordFields = Omit<ItemFields, 'record'> & {
  readonly primary: Bytes;
  /** A sum of ITEM_FLAGS. */
  readonly flags?: number | undefined;
};

/** How the body is finished in its record. */
interface RecordFinishing {
  readonly finisher: BodyFinisher;
  readonly stamp: Stamp;
  /** Whether the record may share memory with others: not for one that will be cached. */
  readonly isPooled: boolean;
}

/** Makes an item with its record. The body is finished in the record where its finisher has a `tail`. */
export function newItem(fields: RecordFields, finishing?: RecordFinishing): Item {
  const { primary, version, rid, timestampSec, ttlSec, flags = 0 } = fields;
  const keyAt = flags === 0 ? RECORD_HEADER_BYTES : FLAGGED_HEADER_BYTES;
  const bodyAt = keyAt + primary.length;
  const bodyEnd = bodyAt + fields.body.length;
  const tail = finishing?.finisher.tail?.(finishing.stamp);
  const length = tail === undefined ? bodyEnd : bodyEnd - 1 + tail.length;
  const record =
    finishing?.isPooled === true ? Buffer.allocUnsafe(length) : Buffer.allocUnsafeSlow(length);
  const encoding = ENCODINGS.indexOf(fields.encoding);
  assert(encoding >= 0, 'record: unknown encoding');
  record.writeUInt8(flags === 0 ? PLAIN_VERSION : FLAGGED_VERSION, 0);
  if (flags !== 0) record.writeUInt8(flags, FLAGS_AT);
  record.writeUInt8(encoding, 1);
  record.writeInt32BE(ttlSec, 2);
  record.writeUInt32BE(timestampSec, 6);
  record.writeUIntBE(version.lsn, 10, 6);
  record.writeUInt16BE(version.operation, 16);
  record.writeUInt32BE(Math.floor(rid / 2 ** 32), 18);
  record.writeUInt32BE(rid >>> 0, 22);
  record.writeUInt16BE(primary.length, 30);
  record.set(primary, keyAt);
  record.set(fields.body, bodyAt);
  if (tail !== undefined) record.write(tail, bodyEnd - 1, 'latin1');
  const body = record.subarray(bodyAt);
  if (tail !== undefined) finishing?.finisher.overwrite?.(body, finishing.stamp);
  record.writeUInt32BE(crc32(body), 26);
  return new Item({
    record,
    rid,
    version,
    timestampSec,
    ttlSec,
    encoding: fields.encoding,
    body,
    etag: fields.etag,
  });
}

/** On the path of every point read that misses the cache: makes no view of the bytes but the body. */
export function decodeRecord(record: Bytes, etagSalt: number): Item {
  assert(record[0] === PLAIN_VERSION || record[0] === FLAGGED_VERSION, 'record: unknown version');
  const encoding = ENCODINGS[record[1] as number];
  assert(encoding !== undefined, 'record: unknown encoding');
  const bodyAt = bodyStart(record);
  return new Item({
    record,
    rid: readU64(record, 18),
    version: {
      salt: etagSalt,
      lsn: readU16(record, 10) * 2 ** 32 + readU32(record, 12),
      operation: readU16(record, 16),
    },
    timestampSec: readU32(record, 6),
    ttlSec: readU32(record, 2) | 0,
    encoding,
    body: Buffer.from(record.buffer, record.byteOffset + bodyAt, record.length - bodyAt),
  });
}

/** Whether the stored checksum is that of the body. Not checked on every read. */
export function isIntact(record: Bytes): boolean {
  return crc32(record.subarray(bodyStart(record))) === readU32(record, 26);
}

/** The primary key inside a record, without decoding the rest. */
export function primaryOfRecord(record: Bytes): Bytes {
  return record.subarray(headerBytes(record), bodyStart(record));
}

function bodyStart(record: Bytes): number {
  return headerBytes(record) + readU16(record, 30);
}

/** A number that differs with identity and version of the item, by which partitions compare their contents. */
export function itemChecksum(item: Item): number {
  const rid = item.rid ^ Math.floor(item.rid / 2 ** 32);
  const mixed = Math.imul(rid, 0x9e3779b1) ^ Math.imul(item.version.lsn, 0x85ebca6b);
  return (mixed ^ (mixed >>> 15)) >>> 0;
}
