/** What a change of a base table means for its views. */
import type { TableChange } from '../cql/ast.ts';
import { invalid } from '../errors.ts';
import { alterTable } from '../schema/alter-table.ts';
import type { Table } from '../schema/keyspaces.ts';
import type { TableSchema } from '../schema/table-schema.ts';
import type { Call } from '../statements/plan.ts';
import { replaceTable } from '../statements/schema-statements.ts';
import type { UserTypes } from '../types/parse-type.ts';
import { viewsOf } from './apply-with-views.ts';

/** Refuses to drop a view as a table, and a table that has views. */
export function checkDrop({ view, views }: TableSchema): void {
  if (view !== undefined)
    throw invalid(
      'Cannot use DROP TABLE on a materialized view. Please use DROP MATERIALIZED VIEW instead.',
    );
  if (views.length > 0)
    throw invalid(
      `Cannot drop a table when materialized views still depend on it (${views.join(', ')})`,
    );
}

export function checkAlterWithViews({ view, views, name }: TableSchema, change: TableChange): void {
  if (view !== undefined)
    throw invalid(
      'Cannot use ALTER TABLE on a materialized view; use ALTER MATERIALIZED VIEW instead',
    );
  if (views.length === 0) return;
  if (change.kind === 'drop')
    throw invalid(
      `Cannot drop column ${change.columns[0]} on base table ${name} with materialized views`,
    );
  if (change.kind === 'with' && Number(change.options.get('gc_grace_seconds') ?? 1) === 0)
    throw invalid(
      'Cannot alter gc_grace_seconds of the base table of a materialized view to 0, since this value is used to TTL undelivered updates. Setting gc_grace_seconds too low might cause undelivered updates to expire before being replayed.',
    );
}

/** Views that have all columns get the new ones; renamed keys have the new name in views too. */
export async function alterViews(
  base: Table,
  change: TableChange,
  types: UserTypes,
  call: Call,
): Promise<void> {
  for (const view of viewsOf(base, call)) {
    const { schema } = view;
    const part = schema.view;
    if (part === undefined) continue;
    if (change.kind === 'add' && part.includesAll) {
      await replaceTable(view, alterTable(schema, change, types, call.serverTimestamp), call);
    }
    if (change.kind === 'rename') {
      const where = change.names.reduce(
        (text, [from, to]) => text.replaceAll(new RegExp(`\\b${from}\\b`, 'g'), to),
        part.where,
      );
      await replaceTable(
        view,
        { ...alterTable(schema, change, types, call.serverTimestamp), view: { ...part, where } },
        call,
      );
    }
  }
}
