/**
 * All SQL text of the engine. Three tables (docs/decisions/0002-sqlite-layout.md, 0015-numbered-records.md):
 *
 * - `numbered` has what is under numbered keys, by their numbers.
 * - `kv` is the ordered tree of all other keys with the small values in it. Where `v` is null, `id` points to the value in
 *   `large`; otherwise `id` is the number that `v` is, if it is one: a pointer to a row of `numbered`.
 * - `large` is a heap of values. Triggers keep it in step, so that every statement may forget about it when it deletes
 *   or overwrites.
 */
import { INTEGER_KEY_BYTES, INTEGER_KEY_PREFIX } from '../integer-keys.ts';

const CREATE_NUMBERED = 'CREATE TABLE numbered (id INTEGER PRIMARY KEY, v BLOB NOT NULL);';

const CREATE_TRIGGERS = `
  CREATE TRIGGER kv_deleted AFTER DELETE ON kv WHEN old.v IS NULL
    BEGIN DELETE FROM large WHERE id = old.id; END;
  CREATE TRIGGER kv_updated AFTER UPDATE ON kv
    WHEN old.v IS NULL AND (new.v IS NOT NULL OR new.id IS NOT old.id)
    BEGIN DELETE FROM large WHERE id = old.id; END;`;

export const CREATE_TABLES = `
  CREATE TABLE kv (k BLOB PRIMARY KEY, v BLOB, id INTEGER) WITHOUT ROWID;
  ${CREATE_NUMBERED}
  CREATE TABLE large (id INTEGER PRIMARY KEY, v BLOB NOT NULL);
  ${CREATE_TRIGGERS}`;

const IS_NUMBERED = `k >= x'${hexByte(INTEGER_KEY_PREFIX)}' AND k < x'${hexByte(INTEGER_KEY_PREFIX + 1)}'`;

/** From format 1 to 2. Uses a function `number`: what a value is, or null. */
export const UPGRADE = `
  DROP TRIGGER kv_deleted; DROP TRIGGER kv_updated;
  ${CREATE_NUMBERED}
  INSERT INTO numbered (id, v) SELECT number(substr(kv.k, 2)), ${storedValue('kv')} FROM kv
    WHERE ${IS_NUMBERED} ORDER BY k;
  DELETE FROM large WHERE id IN (SELECT id FROM kv WHERE ${IS_NUMBERED});
  DELETE FROM kv WHERE ${IS_NUMBERED};
  UPDATE kv SET id = number(v) WHERE length(v) = ${INTEGER_KEY_BYTES};
  ${CREATE_TRIGGERS}
  PRAGMA user_version = 2;`;

export const BEGIN_READ = 'BEGIN';
export const BEGIN_WRITE = 'BEGIN IMMEDIATE';
export const COMMIT = 'COMMIT';
export const ROLLBACK = 'ROLLBACK';

/** A deferred BEGIN pins nothing; the first statement that touches a table does. */
export const START_SNAPSHOT = 'SELECT 1 FROM kv LIMIT 1';

/** The value of a row of `kv`, wherever it is. */
function storedValue(row: 'a' | 'b' | 'kv'): string {
  return `ifnull(${row}.v, (SELECT v FROM large WHERE id = ${row}.id))`;
}

/** `||` joins the bytes as they are and calls the result text; the cast takes that back. Parameter: the prefix. */
const FOLLOWED = `kv a CROSS JOIN kv b ON b.k = CAST(? || ${storedValue('a')} AS BLOB)`;

export const GET = `SELECT ${storedValue('a')} FROM kv a WHERE a.k = ?`;
/** Parameter: the number. */
export const GET_BY_INTEGER = 'SELECT v FROM numbered WHERE id = ?';

/** Parameters: prefix, key. The cross join fixes the order of the tables. */
export const DEREFERENCE = `SELECT ${storedValue('b')} FROM ${FOLLOWED} WHERE a.k = ?`;

const FOLLOWED_NUMBER = 'kv a CROSS JOIN numbered l ON l.id = a.id AND a.v IS NOT NULL';
/** To a numbered key: half the price of DEREFERENCE. Parameter: key. */
export const DEREFERENCE_INTEGER = `SELECT l.v FROM ${FOLLOWED_NUMBER} WHERE a.k = ?`;

/** What a scan shows beside the key, and of which keys. */
export type ScanKind =
  | 'values'
  | 'keys'
  | 'follow'
  | 'followNumber'
  | 'numberedValues'
  | 'numberedKeys';

/**
 * Values longer than this are null in a scan: they are read one by one once it is certain that the page takes them,
 * which bounds what a scan reads in vain.
 */
const SCANNED_VALUE_BYTES_MAX = 16 * 1024;

/** The key of a row of `numbered`. */
const NUMBERED_KEY = `unhex(printf('${hexByte(INTEGER_KEY_PREFIX)}%016x', l.id))`;

function hexByte(byte: number): string {
  return byte.toString(16).padStart(2, '0');
}

/**
 * A row per entry: key, value. Parameters: the prefix of 'follow', then start, end (numbers of numbered keys), limit. The limit is a sum
 * because SQLite plans by the value of a limit that is a bare parameter: it would compile the statement anew each time
 * that one is bound, which costs several times as much as a short scan.
 */
