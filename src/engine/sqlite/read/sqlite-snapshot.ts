/**
 * Snapshots of one store: a bounded pool of connections, each pinned to its moment while snapshots have it.
 *
 * Pinning and letting go are locks of the file, dearer than a short read. So those who ask while nothing is written
 * share one moment, and its connection stays as it is for the next until somebody commits.
 */
import { AssertionError, assert, type Bytes } from '../../../base/index.ts';
import type {
  KeyPage,
  KeyRange,
  KeyScanOptions,
  ScanOptions,
  ScanPage,
  Snapshot,
} from '../../engine.ts';
import { SqliteReader } from './sqlite-reader.ts';

/** Each moment that is looked at takes a connection (two file descriptors) and holds back the log; callers beyond wait. */
const MOMENTS_MAX = 8;

/** A pinned connection, with those who look through it. */
interface Moment {
  readonly reader: SqliteReader;
  readonly snapshots: Set<SqliteSnapshot>;
}

export class SqliteSnapshots {
  readonly #path: string;
  readonly #idle: SqliteReader[] = [];
  readonly #readTransactions = new Set<Moment>();
  /** The moment that still is the last; nobody may be looking. */
  #current: Moment | undefined;
  readonly #waiting: { grant: (snapshot: Snapshot) => void; refuse: (error: unknown) => void }[] =
    [];

  constructor(path: string) {
    this.#path = path;
  }

  /** @param isQuiet - nothing is being written: what is seen now stays the last until `pass` is called. */
  take(isQuiet: boolean): Snapshot | Promise<Snapshot> {
    if (this.#current !== undefined) return this.#grant(this.#current);
    if (this.#readTransactions.size < MOMENTS_MAX) return this.#grant(this.#open(isQuiet));
    return new Promise((grant, refuse) => this.#waiting.push({ grant, refuse }));
  }

  /** Somebody is about to write: what is seen so far is the past, and held only by those who look at it. */
  retireShared(): void {
    const moment = this.#current;
    if (moment === undefined) return;
    this.#current = undefined;
    if (moment.snapshots.size === 0) this.#end(moment);
  }

  /** Ends the snapshots that are open and refuses those that wait. */
  close(): void {
    for (const { refuse } of this.#waiting.splice(0))
      refuse(new AssertionError('the store was closed while a snapshot was waited for'));
    this.retireShared();
    for (const { snapshots } of [...this.#readTransactions])
      for (const snapshot of [...snapshots]) snapshot.release();
    for (const reader of this.#idle.splice(0)) reader.close();
  }

  #open(isQuiet: boolean): Moment {
    const reader = this.#idle.pop() ?? new SqliteReader(this.#path);
    try {
      reader.beginReadTransaction();
    } catch (error) {
      reader.close();
      throw error;
    }
    const moment: Moment = { reader, snapshots: new Set() };
    this.#readTransactions.add(moment);
    if (isQuiet) this.#current = moment;
    return moment;
  }

  #grant(moment: Moment): Snapshot {
    const snapshot = new SqliteSnapshot(moment.reader, () => this.#putBack(moment, snapshot));
    moment.snapshots.add(snapshot);
    return snapshot;
  }

  #putBack(moment: Moment, snapshot: SqliteSnapshot): void {
    moment.snapshots.delete(snapshot);
    if (moment.snapshots.size === 0 && moment !== this.#current) this.#end(moment);
  }

  #end(moment: Moment): void {
    this.#readTransactions.delete(moment);
    moment.reader.endReadTransaction();
    this.#idle.push(moment.reader);
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
  readonly #onRelease: () => void;

  constructor(reader: SqliteReader, onRelease: () => void) {
    this.#reader = reader;
    this.#onRelease = onRelease;
  }

  get(key: Bytes): Bytes | undefined {
    return this.#pinned().get(key);
  }

  getMany(keys: readonly Bytes[]): readonly (Bytes | undefined)[] {
    return this.#pinned().getMany(keys);
  }

  dereference(key: Bytes, prefix: number): Bytes | undefined {
    return this.#pinned().dereference(key, prefix);
  }

  scan(range: KeyRange, options: ScanOptions): ScanPage {
    return this.#pinned().scan(range, options);
  }

  scanKeys(range: KeyRange, options: KeyScanOptions): KeyPage {
    return this.#pinned().scanKeys(range, options);
  }

  release(): void {
    if (this.#reader === undefined) return;
    this.#reader = undefined;
    this.#onRelease();
  }

  #pinned(): SqliteReader {
    assert(this.#reader !== undefined, 'the snapshot is released');
    return this.#reader;
  }
}
