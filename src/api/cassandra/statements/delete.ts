/** DELETE: of columns, rows, ranges of rows and whole partitions. */
import { bytesToLatin1 } from '../../../base/index.ts';
import type { DeleteStatement, DeleteTarget } from '../cql/ast.ts';
import { invalid } from '../errors.ts';
import type { Table } from '../schema/keyspaces.ts';
import type { ColumnSchema, TableSchema } from '../schema/table-schema.ts';
import { isCollection, isMultiCell, native } from '../types/cql-type.ts';
import { UNSET } from '../wire/body-reader.ts';
import { type Apply, fieldAt, listIndex } from './assignments.ts';
import { compileTerm } from './expressions/compile.ts';
import type { ModificationContext, WriteDefaults } from './modification.ts';
import type { Call } from './plan.ts';
import {
  ChangeBuilder,
  fieldPath,
  keyColumns,
  type RowWrite,
  type WriteTimes,
} from './row-write.ts';
import { columnNamed } from './scope.ts';
import { encodedSlice, partitionsOf, slicesOf } from './where/key-selection.ts';
import { compileWhere, hasMixedOrder, type Restrictions } from './where/restrictions.ts';

type Compiled = (call: Call, table: Table, defaults: WriteDefaults) => readonly RowWrite[];

interface Target {
  readonly column: ColumnSchema;
  readonly apply: Apply;
}

export function compileDelete(statement: DeleteStatement, context: ModificationContext): Compiled {
  const { schema, conditions, isConditional } = context;
  const targets = statement.targets.map((target): Target => {
    const column = columnNamed(schema, target.column);
    if (column.kind === 'partition_key' || column.kind === 'clustering')
      throw invalid(
        `Invalid identifier ${column.name} for deletion (should not be a PRIMARY KEY part)`,
      );
    return { column, apply: compileTarget(target, column, context) };
  });
  const hasStatic = targets.some(({ column }) => column.kind === 'static');
  const hasRegular = targets.some(({ column }) => column.kind === 'regular');
  const ofStatics = hasStatic || conditionsOnStatics(context);
  const isStaticOnly = ofStatics && !hasRegular && !conditions.isOfRow;
  const restrictions = compileWhere(statement.where, schema, context, {
    statement: 'DELETE',
    allowsFiltering: false,
    isStaticOnly: isStaticOnly && targets.length > 0,
  });
  const isWholeRow = equalCount(restrictions) === schema.clustering.length;
  checkShape({ isWholeRow, hasRegular, hasStaticTargets: hasStatic }, restrictions, context);
  return (call, table, defaults) => {
    const times = context.times(call, defaults);
    return partitionsOf(restrictions, schema, call).flatMap((partition) => {
      const common = {
        table,
        partition,
        conditions: 'none' as const,
        lists: [],
        hides: undefined,
      };
      const scope: PartitionScope = { schema, times, call, common };
      if (targets.length > 0)
        return columnWrites(targets, restrictions, scope, isConditional && conditions.isOfRow);
      return rowWrites(restrictions, scope, isWholeRow);
    });
  };
}

function conditionsOnStatics({ conditions }: ModificationContext): boolean {
  return conditions.columns !== 'all' && conditions.columns.some(({ kind }) => kind === 'static');
}

/** How many clustering columns are restricted by equality, if nothing else is. */
function equalCount({ steps, lower, upper }: Restrictions): number | undefined {
  if (lower !== undefined || upper !== undefined) return undefined;
  return steps.reduce((sum, step) => sum + step.columns, 0);
}

function checkShape(
  {
    isWholeRow,
    hasRegular,
    hasStaticTargets,
  }: {
    readonly isWholeRow: boolean;
    readonly hasRegular: boolean;
    readonly hasStaticTargets: boolean;
  },
  restrictions: Restrictions,
  { conditions, isConditional, schema }: ModificationContext,
): void {
  const { lower, upper } = restrictions;
  if (!isWholeRow) {
    const isRange = lower !== undefined || upper !== undefined;
    if (hasRegular && isRange)
      throw invalid('Range deletions are not supported for specific columns');
    if (hasRegular)
      throw invalid(
        'DELETE statements must restrict all PRIMARY KEY columns with equality relations in order to delete non static columns',
      );
    const isOfRow = conditions.isOfRow || (conditions.columns === 'all' && !hasStaticTargets);
    if (isConditional && isOfRow)
      throw invalid(
        'DELETE statements must restrict all PRIMARY KEY columns with equality relations in order to use IF condition on non static columns',
      );
  }
  if (isConditional && restrictions.isInOnPartition)
    throw invalid('IN on the partition key is not supported with conditional deletions');
  if (isConditional && restrictions.isInOnClustering)
    throw invalid('IN on the clustering key columns is not supported with conditional deletions');
  const from = restrictions.steps.reduce((sum, step) => sum + step.columns, 0);
  const count = Math.max(lower?.columns ?? 0, upper?.columns ?? 0);
  if (hasMixedOrder({ columns: schema.clustering.slice(from, from + count) }))
    throw invalid(
      'Slices over several clustering columns of different directions are not supported in DELETE',
    );
}

