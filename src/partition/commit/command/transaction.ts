/**
 * Several operations on items of one logical partition as one decision: all or nothing. Each operation sees the items
 * as those before it would store them.
 */
import { DomainError } from '../../../base/index.ts';
import type { Item } from '../../item/item.ts';
import {
  type OperationEffect,
  OperationPlan,
  OperationRun,
  type TransactionOp,
} from './operation-run.ts';
import type { DecisionContext, ItemOp, Mutation, WriteCommand } from './write-command.ts';

/** The refusal of a transaction, with the operation that caused it. Nothing of it was applied. */
export class TransactionError extends DomainError {
  /** Place in the list of operations. */
  readonly operation: number;
  readonly refusal: DomainError;

  constructor(operation: number, refusal: DomainError) {
    super(refusal.code, refusal.message, refusal.retryAfterMs);
    this.details = refusal.details;
    this.operation = operation;
    this.refusal = refusal;
  }
}

/** Refuses a transaction whose results would not fit into one response. */
export interface ResponseBound {
  /** Bytes of all wanted items together. */
  readonly bytesMax: number;
  /** By operation: whether the response has its item. */
  readonly isWanted: readonly boolean[];
}

export interface TransactionOptions {
  /** Called at the decision; throws to refuse. */
  readonly guard?: () => void;
  /** Items give up their unique values before any of them takes one: the operations are in no order. */
  readonly releasesFirst?: boolean;
  /** As in a command. */
  readonly beside?: WriteCommand['beside'];
  /** The operation that exceeds the bound is reported as the refused one. */
  readonly response?: ResponseBound | undefined;
}

interface Transaction {
  readonly command: WriteCommand;
  /** One per operation, in order; filled at the decision. */
  readonly effects: readonly OperationEffect[];
}

/** Makes a transaction for one attempt; a retry needs another one. */
export function transactionOf(
  ops: readonly TransactionOp[],
  { guard, releasesFirst, beside, response }: TransactionOptions = {},
): Transaction {
  const plan = new OperationPlan(ops);
  const effects: OperationEffect[] = [];
  const decide = (
    current: readonly (Item | undefined)[],
    context: DecisionContext,
  ): readonly Mutation[] => {
    guard?.();
    effects.length = 0;
    const run = new OperationRun(plan, current, context);
    if (releasesFirst === true) run.release();
    let responseBytes = 0;
    for (let at = 0; at < ops.length; at++)
      try {
        const effect = run.step(at);
        effects.push(effect);
        if (response?.isWanted[at] !== true) continue;
        responseBytes += responseLength(effect);
        if (responseBytes > response.bytesMax) throw responseTooLarge();
      } catch (error) {
        throw error instanceof DomainError ? new TransactionError(at, error) : error;
      }
    return run.mutations;
  };
  const command = { keys: plan.keys, usesNotes: plan.usesNotes, decide, ...(beside && { beside }) };
  return { command, effects };
}

/** The command of one update or noted write, for one attempt. Its refusal is that of the operation. */
export function updateOf(op: ItemOp): Transaction {
  const plan = new OperationPlan([op]);
  const effects: OperationEffect[] = [];
  const decide: WriteCommand['decide'] = (current, context) => {
    const run = new OperationRun(plan, current, context);
    effects[0] = run.step(0);
    return run.mutations;
  };
  return { command: { keys: plan.keys, usesNotes: plan.usesNotes, decide }, effects };
}

function responseLength({ kind, item }: OperationEffect): number {
  return kind === 'notModified' || item === undefined ? 0 : item.body.length;
}

function responseTooLarge(): DomainError {
  return new DomainError('responseTooLarge', 'Response size is too large');
}
