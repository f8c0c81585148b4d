/** Conditions of subqueries over an item. */
import { ANYTHING, type Condition } from '../../../../query/index.ts';
import { aggregateCalls } from '../compile/compile-grouping.ts';
import type { Expression, Query } from '../language/ast.ts';
import type { Aliases, Rows } from './value-refs.ts';

export interface Derived {
  readonly expression: Expression;
  readonly aliases: Aliases;
}

/** The expression that a subquery selects; undefined where rows are aggregated or projected to objects. */
export function derivedValue(query: Query, aliases: Aliases): Derived | undefined {
  const { selection } = query.select;
  if (selection.kind !== 'value' || query.groupBy) return undefined;
  const { expression } = selection;
  return aggregateCalls(expression).length > 0 ? undefined : { expression, aliases };
}

/** The condition for the subquery to have a result. An aggregate has one even without rows. */
export function rowCondition(query: Query, { condition }: Rows): Condition {
  const { selection } = query.select;
  const selected =
    selection.kind === 'list'
      ? selection.items.map((item) => item.expression)
      : selection.kind === 'value'
        ? [selection.expression]
        : [];
  const isAggregate = !query.groupBy && selected.some((part) => aggregateCalls(part).length > 0);
  return isAggregate ? ANYTHING : condition;
}
