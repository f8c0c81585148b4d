/**
 * All SQL text of the engine. Three tables (docs/decisions/0002-sqlite-layout.md, 0015-numbered-records.md):
 *
 * - `numbered` has the entries with integer keys, by integer.
 * - `kv` is the ordered tree of all other keys, with small values. If `v` is null, `id` points to the value in
 *   `large`; otherwise `id` is the integer of `v`, if it is one: a pointer to a row of `numbered`.
 * - `large` is a heap of values. Triggers keep it consistent, so that other statements can ignore it when they delete
 *   or overwrite.
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

const IS_INTEGER_KEYED = `k >= x'${hexByte(INTEGER_KEY_PREFIX)}' AND k < x'${hexByte(INTEGER_KEY_PREFIX + 1)}'`;

/** From format 1 to 2. Uses the SQL function `number`: the integer of a value, or null. */
export const UPGRADE = `
  DROP TRIGGER kv_deleted; DROP TRIGGER kv_updated;
  ${CREATE_NUMBERED}
  INSERT INTO numbered (id, v) SELECT number(substr(kv.k, 2)), ${storedValue('kv')} FROM kv
    WHERE ${IS_INTEGER_KEYED} ORDER BY k;
  DELETE FROM large WHERE id IN (SELECT id FROM kv WHERE ${IS_INTEGER_KEYED});
  DELETE FROM kv WHERE ${IS_INTEGER_KEYED};
  UPDATE kv SET id = number(v) WHERE length(v) = ${INTEGER_KEY_BYTES};
  ${CREATE_TRIGGERS}
  PRAGMA user_version = 2;`;

export const BEGIN_READ = 'BEGIN';
export const BEGIN_WRITE = 'BEGIN IMMEDIATE';
export const COMMIT = 'COMMIT';
export const ROLLBACK = 'ROLLBACK';

/** A deferred BEGIN starts no snapshot; the first statement that reads a table does. */
export const START_SNAPSHOT = 'SELECT 1 FROM kv LIMIT 1';

/** The value of a row of `kv`, in the row or in `large`. */
function storedValue(row: 'a' | 'b' | 'kv'): string {
  return `ifnull(${row}.v, (SELECT v FROM large WHERE id = ${row}.id))`;
}

/** `||` concatenates the bytes unchanged but returns text; the cast makes it a blob again. Parameter: the prefix. */
const DEREFERENCED = `kv a CROSS JOIN kv b ON b.k = CAST(? || ${storedValue('a')} AS BLOB)`;

export const GET = `SELECT ${storedValue('a')} FROM kv a WHERE a.k = ?`;
/** Parameter: the integer. */
export const GET_BY_INTEGER = 'SELECT v FROM numbered WHERE id = ?';

/** Parameters: prefix, key. The cross join fixes the order of the tables. */
export const DEREFERENCE = `SELECT ${storedValue('b')} FROM ${DEREFERENCED} WHERE a.k = ?`;

const DEREFERENCED_INTEGER = 'kv a CROSS JOIN numbered l ON l.id = a.id AND a.v IS NOT NULL';
/** For integer keys: half the cost of DEREFERENCE. Parameter: key. */
export const DEREFERENCE_INTEGER = `SELECT l.v FROM ${DEREFERENCED_INTEGER} WHERE a.k = ?`;

/** The rows of a scan: which keys, and which values with them. */
export type ScanKind =
  | 'values'
  | 'keys'
  | 'dereference'
  | 'dereferenceInteger'
  | 'integerKeyedValues'
  | 'integerKeys';

/**
 * Longer values are null in a scan. They are read one by one when they are certain to fit in the page, which bounds
 * what a scan reads and does not return.
 */
const SCANNED_VALUE_BYTES_MAX = 16 * 1024;

/** The key of a row of `numbered`. */
const INTEGER_KEY = `unhex(printf('${hexByte(INTEGER_KEY_PREFIX)}%016x', l.id))`;

function hexByte(byte: number): string {
  return byte.toString(16).padStart(2, '0');
}

/**
 * One row per entry: key, value. Parameters: the prefix of 'dereference', then start, end (integers for integer
 * keys), limit. The limit is a sum because SQLite plans by the value of a limit that is a bare parameter: it would
 * compile the statement again each time one is bound, which costs several times as much as a short scan.
 */
