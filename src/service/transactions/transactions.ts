/**
 * Transactions: of scripts on one logical partition (key-transactions.ts), and over items of any partitions and
 * containers, step by step.
 */
import { andThen, type MaybePromise, type ResponseInfo } from '../../base/index.ts';
import type { ContainerRecord } from '../../catalog/index.ts';
import type {
  BeginOptions,
  Cluster,
  ClusterTransaction,
  ClusterTransactions,
  Committed,
} from '../../cluster/index.ts';
import type { Effect, Item, ItemKey } from '../../partition/index.ts';
import { readOnly } from '../items/items.ts';
import { type ItemAddress, type ItemWrite, toOp } from '../items/operations.ts';
import type { Queries, QueryPage, QueryRequest } from '../queries.ts';
import { KeyTransactions } from './key-transactions.ts';

interface TransactionsOptions {
  readonly cluster: Cluster;
  readonly transactions: ClusterTransactions;
  readonly queries: Queries;
}

export class Transactions extends KeyTransactions {
  readonly #options: TransactionsOptions;

  constructor(options: TransactionsOptions) {
    super(options.cluster);
    this.#options = options;
  }

  /** The caller ends the transaction by `commit` or `abort`; it ends by itself after its lifetime. */
  begin(options?: BeginOptions): Transaction {
    return new Transaction(this.#options, this.#options.transactions.begin(options));
  }

  /** Transactions begun and not ended. */
  get openCount(): number {
    return this.#options.transactions.openCount;
  }
}

/**
 * Serializable: after the commit it is as if all reads and writes had happened at one moment. Before, reads of items
 * that others write at the same time may not fit together; then the commit is refused with `retryWith`.
 */
export class Transaction {
  readonly #options: TransactionsOptions;
  readonly #open: ClusterTransaction;

  constructor(options: TransactionsOptions, open: ClusterTransaction) {
    this.#options = options;
    this.#open = open;
  }

  async read(container: ContainerRecord, address: ItemAddress): Promise<Item | undefined> {
    return this.#open.read(container, this.#keyOf(container, address));
  }

  /** One result per address, in order, with one call for each partition that has some of them. */
  async readMany(
    container: ContainerRecord,
    addresses: readonly ItemAddress[],
  ): Promise<readonly (Item | undefined)[]> {
    const keys = addresses.map((address) => this.#keyOf(container, address));
    return this.#open.readMany(container, keys);
  }

  /** One page; own writes come behind the others where the query has no order. */
  query(
    container: ContainerRecord,
    request: Omit<QueryRequest, 'transaction' | 'requestClass'>,
  ): MaybePromise<QueryPage> {
    const transaction = this.#open;
    const { requestClass } = transaction;
    const charged = (page: QueryPage): QueryPage => {
      transaction.addCharge(page.charge);
      return page;
    };
    const page = this.#options.queries.run(container, { ...request, requestClass, transaction });
    return andThen(page, charged);
  }

  /** Later operations of the transaction see the write; others see it after the commit. The etag is provisional. */
  async write(container: ContainerRecord, write: ItemWrite): Promise<Effect> {
    if (container.globalIndex !== undefined) throw readOnly();
    const { keys } = this.#options.cluster.routing(container);
    const key = keys.keyOf(write.partitionKey, write.rowKey);
    return this.#open.write(container, toOp(container, keys, key, write.partitionKey, write));
  }

  /**
   * Makes all writes durable, or none. The charge is that of the whole transaction.
   * @throws retryWith where others have changed what was read; outcomeUnknown where nobody can say whether it is committed.
   */
  commit(): Promise<ResponseInfo & Committed> {
    return this.#open.commit();
  }

  /** Idempotent; does nothing after a commit. */
  async abort(): Promise<void> {
    this.#open.abort();
  }

  #keyOf(container: ContainerRecord, { partitionKey, rowKey }: ItemAddress): ItemKey {
    return this.#options.cluster.routing(container).keys.keyOf(partitionKey, rowKey);
  }
}
