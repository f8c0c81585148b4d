/**
 * A query as a program of the shared executor. What each item gives on its own streams; what needs to see other items
 * (groups, aggregates, distinct rows, ranks, nearest vectors, windows within FROM) folds, with the item forgotten as soon
 * as it is folded in.
 */
import { DomainError, QUERY_ROWS_MAX } from '../../../base/index.ts';
import {
  type Folding,
  NOTHING,
  type Order,
  type Program,
  type Row,
  type RowFold,
  type Streaming,
} from '../../../query/index.ts';
import type { Path, Value } from '../../../value/index.ts';
import type { Query } from './ast.ts';
import type { Block, Slots } from './block.ts';
import { BlockRun, RowSource, readsItems } from './block-run.ts';
import { type CompileOptions, compileQuery } from './compile.ts';
import { conditionsOf } from './conditions.ts';
import { newRow, type QueryParameter } from './evaluate.ts';
import { RowBudget, windowOf } from './results.ts';
import { isCallOf } from './vector-order.ts';

export interface ProgramOptions extends CompileOptions {
  readonly parameters?: readonly QueryParameter[];
  /** The moment that the functions named …Static see, the same for the whole query and all its pages. */
  readonly startMs: number;
  /** Rows or groups that a fold keeps at most. */
  readonly rowsMax?: number;
}

/** Throws SqlError for what is wrong with the query, its parameters or its counts. */
export function programOf(query: Query, options: ProgramOptions): Program {
  const { parameters = [], startMs } = options;
  const compiled = compileQuery(query, options);
  const { block } = compiled;
  const row = newRow(compiled, parameters, startMs);
  const window = windowOf(block, row);
  const { condition, orderPaths } = conditionsOf(query, { ...options, parameters });
  const isStreaming = readsItems(block) && isItemwise(block) && !isByScore(query);
  const shape = isStreaming
    ? { ...streaming(block, row, orderPaths), ...window }
    : folding(block, row, options.rowsMax);
  return { condition: window.take === 0 ? NOTHING : condition, shape };
}

/** Whether no row depends on any but its own item, apart from its place in the order. */
function isItemwise(block: Block): boolean {
  const [first] = block.sources;
  const isPlain = !block.grouping && !block.rank && !block.isDistinct;
  return isPlain && (first?.kind !== 'subquery' || isUnordered(first.block));
}

/** The same of a subquery that FROM begins with: order and windows there look at all items. */
function isUnordered(block: Block): boolean {
  const hasWindow = block.top ?? block.offset ?? block.limit;
  return isItemwise(block) && block.orderBy.length === 0 && hasWindow === undefined;
}

/** Scores, whose order no index has and of which only the first few are wanted. */
const SCORES = ['VectorDistance', '_VectorScore', '_FullTextScore'];

function isByScore({ orderBy }: Query): boolean {
  return (orderBy?.items ?? []).some(({ expression }) =>
    SCORES.some((name) => isCallOf(expression, name)),
  );
}

type ItemRows = Pick<Streaming, 'kind' | 'rowsOf' | 'order'>;

/** One row of slots and, as long as no item matches, one list of rows serve all items. */
function streaming(block: Block, row: Slots, orderPaths: readonly (Path | undefined)[]): ItemRows {
  const { project, orderBy } = block;
  const dropsUndefined = orderBy.length === 1;
  let rows: Row[] = [];
  const source = new RowSource(block, row, () => {
    const value = project(row);
    if (value === undefined) return false;
    const keys = orderBy.length === 0 ? NO_KEYS : orderBy.map((order) => order.value(row));
    if (dropsUndefined && keys[0] === undefined) return false;
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
          parts: orderBy.map(({ isDescending }, at) => ({ path: orderPaths[at], isDescending })),
          dropsUndefined,
        };
  return {
    kind: 'streaming',
    order,
    rowsOf(document) {
      if (rows.length > 0) rows = [];
      source.add(document);
      return rows;
    },
  };
}

const NO_KEYS: readonly Value[] = [];

function folding(block: Block, row: Slots, rowsMax: number | undefined): Folding {
  return {
    kind: 'folding',
    start(): RowFold {
      const values: Value[] = [];
      const budget = new RowBudget(rowsMax ?? QUERY_ROWS_MAX);
      const sink = (value: Value) => {
        budget.take();
        values.push(value);
        return false;
      };
      const run = new BlockRun(block, row.slice(), sink, { isOverItems: true, rowsMax });
      return {
        add: (document) => readsItems(block) && !run.add(document),
        finish() {
          run.finish();
          return values;
        },
      };
    },
  };
}
