/** The WHERE of a view, compiled once for each version of it. */
import type { Bytes } from '../../../base/index.ts';
import type { Relation } from '../cql/ast.ts';
import { parseRelations } from '../cql/parser.ts';
import type { Table } from '../schema/keyspaces.ts';
import type { TableSchema } from '../schema/table-schema.ts';
import type { TermContext } from '../statements/expressions/context.ts';
import type { Call } from '../statements/plan.ts';
import { Scope } from '../statements/scope.ts';
import { type Filter, filterOf } from '../statements/where/filters.ts';
import { restrictionOf } from '../statements/where/restriction.ts';
import { compareTyped } from '../types/ordered.ts';
import type { ViewFilter } from './view-row.ts';

const COMPILED = new WeakMap<TableSchema, readonly Filter[]>();

export function viewFilter(view: Table, base: TableSchema, call: Call): ViewFilter {
  let filters = COMPILED.get(view.schema);
  if (filters === undefined) {
    const scope = new Scope(call.environment, base.keyspace);
    const context: TermContext = { scope, schema: base };
    const relations = parseRelations(view.schema.view?.where ?? '');
    filters = relations.map((relation) => compile(relation, base, context));
    COMPILED.set(view.schema, filters);
  }
  const predicates = filters.map((filter) => filter(call));
  return (value) => predicates.every((matches) => matches(value));
}

function compile(relation: Relation, base: TableSchema, context: TermContext): Filter {
  if (relation.kind === 'notNull') return () => (row) => row(relation.column) !== undefined;
  if (relation.kind === 'token') return () => () => true;
  const restriction = restrictionOf(relation, base, context);
  if (restriction.kind !== 'in') return filterOf(restriction, true);
  const { columns, values } = restriction;
  return (call) => {
    const alternatives = values(call);
    return (row) =>
      alternatives.some((wanted) =>
        columns.every(({ name, type }, at) => {
          const found = row(name);
          return found !== undefined && compareTyped(type, found, wanted[at] as Bytes) === 0;
        }),
      );
  };
}
