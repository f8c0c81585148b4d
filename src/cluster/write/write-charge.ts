/** The charges of writes: an estimate before they start, and the exact charge after their effect is known. */
import type {
  Effect,
  Indexing,
  Item,
  ItemOp,
  OperationEffect,
  StepResult,
  TransactionOp,
} from '../../partition/index.ts';
import {
  createCharge,
  deleteCharge,
  MINIMAL_CHARGE,
  readCharge,
  replaceCharge,
  type WriteSize,
} from '../../throughput/index.ts';
import type { OperationOutcome, SequenceResult } from '../reply.ts';

/** Index entries assumed of an item before it is indexed; the charge is corrected later. */
const ENTRIES_EXPECTED = 12;

/** The charge of an operation if it creates an item. */
export function prepaidCharge(op: ItemOp | TransactionOp): number {
  switch (op.kind) {
    case 'create':
    case 'upsert':
    case 'replace':
      return createCharge({ bodyBytes: op.body.length, indexEntries: ENTRIES_EXPECTED });
    case 'expect':
      return 0;
    default:
      return MINIMAL_CHARGE;
  }
}

type Change = Pick<Effect, 'item' | 'previous'> & { readonly kind?: OperationEffect['kind'] };

/** A write that changes nothing costs as much as the read that decided so. */
export function effectCharge({ kind, item, previous }: Change, indexing: Indexing): number {
  if (kind === 'kept')
    return previous === undefined ? MINIMAL_CHARGE : readCharge(previous.body.length);
  if (item === undefined)
    return previous === undefined ? 0 : deleteCharge(sizeOf(previous, indexing));
  if (previous === undefined) return createCharge(sizeOf(item, indexing));
  return replaceCharge(sizeOf(previous, indexing), sizeOf(item, indexing));
}

function operationCharge(effect: OperationEffect, indexing: Indexing): number {
  switch (effect.kind) {
    case 'read':
      return readCharge(effect.item?.body.length ?? 0);
    case 'notModified':
      return MINIMAL_CHARGE;
    case 'expected':
      return 0;
    default:
      return effectCharge(effect, indexing);
  }
}

interface PricedTransaction {
  readonly outcomes: readonly OperationOutcome[];
  readonly charge: number;
  /** Bytes of all bodies read and written. */
  readonly bytes: number;
}

/** A transaction costs the sum of its operations. */
export function pricedTransaction(
  effects: readonly OperationEffect[],
  indexing: Indexing,
): PricedTransaction {
  let charge = 0;
  let bytes = 0;
  const outcomes = effects.map((effect): OperationOutcome => {
    const { kind, item, previous, reply } = effect;
    const own = operationCharge(effect, indexing);
    charge += own;
    bytes += item?.body.length ?? 0;
    return { kind, item, previous, reply, charge: own };
  });
  return { outcomes, charge: Math.round(charge * 100) / 100, bytes };
}

interface PricedSequence {
  readonly outcomes: readonly SequenceResult[];
  readonly charge: number;
}

/** Each write costs what it would cost alone. */
export function pricedSequence(results: readonly StepResult[], indexing: Indexing): PricedSequence {
  let charge = 0;
  const outcomes = results.map((result): SequenceResult => {
    if ('error' in result) charge += MINIMAL_CHARGE;
    if (!('effect' in result)) return result;
    const own = operationCharge(result.effect, indexing);
    charge += own;
    return { effect: result.effect as Effect, charge: own };
  });
  return { outcomes, charge: Math.round(charge * 100) / 100 };
}

/** The committer counts the entries of items that it indexes, but not of those written again in the same group. */
function sizeOf(item: Item, indexing: Indexing): WriteSize {
  const { isOff } = indexing.options;
  const indexEntries = isOff ? 0 : (item.indexEntryCount ?? indexing.entriesOf(item).length);
  return { bodyBytes: item.body.length, indexEntries };
}
