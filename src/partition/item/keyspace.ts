/**
 * The key prefixes of a partition's store. Nothing else builds keys. Format version 1; do not renumber.
 *
 *   00 format                                       → versions, key format, ring (format.ts)
 *   01 state                                        → counters of the partition (state.ts)
 *   02 index table                                  → how far each index is built (index-state.ts)
 *   03 retention                                    → since when versions are kept (retention.ts)
 *   04 index checkpoint                             → lsn8: entries of writes up to it are flushed or logged
 *   05 range tombstones                             → deleted ranges that are not swept yet (range-tombstones.ts)
 *   06 owner                                        → epoch of the writer (format.ts)
 *   10 item       rid8                              → record (record.ts)
 *   11 primary    bytes(epk) · partition · row key  → rid8      (item-keys.ts)
 *   12 unique     id4 · hash32                      → primary key of the item that has these values (unique-keys.ts)
 *   20 to 2f                                        → index entries (indexing.ts)
 *   30 log        lsn8 · rid8                       → ∅       latest write of every live item
 *   31 version    lsn8 · operation2 · rid8          → one write of a container that keeps them (version.ts)
 *   32 tombstone  lsn8 · rid8                       → timestamp4 · primary key
 *   33 prepared   transaction16 · number4           → one operation of a transaction over partitions (prepared)
 *   34 outcome    transaction16                     → how such a transaction ended (prepared)
 *   35 note       bytes(epk) · 01 · owner           → expiry4 · bytes (notes/note.ts)
 *
 * Records are keyed by rid, so that new ones are appended, posting lists stay small and a scan has the order of `_rid`.
 * A point read goes from primary key to record in one `dereference` (docs/decisions/0003-rid-heap.md and
 * 0015-numbered-records.md). The primary key has the whole partition key beside its hash, because two partition keys
 * may have one hash.
 */
import { type Bytes, PARTITION_KEY_PART_BYTES_MAX, readU32, readU64 } from '../../base/index.ts';
import { INTEGER_KEY_PREFIX, type KeyRange } from '../../engine/index.ts';
import { type Epk, KeyReader, KeyWriter, type Value } from '../../value/index.ts';
import { ItemKey, type Lsn, type Rid } from './item.ts';

const PREFIX_FORMAT = 0x00;
const PREFIX_STATE = 0x01;
const PREFIX_INDEX_STATE = 0x02;
const PREFIX_RETENTION = 0x03;
const PREFIX_INDEX_CHECKPOINT = 0x04;
const PREFIX_RANGE_TOMBSTONES = 0x05;
const PREFIX_OWNER = 0x06;
export const PREFIX_ITEM = INTEGER_KEY_PREFIX;
export const PREFIX_PRIMARY = 0x11;
export const PREFIX_UNIQUE = 0x12;
export const PREFIX_LOG = 0x30;
export const PREFIX_VERSION = 0x31;
export const PREFIX_TOMBSTONE = 0x32;
const PREFIX_PREPARED = 0x33;
const PREFIX_OUTCOME = 0x34;
export const PREFIX_NOTE = 0x35;

/** One writer serves all, because a key is built in one synchronous step. */
const writer = new KeyWriter();

export const FORMAT_KEY: Bytes = Uint8Array.of(PREFIX_FORMAT);
export const OWNER_KEY: Bytes = Uint8Array.of(PREFIX_OWNER);
export const STATE_KEY: Bytes = Uint8Array.of(PREFIX_STATE);
export const RANGE_TOMBSTONES_KEY: Bytes = Uint8Array.of(PREFIX_RANGE_TOMBSTONES);
export const INDEX_STATE_KEY: Bytes = Uint8Array.of(PREFIX_INDEX_STATE);
export const RETENTION_KEY: Bytes = Uint8Array.of(PREFIX_RETENTION);
export const INDEX_CHECKPOINT_KEY: Bytes = Uint8Array.of(PREFIX_INDEX_CHECKPOINT);

/** All versions. */
export const VERSION_RANGE: KeyRange = {
  start: Uint8Array.of(PREFIX_VERSION),
  end: Uint8Array.of(PREFIX_VERSION + 1),
};

/** The key of a stored item. */
export function itemKeyOf(primary: Bytes): ItemKey {
  return new ItemKey(epkOfPrimary(primary), primary);
}

/** The effective partition key at the beginning of a primary key. */
export function epkOfPrimary(primary: Bytes): Epk {
  return new KeyReader(primary, 1).bytes();
}

/** Where the effective partition key ends in a primary key. */
export function epkEnd(primary: Bytes): number {
  const reader = new KeyReader(primary, 1);
  reader.bytes();
  return reader.position;
}

