/** SELECT: which rows, in which order, and what of them. */
import { allOf } from '../../../../query/index.ts';
import { changeFeedPlan } from '../../change-feed/change-feed-plan.ts';
import type { SelectStatement, Term } from '../../cql/ast.ts';
import { CHANGE_FEED_START } from '../../cql/where-parser.ts';
import { invalid } from '../../errors.ts';
import type { Table } from '../../schema/keyspaces.ts';
import type { TableSchema } from '../../schema/table-schema.ts';
import { awaitView } from '../../views/complete-view.ts';
import { compileInteger } from '../expressions/compile.ts';
import type { TermContext } from '../expressions/context.ts';
import type { Call, Cells, Plan, Result } from '../plan.ts';
import type { Scope } from '../scope.ts';
import { partitionsOf, slicesOf } from '../where/key-selection.ts';
import { compileWhere } from '../where/restrictions.ts';
import { GroupPage } from './groups.ts';
import { IndexedRows, isIndexPlace } from './indexed-rows.ts';
import { type CompiledSelect, PageBuilder } from './pages.ts';
import { decodePagingState, encodePagingState, type PagingState } from './paging-state.ts';
import { KeyedRows, type RowSource, rangeOf, ScannedRows } from './row-source.ts';
import { checkDistinct, groupedColumns, orderOf } from './select-checks.ts';
import { type SelectShape, selectShape } from './select-shape.ts';
import { columnsOf, Selection } from './selection.ts';
import { systemSelectPlan } from './system-select.ts';
import { runWhole } from './whole.ts';

export function selectPlan(statement: SelectStatement, scope: Scope, markers: number): Plan {
  const keyspace = scope.keyspaceOf(statement.table);
  const { system, keyspaces } = scope.environment;
  if (system.has(keyspace)) return systemSelectPlan(statement, keyspace, scope, markers);
  const table = keyspaces.table(keyspace, statement.table.name);
  const isFeed = statement.where.some(
    (relation) => 'column' in relation && relation.column === CHANGE_FEED_START,
  );
  if (isFeed) return changeFeedPlan(statement, table, scope, markers);
  const compiled = compileSelect(statement, table, scope);
  const { schema } = table;
  const shape = selectShape(statement);
  return {
    operation: 'select',
    variables: scope.variables(markers),
    keyIndexes: scope.keyIndexes(schema),
    columns: compiled.selection.columns,
    isCurrent() {
      const now = keyspaces.find(keyspace);
      return now !== undefined && keyspaces.findTable(now, schema.name)?.schema === schema;
    },
    async run(call) {
      let now = keyspaces.table(keyspace, schema.name);
      if (now.schema.view?.isBuilding === true) {
        await awaitView(now, call);
        now = keyspaces.table(keyspace, schema.name);
      }
      return noted({ ...compiled, table: now }, shape, call);
    },
  };
}

function compileSelect(statement: SelectStatement, table: Table, scope: Scope): CompiledSelect {
  const { schema } = table;
  const context: TermContext = { scope, schema };
  const { selectors } = statement;
  const selection = new Selection(selectors, schema, context, statement.isJson);
  const restrictions = compileWhere(statement.where, schema, context, {
    statement: 'SELECT',
    allowsFiltering: statement.allowsFiltering,
    isStaticOnly: selectsOnlyStatics(statement, schema),
  });
  if (statement.isDistinct) {
    if (statement.perPartitionLimit !== undefined)
      throw invalid('PER PARTITION LIMIT is not allowed with SELECT DISTINCT queries');
    checkDistinct(selection, schema, restrictions);
  }
  const grouped = groupedColumns(statement, schema, restrictions);
  if (grouped === undefined && selection.isAggregate && statement.perPartitionLimit !== undefined)
    throw invalid('PER PARTITION LIMIT is not allowed with aggregate queries.');
  const isReversed = orderOf(statement, schema, restrictions);
  return {
    statement,
    table,
    selection,
    restrictions,
    isReversed,
    isSorted: statement.orderBy.length > 0 && restrictions.isInOnPartition,
    groupedColumns: grouped,
    fingerprint: JSON.stringify(statement),
    perPartitionLimit: limitOf(statement.perPartitionLimit, '[per_partition_limit]', context),
    limit: limitOf(statement.limit, '[limit]', context),
  };
}

function limitOf(term: Term | undefined, name: string, context: TermContext) {
  const value = compileInteger(term, name, 'int', context);
  const label = name === '[limit]' ? 'LIMIT' : 'PER PARTITION LIMIT';
  return (call: Call): number | undefined => {
    const given = value(call);
    if (given === null) throw invalid('Invalid null value of limit');
    if (given !== undefined && given <= 0n) throw invalid(`${label} must be strictly positive`);
    return given === undefined ? undefined : Number(given);
  };
}

