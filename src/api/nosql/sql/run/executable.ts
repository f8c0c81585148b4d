/**
 * Makes an executable query for the shared executor. It streams where every row depends on one item only. Groups,
 * aggregates, distinct rows, ranks and nearest vectors need all items: such a query blocks, and keeps its folds, not the
 * items.
 */
import {
  BACKGROUND_EVALUATION,
  DomainError,
  EvaluationBudget,
  type EvaluationLimits,
  FIXED_EVALUATION,
  MOVABLE_EVALUATION,
  QUERY_ROWS_MAX,
} from '../../../../base/index.ts';
import {
  type AsyncFold,
  type Blocking,
  type ExecutableQuery,
  type FoundItem,
  NOTHING,
  type Order,
  type PendingItem,
  type QueryMover,
  type Row,
  type RowFold,
  type Streaming,
} from '../../../../query/index.ts';
import type { Path, SpatialGrid, Value } from '../../../../value/index.ts';
import type { Block, CompiledQuery, Slots } from '../compile/block.ts';
import { type CompileOptions, compileQuery } from '../compile/compile.ts';
import { constantFinder } from '../compile/constants.ts';
import { conditionsOf } from '../conditions/conditions.ts';
import { isExactFilter } from '../conditions/exact-filter.ts';
import type { Query } from '../language/ast.ts';
import { withMemberNames } from '../language/member-names.ts';
import { BlockRun, countsItems, RowSource, readsItems } from './block-run.ts';
import { newRow, type QueryParameter } from './evaluate.ts';
import { searchOf } from './query-search.ts';
import { RowBudget, windowOf } from './results.ts';
import type { UserFunctionCalls } from './user-functions.ts';
import { keptSize } from './value-size.ts';
import { isByScore } from './vector-order.ts';

export interface ExecutableOptions extends CompileOptions {
  readonly parameters?: readonly QueryParameter[];
  /** The time that the functions named …Static return, the same for all pages of the query. */
  readonly startMs: number;
  /** The grid of the spatial index at a path, where there is one. */
  readonly gridOf?: (path: Path) => SpatialGrid | undefined;
  /** The most rows or groups that a fold keeps. */
  readonly rowsMax?: number;
  /** The document of an item, where it is not its stored body. Whole items are then values, printed as the others. */
  readonly documentOf?: ((item: FoundItem) => Value) | undefined;
  /** The calls of the functions that `findUdf` finds. */
  readonly calls?: UserFunctionCalls | undefined;
  /** The limits of evaluation where rows cannot be moved to a thread. */
  readonly limits?: EvaluationLimits;
  /** The mover of slow queries to a thread, where rows can be computed there. */
  readonly moverOf?: (query: Query) => QueryMover;
  /** Queries compiled with the same environment and computed properties. */
  readonly compileCache?: WeakMap<Query, CompiledQuery>;
}

