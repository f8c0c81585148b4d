/**
 * Snapshots of one store. Only this process writes the store, so that the live state is a snapshot until the next commit:
 * a snapshot begins a read transaction only when a commit comes while it is in use, and the commit waits for that. Queries
 * between writes cost no transaction.
 */
import { assert, type Bytes } from '../../../base/index.ts';
import { closedStore } from '../../checks.ts';
import type {
  KeyPage,
  KeyRange,
  KeyScanOptions,
  ScanOptions,
  ScanPage,
  Snapshot,
} from '../../engine.ts';
import type { Step, StepsResult } from '../connect/postgres-session.ts';
import { readFailure } from '../postgres-failures.ts';
import type { StoreStatements } from '../postgres-statements.ts';
import type { Execute } from './postgres-gets.ts';
import type { ReadTransaction, ReadTransactions } from './postgres-read-transactions.ts';
import { PostgresReader } from './postgres-reader.ts';

interface SnapshotParts {
  readonly statements: StoreStatements;
  readonly transactions: ReadTransactions;
  /** Reads the live state. */
  readonly live: Execute;
  /** Notes a read: the store waits for it when it is closed. */
  readonly tracked: <T>(read: Promise<T>) => Promise<T>;
}

export class PostgresSnapshots {
  readonly #parts: SnapshotParts;
  readonly #states = new Set<SharedState>();
  /** The state that is live: nothing was written since it was first asked for. */
  #current: SharedState | undefined;
  #acknowledged = 0;
  #closedStore: string | undefined;

  constructor(parts: SnapshotParts) {
    this.#parts = parts;
  }

