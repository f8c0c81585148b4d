/** A compiled query as the executor sees it. Dialects compile to it; nothing here knows a language. */
import type { Collation, Path, Value } from '../value/index.ts';
import type { Condition } from './condition/condition.ts';
import type { FoundItem, PendingItem } from './found-item.ts';
import type { IndexLimit } from './reader.ts';
import type { Search, TextSearch, TextStatistics } from './search.ts';

export interface ExecutableQuery {
  /** Allows every item that matches, and maybe others. */
  readonly condition: Condition;
  /** True where the condition allows no others: then an index can count the items that match. */
  readonly isExact?: boolean;
  /**
   * Limits that exactly the items that match keep, provided that no item has several values under their paths: a declared
   * index without such items can count. One for each path.
   */
  readonly exactLimits?: readonly IndexLimit[] | undefined;
  /**
   * The path of a blocking query to which items count only by their values, as the first item of each value: a declared
   * index names these items. Items without a value may be given too.
   */
  readonly valuesOf?: Path | undefined;
  /** True where all items that the condition allows lie in the hash ranges asked for. */
  readonly isWithin?: boolean;
  readonly shape: Streaming | Blocking;
  /**
   * Prints a row that is a value, for dialects that send texts: pages then hold the text and know its size. Absent:
   * pages hold the value, and its size is estimated.
   */
  readonly print?: ((value: Value) => string) | undefined;
  /** Set where only the best rows by a score are wanted: a search index may name their items. */
  readonly search?: QuerySearch;
  /** Set where slow rows can be made in another thread: then making them here throws `EvaluationTooLong`. */
  readonly mover?: QueryMover;
}

/** Moves the evaluation of a query to another thread. */
export interface QueryMover {
  /** True where earlier pages have shown that the rows are slow. */
  readonly isDue: boolean;
  /**
   * Moves one page.
   * @param isSlow - whether rows were slow, so that the next page should begin in the other thread.
   */
  begin(shape: Streaming | Blocking, isSlow: boolean): MovedQuery;
}

export interface MovedQuery {
  /** The shape of the query, with `rowsOfMany` or `async` instead of the members that answer at once. */
  readonly shape: Streaming | Blocking;
  release(): void;
}

/** How a search index can find the rows of a blocking query. */
export type QuerySearch =
  /** The best rows by a score that depends on one item alone. */
  | {
      readonly kind: 'best';
      readonly search: Search;
      /** Rows that the result needs; no row behind them can change it. */
      readonly wanted: number;
      /** The score of an item's best row; undefined where it has no row. Greater comes first. */
      scoreOf(item: FoundItem): number | undefined;
      /** The index does not find items with this score or less: where they are needed, all items are read. */
      readonly floor: number;
      /** True where items that the index lacks would come first, so that it must have them all. */
      readonly needsEvery: boolean;
    }
  /** Needs statistics of the texts of all items first, and is then another query. */
  | {
      readonly kind: 'statistics';
      readonly texts: readonly TextSearch[];
      with(statistics: readonly TextStatistics[]): ExecutableQuery | readonly Value[];
    };

/** A streaming query: rows are sent in the order of the items, or of their sort keys. */
export interface Streaming {
  readonly kind: 'streaming';
  /** The rows of one item, filter and projection applied, in order. Pure. */
  rowsOf(item: FoundItem): readonly Row[];
  /**
   * The sort keys of an item whose one row is the item itself, read from its stored body without decoding it. Undefined
   * where the body does not decide it: then `rowsOf` does.
   */
  readonly keysOf?: ((item: FoundItem) => readonly Value[] | undefined) | undefined;
  /**
   * Called instead of `rowsOf` where rows need answers from another thread: one list per item, in order. Where
   * `mayStop` is set, the last lists may be missing, but not all: the page ends there.
   */
  readonly rowsOfMany?:
    | ((items: readonly PendingItem[], mayStop: boolean) => Promise<readonly (readonly Row[])[]>)
    | undefined;
  /** Undefined for the order in which the items were created. */
  readonly order: Order | undefined;
  readonly skip: number;
  /** The most rows, after skipping; Infinity for all. */
  readonly take: number;
}

/** A row of a result: a whole item, or a value, or the printed text of a value. */
export interface ResultRow {
  readonly item?: FoundItem | undefined;
  readonly value?: Value;
  /** Set where the dialect prints values, here or in another thread. */
  readonly text?: string | undefined;
}

export interface Row extends ResultRow {
  /** True where its text was not made, because the page has no room for it. */
  readonly isLeft?: boolean | undefined;
  /** Sort keys, one per part of the order; empty where there is none. */
  readonly keys: readonly Value[];
}

export interface Order {
  readonly parts: readonly OrderPart[];
  /** Rows show only their keys and are wanted once: a row with the same keys as the row before may be left out. */
  readonly deduplicates?: boolean;
  /** The order of values of different types; cosmos where it is absent. The index of a path serves both. */
  readonly collation?: Collation | undefined;
  /**
   * A comparison of the dialect's own instead, which no index has: rows are sorted in memory. A key is undefined for an
   * item without the property.
   */
  readonly compare?: ((a: Value, b: Value) => number) | undefined;
  /** A declared index with the order of `compare`. */
  readonly index?: OrderIndex | undefined;
}

/**
 * A declared index that the dialect has chosen for an order. Where a partition cannot read from it, or a sort would be
 * cheaper, the first page throws `NotInOrder`: the dialect then sorts all rows once, instead of once for each page.
 */
export interface OrderIndex {
  readonly id: number;
  /** Whether its entries are read backwards: rows with equal keys then come in descending rid order. */
  readonly isReversed: boolean;
  /** A sort key as a value of the index. */
  valueOf(key: Value): Value;
}

export interface OrderPart {
  /** The property to order by; undefined for an expression, which no index serves. */
  readonly path: Path | undefined;
  readonly isDescending: boolean;
  /** True where the dialect guarantees that every item has the property: items without it are not searched for. */
  readonly isInEvery?: boolean;
}

/** A blocking query, whose rows follow from all items: groups, aggregates, distinct rows with an order, ranks. */
export interface Blocking {
  readonly kind: 'blocking';
  /** True where no row is final before the last item was read. */
  readonly needsEvery: boolean;
  /** True where the dialect does not care in which order partitions give their items. */
  readonly isUnordered?: boolean;
  /** A new fold; one per execution. Rows beyond `rowsMax` need not be made. */
  start(rowsMax?: number): RowFold;
}

export interface RowFold {
  /** False when no further item can change the result. */
  add(item: FoundItem): boolean;
  /** Adds so many items that match; absent where the result depends on more than their number. */
  addMatching?: ((count: number) => void) | undefined;
  /** The rows, in order, OFFSET and LIMIT applied. */
  finish(): readonly Value[];
  /** Items that matched so far; absent where all items match. */
  itemsMatched?(): number;
  /** Used instead of `add` and `finish` where they need answers from another thread. */
  readonly async?: AsyncFold | undefined;
}

export interface AsyncFold {
  addMany(items: readonly PendingItem[]): Promise<boolean>;
  finish(): Promise<readonly ResultRow[]>;
}
