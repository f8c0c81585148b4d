/** What a reader sees of a row at a moment. */
import type { Bytes } from '../../../base/index.ts';
import type { CqlType } from '../types/cql-type.ts';
import { compareTyped } from '../types/ordered.ts';
import { collectionBytes, tupleBytes } from '../types/values.ts';
import { laterDeletion } from './merge.ts';
import type { Cell, Column, Deletion, KeyColumn, Row } from './row.ts';

export interface LiveValue {
  readonly value: Bytes;
  readonly timestamp: bigint;
  /** 0: lives for ever. */
  readonly expiresAtSec: number;
}

export interface LiveRow {
  readonly partitionKey: readonly KeyColumn[];
  readonly clustering: readonly KeyColumn[];
  /** Columns that are not null. */
  readonly values: ReadonlyMap<string, LiveValue>;
  /** When the last of it ends; 0: never. */
  readonly expiresAtSec: number;
}

/**
 * Undefined where the row does not exist at this second: no mark of an INSERT and no value is alive.
 * @param over - the deletion in the header that covers the row.
 * @param droppedAt - columns that were dropped from the table: what is older is hidden.
 */
export function liveRow(
  row: Row,
  over: Deletion | undefined,
  nowSec: number,
  droppedAt?: ReadonlyMap<string, bigint>,
): LiveRow | undefined {
  const hiding = laterDeletion(row.deletion, over);
  const { liveness } = row;
  const isMarked =
    liveness !== undefined &&
    (hiding === undefined || liveness.timestamp > hiding.timestamp) &&
    (liveness.expiresAtSec === 0 || nowSec < liveness.expiresAtSec);
  const values = new Map<string, LiveValue>();
  let last = isMarked ? endOf(liveness.expiresAtSec) : 0;
  for (const [name, column] of row.columns) {
    const value = liveColumn(column, hidingColumn(name, hiding, droppedAt), nowSec);
    if (value === undefined) continue;
    values.set(name, value);
    last = Math.max(last, endOf(value.expiresAtSec));
  }
  if (!isMarked && values.size === 0) return undefined;
  return {
    partitionKey: row.partitionKey,
    clustering: row.clustering,
    values,
    expiresAtSec: last === Number.POSITIVE_INFINITY ? 0 : last,
  };
}

function hidingColumn(
  name: string,
  hiding: Deletion | undefined,
  droppedAt: ReadonlyMap<string, bigint> | undefined,
): Deletion | undefined {
  const timestamp = droppedAt?.get(name);
  return timestamp === undefined ? hiding : laterDeletion(hiding, { timestamp, atSec: 0 });
}

function endOf(expiresAtSec: number): number {
  return expiresAtSec === 0 ? Number.POSITIVE_INFINITY : expiresAtSec;
}

function liveColumn(
  column: Column,
  hiding: Deletion | undefined,
  nowSec: number,
): LiveValue | undefined {
  const { cell, elements, type } = column;
  if (cell !== undefined) {
    if (!isLive(cell, hiding, nowSec) || cell.value === undefined) return undefined;
    return {
      value: cell.value,
      timestamp: cell.timestamp,
      expiresAtSec: cell.ttlSec > 0 ? cell.localSec : 0,
    };
  }
  const live = liveCells(elements, laterDeletion(column.deletion, hiding), nowSec);
  return live.length === 0 ? undefined : assembled(type, live);
}

/** Elements that are alive, by their paths. */
export type Live = readonly (readonly [string, Cell])[];

function liveCells(elements: Column['elements'], over: Deletion | undefined, nowSec: number): Live {
  return [...(elements ?? [])].filter(([, element]) => isLive(element, over, nowSec));
}

/** The elements of a list in its order. */
export function liveElements(
  row: Row,
  name: string,
  over: Deletion | undefined,
  nowSec: number,
): Live {
  const column = row.columns.get(name);
  if (column === undefined) return [];
  const hiding = laterDeletion(column.deletion, laterDeletion(row.deletion, over));
  const live = liveCells(column.elements, hiding, nowSec);
  return [...live].sort(([a], [b]) => (a < b ? -1 : 1));
}

function isLive(cell: Cell, hiding: Deletion | undefined, nowSec: number): boolean {
  if (cell.value === undefined || (hiding !== undefined && cell.timestamp <= hiding.timestamp))
    return false;
  return cell.ttlSec === 0 || nowSec < cell.localSec;
}

/** The value of a collection from its elements. */
function assembled(type: CqlType, live: readonly (readonly [string, Cell])[]): LiveValue {
  let timestamp = 0n;
  let last = 0;
  for (const [, cell] of live) {
    if (cell.timestamp > timestamp) timestamp = cell.timestamp;
    last = Math.max(last, endOf(cell.ttlSec > 0 ? cell.localSec : 0));
  }
  const expiresAtSec = last === Number.POSITIVE_INFINITY ? 0 : last;
  return { value: assembledBytes(type, live), timestamp, expiresAtSec };
}

function assembledBytes(type: CqlType, live: readonly (readonly [string, Cell])[]): Bytes {
  const parts = live.map(([path, cell]) => ({
    path: Buffer.from(path, 'latin1') as Bytes,
    value: cell.value as Bytes,
  }));
  switch (type.kind) {
    case 'set':
      parts.sort((a, b) => compareTyped(type.element, a.path, b.path));
      return collectionBytes(
        parts.length,
        parts.map(({ path }) => path),
      );
    case 'map':
      parts.sort((a, b) => compareTyped(type.key, a.path, b.path));
      return collectionBytes(
        parts.length,
        parts.flatMap(({ path, value }) => [path, value]),
      );
    case 'list':
      parts.sort((a, b) => Buffer.compare(a.path, b.path));
      return collectionBytes(
        parts.length,
        parts.map(({ value }) => value),
      );
    case 'user': {
      const byField = new Map(
        parts.map(({ path, value }) => [((path[0] ?? 0) << 8) | (path[1] ?? 0), value]),
      );
      return tupleBytes(type.fields.map((_, at) => byField.get(at)));
    }
    default:
      return parts[0]?.value as Bytes;
  }
}
