/**
 * The part of one partition in transactions over several partitions (docs/decisions/0020-transactions.md):
 *
 *   prepare   checks what the transaction read, stores its operations and holds their items
 *   outcome   in the coordinator's partition: that the transaction is committed, in one batch with its own writes
 *   resolve   applies the stored operations or drops them, and lets the items go
 *
 * Every step is a write command, so it is decided in one synchronous step and durable in the order of the decisions.
 */
import {
  assert,
  type Bytes,
  compareBytes,
  fromHex,
  TRANSACTION_CHUNK_BYTES,
  TRANSACTION_CHUNK_ITEMS,
  toHex,
} from '../../base/index.ts';
import type { Store } from '../../engine/index.ts';
import type { StepCheck } from '../commit/command/operation-run.ts';
import {
  claim,
  isInternal,
  type Mutation,
  visible,
  type WriteCommand,
} from '../commit/command/write-command.ts';
import type { CommitGroup } from '../commit/commit-group.ts';
import type { UniqueClaims } from '../commit/unique/unique-claims.ts';
import type { Item, ItemKey } from '../item/item.ts';
import { outcomeKey, preparedKey, TRANSACTIONS_RANGE, transactionOfKey } from '../item/keyspace.ts';
import { HeldItems, heldByOther, readIsStale, type TransactionId } from './held-items.ts';
import {
  decodeHeader,
  decodeOp,
  decodeOutcome,
  encodeHeader,
  encodeOp,
  encodeOutcome,
  type Outcome,
  type PreparedHeader,
  type PreparedOp,
} from './prepared-format.ts';

/** An operation with the etag that the transaction saw; undefined where there was no item. */
export type CheckedOp = PreparedOp & { readonly etag: string | undefined };

export interface PreparedTransaction extends PreparedHeader {
  readonly id: TransactionId;
  /** By number, from 1 on; those that are resolved are gone. */
  readonly ops: ReadonlyMap<number, PreparedOp>;
}

/** A transaction may be prepared in chunks. */
interface ChunkOptions {
  /** The number of the first operation, from 1 on. */
  readonly firstNumber: number;
  /** Set near a storage limit: checks each write. */
  readonly newCheck?: (() => StepCheck) | undefined;
}

interface UsedItem {
  readonly key: ItemKey;
  readonly isWrite: boolean;
}

interface OwnTransaction extends PreparedTransaction {
  readonly ops: Map<number, PreparedOp>;
}

/** Entries of one page while a partition is opened. */
const LOAD_PAGE = { limit: 1000, bytesMax: 4 * 1024 * 1024 };

export class PreparedTransactions {
  readonly held = new HeldItems();
  readonly #prepared = new Map<TransactionId, OwnTransaction>();
  readonly #outcomes = new Map<TransactionId, Outcome>();
  /** Outcomes that nobody needs any more: the next batch removes them. */
  #forgotten: TransactionId[] = [];
  #waitingForNone: (() => void)[] = [];

  /** Those whose operations are not resolved. */
  get prepared(): Iterable<PreparedTransaction> {
    return this.#prepared.values();
  }

  get outcomes(): Iterable<readonly [TransactionId, Outcome]> {
    return this.#outcomes;
  }

  get hasForgotten(): boolean {
    return this.#forgotten.length > 0;
  }

  get isEmpty(): boolean {
    return this.#prepared.size === 0 && this.#outcomes.size === 0;
  }

  /** Reads what is stored, before the partition takes writes. */
  async load(store: Store, isUnique: boolean): Promise<void> {
    let range = TRANSACTIONS_RANGE;
    for (let more = true; more; ) {
      const page = await store.scan(range, LOAD_PAGE);
      for (const { key, value } of page.entries) this.#loadEntry(key, value, isUnique);
      more = page.more;
      const last = page.entries.at(-1);
      if (last !== undefined)
        range = { ...range, start: Buffer.concat([last.key, Uint8Array.of(0)]) };
    }
  }

