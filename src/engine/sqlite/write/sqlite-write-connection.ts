/** The connection that writes one store, in a writer thread: group commit and the end of the log. */
import { closeSync, openSync } from 'node:fs';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { type Bytes, concatBytes, EMPTY_BYTES, equalBytes } from '../../../base/index.ts';
import type { Batch, Entry, Expectation, KeyRange } from '../../engine.ts';
import {
  integerOfKey,
  integerOfValue,
  integersWithin,
  isIntegerKeyed,
} from '../../integer-keys.ts';
import { Gets } from '../read/sqlite-gets.ts';
import { AFTER_ALL_KEYS } from '../read/sqlite-ranges.ts';
import { MMAP_BYTES } from '../read/sqlite-reader.ts';
import { PAGE_BYTES, prepareFile } from '../sqlite-file.ts';
import {
  APPEND,
  APPEND_BY_INTEGER,
  BEGIN_WRITE,
  COMMIT,
  DELETE,
  DELETE_BY_INTEGER,
  DELETE_INTEGER_RANGE,
  DELETE_RANGE,
  LOG_STATE,
  ROLLBACK,
} from '../sqlite-statements.ts';
import type { LogState } from './sqlite-checkpoint-policy.ts';
import type { StoreSettings } from './sqlite-protocol.ts';
import { Puts } from './sqlite-puts.ts';

/** Another writer of the file is a mistake of operation; wait for it a little, then fail the commit. */
const BUSY_TIMEOUT_MS = 5000;
/** Snapshots are short-lived. Longer ones delay the restart of the log, not the writer. */
const RESTART_TIMEOUT_MS = 100;
const CACHE_KIB = 8 * 1024;

type CommitOutcome = 'done' | 'conflict';

export class WriteConnection {
  /**
   * The checkpointer syncs the file by this. It is open from before the connection until after it, see
   * sqlite-file.ts.
   */
  readonly descriptor: number;
  readonly #database: DatabaseSync;
  readonly #begin: StatementSync;
  readonly #commit: StatementSync;
  readonly #gets: Gets;
  readonly #delete: StatementSync;
  readonly #deleteByInteger: StatementSync;
  readonly #deleteRange: StatementSync;
  readonly #deleteIntegerRange: StatementSync;
  readonly #logState: StatementSync;
  readonly #append: StatementSync;
  readonly #appendByInteger: StatementSync;
  readonly #puts: Puts;

  constructor({ path, root, bytesMax }: StoreSettings) {
    prepareFile(path, root);
    this.descriptor = openSync(path, 'r+');
    try {
      const database = new DatabaseSync(path, { timeout: BUSY_TIMEOUT_MS });
      this.#database = database;
      // The checkpointer copies the log into the file: here it would be part of some commit's time.
      database.exec(`PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 0;
        PRAGMA cache_size = -${CACHE_KIB}; PRAGMA mmap_size = ${MMAP_BYTES};`);
      if (bytesMax !== undefined)
        database.exec(`PRAGMA max_page_count = ${Math.ceil(bytesMax / PAGE_BYTES)}`);
      this.#begin = database.prepare(BEGIN_WRITE);
      this.#commit = database.prepare(COMMIT);
      this.#gets = new Gets(database);
      this.#delete = database.prepare(DELETE);
      this.#deleteByInteger = database.prepare(DELETE_BY_INTEGER);
      this.#deleteRange = database.prepare(DELETE_RANGE);
      this.#deleteIntegerRange = database.prepare(DELETE_INTEGER_RANGE);
      this.#logState = database.prepare(LOG_STATE);
      this.#logState.setReturnArrays(true);
      this.#append = database.prepare(APPEND);
      this.#appendByInteger = database.prepare(APPEND_BY_INTEGER);
      this.#puts = new Puts(database);
    } catch (error) {
      closeSync(this.descriptor);
      throw error;
    }
  }

  /**
   * One transaction, one sync. A batch is checked before anything of it is applied, so a conflict needs no savepoint
   * and affects no other batch. Throws if the transaction failed; then nothing of the group is applied.
   */
  commitGroup(batches: readonly Required<Batch>[]): CommitOutcome[] {
    this.#begin.run();
    try {
      const outcomes = batches.map((batch): CommitOutcome => {
        if (!batch.expects.every((expectation) => this.#holds(expectation))) return 'conflict';
        this.#apply(batch);
        return 'done';
      });
      this.#commit.run();
      return outcomes;
    } catch (error) {
      this.#puts.clear();
      // Some failures have already rolled back.
      if (this.#database.isTransaction) this.#database.exec(ROLLBACK);
      throw error;
    }
  }

  log(): LogState {
    const row: unknown = this.#logState.get();
    const [, pages, copiedPages] = row as readonly [busy: number, log: number, copied: number];
    return { bytes: pages * PAGE_BYTES, pendingBytes: (pages - copiedPages) * PAGE_BYTES };
  }

  /** Copies the rest of the log. If nothing reads from it, the next commit restarts it from its beginning. */
  finishLog(): void {
    this.#checkpoint('PASSIVE');
  }

  /** The same, but waits a little for readers of older states. */
  restartLog(): void {
    this.#database.exec(`PRAGMA busy_timeout = ${RESTART_TIMEOUT_MS}`);
    try {
      this.#checkpoint('RESTART');
    } finally {
      this.#database.exec(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`);
    }
  }

  /** Closes the connection and leaves one file. */
  close(): void {
    try {
      this.#checkpoint('TRUNCATE');
    } finally {
      this.#database.close();
      closeSync(this.descriptor);
    }
  }

  #checkpoint(mode: 'PASSIVE' | 'RESTART' | 'TRUNCATE'): void {
    this.#database.prepare(`PRAGMA wal_checkpoint(${mode})`).get();
  }

  #holds({ key, value }: Expectation): boolean {
    const found = this.#gets.get(key);
    if (found === undefined || value === undefined) return found === value;
    return equalBytes(found, value);
  }

  #apply({ deleteRanges, deletes, puts, appends }: Required<Batch>): void {
    for (const range of deleteRanges) this.#deleteWithin(range);
    for (const key of deletes) this.#deleteKey(key);
    this.#puts.write(puts);
    for (const entry of appends) this.#appendTo(entry);
  }

  #deleteWithin(range: KeyRange): void {
    this.#deleteRange.run(range.start, range.end ?? AFTER_ALL_KEYS);
    const integers = integersWithin(range);
    if (integers !== undefined) this.#deleteIntegerRange.run(integers.first, integers.end);
  }

  #deleteKey(key: Bytes): void {
    if (isIntegerKeyed(key)) this.#deleteByInteger.run(integerOfKey(key));
    else this.#delete.run(key);
  }

  #appendTo({ key, value }: Entry): void {
    if (isIntegerKeyed(key)) this.#appendByInteger.run(integerOfKey(key), value);
    else if (this.#append.run(key, value, integerOfValue(value) ?? null).changes === 0)
      this.#puts.write([{ key, value: concatBytes(this.#gets.get(key) ?? EMPTY_BYTES, value) }]);
  }
}
