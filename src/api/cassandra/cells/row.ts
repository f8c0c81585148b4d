/**
 * A row as it is stored: cells with timestamps, and the deletions that still matter. The same shape serves three ends:
 * a stored row, the header of a partition (static cells, deletions of the partition and of ranges of rows), and a
 * change, which is merged into what is stored.
 */
import type { Bytes } from '../../../base/index.ts';
import type { CqlType } from '../types/cql-type.ts';

export interface KeyColumn {
  readonly name: string;
  readonly type: CqlType;
  readonly value: Bytes;
}

/** Microseconds, chosen by the client: they order writes and deletions. */
type WriteTime = bigint;

export interface Cell {
  readonly timestamp: WriteTime;
  /** Undefined: a tombstone. */
  readonly value: Bytes | undefined;
  /** 0: lives for ever. */
  readonly ttlSec: number;
  /** When an expiring cell ends, or when a tombstone was made; 0 for other cells. */
  readonly localSec: number;
  /** A counter's change instead of its value; only in changes. */
  readonly isAddition?: boolean;
}

export interface Deletion {
  readonly timestamp: WriteTime;
  /** When it was made; 0 in a header while rows that it hides may still be stored. */
  readonly atSec: number;
}

/** The mark that INSERT leaves: a row exists although all its columns may be null. */
export interface Liveness {
  readonly timestamp: WriteTime;
  readonly ttlSec: number;
  readonly expiresAtSec: number;
}

export interface Column {
  readonly type: CqlType;
  /** Columns that are written as a whole. */
  readonly cell?: Cell;
  /** Collections with a cell for each element: all elements up to this time are gone. */
  readonly deletion?: Deletion;
  /** By the bytes of the element's path, as latin1 text: the key of a map, the value of a set, the place in a list. */
  readonly elements?: ReadonlyMap<string, Cell>;
}

/** Rows whose keys are from `start` to before `end`, in their encoded form. */
export interface RangeTombstone extends Deletion {
  readonly start: Bytes;
  /** Undefined: to the end of the partition. */
  readonly end: Bytes | undefined;
}

export interface Row {
  readonly partitionKey: readonly KeyColumn[];
  /** Empty in a header. */
  readonly clustering: readonly KeyColumn[];
  readonly liveness?: Liveness;
  /** The deletion of the row, or in a header of the whole partition. */
  readonly deletion?: Deletion;
  readonly columns: ReadonlyMap<string, Column>;
  /** Only in a header. */
  readonly ranges: readonly RangeTombstone[];
}

/** Seconds that tombstones are kept for writes that arrive late, unless the table says otherwise. */
export const GC_GRACE_SEC_DEFAULT = 864_000;
