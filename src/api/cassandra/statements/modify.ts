/** The plans of INSERT, UPDATE and DELETE, and what lightweight transactions return. */
import type { Bytes } from '../../../base/index.ts';
import { type FoundRows, scopeOf } from '../cells/updaters.ts';
import type { ModificationStatement } from '../cql/ast.ts';
import type { ColumnSchema, TableSchema } from '../schema/table-schema.ts';
import { native } from '../types/cql-type.ts';
import { applyConditional, applyWrites } from './apply-writes.ts';
import { compileModification, type Modification } from './modification.ts';
import {
  type Call,
  type Cells,
  type Environment,
  type Plan,
  type Result,
  type ResultColumn,
  VOID,
} from './plan.ts';
import type { Scope } from './scope.ts';
import { FoundRow } from './select/found-row.ts';

/** A plan that can be a part of a batch. */
interface ModificationPlan extends Plan {
  readonly modification: Modification;
}

export function isModificationPlan(plan: Plan): plan is ModificationPlan {
  return 'modification' in plan;
}

export function modificationPlan(
  statement: ModificationStatement,
  scope: Scope,
  markers: number,
): ModificationPlan {
  const modification = compileModification(statement, scope);
  return planOfModification(statement.kind, modification, scope, markers);
}

function planOfModification(
  operation: string,
  modification: Modification,
  scope: Scope,
  markers: number,
): ModificationPlan {
  const { environment } = scope;
  const { schema } = modification;
  return {
    operation,
    modification,
    variables: scope.variables(markers),
    keyIndexes: scope.keyIndexes(schema),
    columns: undefined,
    isCurrent: () => isCurrent(modification, environment),
    run: (call) => runModification(modification, call),
  };
}

export function isCurrent(
  { tableName, schema }: Modification,
  { keyspaces }: Environment,
): boolean {
  const keyspace = keyspaces.find(tableName.keyspace);
  return keyspace !== undefined && keyspaces.findTable(keyspace, tableName.name)?.schema === schema;
}

async function runModification(modification: Modification, call: Call): Promise<Result> {
  const { tableName, isConditional, conditionColumns, schema } = modification;
  const table = call.environment.keyspaces.table(tableName.keyspace, tableName.name);
  const writes = modification.writes(call, table, { timestamp: call.timestamp });
  if (!isConditional) {
    await applyWrites(writes, call);
    return VOID;
  }
  const found = await applyConditional(writes, call);
  const columns = conditionColumns === 'all' ? schema.columns : conditionColumns;
  return conditionResult(found, columns, schema, call);
}

/** `[applied]`, and where a condition failed the row that made it fail. */
function conditionResult(
  found: FoundRows | undefined,
  columns: readonly ColumnSchema[],
  schema: TableSchema,
  call: Call,
): Result {
  if (found === undefined) return appliedResult(schema);
  const { row, header } = scopeOf(found, call.nowSec);
  const live = row ?? header;
  const rows = live === undefined ? [] : [new FoundRow(live, header, schema)];
  return refusedResult(rows, columns, schema);
}

export function appliedResult(schema: TableSchema): Result {
  return { kind: 'rows', columns: [appliedColumn(schema)], rows: [[TRUE]] };
}

export function refusedResult(
  found: readonly FoundRow[],
  columns: readonly ColumnSchema[],
  schema: TableSchema,
): Result {
  const applied = appliedColumn(schema);
  if (found.length === 0) return { kind: 'rows', columns: [applied], rows: [[FALSE]] };
  const { keyspace, name: table } = schema;
  const shown = columns.map(({ name, type }): ResultColumn => ({ keyspace, table, name, type }));
  const rows = found.map(
    (row): Cells => [FALSE, ...columns.map(({ name }): Bytes | null => row.value(name) ?? null)],
  );
  return { kind: 'rows', columns: [applied, ...shown], rows };
}

function appliedColumn({ keyspace, name: table }: TableSchema): ResultColumn {
  return { keyspace, table, name: '[applied]', type: native('boolean') };
}

const TRUE = Uint8Array.of(1);
const FALSE = Uint8Array.of(0);
