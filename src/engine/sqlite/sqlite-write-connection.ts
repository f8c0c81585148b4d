/** The connection that writes one store, in a writer thread: group commit and the ends of the log. */
import { closeSync, openSync } from 'node:fs';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { type Bytes, compareBytes, equalBytes } from '../../base/index.ts';
import type { Batch, Entry, Expectation } from '../engine.ts';
import { PAGE_BYTES, prepareFile } from './sqlite-file.ts';
import type { LogState } from './sqlite-log-care.ts';
import type { StoreSettings } from './sqlite-protocol.ts';
import { MMAP_BYTES } from './sqlite-reader.ts';
import { AFTER_ALL_KEYS } from './sqlite-scan.ts';
import {
  ADD_LARGE,
  APPEND,
  BEGIN_WRITE,
  COMMIT,
  DELETE,
  DELETE_RANGE,
  GET,
  LAST,
  LINK_LARGE,
  LOG_STATE,
  OVERWRITE_LARGE,
  putText,
  ROLLBACK,
} from './sqlite-statements.ts';

/** Longer values go to the heap: in the tree of keys they would push the keys apart, and soon spill over anyway. */
const INLINE_BYTES_MAX = 256;
/** Below this the order of the keys cannot save as much as sorting costs. */
const SORT_FROM = 32;
/** Rows of one statement. Saves most of the price of a call; but see `putText`. */
const ROWS_PER_STATEMENT = 16;
/** From here on enough of the rows share a page for that to pay. */
const MANY_ROWS_FROM = 1024;
/** Somebody else writing to the file is a mistake of operation; wait for it a little, then fail the commit. */
const BUSY_TIMEOUT_MS = 5000;
/** Snapshots are short-lived; those that are not hold back the log, not the writer. */
const RESTART_TIMEOUT_MS = 100;
const CACHE_KIB = 8 * 1024;

export type CommitOutcome = 'done' | 'conflict';

export class WriteConnection {
  /** For the checkpointer to sync the file by. Open from before the connection until after it, see sqlite-file.ts. */
  readonly descriptor: number;
  readonly #database: DatabaseSync;
  readonly #begin: StatementSync;
  readonly #commit: StatementSync;
  readonly #get: StatementSync;
  readonly #delete: StatementSync;
  readonly #deleteRange: StatementSync;
  readonly #logState: StatementSync;
  readonly #putOne: StatementSync;
  readonly #putRows: StatementSync;
  readonly #overwriteLarge: StatementSync;
  readonly #addLarge: StatementSync;
  readonly #linkLarge: StatementSync;
  readonly #append: StatementSync;
  readonly #last: StatementSync;
  /** By the first byte of a key: one that no key with this first byte is behind. */
  readonly #lastKeys: (Bytes | undefined)[] = new Array(256);

  constructor({ path, root, bytesMax }: StoreSettings) {
    prepareFile(path, root);
    this.descriptor = openSync(path, 'r+');
    try {
      const database = new DatabaseSync(path, { timeout: BUSY_TIMEOUT_MS });
      this.#database = database;
      // The log is copied into the file by the checkpointer: done here it would be part of some commit's time.
      database.exec(`PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 0;
        PRAGMA cache_size = -${CACHE_KIB}; PRAGMA mmap_size = ${MMAP_BYTES};`);
      if (bytesMax !== undefined)
        database.exec(`PRAGMA max_page_count = ${Math.ceil(bytesMax / PAGE_BYTES)}`);
      this.#begin = database.prepare(BEGIN_WRITE);
      this.#commit = database.prepare(COMMIT);
      this.#get = database.prepare(GET);
      this.#get.setReturnArrays(true);
      this.#delete = database.prepare(DELETE);
      this.#deleteRange = database.prepare(DELETE_RANGE);
      this.#logState = database.prepare(LOG_STATE);
      this.#logState.setReturnArrays(true);
      this.#putOne = database.prepare(putText(1));
      this.#putRows = database.prepare(putText(ROWS_PER_STATEMENT));
      this.#overwriteLarge = database.prepare(OVERWRITE_LARGE);
      this.#addLarge = database.prepare(ADD_LARGE);
      this.#linkLarge = database.prepare(LINK_LARGE);
      this.#append = database.prepare(APPEND);
      this.#last = database.prepare(LAST);
      this.#last.setReturnArrays(true);
    } catch (error) {
      closeSync(this.descriptor);
      throw error;
    }
  }

