/** Aggregates that may have no value. */
import type { Query } from '../language/ast.ts';
import { selectNames } from './compile.ts';
import { aggregateCalls } from './compile-grouping.ts';

/** Aggregates that have no value where there is nothing to aggregate. */
const OPTIONAL: ReadonlySet<string> = new Set(['Average', 'Min', 'Max']);

/** The names of optional aggregates in the rows; none where clients cannot merge the groups. */
export function optionalAggregates(query: Query): readonly string[] {
  const { selection } = query.select;
  if (query.groupBy === undefined || query.orderBy || selection.kind !== 'list') return NONE;
  const names = selectNames(selection.items);
  const found: string[] = [];
  for (const [at, { expression }] of selection.items.entries())
    for (const { call, aggregate } of aggregateCalls(expression)) {
      if (call !== expression) return NONE;
      if (OPTIONAL.has(aggregate.planName)) found.push(names[at] as string);
    }
  return found;
}

/**
 * True for one MIN or MAX of all items as the only row. AVG is none of these: it has no value where types are mixed
 * either, and there clients make an average of the parts that have one.
 */
export function isOptionalValue({ select, groupBy, orderBy, window }: Query): boolean {
  const { selection, isDistinct, top } = select;
  if (selection.kind !== 'value' || isDistinct || top || groupBy || orderBy || window) return false;
  const { expression } = selection;
  const [first] = aggregateCalls(expression);
  if (first === undefined || first.call !== expression) return false;
  return first.aggregate.planName === 'Min' || first.aggregate.planName === 'Max';
}

const NONE: readonly string[] = [];
