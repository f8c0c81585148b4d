/**
 * Several operations on items of one logical partition as one decision: all or nothing. Each sees what those before it
 * did, as it would be stored.
 */
import { assert, DomainError } from '../../base/index.ts';
import { INTENT_KEYS_MAX, type Item, type ItemKey, WRITES_PER_ITEM_MAX } from '../item/item.ts';
import { KeyMap } from './key-map.ts';
import {
  type Conditions,
  checkConditions,
  claim,
  type DecisionContext,
  decideOp,
  type ItemOp,
  itemNotFound,
  type Mutation,
  matches,
  preconditionFailed,
  type WriteCommand,
} from './write-command.ts';

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

/** What is told back of a transaction has to fit in one answer, or else nothing is to be applied. */
export interface ResponseBound {
  /** Of the items that are wanted back, together. */
  readonly bytesMax: number;
  /** By operation: whether its item is wanted back, where there is one to tell. */
  readonly isWanted: readonly boolean[];
}

export interface TransactionOptions {
  /** Called when it is decided; throws to refuse. */
  readonly guard?: () => void;
  /** Beyond it the transaction is refused by the operation that passes it. */
  readonly response?: ResponseBound | undefined;
}

interface Transaction {
  readonly command: WriteCommand;
  /** One per operation, in order; filled when the intent is decided. */
  readonly effects: readonly OperationEffect[];
}

/** For one attempt: made anew where the write has to be tried again. */
export function transactionOf(
  ops: readonly TransactionOp[],
  { guard, response }: TransactionOptions = {},
): Transaction {
  const { keys, places } = keysOf(ops);
  assert(keys.length <= INTENT_KEYS_MAX, 'transaction: too many items');
  const effects: OperationEffect[] = [];
  const decide = (
    current: readonly (Item | undefined)[],
    stage: DecisionContext,
  ): readonly Mutation[] => {
    guard?.();
    effects.length = 0;
    const items: ItemStates = { now: [...current], writes: new Uint8Array(keys.length) };
    const mutations: Mutation[] = [];
    let answerBytes = 0;
    for (let at = 0; at < ops.length; at++)
      try {
        const op = ops[at] as TransactionOp;
        const effect = step(op, items, places[at] as number, { stage, mutations });
        effects.push(effect);
        if (response?.isWanted[at] !== true) continue;
        answerBytes += answerLength(effect);
        if (answerBytes > response.bytesMax) throw answerTooLarge();
      } catch (error) {
        throw error instanceof DomainError ? new TransactionError(at, error) : error;
      }
    return mutations;
  };
  return { command: { keys, decide }, effects };
}

/** The items of the operations, each once, and of every operation the place of its item among them. */
function keysOf(ops: readonly TransactionOp[]): {
  readonly keys: readonly ItemKey[];
  readonly places: readonly number[];
} {
  const keys: ItemKey[] = [];
  const known = new KeyMap<{ readonly key: ItemKey; readonly place: number }>();
  const places = ops.map(({ key }) => {
    const found = known.get(key);
    if (found !== undefined) return found.place;
    const place = keys.push(key) - 1;
    known.set({ key, place });
    return place;
  });
  return { keys, places };
}

/** By the places of the items. */
interface ItemStates {
  readonly now: (Item | undefined)[];
  readonly writes: Uint8Array;
}

function step(
  op: TransactionOp,
  { now, writes }: ItemStates,
  place: number,
  { stage, mutations }: { readonly stage: DecisionContext; readonly mutations: Mutation[] },
): OperationEffect {
  const previous = now[place];
  if (op.kind === 'read') return { kind: readKind(op, previous), item: previous, previous };
  if (op.kind === 'expect') {
    if (previous?.etag !== op.etag) throw preconditionFailed();
    return { kind: 'expected', item: previous, previous };
  }
  const mutation = decideOp(op, previous);
  if (stage.claims !== undefined) claim(stage.claims, mutation, previous);
  const count = writes[place] as number;
  let item: Item | undefined;
  if (mutation.kind === 'put') {
    if (count >= WRITES_PER_ITEM_MAX)
      throw new DomainError('invalidInput', 'One item is written too often in one transaction.');
    item = stage.stamp(mutation, previous, count);
    const { value, body } = mutation;
    mutations.push({ kind: 'stamped', key: op.key, item, value, body });
  } else {
    mutations.push(mutation);
  }
  now[place] = item;
  // Beyond the limit only deletions come; their number does not matter.
  writes[place] = Math.min(count + 1, WRITES_PER_ITEM_MAX);
  const kind = item === undefined ? 'deleted' : previous === undefined ? 'created' : 'replaced';
  return { kind, item, previous };
}

function readKind(
  { ifMatch, ifNoneMatch }: Conditions,
  item: Item | undefined,
): 'read' | 'notModified' {
  if (item === undefined) throw itemNotFound();
  checkConditions({ ifMatch }, item);
  return ifNoneMatch !== undefined && matches(ifNoneMatch, item) ? 'notModified' : 'read';
}

function answerLength({ kind, item }: OperationEffect): number {
  return kind === 'notModified' || item === undefined ? 0 : item.body.length;
}

function answerTooLarge(): DomainError {
  return new DomainError('answerTooLarge', 'Response size is too large');
}