/** Throws SqlError for an invalid query, parameter or count. */
export function executableQuery(parsed: Query, options: ExecutableOptions): ExecutableQuery {
  const { parameters = [], startMs } = options;
  const query = hasPathPolicies(options) ? withMemberNames(parsed, parameters) : parsed;
  const compiled = compiledOf(query, options);
  const { block } = compiled;
  const row = newRow(compiled, parameters, startMs);
  const calls = options.calls?.isUsed ? options.calls : undefined;
  // User defined functions can only be called from this thread, and documents of other APIs are only made here.
  const mover =
    calls === undefined && options.documentOf === undefined ? options.moverOf?.(query) : undefined;
  const { limits = BACKGROUND_EVALUATION } = options;
  const budget = new EvaluationBudget(mover === undefined ? limits : MOVABLE_EVALUATION);
  const common = { print: printValue, ...(mover && { mover }) };
  const isStar = query.select.selection.kind === 'star';
  const evaluation = { calls, budget, isStar, documentOf: options.documentOf };
  const window = new EvaluationBudget(FIXED_EVALUATION).run(() => windowOf(block, row));
  const conditions = conditionsOf(query, { ...options, parameters });
  const { condition, orderPaths } = conditions;
  const isStreaming = readsItems(block) && isItemwise(block) && !isByScore(query);
  const shape = isStreaming
    ? { ...streamingShape(block, row, orderPaths, evaluation), ...window }
    : blockingShape(block, row, options.rowsMax, evaluation);
  if (window.take === 0) return { condition: NOTHING, shape, print: printValue };
  // Scores are not available synchronously with user defined functions.
  if (shape.kind === 'streaming' || calls !== undefined) return { condition, shape, ...common };
  if (countsItems(block)) {
    const { pathOf } = conditions;
    const findConstant = constantFinder(parameters, options);
    const isComputed = (name: unknown) => options.computed?.has(String(name)) === true;
    if (isExactFilter(query.where, { pathOf, findConstant, isComputed }))
      return { condition, shape, isExact: true, ...common };
  }
  const rows = isItemwise(block)
    ? streamingShape(block, row.slice(), orderPaths, evaluation)
    : undefined;
  const search = searchOf(query, {
    ...options,
    wanted: window.skip + window.take,
    pathOf: conditions.pathOf,
    rowsOf: rows?.rowsOf,
    executableOf: (rewritten) => executableQuery(rewritten, options),
  });
  return { condition, shape, ...(search && { search }), ...common };
}

/** Only path policies need the names in `c[@p]` before the rows. */
function hasPathPolicies({ environment }: ExecutableOptions): boolean {
  const { vectorPolicy, textLanguages } = environment ?? {};
  return (vectorPolicy?.size ?? 0) + (textLanguages?.size ?? 0) > 0;
}

/** A query with user defined functions is bound to one run, so it is not cached. */
function compiledOf(query: Query, options: ExecutableOptions): CompiledQuery {
  const cached = options.compileCache?.get(query);
  if (cached !== undefined) return cached;
  const compiled = compileQuery(query, options);
  if (options.calls?.isUsed !== true) options.compileCache?.set(query, compiled);
  return compiled;
}

/** Whether every row depends on its own item only, apart from its position in the order. */
function isItemwise(block: Block): boolean {
  const [first] = block.sources;
  const isPlain = !block.grouping && !block.rank && !block.isDistinct;
  return isPlain && (first?.kind !== 'subquery' || isItemwise(first.block));
}

/** The means of evaluation. */
interface Evaluation {
  readonly calls: UserFunctionCalls | undefined;
  readonly budget: EvaluationBudget;
  /** True for `SELECT *`. */
  readonly isStar: boolean;
  readonly documentOf: ExecutableOptions['documentOf'];
}

type ItemRows = Pick<Streaming, 'kind' | 'rowsOf' | 'rowsOfMany' | 'order'>;

