/**
 * A compiled query as the shared executor sees it. Dialects make programs; nothing here knows a language.
 */
import type { Path, Value } from '../value/index.ts';
import type { Condition } from './condition.ts';

export interface Program {
  /** Which items can match, at most. */
  readonly condition: Condition;
  readonly shape: Streaming | Folding;
}

/** Rows leave in the order the items come in, or in the order of their keys. */
export interface Streaming {
  readonly kind: 'streaming';
  /** Rows of one item, filter and projection applied, in order. Pure. */
  rowsOf(document: Value): readonly Row[];
  /** In the place of `rowsOf` where rows need answers from elsewhere: one list per document, in order. */
  readonly rowsOfMany?:
    | ((documents: readonly Value[]) => Promise<readonly (readonly Row[])[]>)
    | undefined;
  /** Undefined: in the order the items were created. */
  readonly order: Order | undefined;
  readonly skip: number;
  /** Rows at most, after skipping; Infinity for all. */
  readonly take: number;
}

export interface Row {
  readonly value: Value;
  /** Sort keys, one per part of the order; empty where there is none. */
  readonly keys: readonly Value[];
}

export interface Order {
  readonly parts: readonly OrderPart[];
  /** True where an item without the property has no place in the order (a single property, found by its index). */
  readonly dropsUndefined: boolean;
}

export interface OrderPart {
  /** The property ordered by; undefined for an expression, which no index serves. */
  readonly path: Path | undefined;
  readonly isDescending: boolean;
}

/** Nothing leaves before every item was seen: groups, aggregates, distinct rows with an order, ranks. */
export interface Folding {
  readonly kind: 'folding';
  /** A new fold; one per execution. */
  start(): RowFold;
}

export interface RowFold {
  /** False when no further item can change the result. */
  add(document: Value): boolean;
  /** The rows, in order, windows applied. */
  finish(): readonly Value[];
  /** Items that the result is about, so far; where nobody counts them, all are. */
  itemsMatched?(): number;
  /** In the place of both where they need answers from elsewhere. */
  readonly later?: LaterFold | undefined;
}

export interface LaterFold {
  addMany(documents: readonly Value[]): Promise<boolean>;
  finish(): Promise<readonly Value[]>;
}
