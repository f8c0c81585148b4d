/**
 * The cost of stats in request units: one table of formulas, deterministic, the same for every API.
 *
 * Point reads and writes follow the reference service's documented table by item size, interpolated linearly between
 * its rows.
 */
const KIB = 1024;

interface Row {
  readonly bytes: number;
  readonly read: number;
  readonly write: number;
}

/** At session consistency and with default indexing. */
const BY_SIZE: readonly Row[] = [
  { bytes: 1 * KIB, read: 1.0, write: 4.95 },
  { bytes: 2 * KIB, read: 1.04, write: 6.29 },
  { bytes: 4 * KIB, read: 1.14, write: 6.67 },
  { bytes: 8 * KIB, read: 1.33, write: 7.04 },
  { bytes: 16 * KIB, read: 1.67, write: 9.52 },
  { bytes: 32 * KIB, read: 2.19, write: 11.23 },
  { bytes: 64 * KIB, read: 4.76, write: 22.67 },
  { bytes: 128 * KIB, read: 9.95, write: 48.19 },
  { bytes: 256 * KIB, read: 20.28, write: 98.29 },
  { bytes: 512 * KIB, read: 40.95, write: 184.57 },
  { bytes: 1024 * KIB, read: 145.9, write: 625.0 },
  { bytes: 2048 * KIB, read: 291.8, write: 1250.0 },
];

/** A point read that finds nothing, and every request that only looks at the catalog. */
export const MINIMAL_CHARGE = 1;

/** The charge of each partition that a page of a feed or query reads, before its items. */
const PAGE_CHARGE = 1;

/** A replacement removes the old item from every index and adds the new one. */
const REPLACE_FACTOR = 2;

/** Index entries that the charge of the table includes, and the charge of each entry beyond them. */
const ENTRIES_INCLUDED = 25;
const ENTRY_CHARGE = 0.08;

/** Share of the table's charge for items with no index entry, one, or two; others pay all of it. */
const SPARSE_SHARES = [0.6, 0.75, 0.9];

/** Reads that need more than one replica to agree cost double (documented). */
const QUORUM_READ_FACTOR = 2;

/** Ordered from the strongest to the weakest. */
export const CONSISTENCY_LEVELS = [
  'Strong',
  'BoundedStaleness',
  'Session',
  'ConsistentPrefix',
  'Eventual',
] as const;

export type ConsistencyLevel = (typeof CONSISTENCY_LEVELS)[number];

/** The cost of a read at this level as a multiple of one at session consistency. */
export function readFactor(level: ConsistencyLevel): number {
  return level === 'Strong' || level === 'BoundedStaleness' ? QUORUM_READ_FACTOR : 1;
}

/** Size of a write: the body, and its index entries under the container's policy. */
export interface WriteSize {
  readonly bodyBytes: number;
  readonly indexEntries: number;
}

export function readCharge(bodyBytes: number, factor = 1): number {
  return round(factor * bySize(bodyBytes, 'read'));
}

export function createCharge(item: WriteSize): number {
  return round(writeCharge(item));
}

export function replaceCharge(previous: WriteSize, item: WriteSize): number {
  return round((REPLACE_FACTOR * (writeCharge(previous) + writeCharge(item))) / 2);
}

export function deleteCharge(previous: WriteSize): number {
  return round(writeCharge(previous));
}

function writeCharge({ bodyBytes, indexEntries }: WriteSize): number {
  const share = SPARSE_SHARES[indexEntries] ?? 1;
  const beyond = Math.max(0, indexEntries - ENTRIES_INCLUDED);
  return share * bySize(bodyBytes, 'write') + beyond * ENTRY_CHARGE;
}

/** A page of items in storage order: reads in sequence cost less than the same items one by one. */
export function pageCharge(itemCount: number, bodyBytes: number, factor = 1): number {
  return round(factor * (PAGE_CHARGE + itemCount * 0.1 + (bodyBytes / KIB) * 0.1));
}

/** A page of the change feed costs as much as a page of items; a poll that finds nothing has the minimal charge. */
export function feedCharge(changeCount: number, bodyBytes: number, factor = 1): number {
  return changeCount === 0 ? factor * MINIMAL_CHARGE : pageCharge(changeCount, bodyBytes, factor);
}

/** The counts of a page of a query that have a cost. */
interface QueryStats {
  readonly partitions: number;
  readonly indexEntries: number;
  readonly itemsLoaded: number;
  readonly bytesLoaded: number;
  readonly bytesOut: number;
}

/** Request units of each part of a query's charge. */
export interface QueryChargeParts {
  readonly partitions: number;
  readonly index: number;
  readonly items: number;
  readonly output: number;
}

/** A query that finds one small item by its index costs a little under 3. */
export function queryCharge(stats: QueryStats, factor = 1): number {
  const { partitions, index, items, output } = exactParts(stats);
  return round(factor * (partitions + index + items + output));
}

export function queryChargeParts(stats: QueryStats): QueryChargeParts {
  const { partitions, index, items, output } = exactParts(stats);
  return {
    partitions: round(partitions),
    index: round(index),
    items: round(items),
    output: round(output),
  };
}

function exactParts(stats: QueryStats): QueryChargeParts {
  return {
    partitions: 2.2 * Math.max(1, stats.partitions),
    index: stats.indexEntries * 0.005,
    items: stats.itemsLoaded * 0.06 + (stats.bytesLoaded / KIB) * 0.03,
    output: (stats.bytesOut / KIB) * 0.05,
  };
}

function bySize(bytes: number, column: 'read' | 'write'): number {
  let low = BY_SIZE[0] as Row;
  if (bytes <= low.bytes) return low[column];
  for (const high of BY_SIZE) {
    if (bytes <= high.bytes) {
      const share = (bytes - low.bytes) / (high.bytes - low.bytes);
      return low[column] + share * (high[column] - low[column]);
    }
    low = high;
  }
  return (low[column] * bytes) / low.bytes;
}

/** Two decimals, as the service reports charges. */
function round(requestUnits: number): number {
  return Math.round(requestUnits * 100) / 100;
}
