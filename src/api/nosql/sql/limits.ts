/** Bounds of a query, as the reference service documents them where it does. */

/** Characters of a query text; the account document announces the same number. */
export const QUERY_TEXT_LENGTH_MAX = 262_144;

/** JOINs of one FROM (documented per query; queries of real clients have more if subqueries count). */
export const JOINS_MAX = 10;

/** Logical operators of one query (documented). */
export const LOGICAL_ANDS_MAX = 2000;
export const LOGICAL_ORS_MAX = 2000;

/** Calls of user defined functions in one query (documented). */
export const UDF_CALLS_MAX = 10;

/** Brackets, calls and subqueries within one another: each costs the parser a dozen stack frames. */
export const NESTING_MAX = 200;

/** Height of the syntax tree, chains of AND and OR counted as one: the compiler recurses along it. */
export const TREE_DEPTH_MAX = 1000;

/** TOP, OFFSET and LIMIT are unsigned 32-bit numbers in the service. */
export const COUNT_MAX = 4_294_967_295;
