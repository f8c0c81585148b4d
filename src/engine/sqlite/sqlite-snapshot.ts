/** Snapshots of one store: a bounded pool of connections, each pinned to its moment while a snapshot has it. */
import { AssertionError, assert, type Bytes } from '../../base/index.ts';
import type {
  KeyPage,
  KeyRange,
  KeyScanOptions,
  ScanOptions,
  ScanPage,
  Snapshot,
} from '../engine.ts';
import { SqliteReader } from './sqlite-reader.ts';

/** Each open snapshot takes a connection (two file descriptors) and holds back the log; callers beyond this wait. */
const SNAPSHOTS_MAX = 8;

export class SqliteSnapshots {
  readonly #path: string;
  readonly #idle: SqliteReader[] = [];
  readonly #taken = new Set<SqliteSnapshot>();
  readonly #waiting: { grant: (snapshot: Snapshot) => void; refuse: (error: unknown) => void }[] =
    [];

  constructor(path: string) {
    this.#path = path;
  }

  take(): Snapshot | Promise<Snapshot> {
    if (this.#taken.size < SNAPSHOTS_MAX) return this.#grant();
    return new Promise((grant, refuse) => this.#waiting.push({ grant, refuse }));
  }

  /** Ends the snapshots that are open and refuses those that wait. */
  close(): void {
    for (const { refuse } of this.#waiting.splice(0))
      refuse(new AssertionError('the store was closed while a snapshot was waited for'));
    for (const snapshot of [...this.#taken]) snapshot.release();
    for (const reader of this.#idle.splice(0)) reader.close();
  }

  #grant(): Snapshot {
    const reader = this.#idle.pop() ?? new SqliteReader(this.#path);
    try {
      reader.pin();
    } catch (error) {
      reader.close();
      throw error;
    }
    const snapshot = new SqliteSnapshot(reader, () => this.#putBack(snapshot, reader));
    this.#taken.add(snapshot);
    return snapshot;
  }

  #putBack(snapshot: SqliteSnapshot, reader: SqliteReader): void {
    reader.unpin();
    this.#idle.push(reader);
    this.#taken.delete(snapshot);
    this.#serveWaiting();
  }

  #serveWaiting(): void {
    const next = this.#waiting.shift();
    if (next === undefined) return;
    try {
      next.grant(this.#grant());
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

  follow(key: Bytes, prefix: number): Bytes | undefined {
    return this.#pinned().follow(key, prefix);
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
