/** Rewrites a query for many partitions: partial aggregates, groups with their keys, rows with their sort keys. */

import { selectNames } from '../compile/compile.ts';
import { aggregateCalls } from '../compile/compile-grouping.ts';
import type { FindConstant } from '../conditions/key-ranges.ts';
import { diagnostics, NO_SPAN, SqlError } from '../errors.ts';
import type { DistanceFunction } from '../functions/index.ts';
import type { Call, Expression, Query, Select, SelectItem, Window } from '../language/ast.ts';
import {
  and,
  call,
  identifier,
  list,
  literal,
  object,
  objectFrom,
  placeholder,
} from '../language/ast-builders.ts';
import { sourcesOf } from '../language/ast-walk.ts';
import { printExpression, printRewritten } from '../language/printer.ts';
import { type AggregateName, findAggregate } from '../run/aggregates.ts';
import { orderedRow } from '../run/ordered-row.ts';
import { isCallOf, isDescending } from '../run/vector-order.ts';
import type { QueryInfo } from './query-plan.ts';

export interface PlanContext {
  readonly findConstant: FindConstant;
  readonly vectorPolicy: ReadonlyMap<string, DistanceFunction>;
  /** Whether exactly one partition key can match, so that one partition runs the whole query. */
  readonly isSingleKey: boolean;
  /** Whether the client counts distinct values itself. */
  readonly allowsDistinctCount: boolean;
  /** Whether the client drops duplicate rows. */
  readonly deduplicates: boolean;
}

/** The client replaces this by a filter that skips the rows it has already seen. */
const ORDER_BY_FILTER = placeholder('({documentdb-formattableorderbyquery-filter})');

export function planQuery(query: Query, context: PlanContext): QueryInfo {
  const distinctCount = context.allowsDistinctCount ? distinctCountOf(query) : undefined;
  if (distinctCount)
    return {
      ...planQuery(distinctCount.inner, context),
      rewrittenQuery: printRewritten(distinctCount.inner),
      dCountInfo: { dCountAlias: distinctCount.alias },
    };
  if (query.groupBy && query.orderBy)
    throw new SqlError(diagnostics.orderWithGroups(query.orderBy.span ?? NO_SPAN));
  const counts = countsOf(query, context);
  const aggregation = aggregationOf(query);
  const isOrdered = query.orderBy !== undefined && !aggregation.isAggregated;
  const orderBy = isOrdered ? orderByInfo(query, context) : NO_ORDER;
  const isDistinct = query.select.isDistinct;
  // One partition can apply the window itself, unless the client has to merge or compare rows anyway.
  const isDoneByPartition =
    context.isSingleKey &&
    query.window !== undefined &&
    !isOrdered &&
    !aggregation.isAggregated &&
    !isDistinct;
  return {
    distinctType: distinctType(query, orderBy.orderByExpressions),
    ...(isDoneByPartition ? {} : counts),
    ...orderBy,
    ...aggregation.info,
    rewrittenQuery: isDoneByPartition ? '' : rewrite(query, context, counts, aggregation),
    hasSelectValue: query.select.selection.kind === 'value',
  };
}

type Counts = Pick<QueryInfo, 'top' | 'offset' | 'limit'>;

/** TOP, OFFSET and LIMIT as numbers. Without FROM there is one row and no window. */
export function countsOf(query: Query, { findConstant }: PlanContext): Counts {
  if (!query.from) return {};
  const top = query.select.top && numberOf(query.select.top, findConstant);
  const offset = query.window && numberOf(query.window.offset, findConstant);
  const limit = query.window && numberOf(query.window.limit, findConstant);
  return {
    ...(top !== undefined && { top }),
    ...(offset !== undefined && { offset }),
    ...(limit !== undefined && { limit }),
  };
}

function numberOf(expression: Expression, findConstant: FindConstant): number {
  const value = findConstant(expression)?.value;
  if (typeof value !== 'number' || !Number.isInteger(value) || value < 0)
    throw new SqlError(diagnostics.top(expression.span));
  return value;
}

type OrderInfo = Pick<QueryInfo, 'orderBy' | 'orderByExpressions' | 'hasNonStreamingOrderBy'>;

const NO_ORDER: OrderInfo = { orderBy: [], orderByExpressions: [], hasNonStreamingOrderBy: false };

function orderByInfo({ orderBy }: Query, { vectorPolicy }: PlanContext): OrderInfo {
  const items = orderBy?.items ?? [];
  const isVector = items.some(({ expression }) => isCallOf(expression, 'VectorDistance'));
  if (isVector && items.some(({ direction }) => direction !== 'unspecified'))
    throw new SqlError(diagnostics.vectorDirection());
  if (!isVector && !items.every(({ expression }) => isPath(expression)))
    throw new SqlError(diagnostics.orderByPath());
  return {
    orderBy: items.map(({ expression, direction }) =>
      isDescending(expression, direction, vectorPolicy) ? 'Descending' : 'Ascending',
    ),
    orderByExpressions: items.map(({ expression }) => printExpression(expression)),
    hasNonStreamingOrderBy: isVector,
  };
}

