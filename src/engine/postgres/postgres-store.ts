/** One open store: a table, its fence, and the two sessions that it keeps to, one for reads and one for commits. */
import { type Bytes, DomainError } from '../../base/index.ts';
import { checkBatch, closedStore } from '../checks.ts';
import {
  type Batch,
  ConflictError,
  type KeyPage,
  type KeyRange,
  type KeyScanOptions,
  type ScanOptions,
  type ScanPage,
  type Snapshot,
  type Store,
  type StoreStats,
} from '../engine.ts';
import type { PostgresInstance } from './connect/postgres-instance.ts';
import { readInt8 } from './connect/postgres-messages.ts';
import {
  type PostgresSession,
  StatementError,
  type Step,
  type StepsResult,
} from './connect/postgres-session.ts';
import {
  commitFailure,
  isLost,
  LOST_TRIES_MAX,
  MEMBER_WAIT_MS,
  outcomeUnknown,
  readFailure,
  unavailable,
} from './postgres-failures.ts';
import { type StoreStatements, storeStatements } from './postgres-statements.ts';
import type { ReadTransactions } from './read/postgres-read-transactions.ts';
import { ManyStatements, PostgresReader } from './read/postgres-reader.ts';
import { PostgresSnapshots } from './read/postgres-snapshots.ts';
import { batchSteps } from './write/postgres-batch.ts';

/** What an opening returned. */
export interface Opened {
  readonly id: number;
  readonly fence: number;
  /** The fence is that of an earlier opening: the first commit needs a new one. */
  readonly isForReads?: boolean;
}

interface PostgresStoreParts {
  readonly name: string;
  readonly opened: Opened;
  readonly instance: PostgresInstance;
  readonly transactions: ReadTransactions;
  /** Opens the store again, with a new fence. */
  readonly reopen: () => Promise<Opened>;
  /** Why a commit could not be completed now; undefined where it could. */
  readonly refusal: () => DomainError | undefined;
  /** Called when another node has taken the store. */
  readonly onFenced: () => void;
  /** @param isSettled - every commit was acknowledged or refused. */
  readonly onClose: (isSettled: boolean) => void;
}

const WRITE_SESSIONS = 8;
const READ_SESSIONS = 4;
/** A commit under way when the store is closed may have to wait for standbys that do not come back. */
const CLOSE_WAIT_MS = 5000;
const REFUSED_POLL_MS = 50;

export class PostgresStore implements Store {
  readonly name: string;
  readonly #parts: PostgresStoreParts;
  readonly #statements: StoreStatements;
  readonly #reader: PostgresReader;
  readonly #snapshots: PostgresSnapshots;
  readonly #readPlace: string;
  readonly #writePlace: string;
  #fence: number;
  /** A commit of unknown outcome may still land: nothing is read or written before a new fence. */
  #needsFence = false;
  /** Nothing is written before a new fence. */
  #isForReads: boolean;
  #fencing: Promise<void> | undefined;
  /** The last commit that was not sent at once. */
  #sending: Promise<void> | undefined;
  readonly #commits = new Set<Promise<unknown>>();
  #closing: Promise<void> | undefined;

  constructor(parts: PostgresStoreParts) {
    const { name, opened, instance, transactions } = parts;
    this.name = name;
    this.#parts = parts;
    this.#fence = opened.fence;
    this.#isForReads = opened.isForReads === true;
    this.#statements = storeStatements(instance.address.schema, opened.id);
    this.#readPlace = `read${opened.id % READ_SESSIONS}`;
    this.#writePlace = `write${opened.id % WRITE_SESSIONS}`;
    const live = (step: Step) => this.#readLive(step);
    this.#reader = new PostgresReader(this.#statements, live, false);
    this.#snapshots = new PostgresSnapshots({ statements: this.#statements, transactions, live });
  }

  get writeRefusal(): string | undefined {
    return this.#parts.refusal()?.message;
  }

  get answerWithinMs(): number {
    return MEMBER_WAIT_MS;
  }

  get(key: Bytes): Promise<Bytes | undefined> {
    this.#checkOpen();
    return this.#reader.get(key);
  }

  getMany(keys: readonly Bytes[]): Promise<readonly (Bytes | undefined)[]> {
    this.#checkOpen();
    return this.#reader.getMany(keys);
  }

  dereference(key: Bytes, prefix: number): Promise<Bytes | undefined> {
    this.#checkOpen();
    return this.#reader.dereference(key, prefix);
  }

  dereferenceMany(keys: readonly Bytes[], prefix: number): Promise<readonly (Bytes | undefined)[]> {
    this.#checkOpen();
    return this.#reader.dereferenceMany(keys, prefix);
  }

