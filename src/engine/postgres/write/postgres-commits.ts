/**
 * The commits of one store, in the order in which they were asked for. They are sent at once and many are under way; all
 * of them on one session, which PostgreSQL serves in order.
 *
 * Where that session is lost, nobody knows which of them took effect. A new fence makes certain that no more of them will.
 * Then those that were lost are written once more, all of them, in their order and before any later one: what they leave
 * is then the same whether they had taken effect or not. So the owner of the store waits, and keeps what it has in memory.
 */
import { assert, type DomainError } from '../../../base/index.ts';
import { closedStore } from '../../checks.ts';
import { type Batch, ConflictError } from '../../engine.ts';
import type { PostgresInstance } from '../connect/postgres-instance.ts';
import { readInt8 } from '../connect/postgres-messages.ts';
import { type PostgresSession, StatementError } from '../connect/postgres-session.ts';
import {
  commitFailure,
  isUnknown,
  MEMBER_WAIT_MS,
  outcomeUnknown,
  REFUSED_POLL_MS,
  unavailable,
} from '../postgres-failures.ts';
import type { StoreStatements } from '../postgres-statements.ts';
import type { PostgresSnapshots } from '../read/postgres-snapshots.ts';
import { batchSteps } from './postgres-batch.ts';
import type { PostgresFence } from './postgres-fence.ts';

interface CommitsParts {
  readonly name: string;
  readonly place: string;
  readonly instance: PostgresInstance;
  readonly statements: StoreStatements;
  readonly snapshots: PostgresSnapshots;
  readonly fence: PostgresFence;
  /** Why a commit could not be completed now; undefined where it could. */
  readonly refusal: () => DomainError | undefined;
}

interface Commit {
  readonly number: number;
  readonly batch: Batch;
  /** Settled when snapshots in use no longer need the live state. */
  readonly retired: Promise<unknown> | undefined;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
  /** Why it is unknown whether it took effect. */
  lost: DomainError | undefined;
}

export class PostgresCommits {
  readonly #parts: CommitsParts;
  #lastNumber = 0;
  /** The last one that is certain to have taken effect: none before it may be written once more. */
  #acknowledged = 0;
  /** Sent and not answered, each list in order. */
  readonly #sent = new Set<Commit>();
  /** The session of those that were sent. */
  #session: PostgresSession | undefined;
  #lost: Commit[] = [];
  #waiting: Commit[] = [];
  #working: Promise<void> | undefined;
  #isClosing = false;

  constructor(parts: CommitsParts) {
    this.#parts = parts;
  }

  /** Nothing is being written. */
  get isQuiet(): boolean {
    return this.#sent.size + this.#lost.length + this.#waiting.length === 0;
  }

  /** A commit of unknown outcome may still land, or those that were lost are not written yet: nothing is read. */
  get isUncertain(): boolean {
    return this.#parts.fence.isLost || this.#lost.length > 0;
  }

