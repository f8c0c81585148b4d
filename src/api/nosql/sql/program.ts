/**
 * A query as a program of the shared executor. What each item gives on its own streams; what needs to see other items
 * (groups, aggregates, distinct rows, ranks, nearest vectors) folds, with the item forgotten as soon
 * as it is folded in.
 */
import { DomainError, QUERY_ROWS_MAX } from '../../../base/index.ts';
import {
  type Folding,
  type LaterFold,
  NOTHING,
  type Order,
  type Program,
  type Row,
  type RowFold,
  type Streaming,
} from '../../../query/index.ts';
import type { Path, SpatialGrid, Value } from '../../../value/index.ts';
import type { Query } from './ast.ts';
import type { Block, CompiledQuery, Slots } from './block.ts';
import { BlockRun, countsItems, RowSource, readsItems } from './block-run.ts';
import { type CompileOptions, compileQuery } from './compile.ts';
import { conditionsOf } from './conditions.ts';
import { constantFinder } from './constants.ts';
import { newRow, type QueryParameter } from './evaluate.ts';
import { isExactFilter } from './exact-filter.ts';
import { withMemberNames } from './member-names.ts';
import { RowBudget, windowOf } from './results.ts';
import { searchOf } from './search-program.ts';
import type { UserFunctionCalls } from './user-functions.ts';
import { isByScore } from './vector-order.ts';

export interface ProgramOptions extends CompileOptions {
  readonly parameters?: readonly QueryParameter[];
  /** The moment that the functions named …Static see, the same for the whole query and all its pages. */
  readonly startMs: number;
  /** The grid of the spatial index at a path, where there is one. */
  readonly gridOf?: (path: Path) => SpatialGrid | undefined;
  /** Rows or groups that a fold keeps at most. */
  readonly rowsMax?: number;
  /** What functions that `findUdf` finds are called through. */
  readonly calls?: UserFunctionCalls | undefined;
  /** What is compiled already, with the same environment and computed properties. */
  readonly known?: WeakMap<Query, CompiledQuery>;
}

/** Throws SqlError for what is wrong with the query, its parameters or its counts. */
export function programOf(asked: Query, options: ProgramOptions): Program {
  const { parameters = [], startMs } = options;
  const query = hasPathPolicies(options) ? withMemberNames(asked, parameters) : asked;
  const compiled = compiledOf(query, options);
  const { block } = compiled;
  const row = newRow(compiled, parameters, startMs);
  const window = windowOf(block, row);
  const conditions = conditionsOf(query, { ...options, parameters });
  const { condition, orderPaths } = conditions;
  const calls = options.calls?.isUsed ? options.calls : undefined;
  const isStreaming = readsItems(block) && isItemwise(block) && !isByScore(query);
  const shape = isStreaming
    ? { ...streaming(block, row, orderPaths, calls), ...window }
    : folding(block, row, options.rowsMax, calls);
  if (window.take === 0) return { condition: NOTHING, shape };
  // Who waits for user functions has no score at hand.
  if (shape.kind === 'streaming' || calls !== undefined) return { condition, shape };
  if (countsItems(block)) {
    const { pathOf } = conditions;
    const findConstant = constantFinder(parameters, options);
    const isComputed = (name: unknown) => options.computed?.has(String(name)) === true;
    if (isExactFilter(query.where, { pathOf, findConstant, isComputed }))
      return { condition, shape, isExact: true };
  }
  const rows = isItemwise(block) ? streaming(block, row.slice(), orderPaths, calls) : undefined;
  const search = searchOf(query, {
    ...options,
    wanted: window.skip + window.take,
    pathOf: conditions.pathOf,
    rowsOf: rows?.rowsOf,
    programOf: (rewritten) => programOf(rewritten, options),
  });
  return { condition, shape, ...(search && { search }) };
}

/** Only policies go by paths as written: elsewhere `c[@p]` need not be read before the rows. */
function hasPathPolicies({ environment }: ProgramOptions): boolean {
  const { vectorPolicy, textLanguages } = environment ?? {};
  return (vectorPolicy?.size ?? 0) + (textLanguages?.size ?? 0) > 0;
}

/** A query that calls user defined functions is bound to one run. */
function compiledOf(query: Query, options: ProgramOptions): CompiledQuery {
  const known = options.known?.get(query);
  if (known !== undefined) return known;
  const compiled = compileQuery(query, options);
  if (options.calls?.isUsed !== true) options.known?.set(query, compiled);
  return compiled;
}

