/**
 * All SQL of the engine. One schema holds one account:
 *
 *   settings(name, value)             `format`: version of this layout; `lease`: the last one given to a node
 *   stores(id, name, lease, fence)    one row for each store; the lease of the node that opened it last, and a number
 *                                     that grows with every opening
 *   p<id>(k, v)                       the entries of a store
 *
 * A commit has the row of its store FOR SHARE, an opening changes that row: so a commit of an earlier opening is either
 * complete when the opening is, or it finds another fence and writes nothing. Values are stored outside the row when
 * they are large, and never compressed: they are compressed already or small.
 */
import type { Statement } from './connect/postgres-session.ts';

/** Do not renumber: it is stored. */
export const FORMAT_VERSION = 1;

/** Plans never depend on statistics, which a new table does not have: one index answers every statement. */
export const SESSION_SETTINGS: readonly string[] = [
  "SET synchronous_commit = 'on'",
  "SET plan_cache_mode = 'force_generic_plan'",
  'SET enable_seqscan = off',
  'SET enable_bitmapscan = off',
  'SET enable_hashjoin = off',
  'SET enable_mergejoin = off',
  'SET enable_material = off',
  'SET enable_memoize = off',
  'SET jit = off',
  "SET bytea_output = 'hex'",
  "SET idle_in_transaction_session_timeout = '60s'",
];

export function unnamed(text: string): Statement {
  return { name: '', text };
}

export const CREATE_TABLES = (schema: string): readonly string[] => [
  `CREATE SCHEMA IF NOT EXISTS ${schema}`,
  `CREATE TABLE IF NOT EXISTS ${schema}.settings (name text PRIMARY KEY, value text NOT NULL)`,
  `CREATE TABLE IF NOT EXISTS ${schema}.stores (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text NOT NULL UNIQUE, lease bigint NOT NULL, fence bigint NOT NULL) WITH (fillfactor = 20)`,
  `INSERT INTO ${schema}.settings VALUES ('format', '${FORMAT_VERSION}'), ('lease', '0') ON CONFLICT DO NOTHING`,
];

/** Statements about all stores of an account. */
export function accountStatements(schema: string) {
  const stores = `${schema}.stores`;
  return {
    /** A new lease takes every store from the nodes before: their commits find another fence. */
    newLease: unnamed(
      `UPDATE ${schema}.settings SET value = (value::bigint + 1)::text WHERE name = 'lease' RETURNING value::bigint`,
    ),
    takeStores: unnamed(`UPDATE ${stores} SET lease = $1, fence = fence + 1 WHERE lease < $1`),
    open: {
      name: 'open',
      text: `UPDATE ${stores} SET lease = $2, fence = fence + 1 WHERE name = $1 AND lease <= $2 RETURNING id, fence`,
    },
    /** Without a new fence, so without the quorum: only for reads, and only by the node that took the store. */
    openForReads: {
      name: 'open_for_reads',
      text: `SELECT id, fence FROM ${stores} WHERE name = $1 AND lease = $2`,
    },
    isOwned: { name: 'is_owned', text: `SELECT 1 FROM ${stores} WHERE name = $1 AND lease > $2` },
    newId: unnamed(`SELECT nextval(pg_get_serial_sequence('${stores}', 'id'))`),
    add: unnamed(
      `INSERT INTO ${stores} (id, name, lease, fence) OVERRIDING SYSTEM VALUE VALUES ($1, $2, $3, 1)`,
    ),
    list: unnamed(`SELECT name FROM ${stores}`),
    remove: unnamed(`DELETE FROM ${stores} WHERE name = $1 AND lease <= $2 RETURNING id`),
    /** Tables whose store was removed while somebody still read them. */
    leftTables: unnamed(
      `SELECT substr(c.relname, 2)::bigint FROM pg_class c WHERE c.relnamespace = '${schema}'::regnamespace
        AND c.relkind = 'r' AND c.relname ~ '^p[0-9]+$'
        AND NOT EXISTS (SELECT 1 FROM ${stores} s WHERE s.id = substr(c.relname, 2)::bigint)`,
    ),
    lastLease: {
      name: 'last_lease',
      text: `SELECT value::bigint FROM ${schema}.settings WHERE name = 'lease'`,
    },
  };
}

/** A node holds this lock as long as its session lives. It only tells others that the account is in use. */
const LOCK_KEY = "hashtextextended('mesocosm/' || $1::text, 0)";
export const TAKE_LOCK: Statement = {
  name: 'take_lock',
  text: `SELECT pg_try_advisory_lock(${LOCK_KEY})::int::bigint`,
};
/** Who holds it: address and time of the session. */
export const IN_USE: Statement = {
  name: 'in_use',
  text: `SELECT coalesce(host(a.client_addr), ''), to_char(a.backend_start, 'YYYY-MM-DD HH24:MI:SS TZ')
    FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid
    WHERE l.locktype = 'advisory' AND l.granted AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
      AND (l.classid::bigint << 32 | l.objid::bigint) = ${LOCK_KEY}`,
};

export function createTable(schema: string, id: number): readonly string[] {
  const table = `${schema}.p${id}`;
  return [
    `CREATE TABLE ${table} (k bytea NOT NULL PRIMARY KEY, v bytea NOT NULL)`,
    `ALTER TABLE ${table} ALTER k SET STORAGE PLAIN, ALTER v SET STORAGE EXTERNAL`,
  ];
}

/** An entry with a larger value is returned without it, so that a page cannot be much larger than asked for. */
const INLINE_VALUE_BYTES = 8192;
/** Longer values are no pointers. */
const POINTER_BYTES_MAX = 2600;

