/** SELECT from a system table: its rows are made at every request, and filtered. */
import type { SelectStatement } from '../../cql/ast.ts';
import { invalid } from '../../errors.ts';
import type { TableSchema } from '../../schema/table-schema.ts';
import { compileInteger } from '../expressions/compile.ts';
import type { RowAccess, TermContext } from '../expressions/context.ts';
import type { Call, Plan, Result } from '../plan.ts';
import type { Scope } from '../scope.ts';
import { type Filter, filterOf } from '../where/filters.ts';
import { restrictionOf } from '../where/restriction.ts';
import { Selection } from './selection.ts';

export function systemSelectPlan(
  statement: SelectStatement,
  keyspace: string,
  scope: Scope,
  markers: number,
): Plan {
  const { system } = scope.environment;
  const found = system.find(keyspace, statement.table.name);
  if (found === undefined) throw invalid(`unconfigured table ${statement.table.name}`);
  const { schema } = found;
  const context: TermContext = { scope, schema };
  const selection = new Selection(statement.selectors, schema, context, statement.isJson);
  const filters = statement.where.map((relation): Filter => {
    if (relation.kind === 'token' || relation.kind === 'notNull') return () => () => true;
    return filterOf(restrictionOf(relation, schema, context), true);
  });
  const limit = compileInteger(statement.limit, '[limit]', 'int', context);
  return {
    operation: 'select',
    variables: scope.variables(markers),
    keyIndexes: [],
    columns: selection.columns,
    isCurrent: () => true,
    run: async (call) => systemRows(schema, selection, filters, limit(call) ?? undefined, call),
  };
}

function systemRows(
  schema: TableSchema,
  selection: Selection,
  filters: readonly Filter[],
  limit: bigint | undefined,
  call: Call,
): Result {
  const predicates = filters.map((filter) => filter(call));
  const kept = call.environment.system
    .rows(schema, call.node)
    .filter((row) => predicates.every((matches) => matches((name) => row.get(name))))
    .slice(0, limit === undefined ? undefined : Number(limit))
    .map(
      (row): RowAccess => ({
        value: (name) => row.get(name),
        timestamp: () => undefined,
        expiresAtSec: () => undefined,
      }),
    );
  if (!selection.isAggregate)
    return {
      kind: 'rows',
      columns: selection.columns,
      rows: kept.map((row) => selection.rowOf(row, call)),
    };
  const group = selection.group(call);
  for (const row of kept) group.add(row);
  return { kind: 'rows', columns: selection.columns, rows: [group.row()] };
}
