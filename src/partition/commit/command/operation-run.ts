/**
 * Operations of one command, run one after the other at its decision. Each sees the items as those before it would
 * store them; one that is refused changes nothing.
 */
import { assert, type Bytes, DomainError } from '../../../base/index.ts';
import { COMMAND_KEYS_MAX, type Item, type ItemKey, WRITES_PER_ITEM_MAX } from '../../item/item.ts';
import { encodeNote, noteKey, type WriteNote } from '../../notes/note.ts';
import { KeyMap } from '../key-map.ts';
import { changeKind } from './effect.ts';
import type { UpdateReply } from './updater.ts';
import {
  type Conditions,
  checkConditions,
  claim,
  type DecisionContext,
  decideOp,
  type ItemOp,
  isInternal,
  itemNotFound,
  type Mutation,
  matches,
  type PutOrDelete,
  preconditionFailed,
  visible,
} from './write-command.ts';

export type TransactionOp =
  | ItemOp
  /** A missing item fails the transaction; one that matches `ifNoneMatch` does not. */
  | ({ readonly kind: 'read'; readonly key: ItemKey } & Conditions)
  /** Fails the transaction unless the item has this etag; undefined: unless it is absent. */
  | { readonly kind: 'expect'; readonly key: ItemKey; readonly etag: string | undefined };

export interface OperationEffect {
  readonly kind: 'created' | 'replaced' | 'deleted' | 'kept' | 'read' | 'notModified' | 'expected';
  /** After the operation; undefined where there is none. */
  readonly item: Item | undefined;
  /** Before the operation. */
  readonly previous: Item | undefined;
  /** The reply of an updater. */
  readonly reply?: UpdateReply;
  /** True where the operation was run before: the reply is its note. */
  readonly isRepeated?: boolean;
}

/** The operations with the distinct keys that they need. */
export class OperationPlan {
  readonly ops: readonly TransactionOp[];
  readonly keys: readonly ItemKey[];
  /** Whether an operation has a note. */
  readonly usesNotes: boolean;
  /** For each operation the place of its key. */
  readonly places: readonly number[];
  /** The places of the other keys that an operation reads. */
  readonly #also = new Map<TransactionOp, readonly number[]>();

  constructor(ops: readonly TransactionOp[]) {
    const keys: ItemKey[] = [];
    const seen = new KeyMap<{ readonly key: ItemKey; readonly place: number }>();
    const placeOf = (key: ItemKey): number => {
      const found = seen.get(key);
      if (found !== undefined) return found.place;
      const place = keys.push(key) - 1;
      seen.set({ key, place });
      return place;
    };
    this.ops = ops;
    this.places = ops.map((op) => {
      if (op.kind === 'update' && op.alsoReads !== undefined)
        this.#also.set(op, op.alsoReads.map(placeOf));
      return placeOf(op.key);
    });
    this.keys = keys;
    this.usesNotes = ops.some(hasNote);
    assert(keys.length <= COMMAND_KEYS_MAX, 'command: too many items');
  }

  alsoReads(op: TransactionOp): readonly number[] {
    return this.#also.get(op) ?? NO_PLACES;
  }
}

const NO_BYTES: Bytes = new Uint8Array(0);
const NO_PLACES: readonly number[] = [];

function hasNote(op: TransactionOp): boolean {
  return 'note' in op && op.note !== undefined;
}

/** Called with every change before it is applied; throws a DomainError to refuse it. */
export type StepCheck = (change: PutOrDelete, previous: Item | undefined) => void;

/** One decision of the operations. */
export class OperationRun {
  readonly mutations: Mutation[] = [];
  readonly #plan: OperationPlan;
  readonly #context: DecisionContext;
  readonly #check: StepCheck | undefined;
  /** Present items and counts of writes, by the place of the key. */
  readonly #now: (Item | undefined)[];
  readonly #writes: Uint8Array;

  constructor(
    plan: OperationPlan,
    current: readonly (Item | undefined)[],
    context: DecisionContext,
    check?: StepCheck,
  ) {
    this.#plan = plan;
    this.#check = check;
    this.#context = context;
    this.#now = [...current];
    this.#writes = new Uint8Array(current.length);
  }

  /** Gives up the unique values that the items of plain operations lose. */
  release(): void {
    const { claims } = this.#context;
    if (claims === undefined) return;
    this.#plan.ops.forEach((op, at) => {
      if (op.kind === 'read' || op.kind === 'expect' || op.kind === 'update') return;
      const isPut = op.kind !== 'delete' && !isInternal(op);
      claims.release(visible(this.#now[this.#plan.places[at] as number]), isPut ? op : undefined);
    });
  }

  /** Runs the operation at this place of the list. Throws a DomainError where it is refused. */
  step(at: number): OperationEffect {
    const op = this.#plan.ops[at] as TransactionOp;
    const place = this.#plan.places[at] as number;
    const previous = this.#now[place];
    if (op.kind === 'read') return readEffect(op, visible(previous));
    // What a decision has read may be a shadow or a header.
    if (op.kind === 'expect') return expectedEffect(op.etag, previous);
    const noted = op.note && this.#noteOf(op.key, op.note);
    if (noted !== undefined)
      return { kind: 'kept', item: previous, previous, reply: noted, isRepeated: true };
    const effect = this.#write(op, place, previous);
    if (op.note !== undefined) this.#putNote(op.key, op.note, effect);
    return effect;
  }

  #write(op: ItemOp, place: number, previous: Item | undefined): OperationEffect {
    const context = this.#context;
    const also = this.#plan.alsoReads(op).map((other) => this.#now[other]);
    const decision = decideOp(op, previous, also, context);
    const { kind, reply } = decision;
    if (kind === 'keep') return { kind: 'kept', item: previous, previous, reply };
    const count = this.#writes[place] as number;
    if (kind === 'put' && count >= WRITES_PER_ITEM_MAX)
      throw new DomainError('invalidInput', 'One item is written too often in one transaction.');
    this.#check?.(decision, previous);
    if (context.claims !== undefined) claim(context.claims, decision, previous);
    let item: Item | undefined;
    if (kind === 'put') {
      item = context.stamp(decision, previous, count);
      const { value, body } = decision;
      this.mutations.push({ kind: 'stamped', key: op.key, item, value, body });
    } else {
      this.mutations.push({ kind: 'delete', key: op.key });
    }
    this.#now[place] = item;
    // Only deletions come after the limit; their number does not matter.
    this.#writes[place] = Math.min(count + 1, WRITES_PER_ITEM_MAX);
    return { kind: changeKind(item, previous), item, previous, reply };
  }

  #noteOf({ epk }: ItemKey, { owner }: WriteNote): Bytes | undefined {
    return this.#context.notes.find(noteKey(epk, owner));
  }

  #putNote({ epk }: ItemKey, note: WriteNote, { reply }: OperationEffect): void {
    const bytes = note.bytes ?? (reply instanceof Uint8Array ? reply : NO_BYTES);
    this.#context.notes.put(noteKey(epk, note.owner), encodeNote(bytes, note.expiresAtSec));
  }
}

function readEffect({ ifMatch, ifNoneMatch }: Conditions, item: Item | undefined): OperationEffect {
  if (item === undefined) throw itemNotFound();
  checkConditions({ ifMatch }, item);
  const isKnown = ifNoneMatch !== undefined && matches(ifNoneMatch, item);
  return { kind: isKnown ? 'notModified' : 'read', item, previous: item };
}

function expectedEffect(etag: string | undefined, item: Item | undefined): OperationEffect {
  if (item?.etag !== etag) throw preconditionFailed();
  return { kind: 'expected', item, previous: item };
}