  /**
   * One transaction, one sync. A batch is checked before anything of it is applied, so a conflict needs no
   * savepoint and touches no other batch. Throws if the transaction failed; then nothing of the group is applied.
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
      // Some failures have rolled back by themselves.
      if (this.#database.isTransaction) this.#database.exec(ROLLBACK);
      throw error;
    }
  }

  log(): LogState {
    const row: unknown = this.#logState.get();
    const [, pages, copiedPages] = row as readonly [busy: number, log: number, copied: number];
    return { bytes: pages * PAGE_BYTES, pendingBytes: (pages - copiedPages) * PAGE_BYTES };
  }

  /** Copies what is left of the log; if nobody reads from it, the next commit starts it from its beginning. */
  finishLog(): void {
    this.#checkpoint('PASSIVE');
  }

  /** As `finishLog`, but waits a little for readers of older moments. */
  restartLog(): void {
    this.#database.exec(`PRAGMA busy_timeout = ${RESTART_TIMEOUT_MS}`);
    try {
      this.#checkpoint('RESTART');
    } finally {
      this.#database.exec(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`);
    }
  }

  /** Leaves one file behind. */
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
    const row = this.#get.get(key) as readonly [Bytes] | undefined;
    if (row === undefined || value === undefined) return row === undefined && value === undefined;
    return equalBytes(row[0], value);
  }

  #apply({ deleteRanges, deletes, puts, appends }: Required<Batch>): void {
    for (const { start, end } of deleteRanges) this.#deleteRange.run(start, end ?? AFTER_ALL_KEYS);
    for (const key of deletes) this.#delete.run(key);
    if (puts.length >= MANY_ROWS_FROM) this.#putMany(inKeyOrder(puts));
    else for (const entry of puts.length < SORT_FROM ? puts : inKeyOrder(puts)) this.#put(entry);
    for (const { key, value } of appends) this.#append.run(key, value);
  }

  #put({ key, value }: Entry): void {
    if (value.length <= INLINE_BYTES_MAX) this.#putOne.run(key, value);
    else if (this.#isBeyondLast(key) || this.#overwriteLarge.run(value, key).changes === 0) {
      const { lastInsertRowid } = this.#addLarge.run(value);
      this.#linkLarge.run(key, lastInsertRowid);
    }
  }

  /** Small values wait until a statement of many rows is full; the keys are distinct, so nothing depends on it. */
  #putMany(puts: readonly Entry[]): void {
    const row: Bytes[] = [];
    for (const entry of puts) {
      if (entry.value.length > INLINE_BYTES_MAX) {
        this.#put(entry);
        continue;
      }
      row.push(entry.key, entry.value);
      if (row.length < 2 * ROWS_PER_STATEMENT) continue;
      this.#putRows.run(...row);
      row.length = 0;
    }
    for (let at = 0; at < row.length; at += 2)
      this.#putOne.run(row[at] as Bytes, row[at + 1] as Bytes);
  }

  /** Whether nothing can be there to overwrite: most large values come under growing keys, and need not look. */
  #isBeyondLast(key: Bytes): boolean {
    const kind = key[0] ?? 0;
    const last = this.#lastKeys[kind] ?? this.#findLast(kind);
    if (compareBytes(key, last) <= 0) return false;
    // A copy: the key is a piece of a whole commit's buffer.
    this.#lastKeys[kind] = key.slice();
    return true;
  }

  #findLast(kind: number): Bytes {
    const start = Uint8Array.of(kind);
    const row: unknown = this.#last.get(
      start,
      kind === 255 ? AFTER_ALL_KEYS : Uint8Array.of(kind + 1),
    );
    const [key] = row as readonly [Bytes | null];
    return key ?? start;
  }
}

/** Neighbours in the tree are written together. Of several puts of a key the last one is left. */
function inKeyOrder(puts: readonly Entry[]): readonly Entry[] {
  if (isAscending(puts)) return puts;
  const sorted = puts.toSorted((a, b) => compareBytes(a.key, b.key));
  return sorted.filter((entry, at) => {
    const next = sorted[at + 1];
    return next === undefined || !equalBytes(entry.key, next.key);
  });
}

function isAscending(puts: readonly Entry[]): boolean {
  for (let at = 1; at < puts.length; at++)
    if (compareBytes((puts[at - 1] as Entry).key, (puts[at] as Entry).key) >= 0) return false;
  return true;
}
