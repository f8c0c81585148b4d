/**
 * The transactions of sessions. One of a session is open at a time; it is named by a number that grows. A refused
 * statement ends the transaction, as in MongoDB, and the client begins again.
 */
import { DomainError, toHex } from '../../../base/index.ts';
import type { Service } from '../../../service/index.ts';
import type { BsonDocument } from '../../../value/index.ts';
import type { Topology } from '../call.ts';
import { type Collection, collectionsOf } from '../collections/collection.ts';
import type { Namespace } from '../collections/namespace.ts';
import { writeError } from '../documents/duplicate.ts';
import type { Meter } from '../documents/meter.ts';
import type { DocumentStore } from '../documents/store.ts';
import {
  MongoError,
  mongoErrorOf,
  TRANSIENT_TRANSACTION,
  UNKNOWN_COMMIT_RESULT,
} from '../errors.ts';
import { SESSION_MINUTES, SESSIONS_MAX, TRANSACTION_MS_MAX } from '../limits.ts';
import { dropHidden, showCollections } from './hidden-collections.ts';
import { sessionOf } from './retryable-write.ts';
import { TransactionStore } from './transaction-store.ts';
import { WriteLocks } from './write-locks.ts';

type Transaction = ReturnType<Service['transactions']['begin']>;

interface SessionTransaction {
  readonly number: bigint;
  readonly transaction: Transaction;
  readonly store: TransactionStore;
  state: 'open' | 'committed' | 'aborted';
  usedMs: number;
  /** Collections that it has made, which nobody lists before the commit. */
  readonly made: Namespace[];
}

/** Commands that may be statements of a transaction. */
const STATEMENTS: ReadonlySet<string> = new Set([
  'abortTransaction',
  'aggregate',
  'bulkWrite',
  'commitTransaction',
  'create',
  'createIndexes',
  'delete',
  'distinct',
  'find',
  'findAndModify',
  'findandmodify',
  'getMore',
  'insert',
  'killCursors',
  'update',
]);

export class SessionTransactions {
  readonly #service: Service;
  /** The last transaction of each session, by the session's id. */
  readonly #bySession = new Map<string, SessionTransaction>();

  readonly locks = new WriteLocks();

  constructor(service: Service) {
    this.#service = service;
  }

  /** Where the statement reads and writes; undefined where the command is in no transaction. */
  storeOf(command: BsonDocument, name: string, topology: Topology): DocumentStore | undefined {
    if ((command.get('txnNumber') ?? null) !== null && topology === 'standalone')
      throw new MongoError(
        'IllegalOperation',
        'Transaction numbers are only allowed on a replica set member or mongos',
      );
    if (command.get('autocommit') !== false) {
      if (isEnding(name)) throw needsTransaction(command, name);
      return undefined;
    }
    checkStatement(command, name);
    if (command.get('startTransaction') === true) return this.#begin(command).store;
    const { state, number, store } = this.#named(command);
    if (isEnding(name)) return store;
    if (state === 'committed') throw committed(number);
    if (state === 'aborted') throw aborted(number);
    return store;
  }

