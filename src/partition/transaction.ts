/**
 * Several operations on items of one logical partition as one decision: all or nothing. Each sees what those before it
 * did, as it would be stored.
 */
import { assert, DomainError } from '../base/index.ts';
import {
  type Conditions,
  checkConditions,
  claim,
  decideOp,
  type ItemOp,
  itemNotFound,
  type Mutation,
  matches,
  preconditionFailed,
  type Stage,
  type WriteIntent,
} from './intent.ts';
import { INTENT_KEYS_MAX, type Item, type ItemKey, WRITES_PER_ITEM_MAX } from './item.ts';

export type TransactionOp =
  | ItemOp
  /** An item that is not there fails the transaction; one that matches `ifNoneMatch` does not. */
  | ({ readonly kind: 'read'; readonly key: ItemKey } & Conditions)
  /** Fails the transaction unless the item has this etag, or with undefined is absent. */
  | { readonly kind: 'expect'; readonly key: ItemKey; readonly etag: string | undefined };

export interface OperationEffect {
  readonly kind: 'created' | 'replaced' | 'deleted' | 'read' | 'notModified' | 'expected';
  /** After the operation; undefined where there is none. */
  readonly item: Item | undefined;
  /** Before the operation. */
  readonly previous: Item | undefined;
}

/** Why a transaction was refused, and by which of its operations. Nothing of it was applied. */
export class TransactionError extends DomainError {
  /** Place in the list of operations. */
  readonly operation: number;
  readonly refusal: DomainError;

  constructor(operation: number, refusal: DomainError) {
    super(refusal.code, refusal.message, refusal.retryAfterMs);
    this.operation = operation;
    this.refusal = refusal;
  }
}

export interface Transaction {
  readonly intent: WriteIntent;
  /** One per operation, in order; filled when the intent is decided. */
  readonly effects: readonly OperationEffect[];
}

/**
 * For one attempt: made anew where the write has to be tried again.
 * @param guard - called when it is decided; throws to refuse.
 */
export function transactionOf(ops: readonly TransactionOp[], guard?: () => void): Transaction {
  const keys = new Map<string, ItemKey>();
  for (const { key } of ops) keys.set(key.text, key);
  assert(keys.size <= INTENT_KEYS_MAX, 'transaction: too many items');
  const effects: OperationEffect[] = [];
  const list = [...keys.values()];
  const decide = (current: readonly (Item | undefined)[], stage: Stage): readonly Mutation[] => {
    guard?.();
    effects.length = 0;
    const items = new Map(list.map((key, at) => [key.text, { item: current[at], writes: 0 }]));
    const mutations: Mutation[] = [];
    ops.forEach((op, at) => {
      const state = items.get(op.key.text);
      assert(state !== undefined, 'transaction: key without state');
      try {
        effects.push(step(op, state, stage, mutations));
      } catch (error) {
        throw error instanceof DomainError ? new TransactionError(at, error) : error;
      }
    });
    return mutations;
  };
  return { intent: { keys: list, decide }, effects };
}

interface ItemState {
  item: Item | undefined;
  writes: number;
}

function step(
  op: TransactionOp,
  state: ItemState,
  stage: Stage,
  mutations: Mutation[],
): OperationEffect {
  const previous = state.item;
  if (op.kind === 'read') return { kind: readKind(op, previous), item: previous, previous };
  if (op.kind === 'expect') {
    if (previous?.etag !== op.etag) throw preconditionFailed();
    return { kind: 'expected', item: previous, previous };
  }
  const mutation = decideOp(op, previous);
  if (stage.claims !== undefined) claim(stage.claims, mutation, previous);
  if (mutation.kind === 'put') {
    if (state.writes >= WRITES_PER_ITEM_MAX)
      throw new DomainError('invalidInput', 'One item is written too often in one transaction.');
    const stamped = stage.stamp(mutation, previous, state.writes);
    mutations.push({ kind: 'stamped', key: op.key, ...stamped });
    state.item = stamped.item;
  } else {
    mutations.push(mutation);
    state.item = undefined;
  }
  state.writes++;
  const kind =
    state.item === undefined ? 'deleted' : previous === undefined ? 'created' : 'replaced';
  return { kind, item: state.item, previous };
}

function readKind(
  { ifMatch, ifNoneMatch }: Conditions,
  item: Item | undefined,
): 'read' | 'notModified' {
  if (item === undefined) throw itemNotFound();
  checkConditions({ ifMatch }, item);
  return ifNoneMatch !== undefined && matches(ifNoneMatch, item) ? 'notModified' : 'read';
}
