/**
 * The key prefixes of a partition's store. Nothing else builds keys. Format version 1; do not renumber.
 *
 *   01 state                                        → counters of the partition (state.ts)
 *   02 index state                                  → how far the index is built (index-state.ts)
 *   03 retention                                    → since when versions are kept (retention.ts)
 *   04 index checkpoint                             → lsn8: entries of writes up to it are flushed or logged
 *   05 range tombstones                             → deleted ranges that are not swept yet (range-tombstones.ts)
 *   10 item       rid8                              → record (record.ts)
 *   11 primary    bytes(epk) · pk values · id       → rid8
 *   12 unique     hash32                            → primary key of the item that has these values (unique-keys.ts)
 *   20 to 2f                                        → index entries (indexing.ts)
 *   30 log        lsn8 · rid8                       → ∅       latest write of every live item
 *   31 version    lsn8 · operation2 · rid8          → one write of a container that keeps them (version.ts)
 *   32 tombstone  lsn8 · rid8                       → timestamp4 · primary key
 *
 * Records are keyed by rid, so that new ones are appended, posting lists stay small and a scan has the order of `_rid`.
 * A point read goes from primary key to record in one `dereference` (docs/decisions/0003-rid-heap.md and
 * 0015-numbered-records.md). The primary key has the whole partition key beside its hash, because two partition keys
 * may have one hash.
 */
import { assert, type Bytes, prefixEnd, readU64 } from '../../base/index.ts';
import { INTEGER_KEY_PREFIX, type KeyRange } from '../../engine/index.ts';
import { type Epk, KeyReader, KeyWriter, type Value } from '../../value/index.ts';
import { ItemKey, type Lsn, type Rid } from './item.ts';

const PREFIX_STATE = 0x01;
const PREFIX_INDEX_STATE = 0x02;
const PREFIX_RETENTION = 0x03;
const PREFIX_INDEX_CHECKPOINT = 0x04;
const PREFIX_RANGE_TOMBSTONES = 0x05;
export const PREFIX_ITEM = INTEGER_KEY_PREFIX;
export const PREFIX_PRIMARY = 0x11;
export const PREFIX_UNIQUE = 0x12;
export const PREFIX_LOG = 0x30;
export const PREFIX_VERSION = 0x31;
export const PREFIX_TOMBSTONE = 0x32;

/** One writer serves all, because a key is built in one synchronous step. */
const writer = new KeyWriter();

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

export function itemKey(epk: Epk, partitionKey: readonly Value[], id: Value): ItemKey {
  writer.reset().u8(PREFIX_PRIMARY).bytes(epk);
  for (const component of partitionKey) writer.value(component);
  const primary = writer.value(id).take();
  return new ItemKey(epk, primary);
}

/** The common prefix of the primary keys of one logical partition. */
export function logicalPartitionPrefix(epk: Epk, partitionKey: readonly Value[]): Bytes {
  writer.reset().u8(PREFIX_PRIMARY).bytes(epk);
  for (const component of partitionKey) writer.value(component);
  return writer.take();
}

/** All primary keys of one logical partition. */
export function logicalPartitionRange(
  epk: Epk,
  partitionKey: readonly Value[],
): { readonly start: Bytes; readonly end: Bytes } {
  const start = logicalPartitionPrefix(epk, partitionKey);
  const end = prefixEnd(start);
  assert(end !== undefined, 'a primary key has a successor');
  return { start, end };
}

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

/** The values of the partition key in a primary key; long ones are truncated. */
export function partitionKeyOfPrimary(primary: Bytes, pathCount: number): readonly Value[] {
  const reader = new KeyReader(primary, epkEnd(primary));
  return Array.from({ length: pathCount }, () => reader.value());
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
