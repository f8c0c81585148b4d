/** Drops what nobody can see any more: data behind a deletion, and tombstones that are old enough. */
import { type Bytes, compareBytes } from '../../../base/index.ts';
import { laterDeletion } from './merge.ts';
import type { Cell, Column, Deletion, Liveness, Row } from './row.ts';

/** The latest deletion in a header that covers a row. */
export function deletionOver(header: Row | undefined, rowKey: Bytes): Deletion | undefined {
  if (header === undefined) return undefined;
  let latest = header.deletion;
  for (const range of header.ranges) {
    const isCovered =
      compareBytes(range.start, rowKey) <= 0 &&
      (range.end === undefined || compareBytes(rowKey, range.end) < 0);
    if (isCovered) latest = laterDeletion<Deletion>(latest, range);
  }
  return latest;
}

interface CompactContext {
  /** The deletion in the header that covers the row. */
  readonly over: Deletion | undefined;
  readonly nowSec: number;
  /** Tombstones made before this second are dropped. */
  readonly graceSec: number;
}

/** The same row, without what is hidden for good; undefined where nothing is left. */
export function compactRow(row: Row, context: CompactContext): Row | undefined {
  const { over, nowSec, graceSec } = context;
  const hiding = laterDeletion(row.deletion, over);
  const isKept = (atSec: number): boolean => atSec === 0 || nowSec - atSec < graceSec;
  // A deletion that the header repeats need not be in the row.
  const deletion =
    row.deletion !== undefined &&
    isKept(row.deletion.atSec) &&
    (over === undefined || row.deletion.timestamp > over.timestamp)
      ? row.deletion
      : undefined;
  const liveness = compactLiveness(row.liveness, hiding, isKept);
  const columns = new Map<string, Column>();
  for (const [name, column] of row.columns) {
    const left = compactColumn(column, hiding, isKept);
    if (left !== undefined) columns.set(name, left);
  }
  const ranges = row.ranges.filter(
    (range) =>
      isKept(range.atSec) &&
      (row.deletion === undefined || range.timestamp > row.deletion.timestamp),
  );
  if (deletion === undefined && liveness === undefined && columns.size === 0 && ranges.length === 0)
    return undefined;
  return {
    partitionKey: row.partitionKey,
    clustering: row.clustering,
    ...(liveness === undefined ? {} : { liveness }),
    ...(deletion === undefined ? {} : { deletion }),
    columns,
    ranges,
  };
}

/** The same row, with tombstones in place of the cells that have ended. */
export function withoutEndedValues(row: Row, nowSec: number): Row {
  const ended = (cell: Cell): Cell =>
    cell.ttlSec > 0 && cell.localSec <= nowSec ? { ...cell, value: undefined, ttlSec: 0 } : cell;
  const columns = new Map<string, Column>();
  for (const [name, column] of row.columns) {
    const { cell, elements } = column;
    columns.set(name, {
      ...column,
      ...(cell === undefined ? {} : { cell: ended(cell) }),
      ...(elements === undefined
        ? {}
        : { elements: new Map([...elements].map(([path, one]) => [path, ended(one)])) }),
    });
  }
  return { ...row, columns };
}

function compactLiveness(
  liveness: Liveness | undefined,
  hiding: Deletion | undefined,
  isKept: (atSec: number) => boolean,
): Liveness | undefined {
  if (liveness === undefined || isHidden(liveness, hiding)) return undefined;
  return liveness.expiresAtSec > 0 && !isKept(liveness.expiresAtSec) ? undefined : liveness;
}

function compactColumn(
  column: Column,
  hiding: Deletion | undefined,
  isKept: (atSec: number) => boolean,
): Column | undefined {
  const isLeft = (cell: Cell, by: Deletion | undefined): boolean =>
    !isHidden(cell, by) && (cell.localSec === 0 || isKept(cell.localSec));
  const cell = column.cell !== undefined && isLeft(column.cell, hiding) ? column.cell : undefined;
  const deletion =
    column.deletion !== undefined &&
    isKept(column.deletion.atSec) &&
    (hiding === undefined || column.deletion.timestamp > hiding.timestamp)
      ? column.deletion
      : undefined;
  const over = laterDeletion(column.deletion, hiding);
  const elements = new Map<string, Cell>();
  for (const [path, element] of column.elements ?? [])
    if (isLeft(element, over)) elements.set(path, element);
  if (cell === undefined && deletion === undefined && elements.size === 0) return undefined;
  return {
    type: column.type,
    ...(cell === undefined ? {} : { cell }),
    ...(deletion === undefined ? {} : { deletion }),
    ...(elements.size === 0 ? {} : { elements }),
  };
}

/** A deletion hides what is as old as itself. */
function isHidden(data: Cell | Liveness, by: Deletion | undefined): boolean {
  return by !== undefined && data.timestamp <= by.timestamp;
}
