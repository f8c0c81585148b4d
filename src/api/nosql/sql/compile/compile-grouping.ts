/** Compiles GROUP BY and aggregates, and checks that everything else in the SELECT depends on group keys only. */

import { diagnostics, type Span } from '../errors.ts';
import type { Call, Expression, Query } from '../language/ast.ts';
import { childrenOf } from '../language/ast-walk.ts';
import { printExpression } from '../language/printer.ts';
import { type Aggregate, findAggregate } from '../run/aggregates.ts';
import type { Compiled, Grouping } from './block.ts';
import type { Compilation, Scope } from './compilation.ts';
import { compileExpression } from './compile-expression.ts';

interface CompiledGrouping {
  readonly grouping: Grouping | undefined;
  /** The scope of SELECT and ORDER BY, where keys and aggregates are slots. */
  readonly groupScope: Scope;
}

export function compileGrouping(
  query: Query,
  scope: Scope,
  compilation: Compilation,
): CompiledGrouping {
  const projected = projectedExpressions(query);
  const calls = projected.flatMap(aggregateCalls);
  if (!query.groupBy && calls.length === 0) return { grouping: undefined, groupScope: scope };
  for (const key of query.groupBy ?? []) requireNoAggregates(key, compilation);
  const keys = (query.groupBy ?? []).map((expression) => ({
    text: keyText(expression),
    slot: compilation.allocateSlot(),
    value: compileExpression(expression, scope, compilation),
  }));
  const aggregates = calls.map(({ call, aggregate }) => ({
    call,
    slot: compilation.allocateSlot(),
    aggregate,
    argument: compileArgument(call, scope, compilation),
    countsRows: aggregate.planName === 'Count' && call.arguments[0]?.kind === 'literal',
  }));
  const slotOfKey = new Map(keys.map(({ text, slot }) => [text, slot]));
  const slotOfCall = new Map<Expression, number>(aggregates.map(({ call, slot }) => [call, slot]));
  const groupScope: Scope = {
    find: (name) => scope.find(name),
    findGroupSlot: (expression) =>
      slotOfCall.get(expression) ??
      (slotOfKey.size > 0 ? slotOfKey.get(keyText(expression)) : undefined),
  };
  const isGrouped = (part: Expression): boolean => groupScope.findGroupSlot(part) !== undefined;
  const { diagnostics: found } = compilation;
  const inSelect = (text: string, span: Span) => found.push(diagnostics.notGrouped(text, span));
  const inOrder = (text: string, span: Span) => found.push(diagnostics.notGroupedOrder(text, span));
  for (const each of selectedExpressions(query)) requireGrouped(each, isGrouped, inSelect);
  for (const each of orderOfGroups(query)) requireGrouped(each, isGrouped, inOrder);
  return { grouping: { keys, aggregates, isSingle: query.groupBy === undefined }, groupScope };
}

/** One text for `c.a` and `c["a"]`. */
function keyText(expression: Expression): string {
  return printExpression(expression).replace(/\["([A-Za-z_]\w*)"\]/g, '.$1');
}

function projectedExpressions(query: Query): readonly Expression[] {
  return [...selectedExpressions(query), ...orderOfGroups(query)];
}

function selectedExpressions({ select: { selection } }: Query): readonly Expression[] {
  if (selection.kind === 'value') return [selection.expression];
  return selection.kind === 'list' ? selection.items.map((item) => item.expression) : [];
}

/** Empty without GROUP BY: one result needs no order. */
function orderOfGroups({ groupBy, orderBy }: Query): readonly Expression[] {
  if (groupBy === undefined || orderBy === undefined) return [];
  return orderBy.items.map((item) => item.expression);
}

/** True where the rows of a query are groups or one result over all items. */
export function isAggregating(query: Query): boolean {
  return query.groupBy !== undefined || projectedExpressions(query).some(holdsAggregate);
}

function holdsAggregate(expression: Expression): boolean {
  return aggregateCalls(expression).length > 0;
}

interface AggregateCall {
  readonly call: Call;
  readonly aggregate: Aggregate;
}

/** The outermost aggregate calls below an expression; those in subqueries belong to the subquery. */
export function aggregateCalls(expression: Expression): readonly AggregateCall[] {
  if (expression.kind === 'call') {
    const aggregate = findAggregate(expression.name);
    if (aggregate) return [{ call: expression, aggregate }];
  }
  return childrenOf(expression).flatMap(aggregateCalls);
}

function compileArgument(call: Call, scope: Scope, compilation: Compilation): Compiled {
  const [argument] = call.arguments;
  if (!argument || call.arguments.length !== 1) {
    compilation.diagnostics.push(
      diagnostics.argumentCount(call.name.toUpperCase(), '1', call.span),
    );
    return () => undefined;
  }
  if (holdsAggregateOrSubquery(argument)) {
    compilation.diagnostics.push(diagnostics.nestedAggregate(call.span));
    return () => undefined;
  }
  return compileExpression(argument, scope, compilation);
}

function holdsAggregateOrSubquery(expression: Expression): boolean {
  if (expression.kind === 'subquery') return true;
  if (expression.kind === 'call' && findAggregate(expression.name)) return true;
  return childrenOf(expression).some(holdsAggregateOrSubquery);
}

export function requireNoAggregates(expression: Expression, compilation: Compilation): void {
  for (const { call } of aggregateCalls(expression))
    compilation.diagnostics.push(diagnostics.aggregatePlace(call.span));
}

/** Every path of the item must be a key, or inside an aggregate. */
function requireGrouped(
  expression: Expression,
  isGrouped: (part: Expression) => boolean,
  report: (text: string, span: Span) => void,
): void {
  if (isGrouped(expression)) return;
  if (isPath(expression)) {
    if (!pathPrefixes(expression).some(isGrouped))
      report(printExpression(expression), expression.span);
    return;
  }
  for (const part of childrenOf(expression)) requireGrouped(part, isGrouped, report);
}

function isPath(expression: Expression): boolean {
  return pathPrefixes(expression).at(-1)?.kind === 'identifier';
}

/** The expression itself, then its bases down to the root. */
function pathPrefixes(expression: Expression): readonly Expression[] {
  const prefixes: Expression[] = [expression];
  let at = expression;
  while (at.kind === 'property' || at.kind === 'index') {
    at = at.base;
    prefixes.push(at);
  }
  return prefixes;
}
