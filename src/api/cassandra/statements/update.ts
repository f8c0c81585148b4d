/** UPDATE: columns of rows, elements of collections, fields, counters. */
import type { UpdateStatement } from '../cql/ast.ts';
import { invalid } from '../errors.ts';
import type { Table } from '../schema/keyspaces.ts';
import { checkAssignments, compileAssignment } from './assignments.ts';
import type { ModificationContext, WriteDefaults } from './modification.ts';
import type { Call } from './plan.ts';
import { ChangeBuilder, keyColumns, type RowWrite } from './row-write.ts';
import { columnNamed } from './scope.ts';
import { partitionsOf, slicesOf } from './where/key-selection.ts';
import { compileWhere } from './where/restrictions.ts';

export function compileUpdate(
  statement: UpdateStatement,
  context: ModificationContext,
): (call: Call, table: Table, defaults: WriteDefaults) => readonly RowWrite[] {
  const { schema, conditions, isConditional } = context;
  const assignments = statement.assignments.map((assignment) => {
    const column = columnNamed(schema, assignment.column);
    if (column.kind === 'partition_key' || column.kind === 'clustering')
      throw invalid(`PRIMARY KEY part ${column.name} found in SET part`);
    return { assignment, column, apply: compileAssignment(assignment, column, context) };
  });
  checkAssignments(assignments);
  const statics = assignments.filter(({ column }) => column.kind === 'static');
  const regulars = assignments.filter(({ column }) => column.kind === 'regular');
  const isStaticOnly = regulars.length === 0 && !conditions.isOfRow;
  const restrictions = compileWhere(statement.where, schema, context, {
    statement: 'UPDATE',
    allowsFiltering: false,
    isStaticOnly,
  });
  if (isConditional && restrictions.isInOnPartition)
    throw invalid('IN on the partition key is not supported with conditional updates');
  if (isConditional && restrictions.isInOnClustering)
    throw invalid('IN on the clustering key columns is not supported with conditional updates');
  return (call, table, defaults) => {
    const times = context.times(call, defaults);
    const writes: RowWrite[] = [];
    for (const partition of partitionsOf(restrictions, schema, call)) {
      const partitionKey = keyColumns(schema.partitionKey, partition);
      const common = { table, partition, conditions: 'none' as const, hides: undefined };
      const rows = isStaticOnly ? [] : slicesOf(restrictions, schema, call);
      for (const { from } of rows) {
        const clustering = from?.values ?? [];
        const builder = new ChangeBuilder(times);
        for (const { apply } of regulars) apply(builder, call);
        // An assignment of null alone still is a statement whose conditions count.
        if (builder.isEmpty && !isConditional) continue;
        const change = builder.finish(partitionKey, keyColumns(schema.clustering, clustering));
        writes.push({ ...common, clustering, change, lists: builder.lists });
      }
      if (statics.length === 0) continue;
      const builder = new ChangeBuilder(times);
      for (const { apply } of statics) apply(builder, call);
      if (builder.isEmpty && !isConditional) continue;
      const change = builder.finish(partitionKey, []);
      writes.push({ ...common, clustering: undefined, change, lists: builder.lists });
    }
    return writes;
  };
}
