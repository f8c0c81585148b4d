/**
 * Read transactions of the instance, each on a session of its own. One shows the state of all stores, so that snapshots
 * of different stores share it, as long as nothing was acknowledged in between.
 */

import type { PostgresInstance } from '../connect/postgres-instance.ts';
import type { PostgresSession } from '../connect/postgres-session.ts';
import { MEMBER_WAIT_MS, unavailable, withDeadline } from '../postgres-failures.ts';

/** Sessions that hold a read transaction at once; more callers wait. Each is a process of the server. */
const READ_TRANSACTIONS_MAX = 32;

const BEGIN = { name: 'begin_read', text: 'BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY' };
/** The first statement fixes the state. */
const FIX_STATE = { name: 'fix_state', text: 'SELECT 1' };
const COMMIT = { name: 'commit_read', text: 'COMMIT' };

export interface ReadTransaction {
  readonly session: Promise<PostgresSession>;
  /** The number of acknowledgements when it was begun. */
  readonly begunAt: number;
  users: number;
  readonly place: string;
}

export class ReadTransactions {
  readonly #instance: PostgresInstance;
  readonly #free: string[] = [];
  #places = 0;
  readonly #waiting: (() => void)[] = [];
  #newest: ReadTransaction | undefined;
  /** Commits acknowledged so far, of all stores. */
  #acknowledged = 0;

  constructor(instance: PostgresInstance) {
    this.#instance = instance;
  }

  /** Counts an acknowledged commit; the number says which read transactions show it. */
  acknowledge(): number {
    return ++this.#acknowledged;
  }

  /** A read transaction that shows at least this acknowledged commit. The caller leaves it. */
  async join(acknowledged: number): Promise<ReadTransaction> {
    const newest = this.#newest;
    if (newest !== undefined && newest.begunAt >= acknowledged) {
      newest.users++;
      return newest;
    }
    const place = this.#takePlace() ?? (await this.#waitForPlace());
    const transaction: ReadTransaction = {
      session: this.#begin(place),
      begunAt: this.#acknowledged,
      users: 1,
      place,
    };
    transaction.session.catch(() => undefined);
    this.#newest = transaction;
    return transaction;
  }

  leave(transaction: ReadTransaction): void {
    transaction.users--;
    if (transaction.users > 0) return;
    if (this.#newest === transaction) this.#newest = undefined;
    const finish = () => this.#freePlace(transaction.place);
    transaction.session
      .then((session) => session.run([{ statement: COMMIT, parameters: [] }]))
      .then(finish, finish);
  }

  async #begin(place: string): Promise<PostgresSession> {
    const session = await this.#instance.session(place);
    await session.run([
      { statement: BEGIN, parameters: [] },
      { statement: FIX_STATE, parameters: [] },
    ]);
    return session;
  }

  #takePlace(): string | undefined {
    // One with a session, for others may not be had now.
    const at = this.#free.findLastIndex((place) => this.#instance.ready(place) !== undefined);
    const [free] = this.#free.splice(Math.max(0, at), 1);
    if (free !== undefined) return free;
    return this.#places < READ_TRANSACTIONS_MAX ? `read-transaction${this.#places++}` : undefined;
  }

  async #waitForPlace(): Promise<string> {
    const freed = new Promise<void>((resolve) => this.#waiting.push(resolve));
    const late = () => unavailable('Too many queries read while items are written; retry later.');
    await withDeadline(freed, MEMBER_WAIT_MS, late);
    return this.#takePlace() ?? this.#waitForPlace();
  }

  #freePlace(place: string): void {
    this.#free.push(place);
    this.#waiting.shift()?.();
  }
}
