/**
 * Several operations on items of one logical partition as one decision: all or nothing. Each operation sees the items
 * as those before it would store them.
 */
import { assert, DomainError } from '../../base/index.ts';
import { COMMAND_KEYS_MAX, type Item, type ItemKey, WRITES_PER_ITEM_MAX } from '../item/item.ts';
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
  /** A missing item fails the transaction; one that matches `ifNoneMatch` does not. */
  | ({ readonly kind: 'read'; readonly key: ItemKey } & Conditions)
  /** Fails the transaction unless the item has this etag; undefined: unless it is absent. */
  | { readonly kind: 'expect'; readonly key: ItemKey; readonly etag: string | undefined };

export interface OperationEffect {
  readonly kind: 'created' | 'replaced' | 'deleted' | 'read' | 'notModified' | 'expected';
  /** After the operation; undefined where there is none. */
  readonly item: Item | undefined;
  /** Before the operation. */
  readonly previous: Item | undefined;
}

/** The refusal of a transaction, with the operation that caused it. Nothing of it was applied. */
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
  { guard, response }: TransactionOptions = {},
): Transaction {
  const { keys, places } = keysOf(ops);
  assert(keys.length <= COMMAND_KEYS_MAX, 'transaction: too many items');
  const effects: OperationEffect[] = [];
  const decide = (
    current: readonly (Item | undefined)[],
    context: DecisionContext,
  ): readonly Mutation[] => {
    guard?.();
    effects.length = 0;
    const items: ItemStates = { now: [...current], writes: new Uint8Array(keys.length) };
    const mutations: Mutation[] = [];
    let responseBytes = 0;
    for (let at = 0; at < ops.length; at++)
      try {
        const op = ops[at] as TransactionOp;
        const effect = step(op, items, places[at] as number, { context, mutations });
        effects.push(effect);
        if (response?.isWanted[at] !== true) continue;
        responseBytes += responseLength(effect);
        if (responseBytes > response.bytesMax) throw responseTooLarge();
      } catch (error) {
        throw error instanceof DomainError ? new TransactionError(at, error) : error;
      }
    return mutations;
  };
  return { command: { keys, decide }, effects };
}

/** The distinct keys of the operations, and for each operation the place of its key among them. */
function keysOf(ops: readonly TransactionOp[]): {
  readonly keys: readonly ItemKey[];
  readonly places: readonly number[];
} {
  const keys: ItemKey[] = [];
  const seen = new KeyMap<{ readonly key: ItemKey; readonly place: number }>();
  const places = ops.map(({ key }) => {
    const found = seen.get(key);
    if (found !== undefined) return found.place;
    const place = keys.push(key) - 1;
    seen.set({ key, place });
    return place;
  });
  return { keys, places };
}

/** Present items and counts of writes, by the place of the key. */
interface ItemStates {
  readonly now: (Item | undefined)[];
  readonly writes: Uint8Array;
}

function step(
  op: TransactionOp,
  { now, writes }: ItemStates,
  place: number,
  { context, mutations }: { readonly context: DecisionContext; readonly mutations: Mutation[] },
): OperationEffect {
  const previous = now[place];
  if (op.kind === 'read') return { kind: readKind(op, previous), item: previous, previous };
  if (op.kind === 'expect') {
    if (previous?.etag !== op.etag) throw preconditionFailed();
    return { kind: 'expected', item: previous, previous };
  }
  const mutation = decideOp(op, previous);
  if (context.claims !== undefined) claim(context.claims, mutation, previous);
  const count = writes[place] as number;
  let item: Item | undefined;
  if (mutation.kind === 'put') {
    if (count >= WRITES_PER_ITEM_MAX)
      throw new DomainError('invalidInput', 'One item is written too often in one transaction.');
    item = context.stamp(mutation, previous, count);
    const { value, body } = mutation;
    mutations.push({ kind: 'stamped', key: op.key, item, value, body });
  } else {
    mutations.push(mutation);
  }
  now[place] = item;
  // Only deletions come after the limit; their number does not matter.
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

function responseLength({ kind, item }: OperationEffect): number {
  return kind === 'notModified' || item === undefined ? 0 : item.body.length;
}

function responseTooLarge(): DomainError {
  return new DomainError('responseTooLarge', 'Response size is too large');
}
