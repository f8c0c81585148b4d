/** One connection for reading, with its statements prepared. Not an owner of moments: see sqlite-snapshot.ts. */
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import type { Bytes } from '../../base/index.ts';
import { checkKey, checkPrefix, checkScan } from '../checks.ts';
import type { KeyRange, ReadView, ScanOptions, ScanPage } from '../engine.ts';
import { type ScanConnection, SqliteScans } from './sqlite-scan.ts';
import { BEGIN_READ, COMMIT, FOLLOW, GET, PIN } from './sqlite-statements.ts';

/**
 * Pages come from the mapped file instead of a private cache: 8.5 us instead of 13 per point read. The figure is an
 * upper bound of address space, not memory; SQLite maps what the file has.
 */
const MMAP_BYTES = 2 ** 40;
/** Readers wait for nobody in WAL mode, except while a log is recovered. */
const BUSY_TIMEOUT_MS = 5000;
const PREFIXES: readonly Bytes[] = Array.from({ length: 256 }, (_, byte) => Uint8Array.of(byte));

export class SqliteReader implements ReadView, ScanConnection {
  readonly #database: DatabaseSync;
  readonly #get: StatementSync;
  readonly #follow: StatementSync;
  readonly #begin: StatementSync;
  readonly #pin: StatementSync;
  readonly #commit: StatementSync;
  readonly #scans = new SqliteScans(this);
  #isPinned = false;

  constructor(path: string) {
    this.#database = new DatabaseSync(path, { readOnly: true, timeout: BUSY_TIMEOUT_MS });
    this.#database.exec(`PRAGMA mmap_size = ${MMAP_BYTES}`);
    this.#get = this.prepare(GET);
    this.#follow = this.prepare(FOLLOW);
    this.#begin = this.prepare(BEGIN_READ);
    this.#pin = this.prepare(PIN);
    this.#commit = this.prepare(COMMIT);
  }

  /** From here to `unpin` all reads are of one moment. */
  pin(): void {
    this.#begin.run();
    this.#isPinned = true;
    this.#pin.get();
  }

  unpin(): void {
    this.#isPinned = false;
    this.#commit.run();
  }

  get(key: Bytes): Bytes | undefined {
    checkKey(key);
    return column(this.#get.get(key));
  }

  getMany(keys: readonly Bytes[]): readonly (Bytes | undefined)[] {
    return keys.length < 2
      ? keys.map((key) => this.get(key))
      : this.atOneMoment(() => keys.map((key) => this.get(key)));
  }

  follow(key: Bytes, prefix: number): Bytes | undefined {
    checkKey(key);
    checkPrefix(prefix);
    return column(this.#follow.get(PREFIXES[prefix] as Bytes, key));
  }

  scan(range: KeyRange, options: ScanOptions): ScanPage {
    checkScan(range, options);
    return this.#scans.scan(range, options);
  }

  close(): void {
    this.#database.close();
  }

  atOneMoment<T>(read: () => T): T {
    if (this.#isPinned) return read();
    this.#begin.run();
    try {
      return read();
    } finally {
      this.#commit.run();
    }
  }

  prepare(text: string): StatementSync {
    const statement = this.#database.prepare(text);
    statement.setReturnArrays(true);
    return statement;
  }
}

function column(row: unknown): Bytes | undefined {
  return row === undefined ? undefined : (row as readonly [Bytes])[0];
}