function isPath(expression: Expression): boolean {
  if (expression.kind === 'property' || expression.kind === 'index') return isPath(expression.base);
  return expression.kind === 'identifier';
}

/** Duplicates are adjacent where the sort keys include everything that a row selects. */
function distinctType(query: Query, orderBy: readonly string[]): QueryInfo['distinctType'] {
  if (!query.select.isDistinct) return 'None';
  const selected = selectedTexts(query);
  return selected.length > 0 && isSubset(selected, orderBy) ? 'Ordered' : 'Unordered';
}

/** The selected expressions as texts; empty for the whole item. */
function selectedTexts({ select: { selection } }: Query): readonly string[] {
  if (selection.kind === 'star') return [];
  const selected =
    selection.kind === 'value'
      ? [selection.expression]
      : selection.items.map((item) => item.expression);
  return selected.map(printExpression);
}

function isSubset(some: readonly string[], all: readonly string[]): boolean {
  return some.every((text) => all.includes(text));
}

interface Aggregation {
  /** Whether there are aggregates or groups, which the client merges. */
  readonly isAggregated: boolean;
  readonly info: Pick<
    QueryInfo,
    'groupByExpressions' | 'groupByAliases' | 'aggregates' | 'groupByAliasToAggregateType'
  >;
}

function aggregationOf(query: Query): Aggregation {
  const { selection } = query.select;
  const groupByExpressions = (query.groupBy ?? []).map(printExpression);
  const none = { groupByExpressions, groupByAliases: [], groupByAliasToAggregateType: {} };
  if (selection.kind === 'star') return { isAggregated: false, info: { ...none, aggregates: [] } };
  if (selection.kind === 'value') {
    const aggregate = aggregateOf(selection.expression);
    const aggregates = aggregate ? [aggregate.name] : [];
    const isAggregated = aggregates.length > 0 || query.groupBy !== undefined;
    return { isAggregated, info: { ...none, aggregates } };
  }
  const types = selection.items.map((item) => aggregateOf(item.expression)?.name ?? null);
  const isAggregated = query.groupBy !== undefined || types.some((type) => type !== null);
  if (!isAggregated) return { isAggregated, info: { ...none, aggregates: [] } };
  const names = selectNames(selection.items);
  return {
    isAggregated,
    info: {
      groupByExpressions,
      groupByAliases: names,
      aggregates: [],
      groupByAliasToAggregateType: Object.fromEntries(
        names.map((name, at) => [name, types[at] ?? null]),
      ),
    },
  };
}

interface PlannedAggregate {
  readonly name: AggregateName;
  readonly call: Call;
}

/** The aggregate call, if the expression is one. An aggregate inside an expression cannot be merged. */
function aggregateOf(expression: Expression): PlannedAggregate | undefined {
  const aggregate = expression.kind === 'call' ? findAggregate(expression.name) : undefined;
  if (aggregate && expression.kind === 'call')
    return { name: aggregate.planName, call: expression };
  if (aggregateCalls(expression).length > 0) throw new SqlError(diagnostics.composition());
  return undefined;
}

function rewrite(
  query: Query,
  context: PlanContext,
  counts: Counts,
  aggregation: Aggregation,
): string {
  if (aggregation.isAggregated) return printRewritten(rewriteAggregated(query));
  if (query.orderBy) return printRewritten(rewriteOrdered(query, context, counts));
  const isDistinct = query.select.isDistinct;
  if (isDistinct && (query.window || query.select.top)) return printRewritten(uncounted(query));
  if (query.window && query.from) return printRewritten({ ...query, window: firstRows(counts) });
  return '';
}

/** The query without its window: the client applies it after it has merged the rows of all partitions. */
function uncounted({ select, window: _, ...rest }: Query): Query {
  const { top: __, ...uncountedSelect } = select;
  return { ...rest, select: uncountedSelect };
}

/** The window of one partition: any of the skipped rows may come from it. */
function firstRows({ offset = 0, limit = 0 }: Counts): Window {
  return { offset: literal(0), limit: literal(offset + limit) };
}

function rewriteAggregated(query: Query): Query {
  const plain = uncounted(query);
  const { selection } = plain.select;
  if (selection.kind === 'star') return plain;
  const select = (chosen: Select['selection']): Query => ({
    ...plain,
    select: { isDistinct: false, selection: chosen },
  });
  if (selection.kind === 'value') {
    const aggregate = aggregateOf(selection.expression);
    const payload = aggregate ? list([partialAggregate(aggregate)]) : selection.expression;
    if (query.groupBy) return select(grouped(query.groupBy, payload));
    return select({ kind: 'value', expression: payload });
  }
  const payload = payloadOf(selection.items, (expression) => {
    const aggregate = aggregateOf(expression);
    return aggregate ? partialAggregate(aggregate) : expression;
  });
  if (query.groupBy) return select(grouped(query.groupBy, payload));
  return select({ kind: 'list', items: [{ expression: payload, alias: 'payload' }] });
}

