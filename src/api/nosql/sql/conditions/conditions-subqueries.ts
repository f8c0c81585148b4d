/** What a subquery of an item says about it. */
import { ANYTHING, type Condition } from '../../../../query/index.ts';
import { aggregateCalls } from '../compile/compile-grouping.ts';
import type { Expression, Query } from '../language/ast.ts';
import type { Aliases, Rows } from './value-refs.ts';

export interface Derived {
  readonly expression: Expression;
  readonly aliases: Aliases;
}

/** The expression whose value in one of its rows a subquery gives; undefined where rows are folded or made objects. */
export function derivedValue(query: Query, aliases: Aliases): Derived | undefined {
  const { selection } = query.select;
  if (selection.kind !== 'value' || query.groupBy) return undefined;
  const { expression } = selection;
  return aggregateCalls(expression).length > 0 ? undefined : { expression, aliases };
}

/** What must hold for the subquery to have a result. Aggregates have one of no rows, too. */
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