  /**
   * @param isQuiet - nothing is being written.
   * @param isOfPage - for a page that the store reads itself: it is answered while the store is being closed.
   */
  acquire(isQuiet: boolean, isOfPage = false): Snapshot | Promise<Snapshot> {
    if (this.#closedStore !== undefined) throw closedStore(this.#closedStore);
    if (isQuiet) {
      this.#current ??= this.#newState();
      return this.#current.snapshot(isOfPage);
    }
    const state = this.#newState();
    const snapshot = state.snapshot(isOfPage);
    return state.begin(this.#acknowledged).then(
      () => snapshot,
      (error) => {
        snapshot.release();
        throw readFailure(error);
      },
    );
  }

  /** Must be called before a commit is sent, which waits for the promise. */
  retireCurrent(): Promise<unknown> | undefined {
    const state = this.#current;
    this.#current = undefined;
    if (state === undefined || state.isUnused) return undefined;
    // A snapshot without a transaction fails in its next read; the commit goes on.
    const begun = state.begin(this.#acknowledged).catch(() => undefined);
    return Promise.all([begun, state.liveReads()]);
  }

  /** Called after every commit, whatever its outcome. */
  committed(): void {
    this.#acknowledged = this.#parts.transactions.acknowledge();
  }

  /** Snapshots in use take no more reads; those under way go on. */
  beginClose(storeName: string): void {
    for (const state of this.#states) state.refuse(storeName);
  }

  /** The reads under way are over, or were waited for long enough: what is left of them is refused. */
  close(storeName: string): void {
    this.#closedStore = storeName;
    this.#current = undefined;
    for (const state of [...this.#states]) state.end(storeName);
  }

  #newState(): SharedState {
    const state = new SharedState(this.#parts, () => {
      this.#states.delete(state);
      if (this.#current === state) this.#current = undefined;
    });
    this.#states.add(state);
    return state;
  }
}

/** One state of the store and the snapshots that show it. */
class SharedState {
  readonly #parts: SnapshotParts;
  readonly #onUnused: () => void;
  readonly #snapshots = new Set<PostgresSnapshot>();
  readonly #reader: PostgresReader;
  #begun: Promise<ReadTransaction> | undefined;
  #liveCount = 0;
  /** Set when the store was closed: a page that takes more statements must not go on in a later state. */
  #closedStore: string | undefined;
  readonly #whenNoneLive: (() => void)[] = [];

  constructor(parts: SnapshotParts, onUnused: () => void) {
    this.#parts = parts;
    this.#onUnused = onUnused;
    this.#reader = new PostgresReader(parts.statements, (step) => this.#execute(step), true);
  }

  get isUnused(): boolean {
    return this.#snapshots.size === 0;
  }

  snapshot(isOfPage: boolean): Snapshot {
    const { tracked } = this.#parts;
    const onRelease = () => {
      this.#snapshots.delete(snapshot);
      if (this.isUnused) this.end();
    };
    const options = { reader: this.#reader, tracked, isOfPage, onRelease };
    const snapshot: PostgresSnapshot = new PostgresSnapshot(options);
    this.#snapshots.add(snapshot);
    return snapshot;
  }

  /** From now on reads go to a read transaction. Resolves when it shows the state. */
  async begin(acknowledged: number): Promise<void> {
    this.#begun ??= this.#parts.transactions.join(acknowledged);
    this.#begun.catch(() => undefined);
    const { session } = await this.#begun;
    await session;
  }

  /** Resolves when no read of the live state is under way. */
  liveReads(): Promise<void> {
    if (this.#liveCount === 0) return Promise.resolve();
    return new Promise((resolve) => this.#whenNoneLive.push(resolve));
  }

  refuse(closed: string): void {
    for (const snapshot of this.#snapshots) if (!snapshot.isOfPage) snapshot.end(closed);
  }

  end(closed?: string): void {
    this.#closedStore = closed;
    if (closed !== undefined) for (const snapshot of [...this.#snapshots]) snapshot.end(closed);
    this.#snapshots.clear();
    this.#begun?.then(
      (transaction) => this.#parts.transactions.leave(transaction),
      () => undefined,
    );
    this.#begun = undefined;
    this.#onUnused();
  }

  async #execute(step: Step): Promise<StepsResult> {
    if (this.#closedStore !== undefined) throw closedStore(this.#closedStore);
    try {
      if (this.#begun === undefined) return await this.#executeLive(step);
      const { session } = await this.#begun;
      return await (await session).run([step]);
    } catch (error) {
      throw readFailure(error);
    }
  }

  async #executeLive(step: Step): Promise<StepsResult> {
    this.#liveCount++;
    try {
      return await this.#parts.live(step);
    } finally {
      this.#liveCount--;
      if (this.#liveCount === 0) for (const resolve of this.#whenNoneLive.splice(0)) resolve();
    }
  }
}

interface SnapshotOptions {
  readonly reader: PostgresReader;
  readonly tracked: SnapshotParts['tracked'];
  readonly isOfPage: boolean;
  readonly onRelease: () => void;
}

class PostgresSnapshot implements Snapshot {
  #reader: PostgresReader | undefined;
  #closedStore: string | undefined;
  readonly #tracked: SnapshotParts['tracked'];
  readonly isOfPage: boolean;
  readonly #onRelease: () => void;

  constructor({ reader, tracked, isOfPage, onRelease }: SnapshotOptions) {
    this.#reader = reader;
    this.#tracked = tracked;
    this.isOfPage = isOfPage;
    this.#onRelease = onRelease;
  }

  get(key: Bytes): Promise<Bytes | undefined> {
    return this.#tracked(this.#openReader().get(key));
  }

  getMany(keys: readonly Bytes[]): Promise<readonly (Bytes | undefined)[]> {
    return this.#tracked(this.#openReader().getMany(keys));
  }

  dereference(key: Bytes, prefix: number): Promise<Bytes | undefined> {
    return this.#tracked(this.#openReader().dereference(key, prefix));
  }

  dereferenceMany(keys: readonly Bytes[], prefix: number): Promise<readonly (Bytes | undefined)[]> {
    return this.#tracked(this.#openReader().dereferenceMany(keys, prefix));
  }

  scan(range: KeyRange, options: ScanOptions): Promise<ScanPage> {
    return this.#tracked(this.#openReader().scan(range, options));
  }

  scanKeys(range: KeyRange, options: KeyScanOptions): Promise<KeyPage> {
    return this.#tracked(this.#openReader().scanKeys(range, options));
  }

  release(): void {
    if (this.#reader === undefined) return;
    this.#reader = undefined;
    this.#onRelease();
  }

  /** The store is closed: later reads say so. */
  end(closed: string): void {
    this.#closedStore = closed;
    this.#reader = undefined;
  }

  #openReader(): PostgresReader {
    if (this.#closedStore !== undefined) throw closedStore(this.#closedStore);
    assert(this.#reader !== undefined, 'the snapshot is released');
    return this.#reader;
  }
}