  /** Rejects at once where that would take a quorum or a primary that is missing. */
  async whenCertain(): Promise<void> {
    const deadlineMs = performance.now() + MEMBER_WAIT_MS;
    while (this.isUncertain) {
      const why = this.#parts.refusal();
      if (why !== undefined) throw why;
      if (this.#isClosing) throw closedStore(this.#parts.name);
      if (performance.now() > deadlineMs) throw unavailable('The outcome of a write is unknown.');
      await Promise.race([this.#work(), poll()]);
    }
  }

  commit(batch: Batch): Promise<void> {
    return new Promise((resolve, reject) => {
      const retired = this.#parts.snapshots.retireCurrent();
      const number = ++this.#lastNumber;
      const commit: Commit = { number, batch, retired, resolve, reject, lost: undefined };
      const session = this.#readySession();
      // That nothing is in the way is the rule.
      if (session !== undefined && retired === undefined && this.#working === undefined)
        void this.#send(commit, session);
      else {
        this.#waiting.push(commit);
        this.#work().catch(() => undefined);
      }
    });
  }

  /** Resolves when every commit is answered. Those that were lost, or would have to wait for replicas, are given up. */
  async close(): Promise<void> {
    this.#isClosing = true;
    while (this.#working !== undefined) await this.#working.catch(() => undefined);
    while (this.#sent.size > 0) await poll();
  }

  /** Undefined where a commit has to wait before it is sent. */
  #readySession(): PostgresSession | undefined {
    const { instance, place, fence, refusal } = this.#parts;
    if (!fence.isValid || this.#lost.length > 0 || refusal() !== undefined) return undefined;
    const session = instance.ready(place);
    // Those before it are on another session only while their loss is being noted.
    return this.#sent.size > 0 && session !== this.#session ? undefined : session;
  }

  /** One at a time. Rejects where it was given up, with all commits that waited. */
  #work(): Promise<void> {
    this.#working ??= this.#workOff()
      .catch((error: unknown) => {
        this.#giveUp(error);
        throw error;
      })
      .finally(() => {
        this.#working = undefined;
        if (this.#waiting.length > 0) this.#work().catch(() => undefined);
      });
    this.#working.catch(() => undefined);
    return this.#working;
  }

  async #workOff(): Promise<void> {
    for (;;) {
      const session = await this.#nextSession();
      const [lost] = this.#lost;
      if (lost !== undefined) {
        await this.#sendAgain(lost, session);
        continue;
      }
      const next = this.#waiting[0];
      if (next === undefined) return;
      await next.retired;
      if (this.#readySession() !== session) continue;
      this.#waiting.shift();
      void this.#send(next, session);
    }
  }

  /**
   * The session for the next commit. Waits for as long as the quorum or the primary is missing, as a commit does that was
   * sent: a partition whose commit failed would have to be opened again, and could not be.
   */
  async #nextSession(): Promise<PostgresSession> {
    const { instance, place, fence, refusal } = this.#parts;
    let deadlineMs = performance.now() + MEMBER_WAIT_MS;
    for (;;) {
      const why = refusal();
      if (this.#isClosing && (why !== undefined || this.isUncertain))
        throw closedStore(this.#parts.name);
      if (why !== undefined) deadlineMs = performance.now() + MEMBER_WAIT_MS;
      else
        try {
          if (this.#sent.size === 0 && !fence.isValid) await fence.renew();
          const session = await instance.session(place);
          const isNext = this.#sent.size === 0 || session === this.#session;
          if (fence.isValid && isNext && session.isOpen) return session;
        } catch (error) {
          const isFinal = fence.isTaken || this.#isClosing || performance.now() > deadlineMs;
          if (isFinal && refusal() === undefined) throw error;
        }
      await poll();
    }
  }

  async #send(commit: Commit, session: PostgresSession): Promise<void> {
    this.#sent.add(commit);
    this.#session = session;
    try {
      await this.#run(commit.batch, session);
      this.#acknowledged = Math.max(this.#acknowledged, commit.number);
      commit.resolve();
    } catch (error) {
      if (isUnknown(error)) this.#lose(commit, error);
      else commit.reject(commit.lost ?? error);
    } finally {
      this.#sent.delete(commit);
      this.#parts.snapshots.committed();
    }
  }

  /** The first of those that were lost. */
  async #sendAgain(commit: Commit, session: PostgresSession): Promise<void> {
    assert(this.#sent.size === 0 && this.#lost[0] === commit, 'commits are sent in order');
    this.#lost.shift();
    // A later one that is certain must not be overwritten.
    if (commit.number < this.#acknowledged) commit.reject(commit.lost);
    else await this.#send(commit, session);
  }

  /** Those that were sent after it are lost too: with it they are written once more. */
  #lose(commit: Commit, error: DomainError): void {
    this.#parts.fence.lose();
    this.#session?.destroy(error.message);
    commit.lost ??= error;
    const { expects = [] } = commit.batch;
    if (expects.length > 0 || this.#isClosing) {
      commit.reject(commit.lost);
      return;
    }
    this.#lost.push(commit);
    this.#lost.sort((one, other) => one.number - other.number);
    this.#work().catch(() => undefined);
  }

  #giveUp(error: unknown): void {
    for (const commit of this.#lost.splice(0)) commit.reject(commit.lost);
    for (const commit of this.#waiting.splice(0)) commit.reject(error);
  }

  async #run(batch: Batch, session: PostgresSession): Promise<void> {
    const { statements, fence } = this.#parts;
    const context = { statements, id: fence.storeId, fence: fence.number };
    const { steps, expectStep } = batchSteps(batch, context);
    try {
      const { rows, warning } = await session.run(steps);
      // The only warning of a commit is that it no longer waits for standbys.
      if (warning !== undefined) throw outcomeUnknown(warning.message);
      if (steps.length === 1 && readInt8(rows[0]?.[0]?.[0]) === 0) throw this.#fenced();
    } catch (error) {
      const isZero = error instanceof StatementError && error.report.code === '22012';
      if (isZero && error.step === expectStep)
        throw new ConflictError(`store ${this.#parts.name}: an expectation does not hold`);
      throw isZero ? this.#fenced() : commitFailure(error);
    }
  }

  #fenced(): DomainError {
    this.#parts.fence.take();
    return unavailable(`Another node has taken over store ${this.#parts.name}.`);
  }
}

function poll(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, REFUSED_POLL_MS));
}