function grouped(keys: readonly Expression[], payload: Expression): Select['selection'] {
  const groupByItems = list(keys.map((key) => object({ item: key })));
  return {
    kind: 'list',
    items: [
      { expression: groupByItems, alias: 'groupByItems' },
      { expression: payload, alias: 'payload' },
    ],
  };
}

/** The partial aggregate of one partition. The second item of MIN and MAX distinguishes poisoned from missing. */
function partialAggregate({ name, call: whole }: PlannedAggregate): Expression {
  const argument = whole.arguments[0] as Expression;
  const count = call('COUNT', argument);
  switch (name) {
    case 'Average':
      return object({ item: object({ sum: call('SUM', argument), count }) });
    case 'Min':
    case 'Max': {
      const plainName = name === 'Min' ? 'min' : 'max';
      return object({ item: whole, item2: object({ [plainName]: whole, count }) });
    }
    default:
      return object({ item: whole });
  }
}

function payloadOf(
  items: readonly SelectItem[],
  convert: (expression: Expression) => Expression = (expression) => expression,
): Expression {
  const names = selectNames(items);
  return objectFrom(
    items.map(({ expression }, at) => [names[at] as string, convert(expression)] as const),
  );
}

/**
 * Rows of resource id, sort keys and payload. Where the sort keys of a distinct row determine it, the partition may drop
 * duplicates. That sends less, and it avoids a fault of the JavaScript client, which loses track of the keys of rows that
 * it drops itself and continues after the wrong one.
 */
function rewriteOrdered(original: Query, { deduplicates }: PlanContext, counts: Counts): Query {
  // The client drops duplicates, so only it can apply the window.
  const isCounted = !original.select.isDistinct;
  const query = isCounted ? original : uncounted(original);
  const keys = (query.orderBy?.items ?? []).map(({ expression }) => expression);
  const { payload, isDefined } = payloadAndPresence(query);
  const filtered = withOrderFilter(query);
  return {
    ...query,
    select: {
      isDistinct: original.select.isDistinct && deduplicates && isOrderOfRows(original, keys),
      ...(isCounted && counts.top !== undefined && { top: literal(counts.top) }),
      selection: orderedRow(rootAlias(query), keys, payload),
    },
    where: isDefined ? and(filtered, isDefined) : filtered,
    ...(query.window && { window: firstRows(counts) }),
  };
}

/** True where rows are equal if and only if their keys are. */
function isOrderOfRows(query: Query, keys: readonly Expression[]): boolean {
  const selected = selectedTexts(query);
  const ordered = keys.map(printExpression);
  return isSubset(selected, ordered) && isSubset(ordered, selected);
}

export function withOrderFilter({ where }: Query): Expression {
  return where ? and(where, ORDER_BY_FILTER) : ORDER_BY_FILTER;
}

/** The payload of a row, and for VALUE the test that it is defined. */
export function payloadAndPresence(query: Query): {
  readonly payload: Expression;
  readonly isDefined: Expression | undefined;
} {
  const { selection } = query.select;
  switch (selection.kind) {
    case 'star':
      return { payload: rootAlias(query), isDefined: undefined };
    case 'value':
      return { payload: selection.expression, isDefined: call('IS_DEFINED', selection.expression) };
    case 'list':
      return { payload: payloadOf(selection.items), isDefined: undefined };
  }
}

/** The alias of the item itself: the first source. */
export function rootAlias(query: Query): Expression {
  const [first] = sourcesOf(query.from);
  if (!first) return identifier('root');
  if (first.kind === 'iterator') return identifier(first.name);
  const { collection, alias } = first;
  if (alias !== undefined) return identifier(alias);
  return identifier(collection.kind === 'path' ? collection.root : 'root');
}

/** `SELECT [VALUE] COUNT(1) FROM (SELECT DISTINCT …)`: the partitions return the distinct values, the client counts. */
function distinctCountOf(
  query: Query,
): { readonly inner: Query; readonly alias: string } | undefined {
  const [source, ...others] = sourcesOf(query.from);
  const { selection } = query.select;
  const isPlain = !query.where && !query.groupBy && !query.orderBy && !query.window;
  if (!isPlain || others.length > 0 || source?.collection.kind !== 'subquery') return undefined;
  const inner = source.collection.query;
  if (!inner.select.isDistinct || source.kind === 'iterator') return undefined;
  const items =
    selection.kind === 'value'
      ? [{ expression: selection.expression, alias: '' }]
      : selection.kind === 'list'
        ? selection.items
        : [];
  const [item] = items;
  if (!item || items.length > 1 || !isCallOf(item.expression, 'COUNT')) return undefined;
  return { inner, alias: item.alias ?? (selectNames(items)[0] as string) };
}
