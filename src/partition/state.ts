/**
 * The counters of a partition, written with every commit group, so that they always agree with the data.
 *
 * Stored form, version 1: version u8, then seven f64 in the order of FIELDS.
 */
import { assert, type Bytes, bufferOf, DomainError } from '../base/index.ts';
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
}

const STATE_VERSION = 1;
const FIELDS = [
  'lsn',
  'ridCounter',
  'itemCount',
  'itemBytes',
  'checksum',
  'tombstoneCount',
  'indexLogNumber',
] as const satisfies readonly (keyof PartitionState)[];

const STATE_BYTES = 1 + FIELDS.length * 8;

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
  };
}

export function encodeState(state: PartitionState): Bytes {
  const bytes = Buffer.allocUnsafe(STATE_BYTES);
  bytes.writeUInt8(STATE_VERSION, 0);
  FIELDS.forEach((field, index) => {
    bytes.writeDoubleBE(state[field], 1 + index * 8);
  });
  return bytes;
}

export function decodeState(bytes: Bytes): PartitionState {
  if (bytes[0] !== STATE_VERSION || bytes.length !== STATE_BYTES)
    throw new DomainError(
      'unavailable',
      `Partition format version ${bytes[0]} with ${bytes.length} bytes of counters is not understood; this program reads version ${STATE_VERSION} with ${STATE_BYTES}.`,
    );
  const view = bufferOf(bytes);
  const state = newState();
  FIELDS.forEach((field, index) => {
    state[field] = view.readDoubleBE(1 + index * 8);
  });
  return state;
}

/** Updates the counters when an item changes from `previous` to `item`. */
export function countChange(
  state: PartitionState,
  previous: Item | undefined,
  item: Item | undefined,
): void {
  if (previous !== undefined) {
    state.itemCount--;
    state.itemBytes -= previous.record.length;
    state.checksum = (state.checksum ^ itemChecksum(previous)) >>> 0;
  }
  if (item !== undefined) {
    state.itemCount++;
    state.itemBytes += item.record.length;
    state.checksum = (state.checksum ^ itemChecksum(item)) >>> 0;
  }
}
