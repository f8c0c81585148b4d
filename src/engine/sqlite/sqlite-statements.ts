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
export type ScanKind = 'values' | 'keys' | 'follow';

/**
 * Values longer than this are null in a scan: they are read one by one once it is certain that the page takes them,
 * which bounds what a scan reads in vain.
 */
const SCANNED_VALUE_BYTES_MAX = 16 * 1024;

/**
 * A row per entry: key, value. Parameters: the prefix if the scan follows, then start, end, limit. The limit is a sum
 * because SQLite plans by the value of a limit that is a bare parameter: it would compile the statement anew each time
 * that one is bound, which costs several times as much as a short scan.
 */
function scanText(kind: ScanKind, reverse: boolean): string {
  const range = `WHERE a.k >= ? AND a.k < ? ORDER BY a.k ${reverse ? 'DESC' : 'ASC'} LIMIT ? + 0`;
  if (kind === 'keys') return `SELECT a.k AS k FROM kv a ${range}`;
  const [rows, shown] = kind === 'follow' ? [FOLLOWED, 'b'] : ['kv a', 'a'];
  return `SELECT a.k AS k,
      CASE WHEN length(l.v) > ${SCANNED_VALUE_BYTES_MAX} THEN NULL ELSE ifnull(${shown}.v, l.v) END AS v
    FROM ${rows} LEFT JOIN large l ON l.id = ${shown}.id ${range}`;
}

/** The length by which a packed scan says that the value is null. No value is as long. */
export const NULL_LENGTH = 0xffffffff;

/**
 * The rows of `scanText` as one row: all bytes in one blob, all lengths in one text. A blob per key and value costs
 * more than everything else in a scan.
 */
export function packedScanText(kind: ScanKind, reverse: boolean): string {
  const rows = `FROM (${scanText(kind, reverse)})`;
  if (kind === 'keys')
    return `SELECT CAST(group_concat(k, '') AS BLOB), group_concat(length(k), ' ') ${rows}`;
  const lengths = `length(k) || ' ' || ifnull(length(v), ${NULL_LENGTH})`;
  return `SELECT CAST(group_concat(k || ifnull(v, x''), '') AS BLOB),
    group_concat(${lengths}, ' ') ${rows}`;
}

export const DELETE = 'DELETE FROM kv WHERE k = ?';
export const DELETE_RANGE = 'DELETE FROM kv WHERE k >= ? AND k < ?';

/**
 * Rows of the tree. Parameters: key, value or null, id of the large value or null, as often as there are rows. A statement
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

function list(row: string, rows: number): string {
  return Array.from({ length: rows }, () => row).join();
}

/** The greatest key in a range; null where it is empty. Parameters: start, end. */
export const LAST_KEY = 'SELECT max(k) FROM kv WHERE k >= ? AND k < ?';

/**
 * Parameters: key, value. What grows stays in the tree, however long; a value that was put into the heap comes back
 * from it. As in FOLLOWED, the cast makes bytes of what was joined.
 */
export const APPEND = `INSERT INTO kv (k, v, id) VALUES (?, ?, NULL)
  ON CONFLICT (k) DO UPDATE SET id = NULL,
    v = CAST(ifnull(kv.v, (SELECT v FROM large WHERE id = kv.id)) || excluded.v AS BLOB)`;

/** Parameters: value, key. Changes nothing where the key has no large value yet. */
export const OVERWRITE_LARGE = 'UPDATE large SET v = ? WHERE id = (SELECT id FROM kv WHERE k = ?)';
/** Null where there is none. */
export const LAST_LARGE = 'SELECT max(id) FROM large';

export const PAGE_COUNT = 'PRAGMA page_count';
export const FREE_PAGE_COUNT = 'PRAGMA freelist_count';

/** Copies nothing; answers busy, pages in the log, pages of them copied. */
export const LOG_STATE = 'PRAGMA wal_checkpoint(NOOP)';
