/** One open store: a table, and the two sessions that it keeps to, one for reads and one for commits. */
import type { Bytes, DomainError } from '../../base/index.ts';
import { checkBatch, closedStore } from '../checks.ts';
import type {
  Batch,
  KeyPage,
  KeyRange,
  KeyScanOptions,
  ScanOptions,
  ScanPage,
  Snapshot,
  Store,
  StoreStats,
} from '../engine.ts';
import type { PostgresInstance } from './connect/postgres-instance.ts';
import { readInt8 } from './connect/postgres-messages.ts';
import type { Step, StepsResult } from './connect/postgres-session.ts';
import { isLost, LOST_TRIES_MAX, MEMBER_WAIT_MS, readFailure } from './postgres-failures.ts';
import { type StoreStatements, storeStatements } from './postgres-statements.ts';
import type { ReadTransactions } from './read/postgres-read-transactions.ts';
import { ManyStatements, PostgresReader } from './read/postgres-reader.ts';
import { PostgresSnapshots } from './read/postgres-snapshots.ts';
import { PostgresCommits } from './write/postgres-commits.ts';
import type { PostgresFence } from './write/postgres-fence.ts';

interface PostgresStoreParts {
  readonly name: string;
  readonly fence: PostgresFence;
  readonly instance: PostgresInstance;
  readonly transactions: ReadTransactions;
  /** Why a commit could not be completed now; undefined where it could. */
  readonly refusal: () => DomainError | undefined;
  /** @param isSettled - every commit was acknowledged or refused. */
  readonly onClose: (isSettled: boolean) => void;
}

const WRITE_SESSIONS = 8;
const READ_SESSIONS = 4;
/** A commit under way when the store is closed may have to wait for standbys that do not come back. */
const CLOSE_WAIT_MS = 5000;

export class PostgresStore implements Store {
  readonly name: string;
  readonly #parts: PostgresStoreParts;
  readonly #statements: StoreStatements;
  readonly #reader: PostgresReader;
  readonly #snapshots: PostgresSnapshots;
  readonly #commits: PostgresCommits;
  readonly #readPlace: string;
  readonly #reads = new Set<Promise<unknown>>();
  #closing: Promise<void> | undefined;

  constructor(parts: PostgresStoreParts) {
    const { name, fence, instance, transactions, refusal } = parts;
    const { storeId } = fence;
    this.name = name;
    this.#parts = parts;
    const statements = storeStatements(instance.address.schema, storeId);
    this.#statements = statements;
    this.#readPlace = `read${storeId % READ_SESSIONS}`;
    const live = (step: Step) => this.#readLive(step);
    this.#reader = new PostgresReader(statements, live, false);
    const snapshots = new PostgresSnapshots({
      statements,
      transactions,
      live,
      tracked: (read) => this.#tracked(read),
    });
    this.#snapshots = snapshots;
    const place = `write${storeId % WRITE_SESSIONS}`;
    this.#commits = new PostgresCommits({
      name,
      place,
      instance,
      statements,
      snapshots,
      fence,
      refusal,
    });
  }

  get writeRefusal(): string | undefined {
    return this.#parts.refusal()?.message;
  }

  get answerWithinMs(): number {
    return MEMBER_WAIT_MS;
  }

  get(key: Bytes): Promise<Bytes | undefined> {
    this.#checkOpen();
    return this.#tracked(this.#reader.get(key));
  }

  getMany(keys: readonly Bytes[]): Promise<readonly (Bytes | undefined)[]> {
    this.#checkOpen();
    return this.#tracked(this.#reader.getMany(keys));
  }

  dereference(key: Bytes, prefix: number): Promise<Bytes | undefined> {
    this.#checkOpen();
    return this.#tracked(this.#reader.dereference(key, prefix));
  }

  dereferenceMany(keys: readonly Bytes[], prefix: number): Promise<readonly (Bytes | undefined)[]> {
    this.#checkOpen();
    return this.#tracked(this.#reader.dereferenceMany(keys, prefix));
  }

  async scan(range: KeyRange, options: ScanOptions): Promise<ScanPage> {
    this.#checkOpen();
    const read = this.#inOneState(
      () => this.#reader.scan(range, options),
      (snapshot) => snapshot.scan(range, options),
    );
    return this.#tracked(read);
  }

  async scanKeys(range: KeyRange, options: KeyScanOptions): Promise<KeyPage> {
    this.#checkOpen();
    const read = this.#inOneState(
      () => this.#reader.scanKeys(range, options),
      (snapshot) => snapshot.scanKeys(range, options),
    );
    return this.#tracked(read);
  }

  snapshot(): Snapshot | Promise<Snapshot> {
    this.#checkOpen();
    return this.#snapshot(false);
  }

  #snapshot(isOfPage: boolean): Snapshot | Promise<Snapshot> {
    const acquire = () => this.#snapshots.acquire(this.#commits.isQuiet, isOfPage);
    return this.#commits.isUncertain ? this.#commits.whenCertain().then(acquire) : acquire();
  }

  async commit(batch: Batch): Promise<void> {
    this.#checkOpen();
    checkBatch(batch);
    await this.#commits.commit(batch);
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
    this.#snapshots.beginClose(this.name);
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, CLOSE_WAIT_MS);
    });
    await Promise.race([
      Promise.all([this.#commits.close(), Promise.allSettled(this.#reads)]),
      late,
    ]);
    clearTimeout(timer);
    this.#snapshots.close(this.name);
    this.#parts.onClose(this.#commits.isQuiet && !this.#commits.isUncertain);
  }

  /** What was asked for before the store is closed is answered: its table may be dropped then. */
  #tracked<T>(read: Promise<T>): Promise<T> {
    this.#reads.add(read);
    const forget = () => this.#reads.delete(read);
    read.then(forget, forget);
    return read;
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
    const snapshot = await this.#snapshot(true);
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
      if (this.#commits.isUncertain) await this.#commits.whenCertain();
      const session = instance.ready(this.#readPlace) ?? (await instance.session(this.#readPlace));
      try {
        return await session.run([step]);
      } catch (error) {
        if (!isLost(error) || tries === LOST_TRIES_MAX) throw readFailure(error);
      }
    }
  }

  #checkOpen(): void {
    if (this.#closing !== undefined) throw closedStore(this.name);
  }
}