/** All items share one row of slots and, as long as no item matches, one list of rows. */
function streamingShape(
  block: Block,
  row: Slots,
  orderPaths: readonly (Path | undefined)[],
  { calls, budget, isStar, documentOf }: Evaluation,
): ItemRows {
  const { project, orderBy } = block;
  let rows: Row[] = [];
  /** The item whose rows are made, and its document where that is its stored body. */
  let current: FoundItem | undefined;
  let stored: Value;
  const source = new RowSource(block, row, () => {
    const value = project(row);
    if (value === undefined) return false;
    const keys = orderBy.length === 0 ? NO_KEYS : orderBy.map((order) => order.value(row));
    const isWhole = value === stored && current !== undefined;
    if (rows.push(isWhole ? { item: current, keys } : { value, keys }) > QUERY_ROWS_MAX)
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
          deduplicates: block.deduplicates,
        };
  const rowsOf = (item: FoundItem): readonly Row[] => {
    if (rows.length > 0) rows = [];
    const document = documentOf?.(item) ?? item.value();
    current = item;
    stored = documentOf === undefined ? document : undefined;
    const outer = budget.enter();
    try {
      source.add(document);
    } finally {
      budget.leave(outer);
    }
    return rows;
  };
  // An empty list is shared with the next item, so each item gets a copy here.
  const ownRowsOf = (item: PendingItem) => () => rowsOf(item).slice();
  if (documentOf === undefined && isStar && isEveryItem(block))
    return { kind: 'streaming', order, rowsOf: wholeItem, rowsOfMany: undefined };
  const rowsOfMany =
    calls && ((items: readonly PendingItem[]) => calls.complete(items.map(ownRowsOf)));
  return { kind: 'streaming', order, rowsOf, rowsOfMany };
}

/** True where all items have one row each and no order: with `*` no item has to be decoded. */
function isEveryItem({ sources, where, orderBy }: Block): boolean {
  const [first, ...joined] = sources;
  const isPlain = first?.kind === 'container' && !first.path && joined.length === 0;
  return isPlain && where === undefined && orderBy.length === 0;
}

function wholeItem(item: FoundItem): readonly Row[] {
  return [{ item, keys: NO_KEYS }];
}

const NO_KEYS: readonly Value[] = [];

function printValue(value: Value): string {
  return JSON.stringify(value);
}

/** Properties that every item has, because the service sets or requires them. */
const IN_EVERY_ITEM: ReadonlySet<unknown> = new Set(['id', '_ts', '_etag', '_rid', '_self']);

function isOfEvery(path: Path | undefined): boolean {
  return path?.length === 1 && IN_EVERY_ITEM.has(path[0]);
}

function blockingShape(
  block: Block,
  row: Slots,
  rowsMax: number | undefined,
  { calls, budget, documentOf }: Evaluation,
): Blocking {
  const reads = readsItems(block);
  const counts = countsItems(block);
  const start = (wanted = Number.POSITIVE_INFINITY): TryableFold => {
    const values: Value[] = [];
    const kept = new RowBudget(rowsMax ?? QUERY_ROWS_MAX);
    const sink = (value: Value) => {
      kept.reserve(keptSize(value));
      return values.push(value) >= wanted;
    };
    const run = new BlockRun(block, row.slice(), sink, { rowsMax });
    let matched = 0;
    return {
      add(item) {
        const document = reads ? (documentOf?.(item) ?? item.value()) : undefined;
        const before = run.rowCount;
        const outer = budget.enter();
        try {
          return reads && !run.add(document);
        } finally {
          budget.leave(outer);
          if (run.rowCount > before) matched++;
        }
      },
      addMatching: counts
        ? (count) => {
            matched += count;
            run.addCounted(count);
          }
        : undefined,
      itemsMatched: () => matched,
      finish() {
        budget.run(() => run.finish());
        return values;
      },
      tryFinish: () => budget.run(() => run.tryFinish()),
    };
  };
  const needsEvery = Boolean(block.grouping ?? block.rank) || block.orderBy.length > 0;
  if (calls === undefined) return { kind: 'blocking', needsEvery, start };
  const trial = (item: PendingItem) => () => {
    const fold = start();
    fold.add(item);
    fold.finish();
  };
  return {
    kind: 'blocking',
    needsEvery,
    start(wanted): RowFold {
      const fold = start(wanted);
      const asyncFold: AsyncFold = {
        addMany: async (items) => {
          const adds = items.map((item) => () => fold.add(item));
          return (await calls.completeThen(items.map(trial), adds)).every((wantsMore) => wantsMore);
        },
        // A fold without items can be tried as a whole.
        async finish() {
          const tried = reads ? fold.tryFinish : () => start().finish();
          const [values] = await calls.completeThen([tried], [() => fold.finish()]);
          return (values ?? []).map((value) => ({ value }));
        },
      };
      return { ...fold, async: asyncFold };
    },
  };
}

interface TryableFold extends RowFold {
  /** Evaluates like `finish` and changes nothing. */
  tryFinish(): void;
}
