/**
 * All SQL text of the engine. Two tables (docs/decisions/0002-sqlite-layout.md): `kv` is the ordered tree of keys with
 * the small values in it; `large` is a heap of the other values, which `kv.id` points to. Either `v` or `id` is set.
 * Triggers keep the heap in step, so that every statement may forget about it when it deletes or overwrites.
 */

export const CREATE_TABLES = `
  CREATE TABLE kv (k BLOB PRIMARY KEY, v BLOB, id INTEGER) WITHOUT ROWID;
  CREATE TABLE large (id INTEGER PRIMARY KEY, v BLOB NOT NULL);
  CREATE TRIGGER kv_deleted AFTER DELETE ON kv WHEN old.id IS NOT NULL
    BEGIN DELETE FROM large WHERE id = old.id; END;
  CREATE TRIGGER kv_updated AFTER UPDATE ON kv WHEN old.id IS NOT NULL AND new.id IS NOT old.id
    BEGIN DELETE FROM large WHERE id = old.id; END;`;

export const BEGIN_READ = 'BEGIN';
export const BEGIN_WRITE = 'BEGIN IMMEDIATE';
export const COMMIT = 'COMMIT';
export const ROLLBACK = 'ROLLBACK';

/** A deferred BEGIN pins nothing; the first statement that touches a table does. */
export const PIN = 'SELECT 1 FROM kv LIMIT 1';

/** The value of a row of `kv`, wherever it is. */
function storedValue(row: 'a' | 'b'): string {
  return `ifnull(${row}.v, (SELECT v FROM large WHERE id = ${row}.id))`;
}

/** `||` joins the bytes as they are and calls the result text; the cast takes that back. Parameter: the prefix. */
const FOLLOWED = `kv a CROSS JOIN kv b ON b.k = CAST(? || ${storedValue('a')} AS BLOB)`;

export const GET = `SELECT ${storedValue('a')} FROM kv a WHERE a.k = ?`;

/** Parameters: prefix, key. The cross join fixes the order of the tables. */
export const FOLLOW = `SELECT ${storedValue('b')} FROM ${FOLLOWED} WHERE a.k = ?`;

/** What a scan shows beside the key. */
export type ScanKind = 'values' | 'keysOnly' | 'follow';

/** A row per entry: key, value. Parameters: the prefix if the scan follows, then start, end, limit. */
export function scanText(kind: ScanKind, reverse: boolean): string {
  const range = `WHERE a.k >= ? AND a.k < ? ORDER BY a.k ${reverse ? 'DESC' : 'ASC'} LIMIT ?`;
  switch (kind) {
    case 'values':
      return `SELECT a.k AS k, ${storedValue('a')} AS v FROM kv a ${range}`;
    case 'keysOnly':
      return `SELECT a.k AS k FROM kv a ${range}`;
    case 'follow':
      return `SELECT a.k AS k, ${storedValue('b')} AS v FROM ${FOLLOWED} ${range}`;
  }
}

/**
 * The rows of `scanText` as one row: all bytes in one blob, all lengths in one text. A blob per key and value costs
 * more than everything else in a scan. Values longer than `valueBytesMax` have their length but not their bytes.
 */
export function packedScanText(kind: ScanKind, reverse: boolean, valueBytesMax: number): string {
  const rows = `FROM (${scanText(kind, reverse)})`;
  if (kind === 'keysOnly')
    return `SELECT CAST(group_concat(k, '') AS BLOB), group_concat(length(k), ' ') ${rows}`;
  const bytes = `k || CASE WHEN length(v) > ${valueBytesMax} THEN x'' ELSE v END`;
  const lengths = `length(k) || ' ' || length(v)`;
  return `SELECT CAST(group_concat(${bytes}, '') AS BLOB), group_concat(${lengths}, ' ') ${rows}`;
}

export const DELETE = 'DELETE FROM kv WHERE k = ?';
export const DELETE_RANGE = 'DELETE FROM kv WHERE k >= ? AND k < ?';

/** Small values. Parameters: key, value, as often as there are rows. */
export function putText(rows: number): string {
  const values = Array.from({ length: rows }, () => '(?, ?, NULL)').join();
  return `INSERT INTO kv (k, v, id) VALUES ${values}
    ON CONFLICT (k) DO UPDATE SET v = excluded.v, id = NULL`;
}

/** Parameters: value, key. Changes nothing where the key has no large value yet; then the other two add one. */
export const OVERWRITE_LARGE = 'UPDATE large SET v = ? WHERE id = (SELECT id FROM kv WHERE k = ?)';
export const ADD_LARGE = 'INSERT INTO large (v) VALUES (?)';
/** Parameters: key, id of the large value. */
export const LINK_LARGE = `INSERT INTO kv (k, v, id) VALUES (?, NULL, ?)
  ON CONFLICT (k) DO UPDATE SET v = NULL, id = excluded.id`;

/** Copies nothing; answers busy, pages in the log, pages of them copied. */
export const LOG_STATE = 'PRAGMA wal_checkpoint(NOOP)';
