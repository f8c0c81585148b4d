/** The plans of CREATE, ALTER and DROP MATERIALIZED VIEW. */
import { CqlError, invalid } from '../errors.ts';
import { alterTable, partsOfSchema } from '../schema/alter-table.ts';
import { checkName } from '../schema/define-table.ts';
import type { Keyspace, Table } from '../schema/keyspaces.ts';
import { throughputOf } from '../schema/throughput-options.ts';
import { type Call, type Plan, type Result, VOID } from '../statements/plan.ts';
import {
  changed,
  defaultThroughput,
  newTableId,
  replaceTable,
  schemaChange,
  specOf,
  userKeyspace,
} from '../statements/schema-statements.ts';
import type { Scope } from '../statements/scope.ts';
import { completeView } from './complete-view.ts';
import type { ViewStatement } from './view-ast.ts';
import { defineView } from './view-definition.ts';
import { viewFilter } from './view-filter.ts';

type Of<K extends ViewStatement['kind']> = Extract<ViewStatement, { kind: K }>;

export function viewPlan(statement: ViewStatement, scope: Scope): Plan {
  const keyspaceName = scope.keyspaceOf(statement.view);
  return schemaChange(statement.kind, (call) => {
    switch (statement.kind) {
      case 'createView':
        return create(statement, userKeyspace(keyspaceName, call.environment), scope, call);
      case 'alterView':
        return alter(statement, keyspaceName, call);
      case 'dropView':
        return drop(statement, keyspaceName, call);
    }
  });
}

async function create(
  statement: Of<'createView'>,
  keyspace: Keyspace,
  scope: Scope,
  call: Call,
): Promise<Result> {
  const { environment } = call;
  const { keyspaces, service } = environment;
  const { view, base: baseName, ifNotExists } = statement;
  checkName(view.name, 'table');
  const baseKeyspace = baseName.keyspace ?? scope.keyspace ?? keyspace.name;
  if (baseKeyspace !== keyspace.name)
    throw invalid('Cannot create a materialized view on a table in a different keyspace');
  const base = keyspaces.findTable(keyspace, baseName.name);
  if (base === undefined) throw invalid(`Base table '${baseName.name}' doesn't exist`);
  const existing = keyspaces.findTable(keyspace, view.name);
  if (existing?.schema.view === undefined && existing !== undefined)
    throw invalid(
      `Cannot create materialized view '${view.name}' - a table with the same name already exists`,
    );
  if (existing !== undefined) {
    if (ifNotExists) return VOID;
    throw new CqlError(
      'alreadyExists',
      `Cannot add already existing materialized view '${view.name}' to keyspace '${keyspace.name}'`,
      { kind: 'existing', keyspace: keyspace.name, table: view.name },
    );
  }
  const parts = defineView(statement, base.schema, newTableId(environment));
  const throughput =
    throughputOf(statement.options, call) ?? defaultThroughput(keyspace, environment);
  await service.containers.create(keyspace.database.rid, specOf(parts, throughput));
  const made = keyspaces.findTable(keyspace, view.name) as Table;
  try {
    viewFilter(made, base.schema, call);
    await completeView(made, keyspace, call);
  } catch (error) {
    await remove(made, keyspace, call);
    throw error;
  }
  return changed({
    change: 'CREATED',
    target: 'TABLE',
    keyspace: keyspace.name,
    name: view.name,
  });
}

async function alter(
  { view, ifExists, options }: Of<'alterView'>,
  keyspaceName: string,
  call: Call,
): Promise<Result> {
  const found = findView(keyspaceName, view.name, call);
  const keyspace = call.environment.keyspaces.find(keyspaceName);
  if (found === undefined || keyspace === undefined) {
    if (ifExists) return VOID;
    throw invalid(`Materialized view '${keyspaceName}.${view.name}' doesn't exist`);
  }
  const parts = alterTable(
    found.schema,
    { kind: 'with', options },
    keyspace.types,
    call.serverTimestamp,
  );
  if (Number(parts.options.gc_grace_seconds ?? 1) === 0)
    throw invalid(
      'Cannot alter gc_grace_seconds of a materialized view to 0, since this value is used to TTL undelivered updates. Setting gc_grace_seconds too low might cause undelivered updates to expire before being replayed.',
    );
  if (Number(parts.options.default_time_to_live ?? 0) > 0)
    throw invalid(
      'Forbidden default_time_to_live detected for a materialized view. Data in a materialized view always expire at the same time than the corresponding data in the parent table. default_time_to_live must be set to zero, see CASSANDRA-12868 for more information',
    );
  await replaceTable(found, parts, call);
  return changed({ change: 'UPDATED', target: 'TABLE', keyspace: keyspaceName, name: view.name });
}

async function drop(
  { view, ifExists }: Of<'dropView'>,
  keyspaceName: string,
  call: Call,
): Promise<Result> {
  const found = findView(keyspaceName, view.name, call);
  const keyspace = call.environment.keyspaces.find(keyspaceName);
  if (found === undefined || keyspace === undefined) {
    if (ifExists) return VOID;
    throw invalid(`Materialized view '${keyspaceName}.${view.name}' doesn't exist`);
  }
  await remove(found, keyspace, call);
  return changed({ change: 'DROPPED', target: 'TABLE', keyspace: keyspaceName, name: view.name });
}

/** The base table forgets its view first: its writes must never look for a container that is gone. */
async function remove(view: Table, keyspace: Keyspace, call: Call): Promise<void> {
  const { keyspaces, service } = call.environment;
  const base = keyspaces.findTable(keyspace, view.schema.view?.base ?? '');
  if (base !== undefined) {
    const views = base.schema.views.filter((name) => name !== view.schema.name);
    await replaceTable(base, { ...partsOfSchema(base.schema), views }, call);
    await call.environment.writes.finished();
  }
  await service.containers.delete(view.container);
}

function findView(keyspaceName: string, name: string, call: Call): Table | undefined {
  const { keyspaces } = call.environment;
  const keyspace = keyspaces.find(keyspaceName);
  const found = keyspace && keyspaces.findTable(keyspace, name);
  return found?.schema.view === undefined ? undefined : found;
}
