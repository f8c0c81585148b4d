/** Aggregates, and rows or groups of several partitions in one order: all rows at once. */
import type { ColumnSchema } from '../../schema/table-schema.ts';
import { compareTyped } from '../../types/ordered.ts';
import type { Call, Cells, Result } from '../plan.ts';
import type { FoundRow } from './found-row.ts';
import { GroupPage } from './groups.ts';
import { type CompiledSelect, PageBuilder } from './pages.ts';
import type { RowSource } from './row-source.ts';

export async function runWhole(
  select: CompiledSelect,
  source: RowSource,
  call: Call,
): Promise<Result> {
  const { selection } = select;
  const whole: Call = { ...call, pageSize: undefined, pagingState: undefined };
  const run =
    select.groupedColumns !== undefined
      ? sortedGroups
      : selection.isAggregate
        ? aggregated
        : sortedRows;
  const rows = await run(select, source, whole);
  return { kind: 'rows', columns: selection.columns, rows };
}

/** All rows are one group. */
async function aggregated(
  select: CompiledSelect,
  source: RowSource,
  call: Call,
): Promise<readonly Cells[]> {
  const group = select.selection.group(call);
  await new PageBuilder({ ...select, limit: () => undefined }, source, call).each((row) => {
    group.add(row);
    return { rows: 0, isFull: false };
  });
  return [group.row()];
}

async function sortedGroups(
  select: CompiledSelect,
  source: RowSource,
  call: Call,
): Promise<readonly Cells[]> {
  const unlimited = { ...select, limit: () => undefined };
  const groups = [...(await new GroupPage(unlimited, source, call).fill())];
  groups.sort((a, b) => compareFound(select, a.first, b.first));
  return groups.slice(0, select.limit(call)).map(({ cells }) => cells);
}

async function sortedRows(
  select: CompiledSelect,
  source: RowSource,
  call: Call,
): Promise<readonly Cells[]> {
  const { selection } = select;
  const found: FoundRow[] = [];
  await new PageBuilder({ ...select, limit: () => undefined }, source, call).each((row) => {
    found.push(row);
    return { rows: found.length, isFull: false };
  });
  found.sort((a, b) => compareFound(select, a, b));
  return found.slice(0, select.limit(call)).map((row) => selection.rowOf(row, call));
}

function compareFound({ table, isReversed }: CompiledSelect, a: FoundRow, b: FoundRow): number {
  return compareClustering(table.schema.clustering, a, b) * (isReversed ? -1 : 1);
}

function compareClustering(columns: readonly ColumnSchema[], a: FoundRow, b: FoundRow): number {
  for (const [at, { type, isDescending }] of columns.entries()) {
    const [left, right] = [a.clustering[at]?.value, b.clustering[at]?.value];
    if (left === undefined || right === undefined)
      return left === right ? 0 : left === undefined ? -1 : 1;
    const order = compareTyped(type, left, right);
    if (order !== 0) return isDescending ? -order : order;
  }
  return 0;
}
