/** What a query did, counted as it goes: charges, metrics and explanations come from it. */
export interface ExecutionStats {
  /** Entries of indexes looked at. */
  indexEntries: number;
  /** Items read from the store. */
  itemsLoaded: number;
  bytesLoaded: number;
  rowsOut: number;
  bytesOut: number;
  /** Items that gave at least one row. */
  itemsMatched: number;
  /** Time spent in indexes and in loading items; of several partitions at once, the sum. */
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