interface PartitionScope {
  readonly schema: TableSchema;
  readonly times: WriteTimes;
  readonly call: Call;
  readonly common: Omit<RowWrite, 'clustering' | 'change'>;
}

/** @param needsRow - conditions are checked on the row although only static columns go. */
function columnWrites(
  targets: readonly Target[],
  restrictions: Restrictions,
  { schema, times, call, common }: PartitionScope,
  needsRow: boolean,
): readonly RowWrite[] {
  const partitionKey = keyColumns(schema.partitionKey, common.partition);
  const statics = targets.filter(({ column }) => column.kind === 'static');
  const regulars = targets.filter(({ column }) => column.kind === 'regular');
  const writes: RowWrite[] = [];
  const slices = regulars.length > 0 || needsRow ? slicesOf(restrictions, schema, call) : [];
  for (const { from } of slices) {
    const builder = new ChangeBuilder(times);
    for (const { apply } of regulars) apply(builder, call);
    const clustering = from?.values ?? [];
    const change = builder.finish(partitionKey, keyColumns(schema.clustering, clustering));
    writes.push({ ...common, clustering, change, lists: builder.lists });
  }
  if (statics.length > 0) {
    const builder = new ChangeBuilder(times);
    for (const { apply } of statics) apply(builder, call);
    const change = builder.finish(partitionKey, []);
    writes.push({ ...common, clustering: undefined, change, lists: builder.lists });
  }
  return writes;
}

function rowWrites(
  restrictions: Restrictions,
  { schema, times, call, common }: PartitionScope,
  isWholeRow: boolean,
): readonly RowWrite[] {
  const partitionKey = keyColumns(schema.partitionKey, common.partition);
  return slicesOf(restrictions, schema, call).map((slice): RowWrite => {
    const builder = new ChangeBuilder(times);
    if (isWholeRow) {
      builder.deleteRow();
      const clustering = slice.from?.values ?? [];
      const change = builder.finish(partitionKey, keyColumns(schema.clustering, clustering));
      return { ...common, clustering, change };
    }
    if (slice.from === undefined && slice.to === undefined) builder.deletePartition();
    else {
      const { start, end } = encodedSlice(schema, slice);
      builder.deleteRange(start, end);
    }
    const change = builder.finish(partitionKey, []);
    return { ...common, clustering: undefined, change, hides: slice };
  });
}

function compileTarget(
  { element, field }: DeleteTarget,
  column: ColumnSchema,
  context: ModificationContext,
): Apply {
  const { name, type } = column;
  if (field !== undefined) return deletedField(field, column);
  if (element === undefined) return (builder) => builder.set(column, null);
  if (!isCollection(type))
    throw invalid(`Invalid deletion operation for non collection column ${name}`);
  if (!isMultiCell(type))
    throw invalid(`Invalid deletion operation for frozen collection column ${name}`);
  if (type.kind === 'list') {
    const index = compileTerm(element, { name: `idx(${name})`, type: native('int') }, context);
    return (builder, call) => {
      const value = index(call);
      if (value !== UNSET)
        builder.changeList(column, { kind: 'deleteAt', index: listIndex(value), values: [] });
    };
  }
  const isMap = type.kind === 'map';
  const target = isMap
    ? { name: `key(${name})`, type: type.key }
    : { name: `value(${name})`, type: type.element };
  const key = compileTerm(element, target, context);
  return (builder, call) => {
    const path = key(call);
    if (path === null) throw invalid(isMap ? 'Invalid null map key' : 'Invalid null set element');
    if (path === UNSET)
      throw invalid(isMap ? 'Invalid unset map key' : 'Invalid unset set element');
    builder.setElements(column, [[bytesToLatin1(path), null]]);
  };
}

function deletedField(field: string, column: ColumnSchema): Apply {
  const { name, type } = column;
  if (type.kind !== 'user')
    throw invalid(`Invalid field deletion operation for non-UDT column ${name}`);
  if (!isMultiCell(type))
    throw invalid(`Frozen UDT column ${name} does not support field deletions`);
  const path = fieldPath(fieldAt(column, field));
  return (builder) => builder.setElements(column, [[path, null]]);
}
