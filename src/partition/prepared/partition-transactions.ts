/** The door of a partition for transactions: what others write meanwhile, and the steps of commits over partitions. */
import { append, type Bytes, DomainError, DRAIN_WAIT_MS } from '../../base/index.ts';
import type { Effect, WriteResult } from '../commit/command/effect.ts';
import type { WriteCommand } from '../commit/command/write-command.ts';
import type { CommitGroup } from '../commit/commit-group.ts';
import type { ConflictTracker, ConflictTrackers, RangeWatch } from '../commit/conflict-tracker.ts';
import { importCommand } from '../history/moved-state.ts';
import type { Lsn } from '../item/item.ts';
import type { TransactionId } from './held-items.ts';
import type { Outcome } from './prepared-format.ts';
import type { PreparedTransactions } from './prepared-transactions.ts';

interface TransactionsOptions {
  readonly prepared: PreparedTransactions;
  readonly conflicts: ConflictTrackers;
  /** The LSNs of the last write that is decided, and of the last one that readers see. */
  readonly lsns: () => { readonly decided: Lsn; readonly published: Lsn };
  /** Writes of clients, which a fenced partition refuses. */
  readonly write: (command: WriteCommand) => Promise<WriteResult>;
  /** Writes that are taken until the partition is closed. */
  readonly commit: (command: WriteCommand) => Promise<WriteResult>;
}

/** Writes nothing but what every batch has. */
const NOTHING_MORE: WriteCommand = { keys: [], decide: () => [], beside: () => undefined };

export class PartitionTransactions {
  readonly #options: TransactionsOptions;
  #takesPrepares = true;

  constructor(options: TransactionsOptions) {
    this.#options = options;
  }

  /** What is prepared and decided here. */
  get state(): PreparedTransactions {
    return this.#options.prepared;
  }

  /** Tracks writes of keys that begin with this text; resolves when all writes decided before can be read. */
  trackConflicts(prefix: string): Promise<ConflictTracker> {
    return this.#options.conflicts.open(prefix, this.#options.lsns());
  }

  /** Watches the writes of a range of primary keys; resolves when all writes decided before can be read. */
  watch(range: { readonly start: Bytes; readonly end: Bytes }): Promise<RangeWatch> {
    return this.#options.conflicts.watch(range, this.#options.lsns());
  }

  /** Resolves when all writes that are decided can be read. */
  whenPublished(): Promise<void> {
    return this.#options.conflicts.untilPublished(this.#options.lsns());
  }

  /** Checks and holds items of a transaction; throws `retryWith` where others hold or have changed them. */
  prepare(...chunk: Parameters<PreparedTransactions['prepareCommand']>): Promise<WriteResult> {
    if (this.#takesPrepares)
      return this.#options.write(this.#options.prepared.prepareCommand(...chunk));
    return Promise.reject(new DomainError('partitionGone', 'The partition is being replaced.'));
  }

  /** Applies or drops what is prepared, chunk by chunk; does nothing where that is done already. */
  async resolve(id: TransactionId, isCommitted: boolean): Promise<readonly Effect[]> {
    const { prepared, commit } = this.#options;
    const effects: Effect[] = [];
    for (;;) {
      const command = prepared.resolveCommand(id, isCommitted);
      if (command === undefined) return effects;
      append(effects, (await commit(command)).effects);
    }
  }

  /** Whether a transaction is committed; where it is not, it never will be. */
  async isCommitted(id: TransactionId, aborted: Outcome): Promise<boolean> {
    const command = this.#options.prepared.askCommand(id, aborted);
    await this.#options.write(command);
    return command.isCommitted();
  }

  /** Takes no more prepared transactions and waits for those that are; throws where they take too long. */
  async drain(): Promise<void> {
    this.#takesPrepares = false;
    const drained = this.#options.prepared.whenNone();
    if (drained === undefined) return;
    const { promise, reject } = Promise.withResolvers<never>();
    const late = new DomainError('unavailable', 'A transaction of the partition is not resolved.');
    const timer = setTimeout(() => reject(late), DRAIN_WAIT_MS);
    try {
      await Promise.race([drained, promise]);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Undoes `drain`. */
  resume(): void {
    this.#takesPrepares = true;
  }

  /** Takes over outcomes from another partition. */
  async import(outcomes: readonly (readonly [TransactionId, Outcome])[], upTo: Lsn): Promise<void> {
    if (outcomes.length === 0) return;
    const { prepared, commit } = this.#options;
    const beside = (group: CommitGroup) => prepared.import(group, outcomes);
    await commit({ ...importCommand([], upTo), beside });
  }

  /** Lets waiting writes go and removes outcomes that nobody needs, before the partition is closed. */
  async finish(): Promise<void> {
    const { prepared, write } = this.#options;
    prepared.held.end();
    if (prepared.hasForgotten) await write(NOTHING_MORE).catch(() => undefined);
  }
}
