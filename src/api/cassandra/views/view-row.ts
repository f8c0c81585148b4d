/** From a row of a base table to the row of a view. */
import type { Bytes } from '../../../base/index.ts';
import { compactRow } from '../cells/compact.ts';
import { type LiveRow, liveRow } from '../cells/live-row.ts';
import type { Cell, Column, Deletion, KeyColumn, Row } from '../cells/row.ts';
import type { ColumnSchema, TableSchema } from '../schema/table-schema.ts';

/** Whether a base row is in the view, by the values of its columns. */
export type ViewFilter = (value: (name: string) => Bytes | undefined) => boolean;

export interface ViewRow {
  readonly partition: readonly Bytes[];
  readonly clustering: readonly Bytes[];
  readonly row: Row;
}

interface Moment {
  /** The deletion in the header that covers the base row. */
  readonly over: Deletion | undefined;
  readonly nowSec: number;
}

/** Undefined where the view has no row for this one. */
export function viewRowOf(
  view: TableSchema,
  base: Row,
  filter: ViewFilter,
  { over, nowSec }: Moment,
): ViewRow | undefined {
  const live = liveRow(base, over, nowSec);
  if (live === undefined) return undefined;
  const columnValue = (name: string): Bytes | undefined =>
    live.values.get(name)?.value ??
    [...live.partitionKey, ...live.clustering].find((column) => column.name === name)?.value;
  const partition = keyOf(view.partitionKey, columnValue);
  const clustering = keyOf(view.clustering, columnValue);
  if (partition === undefined || clustering === undefined || !filter(columnValue)) return undefined;
  const endSec = endOf(view, live);
  const row: Row = {
    partitionKey: partition,
    clustering,
    liveness: {
      timestamp: latest(live, base),
      ttlSec: endSec === 0 ? 0 : Math.max(1, endSec - nowSec),
      expiresAtSec: endSec,
    },
    columns: columnsOf(view, base, { over, nowSec }, keyEnd(view, live)),
    ranges: [],
  };
  return {
    partition: partition.map(({ value }) => value),
    clustering: clustering.map(({ value }) => value),
    row,
  };
}

function keyOf(
  columns: readonly ColumnSchema[],
  columnValue: (name: string) => Bytes | undefined,
): readonly KeyColumn[] | undefined {
  const key: KeyColumn[] = [];
  for (const { name, type } of columns) {
    const value = columnValue(name);
    if (value === undefined) return undefined;
    key.push({ name, type, value });
  }
  return key;
}

/** When the value ends that is a key of the view and no key of the base table; 0: never. */
function keyEnd(view: TableSchema, live: LiveRow): number {
  for (const { name } of [...view.partitionKey, ...view.clustering]) {
    const value = live.values.get(name);
    if (value !== undefined) return value.expiresAtSec;
  }
  return 0;
}

/** The row of the view is there as long as its base row, and as long as its key has a value. */
function endOf(view: TableSchema, live: LiveRow): number {
  const end = keyEnd(view, live);
  return end === 0 ? live.expiresAtSec : end;
}

function latest({ values }: LiveRow, { liveness }: Row): bigint {
  let timestamp = liveness?.timestamp ?? -(1n << 63n);
  for (const value of values.values()) if (value.timestamp > timestamp) timestamp = value.timestamp;
  return timestamp;
}

function columnsOf(
  view: TableSchema,
  base: Row,
  { over, nowSec }: Moment,
  endSec: number,
): ReadonlyMap<string, Column> {
  // Without grace no tombstone is left: nothing is ever merged into a row of a view.
  const left = compactRow(base, { over, nowSec, graceSec: 0 });
  const columns = new Map<string, Column>();
  for (const { name } of view.regulars) {
    const column = left?.columns.get(name);
    if (column !== undefined)
      columns.set(name, endSec === 0 ? column : ending(column, endSec, nowSec));
  }
  return columns;
}

/** The same column, which ends with the key of its row at the latest. */
function ending(column: Column, endSec: number, nowSec: number): Column {
  const shorter = (cell: Cell): Cell =>
    cell.value === undefined || (cell.ttlSec > 0 && cell.localSec <= endSec)
      ? cell
      : { ...cell, ttlSec: Math.max(1, endSec - nowSec), localSec: endSec };
  return {
    ...column,
    ...(column.cell === undefined ? {} : { cell: shorter(column.cell) }),
    ...(column.elements === undefined
      ? {}
      : {
          elements: new Map([...column.elements].map(([path, cell]) => [path, shorter(cell)])),
        }),
  };
}
