/** The messages between the bench and its load client. */

export type Operation =
  | 'read'
  | 'create'
  | 'replace'
  | 'batch'
  | 'batchOfTen'
  /** The creates of `batchOfTen` in a stored procedure. */
  | 'procedure'
  | QueryOperation
  | TableOperation;

/** Operations of the Table API: one new entity, one by its keys, a change set of new ones, ten of a partition by a property. */
export type TableOperation = 'tableInsert' | 'tableGet' | 'tableBatch' | 'tableQuery';

/** Partitions of a table that is read; its entities lie in them evenly. */
export const TABLE_PARTITIONS = 20;
/** Entities of one request of the operation `tableBatch`. */
export const TABLE_BATCH = 100;

/** Creates in one request of the operation `batch`. */
export const BATCH_CREATES = 100;
/** Items of the operations `batchOfTen` and `procedure`. */
export const PROCEDURE_CREATES = 10;
export const PROCEDURE = 'create-items';
export const FUNCTION = 'lengthOf';

/**
 * One item by a property; ten by a range; the first ten of an order; all that pass a filter no range serves: none; a count
 * over combinations of every item, which takes seconds; a sum over all items, of a system function and of a user defined one.
 */
export type QueryOperation =
  | 'equality'
  | 'range'
  | 'window'
  | 'filter'
  | 'long'
  | 'fold'
  | 'function';

export interface LoadRequest {
  readonly port: number;
  readonly scheme: 'http' | 'https';
  readonly operation: Operation;
  readonly database: string;
  readonly container: string;
  /** The account key, base64; for the Table API, whose servers have their own keys. */
  readonly accountKey?: string;
  /** Items numbered 0 to this exist; reads and replacements visit a sample of them. */
  readonly itemCount: number;
  /** New items are numbered from here. */
  readonly firstNewItem: number;
  readonly connections: number;
  readonly warmUpMs: number;
  readonly measureMs: number;
}

export type LoadMessage =
  /** Warm, from now on it counts. */
  | { readonly kind: 'started' }
  /** The measurement is over; the last responses are still arriving. */
  | { readonly kind: 'stopped' }
  | ({ readonly kind: 'finished' } & LoadResult);

export interface LoadResult {
  readonly operations: number;
  readonly elapsedMs: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Responses with another status than expected, by status; a bench with failures measures nothing. */
  readonly failures: Readonly<Record<string, number>>;
  readonly lastNewItem: number;
}
