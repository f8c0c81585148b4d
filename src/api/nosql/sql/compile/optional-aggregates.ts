/** Aggregates of groups that may have no value. */
import type { Query } from '../language/ast.ts';
import { selectNames } from './compile.ts';
import { aggregateCalls } from './compile-grouping.ts';

/** Those that have none where there is nothing to aggregate. */
const OPTIONAL: ReadonlySet<string> = new Set(['Average', 'Min', 'Max']);

/** Their names in the rows; none where no client could put the groups together itself. */
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

const NONE: readonly string[] = [];