/** The first byte of a partition key that is cut (item-keys.ts). No tag of a value. */
export const CUT_PARTITION_KEY = 0x01;

/** The values of the partition key in a primary key; long ones are truncated, those behind a cut are undefined. */
export function partitionKeyOfPrimary(primary: Bytes, pathCount: number): readonly Value[] {
  const start = epkEnd(primary);
  const isCut = primary[start] === CUT_PARTITION_KEY;
  const reader = new KeyReader(primary, isCut ? start + 1 : start);
  const values: Value[] = [];
  // A cut partition key holds its first value whole: none has more than 583 bytes.
  for (let at = 0; at < pathCount; at++) values.push(isCut && at > 0 ? undefined : reader.value());
  return values;
}

/** Where the row key begins in a primary key. */
export function rowStart(primary: Bytes, pathCount: number): number {
  const start = epkEnd(primary);
  if (primary[start] === CUT_PARTITION_KEY) return start + PARTITION_KEY_PART_BYTES_MAX;
  const reader = new KeyReader(primary, start);
  for (let at = 0; at < pathCount; at++) reader.value();
  return reader.position;
}

export function recordKey(rid: Rid): Bytes {
  return writer.reset().u8(PREFIX_ITEM).u64(rid).take();
}

/** Value of a primary entry: `dereference` appends it to the item prefix. */
export function ridBytes(rid: Rid): Bytes {
  return writer.reset().u64(rid).take();
}

/** The number in eight bytes of a value. */
export function ridOfBytes(value: Bytes): number {
  return readU64(value, 0);
}

export function ridOfRecordKey(key: Bytes): Rid {
  return readU64(key, 1);
}

export function logKey(lsn: Lsn, rid: Rid): Bytes {
  return writer.reset().u8(PREFIX_LOG).u64(lsn).u64(rid).take();
}

export function tombstoneKey(lsn: Lsn, rid: Rid): Bytes {
  return writer.reset().u8(PREFIX_TOMBSTONE).u64(lsn).u64(rid).take();
}

export function versionKey(lsn: Lsn, operation: number, rid: Rid): Bytes {
  return writer.reset().u8(PREFIX_VERSION).u64(lsn).u16(operation).u64(rid).take();
}

/** @param number - place in the transaction; 0 is what the transaction itself has. */
export function preparedKey(transaction: Bytes, number: number): Bytes {
  return writer.reset().u8(PREFIX_PREPARED).raw(transaction).u32(number).take();
}

export function outcomeKey(transaction: Bytes): Bytes {
  return writer.reset().u8(PREFIX_OUTCOME).raw(transaction).take();
}

/** Prepared operations and outcomes of all transactions. */
export const TRANSACTIONS_RANGE: KeyRange = {
  start: Uint8Array.of(PREFIX_PREPARED),
  end: Uint8Array.of(PREFIX_OUTCOME + 1),
};

/** The transaction of a prepared or outcome key, and the number of a prepared one. */
export function transactionOfKey(key: Bytes): {
  readonly transaction: Bytes;
  readonly number: number | undefined;
} {
  const transaction = key.subarray(1, 17);
  const number = key[0] === PREFIX_PREPARED ? readU32(key, 17) : undefined;
  return { transaction, number };
}

/** LSN of a log, version or tombstone key. */
export function lsnOfLogKey(key: Bytes): Lsn {
  return readU64(key, 1);
}

/** LSN and rid of a log or tombstone key. */
export function lsnAndRidOfLogKey(key: Bytes): { readonly lsn: Lsn; readonly rid: Rid } {
  return { lsn: readU64(key, 1), rid: readU64(key, 9) };
}

/** All records after `after`, in rid order. */
export function recordsAfter(after: Rid | undefined): KeyRange {
  const start = after === undefined ? Uint8Array.of(PREFIX_ITEM) : recordKey(after + 1);
  return { start, end: Uint8Array.of(PREFIX_ITEM + 1) };
}

/** Primary keys whose effective partition key lies in [min, max). */
export function primaryRange(min: Epk, max: Epk): { readonly start: Bytes; readonly end: Bytes } {
  return {
    start: writer.reset().u8(PREFIX_PRIMARY).bytes(min).take(),
    end: writer.reset().u8(PREFIX_PRIMARY).bytes(max).take(),
  };
}

export type LogPrefix = typeof PREFIX_LOG | typeof PREFIX_VERSION | typeof PREFIX_TOMBSTONE;

/** All entries of one of the logs after `after`. */
export function logAfter(prefix: LogPrefix, after: Lsn): KeyRange {
  return {
    start: writer
      .reset()
      .u8(prefix)
      .u64(after + 1)
      .take(),
    end: Uint8Array.of(prefix + 1),
  };
}