  async commit(command: BsonDocument, meter: Meter): Promise<void> {
    const found = this.#named(command);
    if (found.state === 'committed') return;
    if (found.state === 'aborted') throw aborted(found.number);
    found.state = 'aborted';
    try {
      const { charge } = await found.transaction.commit();
      found.state = 'committed';
      // The commit is done, although the command may have been killed meanwhile.
      meter.charge += charge;
      await showCollections(this.#service, found.made);
    } catch (error) {
      await dropHidden(this.#service, found.made);
      throw commitError(this.#service, error);
    } finally {
      this.locks.release(found.store);
    }
  }

  async abort(command: BsonDocument): Promise<void> {
    const found = this.#named(command);
    if (found.state === 'committed') throw committed(found.number);
    if (found.state === 'aborted') throw aborted(found.number);
    await this.#end(found);
  }

  /** The transaction of the command has made a collection. */
  made(command: BsonDocument, namespace: Namespace): void {
    this.#named(command).made.push(namespace);
  }

  async #end(found: SessionTransaction): Promise<void> {
    found.state = 'aborted';
    this.locks.release(found.store);
    await found.transaction.abort();
    await dropHidden(this.#service, found.made);
  }

  /** The session has ended: what it did not commit is gone. */
  async endSession(session: string): Promise<void> {
    const found = this.#bySession.get(session);
    if (found?.state === 'open') await this.#end(found);
  }

  /** A statement was refused: the transaction is over. */
  async refused(command: BsonDocument, name: string): Promise<void> {
    if (isEnding(name)) return;
    const key = keyOf(command);
    const found = key === undefined ? undefined : this.#bySession.get(key);
    if (found?.number === command.get('txnNumber') && found?.state === 'open')
      await this.#end(found);
  }

  #begin(command: BsonDocument): SessionTransaction {
    const key = keyOf(command);
    const number = command.get('txnNumber');
    if (key === undefined || typeof number !== 'bigint')
      throw new MongoError('InvalidOptions', 'A transaction has a session and a number.');
    const last = this.#bySession.get(key);
    if (last !== undefined && number < last.number)
      throw new MongoError(
        'TransactionTooOld',
        `Cannot start transaction ${number} because a newer transaction ${last.number} has already started.`,
      );
    if (last !== undefined && number === last.number)
      throw new MongoError(
        'ConflictingOperationInProgress',
        `Cannot start transaction ${number} on session because a transaction with the same number is already in progress or done`,
      );
    if (last?.state === 'open') void this.#end(last);
    this.#makeRoom();
    const service = this.#service;
    const transaction = service.transactions.begin({ timeoutMs: TRANSACTION_MS_MAX });
    const nowMs = (): number => service.clock.nowMs();
    const store = new TransactionStore(transaction, nowMs, this.locks);
    const begun: SessionTransaction = {
      number,
      transaction,
      store,
      state: 'open',
      usedMs: nowMs(),
      made: [],
    };
    this.#bySession.delete(key);
    this.#bySession.set(key, begun);
    return begun;
  }

  #named(command: BsonDocument): SessionTransaction {
    const key = keyOf(command);
    const number = command.get('txnNumber');
    const found = key === undefined ? undefined : this.#bySession.get(key);
    if (found === undefined || found.number !== number)
      throw new MongoError(
        'NoSuchTransaction',
        `Given transaction number ${String(number)} does not match any in-progress transactions. ` +
          `The active transaction number is ${String(found?.number ?? -1)}`,
        { labels: [TRANSIENT_TRANSACTION] },
      );
    found.usedMs = this.#service.clock.nowMs();
    return found;
  }

  /** Forgets sessions that are over; the oldest are first. */
  #makeRoom(): void {
    const deadlineMs = this.#service.clock.nowMs() - SESSION_MINUTES * 60_000;
    for (const [key, each] of this.#bySession) {
      if (each.usedMs >= deadlineMs && this.#bySession.size < SESSIONS_MAX) return;
      if (each.state === 'open') void this.#end(each);
      this.#bySession.delete(key);
    }
  }
}

function isEnding(name: string): boolean {
  return name === 'commitTransaction' || name === 'abortTransaction';
}

/** Databases that no transaction may write to. */
const SYSTEM_DATABASES: ReadonlySet<unknown> = new Set(['admin', 'config', 'local']);

/** Refuses what no transaction has, before anything else about the command is looked at. */
export function checkInTransaction(name: string, command: BsonDocument): void {
  if (command.get('autocommit') === false && !STATEMENTS.has(name)) throw notInTransaction(name);
}

function notInTransaction(name: string): MongoError {
  return new MongoError(
    'OperationNotSupportedInTransaction',
    `Cannot run '${name}' in a multi-document transaction.`,
  );
}

function checkStatement(command: BsonDocument, name: string): void {
  const isStart = command.get('startTransaction') === true;
  if (
    !STATEMENTS.has(name) ||
    (isStart && (isEnding(name) || name === 'getMore' || name === 'killCursors'))
  )
    throw notInTransaction(name);
  const database = command.get('$db');
  const isElsewhere = isEnding(name) || name === 'getMore' || name === 'bulkWrite';
  if (!isElsewhere && SYSTEM_DATABASES.has(database))
    throw new MongoError(
      'OperationNotSupportedInTransaction',
      `Cannot run command against the '${String(database)}' database in a transaction.`,
    );
}

/** Without a transaction there is nothing to end. */
function needsTransaction(command: BsonDocument, name: string): MongoError {
  if ((command.get('txnNumber') ?? null) === null)
    return new MongoError('CommandFailed', `${name} must be run within a transaction`);
  return new MongoError(
    'Location50768',
    `txnNumber may only be provided for multi-document transactions and retryable write commands. autocommit:false was not provided, and ${name} is not a retryable write command.`,
  );
}

function committed(number: bigint): MongoError {
  return new MongoError('TransactionCommitted', `Transaction ${number} has been committed.`);
}

function keyOf(command: BsonDocument): string | undefined {
  const session = sessionOf(command);
  return session && toHex(session);
}

function aborted(number: bigint): MongoError {
  return new MongoError('NoSuchTransaction', `Transaction ${number} has been aborted.`, {
    labels: [TRANSIENT_TRANSACTION],
  });
}

/** A conflict is transient; where the outcome is unknown, the client asks again. */
function commitError(service: Service, error: unknown): MongoError {
  const isUnknown =
    error instanceof DomainError &&
    (error.code === 'outcomeUnknown' || error.code === 'unavailable');
  if (isUnknown)
    return new MongoError('ExceededTimeLimit', error.message, { labels: [UNKNOWN_COMMIT_RESULT] });
  const violated = violatedCollection(service, error);
  return violated === undefined ? mongoErrorOf(error) : writeError(violated, error);
}

interface ContainerName {
  readonly databaseRid: number;
  readonly rid: number;
}

/** Where a value is that another document has taken since the statement; undefined for other refusals. */
function violatedCollection(service: Service, error: unknown): Collection | undefined {
  if (!(error instanceof DomainError && error.code === 'uniqueKeyViolation')) return undefined;
  const at = error.details?.container as ContainerName | undefined;
  const database = service.databases.list().find(({ rid }) => rid === at?.databaseRid);
  if (database === undefined) return undefined;
  return collectionsOf(service, database.id).find(({ container }) => container.rid === at?.rid);
}
