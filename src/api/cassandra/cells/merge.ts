/**
 * Last write wins: merging is commutative, associative and idempotent (counters aside), so that the order in which
 * writes arrive does not matter. The higher timestamp wins; among equal ones a tombstone, then what
 * ends later, then the larger bytes.
 */
import { compareBytes } from '../../../base/index.ts';
import { int64Bytes, int64Of } from '../types/native-values.ts';
import type { Cell, Column, Deletion, Liveness, RangeTombstone, Row } from './row.ts';

/** What is stored after a change. Nothing is dropped yet; see compact.ts. */
export function mergeRows(stored: Row | undefined, change: Row): Row {
  if (stored === undefined) return withoutAdditions(change);
  const liveness = laterLiveness(stored.liveness, change.liveness);
  const deletion = laterDeletion(stored.deletion, change.deletion);
  const columns = new Map(stored.columns);
  for (const [name, column] of change.columns)
    columns.set(name, mergeColumns(columns.get(name), column));
  return {
    partitionKey: change.partitionKey,
    clustering: change.clustering,
    ...(liveness === undefined ? {} : { liveness }),
    ...(deletion === undefined ? {} : { deletion }),
    columns,
    ranges: mergeRanges(stored.ranges, change.ranges),
  };
}

function withoutAdditions(change: Row): Row {
  const columns = new Map<string, Column>();
  for (const [name, column] of change.columns) columns.set(name, mergeColumns(undefined, column));
  return { ...change, columns };
}

function mergeColumns(stored: Column | undefined, change: Column): Column {
  const { type } = change;
  const cell = change.cell === undefined ? stored?.cell : mergeCells(stored?.cell, change.cell);
  const deletion = laterDeletion(stored?.deletion, change.deletion);
  const elements = mergeElements(stored?.elements, change.elements);
  return {
    type,
    ...(cell === undefined ? {} : { cell }),
    ...(deletion === undefined ? {} : { deletion }),
    ...(elements === undefined ? {} : { elements }),
  };
}

function mergeElements(
  stored: ReadonlyMap<string, Cell> | undefined,
  change: ReadonlyMap<string, Cell> | undefined,
): ReadonlyMap<string, Cell> | undefined {
  if (stored === undefined || change === undefined) return change ?? stored;
  const elements = new Map(stored);
  for (const [path, cell] of change) elements.set(path, mergeCells(elements.get(path), cell));
  return elements;
}

/** The one of two cells that stays. */
export function mergeCells(stored: Cell | undefined, change: Cell): Cell {
  if (change.isAddition === true) return added(stored, change);
  return stored === undefined || supersedes(change, stored) ? change : stored;
}

/** A counter's new value. A counter that was deleted begins at zero. */
function added(stored: Cell | undefined, change: Cell): Cell {
  const before = stored?.value === undefined ? 0n : int64Of(stored.value);
  const more = change.value === undefined ? 0n : int64Of(change.value);
  const latest =
    stored !== undefined && stored.timestamp > change.timestamp
      ? stored.timestamp
      : change.timestamp;
  return {
    timestamp: latest,
    value: int64Bytes(BigInt.asIntN(64, before + more)),
    ttlSec: 0,
    localSec: 0,
  };
}

/** Whether the first of two cells is the one that stays. */
function supersedes(a: Cell, b: Cell): boolean {
  if (a.timestamp !== b.timestamp) return a.timestamp > b.timestamp;
  const aEnds = a.localSec > 0;
  const bEnds = b.localSec > 0;
  // Among equal timestamps what is or will be a tombstone wins.
  if (aEnds !== bEnds) return aEnds;
  if ((a.value === undefined) !== (b.value === undefined)) return a.value === undefined;
  if (a.localSec !== b.localSec) return a.localSec > b.localSec;
  if (a.value === undefined || b.value === undefined) return false;
  return compareBytes(a.value, b.value) > 0;
}

export function laterDeletion<T extends Deletion>(
  a: T | undefined,
  b: T | undefined,
): T | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  if (a.timestamp !== b.timestamp) return a.timestamp > b.timestamp ? a : b;
  return a.atSec >= b.atSec ? a : b;
}

function laterLiveness(a: Liveness | undefined, b: Liveness | undefined): Liveness | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  if (a.timestamp !== b.timestamp) return a.timestamp > b.timestamp ? a : b;
  const aEnds = a.expiresAtSec > 0;
  if (aEnds !== b.expiresAtSec > 0) return aEnds ? a : b;
  return a.expiresAtSec >= b.expiresAtSec ? a : b;
}

/** A range within another one that is as late adds nothing. */
function mergeRanges(
  stored: readonly RangeTombstone[],
  change: readonly RangeTombstone[],
): readonly RangeTombstone[] {
  if (change.length === 0) return stored;
  const kept = stored.filter((range) => !change.some((other) => covers(other, range)));
  const fresh = change.filter((range) => !kept.some((other) => covers(other, range)));
  return [...kept, ...fresh];
}

function covers(outer: RangeTombstone, inner: RangeTombstone): boolean {
  return (
    outer.timestamp >= inner.timestamp &&
    compareBytes(outer.start, inner.start) <= 0 &&
    (outer.end === undefined ||
      (inner.end !== undefined && compareBytes(inner.end, outer.end) <= 0))
  );
}