/** Whether no row depends on any but its own item, apart from its place in the order. */
function isItemwise(block: Block): boolean {
  const [first] = block.sources;
  const isPlain = !block.grouping && !block.rank && !block.isDistinct;
  return isPlain && (first?.kind !== 'subquery' || isItemwise(first.block));
}

type ItemRows = Pick<Streaming, 'kind' | 'rowsOf' | 'rowsOfMany' | 'order'>;

/** One row of slots and, as long as no item matches, one list of rows serve all items. */
function streaming(
  block: Block,
  row: Slots,
  orderPaths: readonly (Path | undefined)[],
  calls: UserFunctionCalls | undefined,
): ItemRows {
  const { project, orderBy } = block;
  let rows: Row[] = [];
  const source = new RowSource(block, row, () => {
    const value = project(row);
    if (value === undefined) return false;
    const keys = orderBy.length === 0 ? NO_KEYS : orderBy.map((order) => order.value(row));
    if (rows.push({ value, keys }) > QUERY_ROWS_MAX)
      throw new DomainError(
        'invalidInput',
        'Query exceeded the number of rows that one item may give; add a filter.',
      );
    return false;
  });
  const order: Order | undefined =
    orderBy.length === 0
      ? undefined
      : {
          parts: orderBy.map(({ isDescending }, at) => {
            const path = orderPaths[at];
            return { path, isDescending, isInEvery: isOfEvery(path) };
          }),
          dropsRepeated: block.dropsRepeated,
        };
  const rowsOf = (document: Value): readonly Row[] => {
    if (rows.length > 0) rows = [];
    source.add(document);
    return rows;
  };
  // A list without rows serves the next item too: here each has its own.
  const ownRowsOf = (document: Value) => () => rowsOf(document).slice();
  const rowsOfMany =
    calls && ((documents: readonly Value[]) => calls.settle(documents.map(ownRowsOf)));
  return { kind: 'streaming', order, rowsOf, rowsOfMany };
}

const NO_KEYS: readonly Value[] = [];

/** Properties that the service sees to. */
const IN_EVERY_ITEM: ReadonlySet<unknown> = new Set(['id', '_ts', '_etag', '_rid', '_self']);

function isOfEvery(path: Path | undefined): boolean {
  return path?.length === 1 && IN_EVERY_ITEM.has(path[0]);
}

function folding(
  block: Block,
  row: Slots,
  rowsMax: number | undefined,
  calls: UserFunctionCalls | undefined,
): Folding {
  const reads = readsItems(block);
  const counts = countsItems(block);
  const start = (wanted = Number.POSITIVE_INFINITY): TriedFold => {
    const values: Value[] = [];
    const budget = new RowBudget(rowsMax ?? QUERY_ROWS_MAX);
    const sink = (value: Value) => {
      budget.take();
      return values.push(value) >= wanted;
    };
    const run = new BlockRun(block, row.slice(), sink, { rowsMax });
    let matched = 0;
    return {
      add(document) {
        const before = run.rowCount;
        const goesOn = reads && !run.add(document);
        if (run.rowCount > before) matched++;
        return goesOn;
      },
      addMatching: counts
        ? (count) => {
            matched += count;
            run.addCounted(count);
          }
        : undefined,
      itemsMatched: () => matched,
      finish() {
        run.finish();
        return values;
      },
      tryFinish: () => run.tryFinish(),
    };
  };
  const needsEvery = Boolean(block.grouping ?? block.rank) || block.orderBy.length > 0;
  if (calls === undefined) return { kind: 'folding', needsEvery, start };
  const trial = (document: Value) => () => {
    const fold = start();
    fold.add(document);
    fold.finish();
  };
  return {
    kind: 'folding',
    needsEvery,
    start(wanted): RowFold {
      const fold = start(wanted);
      const later: LaterFold = {
        addMany: (documents) =>
          calls.settleThen(documents.map(trial), () => documents.every((item) => fold.add(item))),
        // Without items a fold can be tried as a whole.
        finish: () =>
          calls.settleThen([reads ? fold.tryFinish : () => start().finish()], () => fold.finish()),
      };
      return { ...fold, later };
    },
  };
}

interface TriedFold extends RowFold {
  /** Computes what `finish` will, and changes nothing. */
  tryFinish(): void;
}
