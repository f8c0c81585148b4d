/** The reference executor: runs a whole compiled query over documents in memory. Tests and feeds of the catalog use it. */
import {
  BACKGROUND_EVALUATION,
  EvaluationBudget,
  type EvaluationLimits,
} from '../../../../base/index.ts';
import type { Value } from '../../../../value/index.ts';
import { type CompiledQuery, type Slots, START_SLOT } from '../compile/block.ts';
import { diagnostics, SqlError } from '../errors.ts';
import { BlockRun, readsItems } from './block-run.ts';

export interface QueryParameter {
  /** With the @. */
  readonly name: string;
  readonly value?: Value;
}

/** All results of the query over the documents. Throws SqlError for a parameter without a value or a bad count. */
export function runQuery(
  query: CompiledQuery,
  documents: Iterable<Value>,
  parameters: readonly QueryParameter[] = [],
  startMs = 0,
  limits: EvaluationLimits = BACKGROUND_EVALUATION,
): Value[] {
  const values: Value[] = [];
  const sink = (value: Value) => {
    values.push(value);
    return false;
  };
  const { block } = query;
  const row = newRow(query, parameters, startMs);
  const budget = new EvaluationBudget(limits);
  const run = budget.run(() => new BlockRun(block, row, sink));
  if (readsItems(block))
    for (const document of documents) if (budget.run(() => run.add(document))) break;
  budget.run(() => run.finish());
  return values;
}

/** A row with the start time and the parameters in place. */
export function newRow(
  query: CompiledQuery,
  parameters: readonly QueryParameter[],
  startMs: number,
): Slots {
  const row: Slots = new Array(query.slotCount).fill(undefined);
  row[START_SLOT] = startMs;
  if (query.parameters.size === 0) return row;
  const valueByName = new Map<string, Value>();
  for (const { name, value } of parameters) valueByName.set(name, value);
  for (const [name, { slot, span }] of query.parameters) {
    if (!valueByName.has(name)) throw new SqlError(diagnostics.identifier(name, span));
    row[slot] = valueByName.get(name);
  }
  return row;
}
