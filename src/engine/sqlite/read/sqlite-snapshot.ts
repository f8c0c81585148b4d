/**
 * Snapshots of one store: a bounded pool of connections, each in a read transaction while snapshots use it.
 *
 * Beginning and ending a read transaction locks the file, which is more expensive than a short read. So snapshots
 * that are taken while nothing is written share one read transaction. Its connection keeps it for the next snapshot
 * until the next commit.
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
import { SqliteReader } from './sqlite-reader.ts';

/**
 * Each read transaction takes a connection (two file descriptors) and prevents the log from restarting. Further
 * callers wait.
 */
const READ_TRANSACTIONS_MAX = 8;

/** A connection in a read transaction, with the snapshots that use it. */
interface ReadTransaction {
  readonly reader: SqliteReader;
  readonly snapshots: Set<SqliteSnapshot>;
}

export class SqliteSnapshots {
  readonly #path: string;
  readonly #storeName: string;
  readonly #idle: SqliteReader[] = [];
  readonly #readTransactions = new Set<ReadTransaction>();
  /** The read transaction that sees the last commit; it may have no snapshots. */
  #current: ReadTransaction | undefined;
  readonly #waiting: { grant: (snapshot: Snapshot) => void; refuse: (error: unknown) => void }[] =
    [];

  constructor(path: string, storeName: string) {
    this.#path = path;
    this.#storeName = storeName;
  }

  /** @param isQuiet - nothing is being written: the state stays the last one until `retireShared` is called. */
  acquire(isQuiet: boolean): Snapshot | Promise<Snapshot> {
    if (this.#current !== undefined) return this.#grant(this.#current);
    if (this.#readTransactions.size < READ_TRANSACTIONS_MAX)
      return this.#grant(this.#open(isQuiet));
    return new Promise((grant, refuse) => this.#waiting.push({ grant, refuse }));
  }

  /** Must be called before a commit: the shared state becomes old, and only its open snapshots keep it. */
  retireShared(): void {
    const transaction = this.#current;
    if (transaction === undefined) return;
    this.#current = undefined;
    if (transaction.snapshots.size === 0) this.#end(transaction);
  }

  /** Ends open snapshots and refuses waiting callers. */
  close(): void {
    for (const { refuse } of this.#waiting.splice(0)) refuse(closedStore(this.#storeName));
    this.retireShared();
    for (const { snapshots } of [...this.#readTransactions])
      for (const snapshot of [...snapshots]) snapshot.end(this.#storeName);
    for (const reader of this.#idle.splice(0)) reader.close();
  }

  #open(isQuiet: boolean): ReadTransaction {
    const reader = this.#idle.pop() ?? new SqliteReader(this.#path);
    try {
      reader.beginReadTransaction();
    } catch (error) {
      reader.close();
      throw error;
    }
    const transaction: ReadTransaction = { reader, snapshots: new Set() };
    this.#readTransactions.add(transaction);
    if (isQuiet) this.#current = transaction;
    return transaction;
  }

  #grant(transaction: ReadTransaction): Snapshot {
    const snapshot = new SqliteSnapshot(transaction.reader, () =>
      this.#release(transaction, snapshot),
    );
    transaction.snapshots.add(snapshot);
    return snapshot;
  }

  #release(transaction: ReadTransaction, snapshot: SqliteSnapshot): void {
    transaction.snapshots.delete(snapshot);
    if (transaction.snapshots.size === 0 && transaction !== this.#current) this.#end(transaction);
  }

  #end(transaction: ReadTransaction): void {
    this.#readTransactions.delete(transaction);
    transaction.reader.endReadTransaction();
    this.#idle.push(transaction.reader);
    this.#serveWaiting();
  }

  #serveWaiting(): void {
    const next = this.#waiting.shift();
    if (next === undefined) return;
    try {
      next.grant(this.#grant(this.#open(false)));
    } catch (error) {
      next.refuse(error);
    }
  }
}

class SqliteSnapshot implements Snapshot {
  #reader: SqliteReader | undefined;
  #closedStore: string | undefined;
  readonly #onRelease: () => void;

  constructor(reader: SqliteReader, onRelease: () => void) {
    this.#reader = reader;
    this.#onRelease = onRelease;
  }

  get(key: Bytes): Bytes | undefined {
    return this.#openReader().get(key);
  }

  getMany(keys: readonly Bytes[]): readonly (Bytes | undefined)[] {
    return this.#openReader().getMany(keys);
  }

  dereference(key: Bytes, prefix: number): Bytes | undefined {
    return this.#openReader().dereference(key, prefix);
  }

  dereferenceMany(keys: readonly Bytes[], prefix: number): readonly (Bytes | undefined)[] {
    return this.#openReader().dereferenceMany(keys, prefix);
  }

  scan(range: KeyRange, options: ScanOptions): ScanPage {
    return this.#openReader().scan(range, options);
  }

  scanKeys(range: KeyRange, options: KeyScanOptions): KeyPage {
    return this.#openReader().scanKeys(range, options);
  }

  release(): void {
    if (this.#reader === undefined) return;
    this.#reader = undefined;
    this.#onRelease();
  }

  /** The store is closed: later reads say so. */
  end(closed: string): void {
    this.#closedStore = closed;
    this.release();
  }

  #openReader(): SqliteReader {
    if (this.#closedStore !== undefined) throw closedStore(this.#closedStore);
    assert(this.#reader !== undefined, 'the snapshot is released');
    return this.#reader;
  }
}
