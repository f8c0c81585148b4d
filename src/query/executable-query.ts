/**
 * A compiled query as the shared executor sees it. Dialects make programs; nothing here knows a language.
 */
import type { Bytes } from '../base/index.ts';
import type { Path, Value } from '../value/index.ts';
import type { Condition } from './condition/condition.ts';
import type { Search, TextSearch, TextStatistics } from './search.ts';

export interface ExecutableQuery {
  /** Which items can match, at most. */
  readonly condition: Condition;
  /** True where the condition allows no others: an index can count what matches. */
  readonly isExact?: boolean;
  /** True where whatever the condition allows lies in the ranges asked for. */
  readonly isWithin?: boolean;
  readonly shape: Streaming | Blocking;
  /** Set where only the best rows by a score are wanted: an index may name their items. */
  readonly search?: QuerySearch;
  /** Set where rows that take long can be made in another thread: then the program throws `EvaluationTooLong` of them. */
  readonly mover?: QueryMover;
}

export interface QueryMover {
  /** True where it is known already that the rows take long. */
  readonly isDue: boolean;
  /**
   * For one page.
   * @param isSlow - whether rows took long, so that the next page should begin there.
   */
  begin(shape: Streaming | Blocking, isSlow: boolean): MovedQuery;
}

export interface MovedQuery {
  /** As that of the program, with `rowsOfMany` or `later` in the place of what answers at once. */
  readonly shape: Streaming | Blocking;
  release(): void;
}

/** The rows of a folding program, as an index can find them. */
export type QuerySearch =
  /** The best rows by a score that an item has on its own. */
  | {
      readonly kind: 'best';
      readonly search: Search;
      /** Rows that matter; no row behind them can change the result. */
      readonly wanted: number;
      /** Of the best row of an item; undefined where it gives none. Greater comes first. */
      scoreOf(document: Value): number | undefined;
      /** Items with this score or less are not found by the index: where they matter, all are looked at. */
      readonly floor: number;
      /** Items that the index does not know would come first. */
      readonly needsEvery: boolean;
    }
  /** Needs to know the texts of all items first, then is another program. */
  | {
      readonly kind: 'statistics';
      readonly texts: readonly TextSearch[];
      with(statistics: readonly TextStatistics[]): ExecutableQuery | readonly Value[];
    };

/** Rows leave in the order the items come in, or in the order of their keys. */
export interface Streaming {
  readonly kind: 'streaming';
  /** Rows of one item, filter and projection applied, in order. Pure. */
  rowsOf(document: Value): readonly Row[];
  /**
   * The sort keys of an item whose one row is the item itself, told by its stored text without decoding it. Undefined where
   * that is not certain: then `rowsOf` decides.
   */
  readonly keysOfText?: ((text: string) => readonly Value[] | undefined) | undefined;
  /**
   * In the place of `rowsOf` where rows need answers from elsewhere: one list per item, in order. Where `mayStop` is set,
   * the last lists may be missing, but not all: the page ends there.
   */
  readonly rowsOfMany?:
    | ((items: readonly PendingItem[], mayStop: boolean) => Promise<readonly (readonly Row[])[]>)
    | undefined;
  /** Undefined: in the order the items were created. */
  readonly order: Order | undefined;
  readonly skip: number;
  /** Rows at most, after skipping; Infinity for all. */
  readonly take: number;
}

/** An item whose rows are made later or elsewhere. */
export interface PendingItem {
  readonly body: Bytes;
  /** So many of its rows were given before. */
  readonly rowsGiven: number;
  decode(): Value;
}

export interface Row {
  /** JSON text of the value, where that was printed elsewhere. */
  readonly text?: string | undefined;
  /** True where it is the item as it is stored. */
  readonly isItem?: boolean | undefined;
  /** True where its text was not made, because the page has no place for it. */
  readonly isLeft?: boolean | undefined;
  readonly value: Value;
  /** Sort keys, one per part of the order; empty where there is none. */
  readonly keys: readonly Value[];
}

export interface Order {
  readonly parts: readonly OrderPart[];
  /** Rows show nothing but their keys, and who asked wants each once: those with the keys of the one before need not be given. */
  readonly deduplicates?: boolean;
}

export interface OrderPart {
  /** The property ordered by; undefined for an expression, which no index serves. */
  readonly path: Path | undefined;
  readonly isDescending: boolean;
  /** True where every item has the property, by the dialect's word: none need be looked for without it. */
  readonly isInEvery?: boolean;
}

/** Nothing leaves before every item was seen: groups, aggregates, distinct rows with an order, ranks. */
export interface Blocking {
  readonly kind: 'folding';
  /** True where no row is known before the last item was seen. */
  readonly needsEvery: boolean;
  /** A new fold; one per execution. Rows beyond `rowsMax` need not be made, where it is given. */
  start(rowsMax?: number): RowFold;
}

export interface RowFold {
  /** False when no further item can change the result. */
  add(document: Value): boolean;
  /** Takes in so many items that match, where nothing they hold changes the result. */
  addMatching?: ((count: number) => void) | undefined;
  /** The rows, in order, windows applied. */
  finish(): readonly Value[];
  /** Items that the result is about, so far; where nobody counts them, all are. */
  itemsMatched?(): number;
  /** In the place of both where they need answers from elsewhere. */
  readonly async?: AsyncFold | undefined;
}

export interface AsyncFold {
  addMany(items: readonly PendingItem[]): Promise<boolean>;
  finish(): Promise<readonly Row[]>;
}
