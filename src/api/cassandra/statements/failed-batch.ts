/** What a batch returns whose conditions do not hold: the rows that they name, or the first one of the partition. */
import { bytesToLatin1, equalBytes } from '../../../base/index.ts';
import { type FoundRows, scopeOf } from '../cells/updaters.ts';
import { invalid } from '../errors.ts';
import { SCAN_ITEMS_MAX } from '../limits.ts';
import { encodeClustering } from '../schema/table-keys.ts';
import type { Call } from './plan.ts';
import type { RowWrite } from './row-write.ts';
import { FoundRow } from './select/found-row.ts';
import { BEGINNING, type Position } from './select/paging-state.ts';
import { KeyedRows } from './select/row-source.ts';
import type { Slice } from './where/key-selection.ts';

/** Items that are read to find the first row: deleted ones may lie before it. */
const FIRST_ITEMS = 10;

/** Conditions of one row that can never hold together. */
export function checkMixture(writes: readonly RowWrite[]): void {
  const byRow = new Map<string, RowWrite['conditions']>();
  for (const { clustering, conditions } of writes) {
    if (conditions === 'none') continue;
    const row = clustering === undefined ? '' : clustering.map(bytesToLatin1).join('\u0100');
    const before = byRow.get(row);
    byRow.set(row, conditions);
    if (before === undefined || typeof before === typeof conditions) {
      if (before === undefined || typeof before !== 'string' || before === conditions) continue;
      throw invalid('Cannot mix IF EXISTS and IF NOT EXISTS conditions for the same row');
    }
    const isNot = before === 'notExists' || conditions === 'notExists';
    throw invalid(`Cannot mix IF conditions and IF ${isNot ? 'NOT ' : ''}EXISTS for the same row`);
  }
}

/** The row that failed is shown as it was then; the others as they are. */
export async function failedRows(
  found: FoundRows,
  writes: readonly RowWrite[],
  call: Call,
): Promise<readonly FoundRow[]> {
  const [first] = writes;
  if (first === undefined) return [];
  const { schema } = first.table;
  const named = namedRows(writes);
  const source = new KeyedRows(first.table, {
    partitions: [first.partition],
    slices: named.length === 0 ? [{ from: undefined, to: undefined }] : named,
    isReversed: false,
    includesStaticOnly: named.length === 0,
  });
  const rows: FoundRow[] = [];
  let position: Position | undefined = BEGINNING;
  const isEnough = (): boolean => named.length === 0 && rows.length > 0;
  while (position !== undefined && !isEnough()) {
    const page = await source.page(
      position,
      named.length === 0 ? FIRST_ITEMS : SCAN_ITEMS_MAX,
      call,
    );
    rows.push(...page.rows);
    position = page.next;
  }
  const failed = scopeOf(found, call.nowSec);
  const then = failed.row && new FoundRow(failed.row, failed.header, schema);
  const keyOf = (row: FoundRow) =>
    encodeClustering(
      schema,
      row.clustering.map(({ value }) => value),
    );
  const shown = named.length === 0 ? rows.slice(0, 1) : rows;
  return shown.map((row) =>
    then !== undefined && row.clustering.length > 0 && equalBytes(keyOf(row), found.rowKey)
      ? then
      : row,
  );
}

/** In the order of the partition. Conditions on static columns name no row. */
function namedRows(writes: readonly RowWrite[]): readonly Slice[] {
  const rows = new Map<string, Slice>();
  for (const { table, clustering, conditions } of writes) {
    const isOfRow =
      typeof conditions === 'string'
        ? conditions !== 'none'
        : conditions.some(({ isStatic }) => !isStatic);
    if (clustering === undefined || !isOfRow) continue;
    const limit = { values: clustering, isInclusive: true };
    rows.set(bytesToLatin1(encodeClustering(table.schema, clustering)), { from: limit, to: limit });
  }
  return [...rows].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, slice]) => slice);
}
