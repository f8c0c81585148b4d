/** INSERT, UPDATE and DELETE: compiled once, to the writes of one execution. */
import { bytesToLatin1 } from '../../../base/index.ts';
import type { ModificationStatement, TableName, Using } from '../cql/ast.ts';
import { invalid } from '../errors.ts';
import type { Table } from '../schema/keyspaces.ts';
import type { ColumnSchema, TableSchema } from '../schema/table-schema.ts';
import { type CompiledConditions, compileConditions } from './conditions.ts';
import { compileDelete } from './delete.ts';
import { compileInteger } from './expressions/compile.ts';
import type { TermContext } from './expressions/context.ts';
import { compileInsert } from './insert.ts';
import type { Call } from './plan.ts';
import type { RowWrite, WriteTimes } from './row-write.ts';
import { ttlOf } from './row-write.ts';
import type { Scope } from './scope.ts';
import { compileUpdate } from './update.ts';

export interface Modification {
  readonly tableName: { readonly keyspace: string; readonly name: string };
  readonly schema: TableSchema;
  readonly isConditional: boolean;
  readonly isCounter: boolean;
  readonly hasTimestamp: boolean;
  /** The columns that a failed condition returns. */
  readonly conditionColumns: 'all' | readonly ColumnSchema[];
  /** @param defaults - of a batch, where the statement does not say its own. */
  writes(call: Call, table: Table, defaults: WriteDefaults): readonly RowWrite[];
}

export interface WriteDefaults {
  readonly timestamp: bigint;
}

/** What the three statements compile with. */
export interface ModificationContext extends TermContext {
  readonly schema: TableSchema;
  readonly isConditional: boolean;
  readonly conditions: CompiledConditions;
  times(call: Call, defaults: WriteDefaults): WriteTimes;
}

export function compileModification(statement: ModificationStatement, scope: Scope): Modification {
  const { schema } = scope.table(statement.table);
  if (schema.view !== undefined) throw invalid('Cannot directly modify a materialized view');
  const isConditional = statement.conditions !== undefined;
  const terms: TermContext = { scope, schema };
  const context: ModificationContext = {
    scope,
    schema,
    isConditional,
    times: compileUsing(statement.using, terms, schema, isConditional),
    conditions: compileConditions(statement.conditions, schema, terms),
  };
  const { conditions } = context;
  const compiled =
    statement.kind === 'insert'
      ? compileInsert(statement, context)
      : statement.kind === 'update'
        ? compileUpdate(statement, context)
        : compileDelete(statement, context);
  return {
    tableName: nameOf(statement.table, scope),
    schema,
    isConditional,
    isCounter: schema.isCounter,
    hasTimestamp: statement.using.timestamp !== undefined,
    conditionColumns: conditions.columns,
    writes(call, table, defaults) {
      const wanted = conditions.values(call);
      const writes = compiled(call, table, defaults);
      if (!isConditional) return writes;
      checkOnePartition(writes, statement.kind);
      // The row decides for all writes of the statement; it comes first.
      return writes.map((write, at) => (at === 0 ? { ...write, conditions: wanted } : write));
    },
  };
}

function checkOnePartition(writes: readonly RowWrite[], kind: ModificationStatement['kind']): void {
  const keys = new Set(writes.map(({ partition }) => partition.map(bytesToLatin1).join('\u0100')));
  if (keys.size > 1)
    throw invalid(
      `IN on the partition key is not supported with conditional ${kind === 'delete' ? 'deletions' : 'updates'}`,
    );
}

function nameOf(table: TableName, scope: Scope) {
  return { keyspace: scope.keyspaceOf(table), name: table.name };
}

function compileUsing(
  using: Using,
  context: TermContext,
  schema: TableSchema,
  isConditional: boolean,
): ModificationContext['times'] {
  if (isConditional && schema.isCounter)
    throw invalid('Conditional updates are not supported on counter tables');
  if (isConditional && using.timestamp !== undefined)
    throw invalid('Cannot provide custom timestamp for conditional updates');
  if (schema.isCounter && using.timestamp !== undefined)
    throw invalid('Cannot provide custom timestamp for counter updates');
  if (schema.isCounter && using.ttl !== undefined)
    throw invalid('Cannot provide custom TTL for counter updates');
  const timestamp = compileInteger(using.timestamp, '[timestamp]', 'bigint', context);
  const ttl = compileInteger(using.ttl, '[ttl]', 'int', context);
  return (call, defaults) => {
    const given = checkedTimestamp(timestamp(call));
    return {
      timestamp:
        isConditional || schema.isCounter ? call.serverTimestamp : (given ?? defaults.timestamp),
      ttlSec: ttlOf(ttl(call), schema),
      nowSec: call.nowSec,
    };
  };
}

/** The least number stands for no timestamp inside of Cassandra. */
export function checkedTimestamp(given: bigint | undefined | null): bigint | undefined {
  if (given === null) throw invalid('Invalid null value of timestamp');
  if (given === -(1n << 63n))
    throw invalid('Out of bound timestamp, must be in [-9223372036854775807, 9223372036854775807]');
  return given;
}