  async scan(range: KeyRange, options: ScanOptions): Promise<ScanPage> {
    this.#checkOpen();
    return this.#inOneState(
      () => this.#reader.scan(range, options),
      (snapshot) => snapshot.scan(range, options),
    );
  }

  async scanKeys(range: KeyRange, options: KeyScanOptions): Promise<KeyPage> {
    this.#checkOpen();
    return this.#inOneState(
      () => this.#reader.scanKeys(range, options),
      (snapshot) => snapshot.scanKeys(range, options),
    );
  }

  snapshot(): Snapshot | Promise<Snapshot> {
    this.#checkOpen();
    return this.#snapshots.acquire(this.#commits.size === 0);
  }

  async commit(batch: Batch): Promise<void> {
    this.#checkOpen();
    checkBatch(batch);
    const commit = this.#commit(batch);
    this.#commits.add(commit);
    try {
      await commit;
    } finally {
      this.#commits.delete(commit);
    }
  }

  async stats(): Promise<StoreStats> {
    this.#checkOpen();
    const { rows } = await this.#readLive({ statement: this.#statements.size, parameters: [] });
    return { bytesUsed: readInt8(rows[0]?.[0]?.[0]) };
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#snapshots.close(this.name);
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, CLOSE_WAIT_MS);
    });
    await Promise.race([Promise.allSettled(this.#commits), late]);
    clearTimeout(timer);
    this.#parts.onClose(this.#commits.size === 0 && !this.#needsFence);
  }

  /** Tries the live state, and a snapshot where the page takes more than one statement. */
  async #inOneState<T>(
    live: () => Promise<T>,
    read: (snapshot: Snapshot) => T | Promise<T>,
  ): Promise<T> {
    try {
      return await live();
    } catch (error) {
      if (!(error instanceof ManyStatements)) throw error;
    }
    const snapshot = await this.snapshot();
    try {
      return await read(snapshot);
    } finally {
      snapshot.release();
    }
  }

  /** A read that lost its session is sent again: to the same primary, or to the next one. */
  async #readLive(step: Step): Promise<StepsResult> {
    const { instance } = this.#parts;
    for (let tries = 1; ; tries++) {
      if (this.#needsFence) await this.#renewFence();
      const session = instance.ready(this.#readPlace) ?? (await instance.session(this.#readPlace));
      try {
        return await session.run([step]);
      } catch (error) {
        if (!isLost(error) || tries === LOST_TRIES_MAX) throw readFailure(error);
      }
    }
  }

  /** Sends at once where nothing is in the way: that is the rule. Else after the commits before it were sent. */
  async #commit(batch: Batch): Promise<void> {
    const retired = this.#snapshots.retireCurrent();
    const ready = this.#parts.instance.ready(this.#writePlace);
    const isFenced = !this.#needsFence && !this.#isForReads;
    const isFree = !retired && isFenced && !this.#sending && !this.writeRefusal;
    if (ready !== undefined && isFree) return this.#send(batch, ready);
    const before = this.#sending;
    let isSent = (): void => undefined;
    const sending = new Promise<void>((resolve) => {
      isSent = resolve;
    });
    this.#sending = sending;
    try {
      await before;
      await retired;
      const session = await this.#writeSession();
      const outcome = this.#send(batch, session);
      return outcome;
    } finally {
      if (this.#sending === sending) this.#sending = undefined;
      isSent();
    }
  }

  /**
   * Waits for as long as the quorum is missing, as a commit does that was sent: a partition whose commit failed would
   * have to be opened again. New writes are refused before they come here.
   */
  async #writeSession(): Promise<PostgresSession> {
    const { instance, refusal } = this.#parts;
    for (;;) {
      for (let why = refusal(); why !== undefined; why = refusal()) {
        if (this.#closing !== undefined) throw why;
        await new Promise((resolve) => setTimeout(resolve, REFUSED_POLL_MS));
      }
      if (!this.#needsFence && !this.#isForReads) break;
      try {
        await this.#renewFence();
      } catch (error) {
        if (refusal() === undefined) throw error;
      }
    }
    return instance.ready(this.#writePlace) ?? (await instance.session(this.#writePlace));
  }

  async #send(batch: Batch, session: PostgresSession): Promise<void> {
    const { id } = this.#parts.opened;
    const context = { statements: this.#statements, id, fence: this.#fence };
    const { steps, expectStep } = batchSteps(batch, context);
    try {
      const { rows, warning } = await session.run(steps);
      // The only warning of a commit is that it no longer waits for standbys.
      if (warning !== undefined) throw outcomeUnknown(warning.message);
      if (steps.length === 1 && readInt8(rows[0]?.[0]?.[0]) === 0) throw this.#fenced();
    } catch (error) {
      throw this.#failure(error, expectStep);
    } finally {
      this.#snapshots.committed();
    }
  }

  #failure(error: unknown, expectStep: number): unknown {
    const isZero = error instanceof StatementError && error.report.code === '22012';
    if (isZero && error.step === expectStep)
      return new ConflictError(`store ${this.name}: an expectation does not hold`);
    if (isZero) return this.#fenced();
    const failure = commitFailure(error);
    if (failure instanceof DomainError && failure.code === 'outcomeUnknown')
      this.#needsFence = true;
    return failure;
  }

  #fenced(): DomainError {
    this.#parts.onFenced();
    return unavailable(`Another node has taken over store ${this.name}.`);
  }

  /** One at a time. After it, no earlier commit can land, and the quorum has all that is read. */
  #renewFence(): Promise<void> {
    this.#fencing ??= this.#parts
      .reopen()
      .then(({ fence }) => {
        this.#fence = fence;
        this.#needsFence = false;
        this.#isForReads = false;
      })
      .finally(() => {
        this.#fencing = undefined;
      });
    return this.#fencing;
  }

  #checkOpen(): void {
    if (this.#closing !== undefined) throw closedStore(this.name);
  }
}
