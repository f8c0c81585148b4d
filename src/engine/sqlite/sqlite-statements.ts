/** All SQL text of the engine. One table: a heap of entries by row id, and the unique index over their keys. */

export const CREATE_TABLE =
  'CREATE TABLE kv (id INTEGER PRIMARY KEY, k BLOB NOT NULL UNIQUE, v BLOB NOT NULL)';

export const BEGIN_READ = 'BEGIN';
export const BEGIN_WRITE = 'BEGIN IMMEDIATE';
export const COMMIT = 'COMMIT';
export const ROLLBACK = 'ROLLBACK';

/** A deferred BEGIN pins nothing; the first statement that touches the table does. */
export const PIN = 'SELECT 1 FROM kv LIMIT 1';

export const GET = 'SELECT v FROM kv WHERE k = ?';

/** Parameters: prefix, key. `||` joins the bytes as they are and calls the result text; the cast takes that back. */
export const FOLLOW =
  'SELECT b.v FROM kv a CROSS JOIN kv b ON b.k = CAST(? || a.v AS BLOB) WHERE a.k = ?';

export const DELETE = 'DELETE FROM kv WHERE k = ?';
export const DELETE_RANGE = 'DELETE FROM kv WHERE k >= ? AND k < ?';

/** Copies nothing; answers busy, pages in the log, pages of them copied. */
export const LOG_STATE = 'PRAGMA wal_checkpoint(NOOP)';

/** What a scan shows beside the key. */
export type ScanKind = 'values' | 'keysOnly' | 'follow';

/** Parameters: the prefix if the scan follows, then start, end, limit. The cross join fixes the order of the tables. */
export function scanText(kind: ScanKind, reverse: boolean): string {
  const order = reverse ? 'DESC' : 'ASC';
  const range = `a.k >= ? AND a.k < ? ORDER BY a.k ${order} LIMIT ?`;
  switch (kind) {
    case 'values':
      return `SELECT a.k, a.v FROM kv a WHERE ${range}`;
    case 'keysOnly':
      return `SELECT a.k FROM kv a WHERE ${range}`;
    case 'follow':
      return `SELECT a.k, b.v FROM kv a CROSS JOIN kv b ON b.k = CAST(? || a.v AS BLOB) WHERE ${range}`;
  }
}

/** Parameters: key, value, as often as there are rows. */
export function putText(rows: number): string {
  const values = Array.from({ length: rows }, () => '(?,?)').join();
  return `INSERT INTO kv (k, v) VALUES ${values} ON CONFLICT (k) DO UPDATE SET v = excluded.v`;
}
