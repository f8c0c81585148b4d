/** The compiled form of a query: blocks of closures over one row of slots. Plain data; block-run.ts runs it. */

import type { Value } from '../../../../value/index.ts';
import type { Span } from '../errors.ts';
import type { Expression } from '../language/ast.ts';
import type { Aggregate } from '../run/aggregates.ts';
import type { ScoreComponent } from '../run/rank.ts';

/**
 * One row: slot 0 holds the start of the query in milliseconds, then come the parameters, then the aliases, group keys
 * and aggregates of every block. Subqueries write their own slots of the same row.
 */
export type Slots = Value[];

export type Compiled = (row: Slots) => Value;

export const START_SLOT = 0;

/** One SELECT with its clauses. */
export interface Block {
  readonly sources: readonly CompiledSource[];
  readonly where: Compiled | undefined;
  /** Present with GROUP BY or an aggregate: rows are aggregated before they are projected. */
  readonly grouping: Grouping | undefined;
  readonly orderBy: readonly CompiledOrder[];
  /** ORDER BY RANK: the parts whose ranks are fused. */
  readonly rank: readonly ScoreComponent[] | undefined;
  /** The result of a row; undefined results are dropped. */
  readonly project: Compiled;
  readonly isDistinct: boolean;
  /** Rows with the same sort keys as the one before may be dropped. */
  readonly deduplicates: boolean;
  readonly top: Compiled | undefined;
  readonly offset: Compiled | undefined;
  readonly limit: Compiled | undefined;
  /** The most steps that filter and projection of a row take; see `spend`. */
  readonly rowSteps: number;
}

export type CompiledSource =
  /** The items of the container, or the values at a path in them. */
  | { readonly kind: 'container'; readonly slot: number; readonly path: Compiled | undefined }
  /** One value: no row if it is undefined. */
  | { readonly kind: 'value'; readonly slot: number; readonly value: Compiled }
  /** The elements of an array; no row for any other value. */
  | { readonly kind: 'elements'; readonly slot: number; readonly list: Compiled }
  /** The results of a subquery, or the elements of those that are arrays. */
  | {
      readonly kind: 'subquery';
      readonly slot: number;
      readonly block: Block;
      readonly isIterated: boolean;
    };

export interface Grouping {
  readonly keys: readonly { readonly slot: number; readonly value: Compiled }[];
  readonly aggregates: readonly {
    readonly slot: number;
    readonly aggregate: Aggregate;
    readonly argument: Compiled;
    /** True for COUNT(1): the argument is always there. */
    readonly countsRows: boolean;
  }[];
  /** Without GROUP BY there is exactly one group, even without rows. */
  readonly isSingle: boolean;
}

export interface CompiledOrder {
  readonly value: Compiled;
  readonly isDescending: boolean;
}

export interface CompiledParameter {
  readonly slot: number;
  /** The first occurrence in the text. */
  readonly span: Span;
}

export interface CompiledQuery {
  readonly block: Block;
  readonly slotCount: number;
  /** The slots of parameters by name, with the @. */
  readonly parameters: ReadonlyMap<string, CompiledParameter>;
  /** The WHERE of the outermost query, for planners. */
  readonly filter: Expression | undefined;
}
