/** One open store: reads on the calling thread, commits through its writer. */
import type { Bytes } from '../../base/index.ts';
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
import { SqliteReader } from './read/sqlite-reader.ts';
import { SqliteSnapshots } from './read/sqlite-snapshot.ts';
import type { StoreWriter } from './write/sqlite-store-writer.ts';

interface SqliteStoreParts {
  readonly name: string;
  readonly path: string;
  readonly writer: StoreWriter;
  readonly onClose: () => void;
}

export class SqliteStore implements Store {
  readonly name: string;
  readonly #writer: StoreWriter;
  readonly #onClose: () => void;
  readonly #reader: SqliteReader;
  readonly #snapshots: SqliteSnapshots;
  /** Commits that are not acknowledged yet. */
  #commits = 0;
  #closing: Promise<void> | undefined;

  constructor({ name, path, writer, onClose }: SqliteStoreParts) {
    this.name = name;
    this.#writer = writer;
    this.#onClose = onClose;
    this.#reader = new SqliteReader(path);
    this.#snapshots = new SqliteSnapshots(path, name);
  }

  get(key: Bytes): Bytes | undefined {
    return this.#currentReader().get(key);
  }

  getMany(keys: readonly Bytes[]): readonly (Bytes | undefined)[] {
    return this.#currentReader().getMany(keys);
  }

  dereference(key: Bytes, prefix: number): Bytes | undefined {
    return this.#currentReader().dereference(key, prefix);
  }

  dereferenceMany(keys: readonly Bytes[], prefix: number): readonly (Bytes | undefined)[] {
    return this.#currentReader().dereferenceMany(keys, prefix);
  }

  scan(range: KeyRange, options: ScanOptions): ScanPage {
    return this.#currentReader().scan(range, options);
  }

  scanKeys(range: KeyRange, options: KeyScanOptions): KeyPage {
    return this.#currentReader().scanKeys(range, options);
  }

  snapshot(): Snapshot | Promise<Snapshot> {
    this.#checkOpen();
    return this.#snapshots.acquire(this.#commits === 0);
  }

  async commit(batch: Batch): Promise<void> {
    this.#checkOpen();
    checkBatch(batch);
    this.#reader.endReadTransaction();
    this.#snapshots.retireShared();
    this.#commits++;
    try {
      await this.#writer.commit(batch);
    } finally {
      this.#commits--;
    }
  }

  stats(): StoreStats {
    this.#checkOpen();
    return { bytesUsed: this.#reader.bytesUsed() };
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  /** The readers are closed first, so that the writer is the last connection and leaves one file. */
  async #close(): Promise<void> {
    this.#snapshots.close();
    this.#reader.close();
    try {
      await this.#writer.close();
    } finally {
      this.#onClose();
    }
  }

  /** One read transaction serves all reads while nothing is written: none of them has to lock and unlock the file. */
  #currentReader(): SqliteReader {
    this.#checkOpen();
    if (this.#commits === 0) this.#reader.beginReadTransaction();
    return this.#reader;
  }

  #checkOpen(): void {
    if (this.#closing !== undefined) throw closedStore(this.name);
  }
}