  #loadEntry(key: Bytes, value: Bytes, isUnique: boolean): void {
    const { transaction, number } = transactionOfKey(key);
    const id = toHex(transaction);
    if (number === undefined) this.#outcomes.set(id, decodeOutcome(value));
    else if (number === 0) this.#prepared.set(id, newTransaction(id, decodeHeader(value)));
    else this.#hold(id, number, decodeOp(value), isUnique);
  }

  /**
   * Refused with `retryWith` where an item is not as the transaction saw it or another transaction holds it: a
   * transaction that holds items does not wait for others.
   */
  prepareCommand(
    id: TransactionId,
    header: PreparedHeader,
    ops: readonly CheckedOp[],
    { firstNumber, newCheck }: ChunkOptions,
  ): WriteCommand {
    assert(id === toHex(fromHex(id)), 'the id of a transaction has one form');
    let isUnique = false;
    return {
      keys: ops.map(({ key }) => key),
      decide: (current, { claims }) => {
        isUnique = claims !== undefined;
        const check = newCheck?.();
        if (claims !== undefined) release(claims, ops, current);
        ops.forEach((op, at) => {
          this.#check(id, op, current[at]);
          if (op.kind === 'read') return;
          const mutation = mutationOf(op);
          check?.(mutation, current[at]);
          if (claims !== undefined) claim(claims, mutation, current[at]);
        });
        return [];
      },
      beside: (group) => {
        const transaction = fromHex(id);
        if (!this.#prepared.has(id)) {
          this.#prepared.set(id, newTransaction(id, header));
          group.add({ key: preparedKey(transaction, 0), value: encodeHeader(header) });
        }
        ops.forEach((op, at) => {
          const number = firstNumber + at;
          group.add({ key: preparedKey(transaction, number), value: encodeOp(op) });
          this.#hold(id, number, op, isUnique);
        });
      },
    };
  }

  #check(id: TransactionId, { kind, key, etag }: CheckedOp, current: Item | undefined): void {
    this.held.check(key, kind !== 'read', id);
    if (current?.etag !== etag) throw readIsStale();
  }

  /** Checks what a transaction read that has written nothing. It waits for held items as writes do. */
  checkCommand(reads: readonly Pick<CheckedOp, 'key' | 'etag'>[]): WriteCommand {
    return {
      keys: reads.map(({ key }) => key),
      decide: (current) => {
        reads.forEach(({ etag }, at) => {
          if (current[at]?.etag !== etag) throw readIsStale();
        });
        return [];
      },
    };
  }

  /** For the decision of the coordinator: throws where its items are held, or where the outcome is decided already. */
  checkCommit(id: TransactionId, ops: readonly UsedItem[]): void {
    if (this.#outcomes.has(id)) throw heldByOther();
    for (const { key, isWrite } of ops) this.held.check(key, isWrite, id);
  }

  /** Decides the deletion of a range of primary keys: refused where a transaction holds an item there. */
  decideRange({ start, end }: { readonly start: Bytes; readonly end: Bytes }): readonly [] {
    for (const { ops } of this.#prepared.values())
      for (const { key } of ops.values())
        if (compareBytes(start, key.primary) <= 0 && compareBytes(key.primary, end) < 0)
          throw heldByOther();
    return [];
  }

  /** Notes the outcome in the batch of the command that decides it. */
  noteOutcome(group: CommitGroup, id: TransactionId, outcome: Outcome): void {
    this.#outcomes.set(id, outcome);
    group.add({ key: outcomeKey(fromHex(id)), value: encodeOutcome(outcome) });
  }

  /**
   * Finds out whether a transaction is committed. Where nobody knows, it is aborted for good. The result of the command
   * is durable when the command is.
   */
  askCommand(id: TransactionId, aborted: Outcome): WriteCommand & { isCommitted(): boolean } {
    return {
      keys: [],
      decide: () => [],
      beside: (group) => {
        if (!this.#outcomes.has(id)) this.noteOutcome(group, id, aborted);
      },
      isCommitted: () => this.#outcomes.get(id)?.isCommitted === true,
    };
  }

  /** The next chunk of a transaction's operations; undefined where all are resolved. Repeating one changes nothing. */
  resolveCommand(id: TransactionId, isCommitted: boolean): WriteCommand | undefined {
    const transaction = this.#prepared.get(id);
    if (transaction === undefined) return undefined;
    const chunk = chunkOf(transaction.ops);
    return {
      keys: chunk.map(([, { key }]) => key),
      decide: (current, { claims }) => {
        const mutations: Mutation[] = [];
        const ops = isCommitted ? chunk.map(([, op]) => op) : [];
        if (claims !== undefined) release(claims, ops, current);
        chunk.forEach(([number, op], at) => {
          if (!isCommitted || op.kind === 'read' || !transaction.ops.has(number)) return;
          // An item may have expired since.
          if (op.kind === 'delete' && current[at] === undefined) return;
          const mutation = mutationOf(op);
          if (claims !== undefined) claim(claims, mutation, current[at]);
          mutations.push(mutation);
        });
        return mutations;
      },
      beside: (group) => this.#release(group, transaction, chunk),
    };
  }

  #release(
    group: CommitGroup,
    { id, ops }: OwnTransaction,
    chunk: readonly (readonly [number, PreparedOp])[],
  ): void {
    const transaction = fromHex(id);
    for (const [number, { key }] of chunk) {
      if (!ops.delete(number)) continue;
      group.remove(preparedKey(transaction, number));
      this.held.remove(id, key);
    }
    if (ops.size === 0 && this.#prepared.delete(id)) group.remove(preparedKey(transaction, 0));
    this.held.wake();
    if (this.#prepared.size > 0) return;
    for (const resolve of this.#waitingForNone.splice(0)) resolve();
  }

  /** All participants have resolved the transaction. */
  forget(id: TransactionId): void {
    if (this.#outcomes.delete(id)) this.#forgotten.push(id);
  }

  /** Called for every batch before it is committed. */
  addTo(group: CommitGroup): void {
    if (this.#forgotten.length === 0) return;
    for (const id of this.#forgotten.splice(0)) group.remove(outcomeKey(fromHex(id)));
  }

  /** Resolves when no transaction is prepared. */
  whenNone(): Promise<void> | undefined {
    if (this.#prepared.size === 0) return undefined;
    return new Promise((resolve) => this.#waitingForNone.push(resolve));
  }

  /** Takes over outcomes of another partition. */
  import(group: CommitGroup, outcomes: readonly (readonly [TransactionId, Outcome])[]): void {
    for (const [id, outcome] of outcomes) this.noteOutcome(group, id, outcome);
  }

  #hold(id: TransactionId, number: number, op: PreparedOp, isUnique: boolean): void {
    this.#prepared.get(id)?.ops.set(number, op);
    this.held.add(id, op.key, op.kind !== 'read', isUnique);
  }
}

/** Items give up their unique values before any of them takes one: the operations are in no order. */
function release(
  claims: UniqueClaims,
  ops: readonly PreparedOp[],
  current: readonly (Item | undefined)[],
): void {
  ops.forEach((op, at) => {
    if (op.kind === 'read') return;
    const next = 'put' in op && !isInternal(op.put) ? op.put : undefined;
    claims.release(visible(current[at]), next);
  });
}

function newTransaction(id: TransactionId, header: PreparedHeader): OwnTransaction {
  return { id, ...header, ops: new Map() };
}

function chunkOf(ops: ReadonlyMap<number, PreparedOp>): readonly (readonly [number, PreparedOp])[] {
  const chunk: (readonly [number, PreparedOp])[] = [];
  let bytes = 0;
  for (const entry of ops) {
    const op = entry[1];
    chunk.push(entry);
    if ('put' in op) bytes += op.put.body.length;
    if (chunk.length >= TRANSACTION_CHUNK_ITEMS || bytes >= TRANSACTION_CHUNK_BYTES) break;
  }
  return chunk;
}

function mutationOf(op: Exclude<PreparedOp, { readonly kind: 'read' }>) {
  return 'put' in op ? op.put : { kind: 'delete' as const, key: op.key };
}
