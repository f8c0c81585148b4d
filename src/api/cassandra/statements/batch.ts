/** BATCH: several modifications at once, all or none where it is logged or of one partition. */
import type { BatchStatement } from '../cql/ast.ts';
import { invalid } from '../errors.ts';
import type { ColumnSchema } from '../schema/table-schema.ts';
import type { BoundValue } from '../wire/body-reader.ts';
import { applyConditional, applyWrites } from './apply-writes.ts';
import { batchWarnings } from './batch-size.ts';
import { compileInteger } from './expressions/compile.ts';
import { checkMixture, failedRows } from './failed-batch.ts';
import { checkedTimestamp, compileModification, type Modification } from './modification.ts';
import { appliedResult, isCurrent, isModificationPlan, refusedResult } from './modify.ts';
import { type Call, type Plan, type Result, VOID } from './plan.ts';
import type { RowWrite } from './row-write.ts';
import type { Scope } from './scope.ts';

type BatchType = BatchStatement['type'];

/** The text form: BEGIN BATCH … APPLY BATCH. */
export function batchPlan(statement: BatchStatement, scope: Scope, markers: number): Plan {
  const { using, type } = statement;
  if (using.ttl !== undefined) throw invalid('Global TTL on the BATCH statement is not supported.');
  const timestamp = compileInteger(using.timestamp, '[timestamp]', 'bigint', {
    scope,
    schema: undefined,
  });
  const modifications = statement.statements.map((one) => compileModification(one, scope));
  checkBatch(modifications, type);
  if (using.timestamp !== undefined && modifications.some(({ isConditional }) => isConditional))
    throw invalid('Cannot provide custom timestamp for conditional BATCH');
  if (using.timestamp !== undefined) checkTimestamps(modifications, type);
  const [first] = modifications;
  return {
    operation: 'batch',
    variables: scope.variables(markers),
    keyIndexes: first === undefined ? [] : scope.keyIndexes(first.schema),
    columns: undefined,
    isCurrent: () => modifications.every((one) => isCurrent(one, scope.environment)),
    run: (call) =>
      runAll(
        modifications.map((modification) => ({ modification, call })),
        call,
        { timestamp: checkedTimestamp(timestamp(call)) ?? call.timestamp, type },
      ),
  };
}

function checkTimestamps(modifications: readonly Modification[], type: BatchType): void {
  if (type === 'counter') throw invalid('Cannot provide custom timestamp for counter BATCH');
  if (modifications.some(({ hasTimestamp }) => hasTimestamp))
    throw invalid('Timestamp must be set either on BATCH or individual statements');
  if (modifications.some(({ isCounter }) => isCounter))
    throw invalid('Cannot provide custom timestamp for a BATCH containing counters');
}

/** The message BATCH: statements with values of their own. */
export async function runBatch(
  type: BatchType,
  statements: readonly { readonly plan: Plan; readonly values: readonly BoundValue[] }[],
  call: Omit<Call, 'values'>,
): Promise<Result> {
  const parts = statements.map(({ plan, values }) => {
    if (!isModificationPlan(plan))
      throw invalid(
        'Invalid statement in batch: only UPDATE, INSERT and DELETE statements are allowed.',
      );
    return { modification: plan.modification, call: { ...call, values } };
  });
  checkBatch(
    parts.map(({ modification }) => modification),
    type,
  );
  return runAll(parts, { ...call, values: [] }, { timestamp: call.timestamp, type });
}

function checkBatch(modifications: readonly Modification[], type: BatchType): void {
  const counters = modifications.filter(({ isCounter }) => isCounter).length;
  if (type === 'counter' && counters < modifications.length)
    throw invalid('Cannot include non-counter statement in a counter batch');
  if (type !== 'counter' && counters > 0 && counters < modifications.length)
    throw invalid('Counter and non-counter mutations cannot exist in the same batch');
  if (type === 'logged' && counters > 0)
    throw invalid('Cannot include a counter statement in a logged batch');
}

async function runAll(
  parts: readonly { readonly modification: Modification; readonly call: Call }[],
  call: Call,
  { timestamp, type }: { readonly timestamp: bigint; readonly type: BatchType },
): Promise<Result> {
  const { keyspaces } = call.environment;
  const writes: RowWrite[] = parts.flatMap(({ modification, call: own }) => {
    const { keyspace, name } = modification.tableName;
    return modification.writes(own, keyspaces.table(keyspace, name), { timestamp });
  });
  const conditional = parts.filter(({ modification }) => modification.isConditional);
  const [first] = conditional;
  if (first === undefined) {
    const warnings = batchWarnings(writes, type === 'logged');
    await applyWrites(writes, call, type === 'logged');
    return warnings.length === 0 ? VOID : { kind: 'void', warnings };
  }
  const { schema } = first.modification;
  if (parts.some(({ modification }) => modification.schema !== schema))
    throw invalid('Batch with conditions cannot span multiple tables');
  checkMixture(writes);
  const found = await applyConditional(writes, call);
  if (found === undefined) return appliedResult(schema);
  const rows = await failedRows(found, writes, call);
  return refusedResult(rows, columnsOf(conditional.map((part) => part.modification)), schema);
}

/** The keys, and the columns of all conditions. */
function columnsOf(modifications: readonly Modification[]): readonly ColumnSchema[] {
  const [first] = modifications;
  if (first === undefined) return [];
  const { schema } = first;
  const wanted: ColumnSchema[] = [];
  for (const { conditionColumns } of modifications) {
    if (conditionColumns === 'all') return schema.columns;
    wanted.push(...conditionColumns);
  }
  return [...new Set([...schema.partitionKey, ...schema.clustering, ...wanted])];
}
