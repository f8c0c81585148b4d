/**
 * The counters of a partition, written with every commit group, so that they always agree with the data.
 *
 * Stored form, version 2: version u8, number of counters u8, then that many f64 in the order of FIELDS, so that counters
 * can be added: those that are missing are 0. Version 1 had the first seven, without their number.
 */
import { assert, type Bytes, bufferOf, type Clock, DomainError } from '../base/index.ts';
import type { Item, Lsn } from './item/item.ts';
import { itemChecksum } from './item/record.ts';

/** The counters that other layers may read. */
export interface PartitionStatistics {
  readonly lsn: number;
  readonly itemCount: number;
  readonly itemBytes: number;
  readonly checksum: number;
}

export interface PartitionState {
  /** LSN of the last write command that was decided. */
  lsn: Lsn;
  /** Rids given out so far; a rid is the partition's prefix and this counter. */
  ridCounter: number;
  itemCount: number;
  /** Sum of the records: keys, headers and bodies. */
  itemBytes: number;
  /** Exclusive or of all items' checksums: equal for partitions with equal contents. */
  checksum: number;
  tombstoneCount: number;
  /** Number of the last entry of the index log. */
  indexLogNumber: number;
  /** Shadows and headers, which `itemCount` leaves out. */
  internalCount: number;
  /** The time of the last write. Later ones are never before it, whatever the clock shows. */
  lastTimestampSec: number;
}

const STATE_VERSION = 2;
/** Counters of version 1. */
const COUNTERS_V1 = 7;
const HEADER_BYTES = 2;
const FIELDS = [
  'lsn',
  'ridCounter',
  'itemCount',
  'itemBytes',
  'checksum',
  'tombstoneCount',
  'indexLogNumber',
  'internalCount',
  'lastTimestampSec',
] as const satisfies readonly (keyof PartitionState)[];

/** This type does not compile when a counter is missing from FIELDS. */
type Missing = Exclude<keyof PartitionState, (typeof FIELDS)[number]>;
const allCountersAreStored: [Missing] extends [never] ? true : Missing = true;
assert(allCountersAreStored, 'every counter is stored');

export function newState(): PartitionState {
  return {
    lsn: 0,
    ridCounter: 0,
    itemCount: 0,
    itemBytes: 0,
    checksum: 0,
    tombstoneCount: 0,
    indexLogNumber: 0,
    internalCount: 0,
    lastTimestampSec: 0,
  };
}

export function encodeState(state: PartitionState): Bytes {
  const bytes = Buffer.allocUnsafe(HEADER_BYTES + FIELDS.length * 8);
  bytes.writeUInt8(STATE_VERSION, 0);
  bytes.writeUInt8(FIELDS.length, 1);
  for (let at = 0; at < FIELDS.length; at++)
    bytes.writeDoubleBE(state[FIELDS[at] as (typeof FIELDS)[number]], HEADER_BYTES + at * 8);
  return bytes;
}

export function decodeState(bytes: Bytes): PartitionState {
  const isFirst = bytes[0] === 1;
  const start = isFirst ? 1 : HEADER_BYTES;
  const count = isFirst ? COUNTERS_V1 : (bytes[1] ?? 0);
  const isKnown = isFirst || bytes[0] === STATE_VERSION;
  if (!isKnown || count > FIELDS.length || bytes.length !== start + count * 8)
    throw new DomainError(
      'unavailable',
      `Partition format version ${bytes[0]} with ${bytes.length} bytes of counters is not understood; this program reads versions 1 and ${STATE_VERSION} with up to ${FIELDS.length} counters.`,
    );
  const view = bufferOf(bytes);
  const state = newState();
  for (let at = 0; at < count; at++)
    state[FIELDS[at] as (typeof FIELDS)[number]] = view.readDoubleBE(start + at * 8);
  return state;
}

/** The time of a write that is decided now. */
export function writeSec({ lastTimestampSec }: PartitionState, clock: Clock): number {
  return Math.max(Math.floor(clock.nowMs() / 1000), lastTimestampSec);
}

/** Updates the counters when an item changes from `previous` to `item`. */
export function countChange(
  state: PartitionState,
  previous: Item | undefined,
  item: Item | undefined,
): void {
  if (previous !== undefined) {
    if (previous.isInternal) state.internalCount--;
    else state.itemCount--;
    state.itemBytes -= previous.record.length;
    state.checksum = (state.checksum ^ itemChecksum(previous)) >>> 0;
  }
  if (item !== undefined) {
    if (item.isInternal) state.internalCount++;
    else state.itemCount++;
    state.itemBytes += item.record.length;
    state.checksum = (state.checksum ^ itemChecksum(item)) >>> 0;
  }
}
