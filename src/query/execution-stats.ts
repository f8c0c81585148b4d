/** Counters of one execution of a query. Charges, metrics and explanations are made from them. */
export interface ExecutionStats {
  /** Index entries read. */
  indexEntries: number;
  /** Items read from the store. */
  itemsLoaded: number;
  bytesLoaded: number;
  rowsOut: number;
  bytesOut: number;
  /** Items that gave at least one row. */
  itemsMatched: number;
  /** Time spent in indexes and in loading items: the sum over all partitions, also where they work in parallel. */
  indexMs: number;
  loadMs: number;
  /** One line per partition: how its candidates were found. */
  readonly accessPaths: string[];
}

export function newStats(): ExecutionStats {
  return {
    indexEntries: 0,
    itemsLoaded: 0,
    bytesLoaded: 0,
    rowsOut: 0,
    bytesOut: 0,
    itemsMatched: 0,
    indexMs: 0,
    loadMs: 0,
    accessPaths: [],
  };
}
