/** What writes cost: before they start, by what is known then, and after, by what they did. */
import type { Effect, ItemOp, OperationEffect, TransactionOp } from '../partition/index.ts';
import {
  createCharge,
  deleteCharge,
  MINIMAL_CHARGE,
  readCharge,
  replaceCharge,
} from '../throughput/index.ts';

/** What an operation costs if it creates. */
export function prepaidCharge(op: ItemOp | TransactionOp): number {
  switch (op.kind) {
    case 'create':
    case 'upsert':
    case 'replace':
      return createCharge(op.body.length);
    case 'expect':
      return 0;
    default:
      return MINIMAL_CHARGE;
  }
}

export function effectCharge({ item, previous }: Pick<Effect, 'item' | 'previous'>): number {
  if (item === undefined) return deleteCharge(previous?.body.length ?? 0);
  if (previous === undefined) return createCharge(item.body.length);
  return replaceCharge(previous.body.length, item.body.length);
}

export function operationCharge(effect: OperationEffect): number {
  switch (effect.kind) {
    case 'read':
      return readCharge(effect.item?.body.length ?? 0);
    case 'notModified':
      return MINIMAL_CHARGE;
    case 'expected':
      return 0;
    default:
      return effectCharge(effect);
  }
}
