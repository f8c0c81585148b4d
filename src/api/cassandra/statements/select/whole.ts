/** Groups, aggregates, and rows of several partitions in one order: all rows at once. */
import { bytesToLatin1 } from '../../../../base/index.ts';
import { invalid } from '../../errors.ts';
import { ROWS_KEPT_MAX } from '../../limits.ts';
import type { ColumnSchema } from '../../schema/table-schema.ts';
import { compareTyped } from '../../types/ordered.ts';
import type { Call, Cells, Result } from '../plan.ts';
import type { FoundRow } from './found-row.ts';
import { type CompiledSelect, PageBuilder } from './pages.ts';
import type { RowSource } from './row-source.ts';
import type { RowGroup } from './selection.ts';

export async function runWhole(
  select: CompiledSelect,
  source: RowSource,
  call: Call,
): Promise<Result> {
  const { selection } = select;
  const whole: Call = { ...call, pageSize: undefined, pagingState: undefined };
  const isGrouped = selection.isAggregate || select.groupedColumns !== undefined;
  const rows = isGrouped
    ? await groupedRows(select, source, whole)
    : await sortedRows(select, source, whole);
  return { kind: 'rows', columns: selection.columns, rows };
}

/** The limits of groups count groups, not rows. */
async function groupedRows(
  select: CompiledSelect,
  source: RowSource,
  call: Call,
): Promise<readonly Cells[]> {
  const { selection, groupedColumns, isSorted } = select;
  const limit = select.limit(call) ?? Number.POSITIVE_INFINITY;
  const perPartition = select.perPartitionLimit(call) ?? Number.POSITIVE_INFINITY;
  const unlimited = { ...select, limit: () => undefined, perPartitionLimit: () => undefined };
  const rows: { readonly first: FoundRow | undefined; readonly cells: Cells }[] = [];
  let first: FoundRow | undefined;
  let group: RowGroup | undefined =
    groupedColumns === undefined ? selection.group(call) : undefined;
  let key: string | undefined;
  let partition: string | undefined;
  let inPartition = 0;
  const finish = (): void => {
    if (group === undefined) return;
    if (inPartition <= perPartition && (isSorted || rows.length < limit))
      rows.push({ first, cells: group.row() });
    if (rows.length > ROWS_KEPT_MAX)
      throw invalid(`The result has more than ${ROWS_KEPT_MAX} groups`);
  };
  await new PageBuilder(unlimited, source, call).each((row) => {
    if (groupedColumns === undefined) {
      group?.add(row);
      return { rows: 0, isFull: false };
    }
    const ownPartition = textOf(row.partitionKey);
    const ownKey = `${ownPartition}/${textOf(row.clustering.slice(0, groupedColumns))}`;
    if (ownKey !== key) {
      finish();
      key = ownKey;
      inPartition = ownPartition === partition ? inPartition + 1 : 1;
      partition = ownPartition;
      group = selection.group(call);
      first = row;
    }
    group?.add(row);
    return { rows: 0, isFull: rows.length >= limit };
  });
  finish();
  if (isSorted)
    rows.sort((a, b) =>
      a.first === undefined || b.first === undefined
        ? 0
        : compareClustering(select.table.schema.clustering, a.first, b.first) *
          (select.isReversed ? -1 : 1),
    );
  return rows.slice(0, Math.min(limit, rows.length)).map(({ cells }) => cells);
}

function textOf(columns: FoundRow['clustering']): string {
  return columns.map(({ value }) => bytesToLatin1(value)).join('\u0100');
}

async function sortedRows(
  select: CompiledSelect,
  source: RowSource,
  call: Call,
): Promise<readonly Cells[]> {
  const { selection, isReversed, table } = select;
  const found: FoundRow[] = [];
  await new PageBuilder({ ...select, limit: () => undefined }, source, call).each((row) => {
    found.push(row);
    return { rows: found.length, isFull: false };
  });
  found.sort((a, b) => compareClustering(table.schema.clustering, a, b) * (isReversed ? -1 : 1));
  return found.slice(0, select.limit(call)).map((row) => selection.rowOf(row, call));
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