export type StoreStatements = ReturnType<typeof storeStatements>;

/** Statements of one store. Their names differ between stores, because a session serves many. */
export function storeStatements(schema: string, id: number) {
  const table = `${schema}.p${id}`;
  const named = (name: string, text: string): Statement => ({ name: `p${id}_${name}`, text });
  const fence = `SELECT 1 FROM ${schema}.stores WHERE id = $1 AND fence = $2 FOR SHARE`;
  const isPointer = `octet_length(a.v) <= ${POINTER_BYTES_MAX} AND get_byte(a.k, 0) <> 16`;
  const inline = (from: string) =>
    `CASE WHEN octet_length(${from}.v) <= ${INLINE_VALUE_BYTES} THEN ${from}.v END`;
  const scan = (name: string, { from, value, end, order }: ScanText) =>
    named(
      name,
      `SELECT a.k, ${value} FROM ${from} WHERE a.k >= $1${end ? ' AND a.k < $3' : ''}${
        from === FROM_ONE(table) ? '' : ` AND ${isPointer}`
      } ORDER BY a.k${order} LIMIT $2`,
    );
  const joined = `${FROM_ONE(table)} JOIN ${table} b ON b.k = ${`$PREFIX` as const} || a.v`;
  const scans = (order: '' | ' DESC', end: boolean) => {
    const suffix = `${order === '' ? 'up' : 'down'}${end ? '_end' : ''}`;
    const plain = { from: FROM_ONE(table), value: inline('a'), end, order };
    const prefix = end ? '$4::bytea' : '$3::bytea';
    const followed = { from: joined.replace('$PREFIX', prefix), value: inline('b'), end, order };
    return {
      entries: scan(`scan_${suffix}`, plain),
      dereferenced: scan(`follow_${suffix}`, followed),
      keys: named(
        `keys_${suffix}`,
        `SELECT array_agg(k) FROM (SELECT k FROM ${table} a WHERE a.k >= $1${end ? ' AND a.k < $3' : ''}
          ORDER BY a.k${order} LIMIT $2) s`,
      ),
    };
  };
  return {
    get: named('get', `SELECT v FROM ${table} WHERE k = $1`),
    getMany: named(
      'get_many',
      `SELECT o.n, a.v FROM unnest($1::bytea[]) WITH ORDINALITY AS o(k, n) JOIN ${table} a ON a.k = o.k`,
    ),
    dereference: named(
      'dereference',
      `SELECT b.v FROM ${table} a JOIN ${table} b ON b.k = $2::bytea || a.v WHERE a.k = $1 AND ${isPointer}`,
    ),
    dereferenceMany: named(
      'dereference_many',
      `SELECT o.n, b.v FROM unnest($1::bytea[]) WITH ORDINALITY AS o(k, n) JOIN ${table} a ON a.k = o.k
        JOIN ${table} b ON b.k = $2::bytea || a.v WHERE ${isPointer}`,
    ),
    up: scans('', false),
    upToEnd: scans('', true),
    down: scans(' DESC', false),
    downFromEnd: scans(' DESC', true),
    size: named('size', `SELECT pg_total_relation_size('${table}')`),
    /** Division by zero ends the transaction where the fence is another one. */
    fence: named('fence', `SELECT 1 / count(*) FROM (${fence}) f`),
    lockExpected: named(
      'lock_expected',
      `SELECT 1 FROM ${table} a WHERE a.k = ANY($1::bytea[]) FOR UPDATE`,
    ),
    checkExpected: named(
      'check_expected',
      `SELECT 1 / (NOT EXISTS (SELECT 1 FROM unnest($1::bytea[], $2::bytea[]) AS e(k, v)
        LEFT JOIN ${table} a ON a.k = e.k WHERE a.v IS DISTINCT FROM e.v))::int`,
    ),
    deleteRange: named('delete_range', `DELETE FROM ${table} WHERE k >= $1 AND k < $2`),
    deleteFrom: named('delete_from', `DELETE FROM ${table} WHERE k >= $1`),
    write: (parts: WriteParts) => writeStatement(table, fence, parts, named),
  };
}

const FROM_ONE = (table: string) => `${table} a`;

interface ScanText {
  readonly from: string;
  readonly value: string;
  readonly end: boolean;
  readonly order: '' | ' DESC';
}

interface WriteParts {
  readonly deletes: boolean;
  readonly puts: boolean;
  readonly appends: boolean;
}

/** One statement for fence and changes; the parts that a batch does not have are left out. */
function writeStatement(
  table: string,
  fence: string,
  { deletes, puts, appends }: WriteParts,
  named: (name: string, text: string) => Statement,
): Statement {
  let next = 3;
  const array = () => `$${next++}::bytea[]`;
  const isOurs = 'EXISTS (SELECT 1 FROM f)';
  const parts = [`f AS MATERIALIZED (${fence})`];
  if (deletes) parts.push(`d AS (DELETE FROM ${table} WHERE k = ANY(${array()}) AND ${isOurs})`);
  const insert = (alias: string, name: string, value: string) =>
    `${name} AS (INSERT INTO ${table} AS t SELECT * FROM unnest(${array()}, ${array()}) AS ${alias}(k, v) WHERE ${isOurs}
      ON CONFLICT (k) DO UPDATE SET v = ${value})`;
  if (puts) parts.push(insert('e', 'w', 'excluded.v'));
  if (appends) parts.push(insert('e', 'a', 't.v || excluded.v'));
  const name = `write${deletes ? '_d' : ''}${puts ? '_p' : ''}${appends ? '_a' : ''}`;
  return named(name, `WITH ${parts.join(', ')} SELECT count(*) FROM f`);
}