function selectsOnlyStatics({ selectors }: SelectStatement, schema: TableSchema): boolean {
  if (selectors === 'all' || schema.statics.length === 0) return false;
  const kinds = selectors
    .flatMap(({ term }) => [...columnsOf(term)])
    .map((name) => schema.column(name)?.kind);
  return (
    kinds.includes('static') && kinds.every((kind) => kind === 'static' || kind === 'partition_key')
  );
}

/** Where rows are selected without their static columns, a partition without rows has nothing to show. */
function seesStatics({ statement, table: { schema }, restrictions }: CompiledSelect): boolean {
  const { selectors, isDistinct } = statement;
  if (selectors === 'all' || isDistinct) return true;
  const kinds = selectors
    .flatMap(({ term }) => [...columnsOf(term)])
    .map((name) => schema.column(name)?.kind);
  const isOfRows = kinds.includes('regular');
  const isStatic = (kind: string | undefined): boolean => kind === 'static';
  return (
    !isOfRows || kinds.some(isStatic) || restrictions.others.some(({ kind }) => isStatic(kind))
  );
}

/** Runs a statement and tells what it cost to who counts which statements cost most. */
async function noted(select: CompiledSelect, shape: SelectShape, call: Call): Promise<Result> {
  const startedMs = performance.now();
  let charge = 0;
  const result = await runSelect(select, {
    ...call,
    spend(more) {
      charge += more;
      call.spend(more);
    },
  });
  const { container } = select.table;
  call.environment.service.shapes.note(
    container,
    shape.text,
    {
      isFirst: call.pagingState === undefined,
      charge,
      durationMs: performance.now() - startedMs,
      partitions: shape.isKeyed ? 1 : container.partitions.length,
      rows: result.kind === 'rows' ? result.rows.length : 0,
    },
    () => shape.equalityPaths,
  );
  return result;
}

async function runSelect(select: CompiledSelect, call: Call): Promise<Result> {
  const { selection, isSorted } = select;
  if (isSorted) checkSorted(select, call);
  const source = sourceOf(select, call);
  const isGrouped = select.groupedColumns !== undefined;
  if (isSorted || (selection.isAggregate && !isGrouped)) return runWhole(select, source, call);
  if (isGrouped) {
    const page = new GroupPage(select, source, call);
    const rows = (await page.fill()).map(({ cells }) => cells);
    return rowsResult(select, rows, page.state);
  }
  const page = new PageBuilder(select, source, call);
  const rows = await page.fill();
  return rowsResult(select, rows, page.state);
}

function rowsResult(
  { selection: { columns }, fingerprint }: CompiledSelect,
  rows: readonly Cells[],
  state: PagingState | undefined,
): Result {
  return {
    kind: 'rows',
    columns,
    rows,
    pagingState: state && encodePagingState(state, fingerprint),
  };
}

/** Rows that are sorted come in one page. */
function checkSorted(select: CompiledSelect, call: Call): void {
  const { pageSize } = call;
  const limit = select.limit(call) ?? Number.POSITIVE_INFINITY;
  if (pageSize !== undefined && limit > pageSize)
    throw invalid(
      'Cannot page queries with both ORDER BY and a IN restriction on the partition key; you must either remove the ORDER BY or the IN and sort client side, or disable paging for this query',
    );
}

function sourceOf(select: CompiledSelect, call: Call): RowSource {
  const { table, restrictions, isReversed } = select;
  const { schema } = table;
  const { hasClustering, hasRegular } = restrictions;
  // A partition that has static columns alone is a row where all of its rows were asked for.
  const includesStaticOnly =
    schema.statics.length > 0 && !hasClustering && !hasRegular && seesStatics(select);
  if (restrictions.partition.length === 0)
    return scannedOrIndexed(select, includesStaticOnly, call);
  return new KeyedRows(table, {
    partitions: partitionsOf(restrictions, schema, call),
    slices: slicesOf(restrictions, schema, call),
    isReversed,
    includesStaticOnly,
  });
}

/** A statement goes on as it began, also where an index was made or dropped between two pages. */
function scannedOrIndexed(
  { table, restrictions: { tokens, indexed }, fingerprint }: CompiledSelect,
  includesStaticOnly: boolean,
  call: Call,
): RowSource {
  const { pagingState } = call;
  const continuation = pagingState && decodePagingState(pagingState, fingerprint).continuation;
  // No index has the headers of partitions.
  const asksIndex =
    continuation === undefined
      ? indexed.length > 0 && !includesStaticOnly
      : isIndexPlace(continuation);
  if (!asksIndex) return new ScannedRows(table, tokens, includesStaticOnly, call);
  return new IndexedRows(table, rangeOf(tokens, call), (one) =>
    allOf(...indexed.map((condition) => condition(one))),
  );
}