function scanText(kind: ScanKind, reverse: boolean): string {
  const rangeOf = (key: string) =>
    `WHERE ${key} >= ? AND ${key} < ? ORDER BY ${key} ${reverse ? 'DESC' : 'ASC'} LIMIT ? + 0`;
  const shortened = (value: string) =>
    `CASE WHEN length(l.v) > ${SCANNED_VALUE_BYTES_MAX} THEN NULL ELSE ${value} END AS v`;
  // The id of a row with a value of its own points elsewhere.
  const withLarge = (row: 'a' | 'b') =>
    `LEFT JOIN large l ON l.id = iif(${row}.v IS NULL, ${row}.id, NULL) ${rangeOf('a.k')}`;
  switch (kind) {
    case 'keys':
      return `SELECT a.k AS k FROM kv a ${rangeOf('a.k')}`;
    case 'values':
      return `SELECT a.k AS k, ${shortened('ifnull(a.v, l.v)')} FROM kv a ${withLarge('a')}`;
    case 'follow':
      return `SELECT a.k AS k, ${shortened('ifnull(b.v, l.v)')} FROM ${FOLLOWED} ${withLarge('b')}`;
    case 'followNumber':
      return `SELECT a.k AS k, ${shortened('l.v')} FROM ${FOLLOWED_NUMBER} ${rangeOf('a.k')}`;
    case 'numberedKeys':
      return `SELECT ${NUMBERED_KEY} AS k FROM numbered l ${rangeOf('l.id')}`;
    case 'numberedValues':
      return `SELECT ${NUMBERED_KEY} AS k, ${shortened('l.v')} FROM numbered l ${rangeOf('l.id')}`;
  }
}

/** The length by which a packed scan says that the value is null. No value is as long. */
export const NULL_LENGTH = 0xffffffff;

/**
 * The rows of `scanText` as one row: all bytes in one blob, all lengths in one text. A blob per key and value costs
 * more than everything else in a scan.
 */
export function packedScanText(kind: ScanKind, reverse: boolean): string {
  const rows = `FROM (${scanText(kind, reverse)})`;
  if (kind === 'keys' || kind === 'numberedKeys')
    return `SELECT CAST(group_concat(k, '') AS BLOB), group_concat(length(k), ' ') ${rows}`;
  const lengths = `length(k) || ' ' || ifnull(length(v), ${NULL_LENGTH})`;
  return `SELECT CAST(group_concat(k || ifnull(v, x''), '') AS BLOB),
    group_concat(${lengths}, ' ') ${rows}`;
}

export const DELETE = 'DELETE FROM kv WHERE k = ?';
export const DELETE_RANGE = 'DELETE FROM kv WHERE k >= ? AND k < ?';
export const DELETE_BY_INTEGER = 'DELETE FROM numbered WHERE id = ?';
export const DELETE_INTEGER_RANGE = 'DELETE FROM numbered WHERE id >= ? AND id < ?';

/**
 * Rows of the tree. Parameters: key, value or null, id or null, as often as there are rows. A statement
 * of several rows must be able to take the first ones back, for which SQLite copies every page before it changes it;
 * OR FAIL lets it leave them. A transaction in which a statement fails is rolled back as a whole.
 */
export function putText(rows: number): string {
  return `INSERT OR FAIL INTO kv (k, v, id) VALUES ${list('(?, ?, ?)', rows)}
    ON CONFLICT (k) DO UPDATE SET v = excluded.v, id = excluded.id`;
}

/** Rows of the heap. Parameters: id, value, as often as there are rows. */
export function addLargeText(rows: number): string {
  return `INSERT OR FAIL INTO large (id, v) VALUES ${list('(?, ?)', rows)}`;
}

/** Rows by number. Parameters: number, value, as often as there are rows. */
export function putByIntegerText(rows: number): string {
  return `INSERT OR FAIL INTO numbered (id, v) VALUES ${list('(?, ?)', rows)}
    ON CONFLICT (id) DO UPDATE SET v = excluded.v`;
}

function list(row: string, rows: number): string {
  return Array.from({ length: rows }, () => row).join();
}

/** The greatest key in a range; null where it is empty. Parameters: start, end. */
export const LAST_KEY = 'SELECT max(k) FROM kv WHERE k >= ? AND k < ?';

/**
 * Parameters: key, value, the number that the value is. What grows stays in the tree, however long; a value that was put into
 * the heap comes back from it. As in FOLLOWED, the cast makes bytes of what was joined. Changes nothing where the result would
 * be as long as a number: whoever puts it finds out whether it is one.
 */
export const APPEND = `INSERT INTO kv (k, v, id) VALUES (?, ?, ?)
  ON CONFLICT (k) DO UPDATE SET id = NULL, v = CAST(${storedValue('kv')} || excluded.v AS BLOB)
    WHERE length(${storedValue('kv')}) + length(excluded.v) <> ${INTEGER_KEY_BYTES}`;
/** Parameters: number, value. */
export const APPEND_BY_INTEGER = `INSERT INTO numbered (id, v) VALUES (?, ?)
  ON CONFLICT (id) DO UPDATE SET v = CAST(numbered.v || excluded.v AS BLOB)`;

/** Parameters: value, key. Changes nothing where the key has no large value yet. */
export const OVERWRITE_LARGE = `UPDATE large SET v = ?
  WHERE id = (SELECT id FROM kv WHERE k = ? AND v IS NULL)`;
/** Null where there is none. */
export const LAST_LARGE = 'SELECT max(id) FROM large';

export const PAGE_COUNT = 'PRAGMA page_count';
export const FREE_PAGE_COUNT = 'PRAGMA freelist_count';

/** Copies nothing; answers busy, pages in the log, pages of them copied. */
export const LOG_STATE = 'PRAGMA wal_checkpoint(NOOP)';
