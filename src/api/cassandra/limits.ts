/** Bounds of the Cassandra API, each with its reason. */

const KIB = 1024;
const MIB = 1024 * KIB;

/** Body of one request. Cassandra allows 256 MB; a row of ours is at most 16 MB. */
export const ENVELOPE_BYTES_MAX = 32 * MIB;

/** Characters of one statement: a literal may be as long as a row. */
export const STATEMENT_CHARACTERS_MAX = 17 * MIB;

/** Nested terms, types and parentheses of one statement, so that the parser's recursion ends. */
export const NESTING_MAX = 64;

/** One row with all its cells: what the core stores as one value. */
export const ROW_BYTES_MAX = 16 * MIB;

/**
 * Elements of one collection that one statement writes. Each takes more than 33 bytes of its row, so more would be
 * refused for the size of the row, after seconds in which nobody else is served.
 */
export const ELEMENTS_MAX = 65_535;

/** Statements of one batch, and the bytes of their values: as many as one command of a partition takes. */
export const BATCH_STATEMENTS_MAX = 10_000;
export const BATCH_BYTES_MAX = 5 * MIB;

/** Batches over partitions: beyond these bytes a client is warned, or refused; and partitions of an unlogged one. */
export const BATCH_WARN_BYTES = 5 * KIB;
export const BATCH_FAIL_BYTES = 50 * KIB;
export const UNLOGGED_BATCH_WARN_PARTITIONS = 10;

/** Prepared statements of all clients together, the least recently used is forgotten: some ten megabytes. */
export const PREPARED_STATEMENTS_MAX = 10_000;
export const PREPARED_CHARACTERS_MAX = 32 * MIB;

/** Rows of a page, if the client asks for more. */
export const PAGE_ROWS_MAX = 10_000;

/** Bytes of the rows of one page, and items that one page reads before it ends without more rows. */
export const PAGE_BYTES_MAX = 4 * MIB;
export const PAGE_ITEMS_MAX = 20_000;

/** Items that one look at the core asks for. */
export const SCAN_ITEMS_MAX = 1000;

/** Bytes of rows that one look at an index keeps, in the order of their keys. */
export const INDEXED_BYTES_KEPT = 4 * MIB;

/** Rows that a statement without pages may hold to sort or to group. */
export const ROWS_KEPT_MAX = 100_000;

/** Requests of one connection under way; more are refused as overloaded. Cassandra allows 1,024 by default. */
export const CONCURRENT_REQUESTS_MAX = 1024;

/** Combinations of the values of IN over several key columns: each is a read. */
export const IN_COMBINATIONS_MAX = 20_000;

/** Columns of a table, and characters of a name (Cassandra's own). */
export const COLUMNS_MAX = 1000;
export const NAME_CHARACTERS_MAX = 48;

/** Tombstones of ranges that one partition header keeps; more are refused until rows are deleted by partition. */
export const RANGE_TOMBSTONES_MAX = 1000;

/** Longest time to live in seconds: 20 years (Cassandra's own). */
export const TTL_SEC_MAX = 20 * 365 * 24 * 3600;

/** Bytes of a partition key and of a clustering key (64 KiB in Cassandra, 2 KB in the reference service). */
export const KEY_VALUE_BYTES_MAX = 2 * KIB;

/** Roles and grants of an account: they are one record, which every change writes. */
export const ROLES_MAX = 1000;
export const PERMISSIONS_MAX = 10_000;

/** Traced requests that are remembered, and events of one of them. */
export const TRACES_MAX = 1000;
export const TRACE_EVENTS_MAX = 100;

/** Calls of user functions that one page of a statement makes, and how deep they are nested. */
export const USER_CALLS_MAX = 20_000;
export const USER_CALL_ROUNDS_MAX = 16;

/** Functions and aggregates of a keyspace, and characters of a body: they are part of one record. */
export const ROUTINES_MAX = 1000;
export const FUNCTION_CHARACTERS_MAX = 16 * KIB;
