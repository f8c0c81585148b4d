/** The open transactions of this process, within bounds of their number, bytes and lifetime. */
import {
  DomainError,
  TRANSACTION_LIFETIME_MS,
  TRANSACTION_LIFETIME_MS_MAX,
  TRANSACTIONS_BYTES_MAX,
  TRANSACTIONS_OPEN_MAX,
} from '../../base/index.ts';
import { NORMAL_CLASS, type RequestClass } from '../../throughput/index.ts';
import { ClusterTransaction, type TransactionParts } from './transaction.ts';

export interface BeginOptions {
  /** Life of the transaction; it is aborted afterwards. */
  readonly timeoutMs?: number | undefined;
  readonly requestClass?: RequestClass | undefined;
}

export class ClusterTransactions {
  readonly #parts: TransactionParts;
  #openCount = 0;
  #bytes = 0;

  constructor(parts: TransactionParts) {
    this.#parts = parts;
  }

  get openCount(): number {
    return this.#openCount;
  }

  begin({ timeoutMs, requestClass = NORMAL_CLASS }: BeginOptions = {}): ClusterTransaction {
    if (this.#openCount >= TRANSACTIONS_OPEN_MAX)
      throw new DomainError('unavailable', 'Too many transactions are open; retry later.');
    const lifetimeMs = Math.min(timeoutMs ?? TRANSACTION_LIFETIME_MS, TRANSACTION_LIFETIME_MS_MAX);
    this.#openCount++;
    const transaction = new ClusterTransaction({
      ...this.#parts,
      deadlineMs: this.#parts.context.clock.nowMs() + lifetimeMs,
      requestClass,
      onBytes: (bytes) => this.#count(bytes),
      onEnd: () => {
        clearTimeout(timer);
        this.#openCount--;
        this.#bytes -= transaction.bytes;
      },
    });
    // A transaction that its client has left is aborted.
    const timer = setTimeout(() => transaction.abort(), lifetimeMs).unref();
    return transaction;
  }

  #count(bytes: number): void {
    if (bytes > 0 && this.#bytes + bytes > TRANSACTIONS_BYTES_MAX)
      throw new DomainError('unavailable', 'Open transactions hold too many bytes; retry later.');
    this.#bytes += bytes;
  }
}