function scanText(kind: ScanKind, reverse: boolean): string {
  const rangeOf = (key: string) =>
    `WHERE ${key} >= ? AND ${key} < ? ORDER BY ${key} ${reverse ? 'DESC' : 'ASC'} LIMIT ? + 0`;
  const nullIfLong = (value: string) =>
    `CASE WHEN length(l.v) > ${SCANNED_VALUE_BYTES_MAX} THEN NULL ELSE ${value} END AS v`;
  // The id of a row that has a value is a pointer, not an id of `large`.
  const withLarge = (row: 'a' | 'b') =>
    `LEFT JOIN large l ON l.id = iif(${row}.v IS NULL, ${row}.id, NULL) ${rangeOf('a.k')}`;
  switch (kind) {
    case 'keys':
      return `SELECT a.k AS k FROM kv a ${rangeOf('a.k')}`;
    case 'values':
      return `SELECT a.k AS k, ${nullIfLong('ifnull(a.v, l.v)')} FROM kv a ${withLarge('a')}`;
    case 'dereference':
      return `SELECT a.k AS k, ${nullIfLong('ifnull(b.v, l.v)')} FROM ${DEREFERENCED} ${withLarge('b')}`;
    case 'dereferenceInteger':
      return `SELECT a.k AS k, ${nullIfLong('l.v')} FROM ${DEREFERENCED_INTEGER} ${rangeOf('a.k')}`;
    case 'integerKeys':
      return `SELECT ${INTEGER_KEY} AS k FROM numbered l ${rangeOf('l.id')}`;
    case 'integerKeyedValues':
      return `SELECT ${INTEGER_KEY} AS k, ${nullIfLong('l.v')} FROM numbered l ${rangeOf('l.id')}`;
  }
}

/** The length that stands for a null value in a packed scan. No value is as long. */
export const NULL_LENGTH = 0xffffffff;

/**
 * The rows of `scanText` as one row: all bytes in one blob, all lengths in one text. A blob per key and value would
 * cost more than everything else in a scan.
 */
export function packedScanText(kind: ScanKind, reverse: boolean): string {
  const rows = `FROM (${scanText(kind, reverse)})`;
  if (kind === 'keys' || kind === 'integerKeys')
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
 * Rows of `kv`. Parameters per row: key, value or null, id or null. If a statement of several rows fails, SQLite must
 * be able to undo the first ones, for which it copies every page before it changes it; OR FAIL avoids that. A
 * transaction in which a statement fails is rolled back as a whole.
 */
export function putText(rows: number): string {
  return `INSERT OR FAIL INTO kv (k, v, id) VALUES ${list('(?, ?, ?)', rows)}
    ON CONFLICT (k) DO UPDATE SET v = excluded.v, id = excluded.id`;
}

/** Rows of `large`. Parameters per row: id, value. */
export function addLargeText(rows: number): string {
  return `INSERT OR FAIL INTO large (id, v) VALUES ${list('(?, ?)', rows)}`;
}

/** Rows of `numbered`. Parameters per row: integer, value. */
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
 * Parameters: key, value, the integer of the value. A value that grows stays in `kv`, however long; a value in
 * `large` is moved back from it. As in DEREFERENCED, the cast makes a blob of the concatenation. Changes nothing if
 * the result has the length of an integer: the caller then puts the whole value, and its integer with it.
 */
export const APPEND = `INSERT INTO kv (k, v, id) VALUES (?, ?, ?)
  ON CONFLICT (k) DO UPDATE SET id = NULL, v = CAST(${storedValue('kv')} || excluded.v AS BLOB)
    WHERE length(${storedValue('kv')}) + length(excluded.v) <> ${INTEGER_KEY_BYTES}`;
/** Parameters: integer, value. */
export const APPEND_BY_INTEGER = `INSERT INTO numbered (id, v) VALUES (?, ?)
  ON CONFLICT (id) DO UPDATE SET v = CAST(numbered.v || excluded.v AS BLOB)`;

/** Parameters: value, key. Changes nothing if the key has no large value yet. */
export const OVERWRITE_LARGE = `UPDATE large SET v = ?
  WHERE id = (SELECT id FROM kv WHERE k = ? AND v IS NULL)`;
/** Null if there is none. */
export const LAST_LARGE = 'SELECT max(id) FROM large';

export const PAGE_COUNT = 'PRAGMA page_count';
export const FREE_PAGE_COUNT = 'PRAGMA freelist_count';

/** Copies nothing; returns busy, pages in the log, pages of them copied. */
export const LOG_STATE = 'PRAGMA wal_checkpoint(NOOP)';
