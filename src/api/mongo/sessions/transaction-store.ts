/** An open transaction as a place to read and write documents. */
import { AssertionError, type Bytes, DomainError } from '../../../base/index.ts';
import type { SequenceResult } from '../../../cluster/index.ts';
import type { Effect, Item, SequenceMode } from '../../../partition/index.ts';
import { type Pause, yieldToEventLoop } from '../../../query/index.ts';
import type { ItemAddress, ItemWrite, Service } from '../../../service/index.ts';
import type { Value } from '../../../value/index.ts';
import type { Collection } from '../collections/collection.ts';
import { ONE_KEY } from '../documents/address.ts';
import { queryRows } from '../documents/find-queries.ts';
import { inPieces } from '../documents/pieces.ts';
import { Row, type Rows } from '../documents/rows.ts';
import type { DocumentStore, FindRequest } from '../documents/store.ts';
import { TRANSACTION_MS_MAX } from '../limits.ts';
import type { LockOwner, WriteLocks } from './write-locks.ts';

type Transaction = ReturnType<Service['transactions']['begin']>;

export class TransactionStore implements DocumentStore, LockOwner {
  readonly isTransaction = true;
  readonly endsMs: number;
  readonly #transaction: Transaction;
  readonly #nowMs: () => number;

  readonly #locks: WriteLocks;

  constructor(transaction: Transaction, nowMs: () => number, locks: WriteLocks) {
    this.endsMs = nowMs() + TRANSACTION_MS_MAX;
    this.#transaction = transaction;
    this.#nowMs = nowMs;
    this.#locks = locks;
  }

  nowMs(): number {
    return this.#nowMs();
  }

  pause(): ReturnType<Pause> {
    return yieldToEventLoop();
  }

  read({ container }: Collection, address: ItemAddress): Promise<Item | undefined> {
    return this.#transaction.read(container, address);
  }

  find({ container }: Collection, request: FindRequest): Rows {
    return inPieces(
      queryRows(container, request, (from) => this.#transaction.query(container, from)),
    );
  }

  async *readMany(collection: Collection, rowKeys: readonly (readonly Value[])[]): Rows {
    for (const rowKey of rowKeys) {
      const item = await this.read(collection, { partitionKey: ONE_KEY, rowKey });
      if (item !== undefined) yield [Row.ofBody(item.body, item.rid)];
    }
  }

  scan(): never {
    throw new AssertionError('a transaction sorts what it reads');
  }

  async write({ container }: Collection, write: ItemWrite): Promise<Effect> {
    this.#locks.take(this, container, write, this.#nowMs());
    return this.#transaction.write(container, write);
  }

  async sequence(
    collection: Collection,
    writes: readonly ItemWrite[],
    mode: SequenceMode,
  ): Promise<readonly SequenceResult[]> {
    const results: SequenceResult[] = [];
    let isRefused = false;
    for (const write of writes) {
      if (isRefused && mode !== 'each') {
        results.push({ notRun: true });
        continue;
      }
      try {
        results.push({ effect: await this.write(collection, write), charge: 0 });
      } catch (error) {
        if (!(error instanceof DomainError) || error.code === 'retryWith') throw error;
        isRefused = true;
        results.push({ error });
      }
    }
    return results;
  }

  /** Statements of a transaction are never repeated one by one. */
  async note(): Promise<Bytes | undefined> {
    return undefined;
  }
}
