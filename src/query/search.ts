/** Searches: the first items by vector distance or text score, as a search index finds them. */
import type { Path } from '../value/index.ts';

export type Search = VectorSearch | TextSearch;

interface VectorSearch {
  readonly kind: 'vector';
  readonly path: Path;
  readonly vector: readonly number[];
  readonly distance: 'cosine' | 'dotproduct' | 'euclidean';
  /** True where the query wants every vector compared. */
  readonly isExact: boolean;
}

export interface TextSearch {
  readonly kind: 'text';
  readonly path: Path;
  readonly phrases: readonly string[];
  /** The statistics of all texts, where the query has them already. */
  readonly statistics?: TextStatistics;
}

/** Statistics that a text score needs: the number of texts and of their words, and how many texts have each phrase. */
export interface TextStatistics {
  readonly documentCount: number;
  readonly wordCount: number;
  readonly hitCounts: readonly number[];
}

/** A search index, ready for one search. */
export interface SearchAccess {
  /** The number of indexed items. */
  readonly count: number;
  /** The first items by score; fewer than asked for where there are no more. */
  first(count: number): RankedItems;
  /** The rids of the items whose text has all of the phrases, or any. */
  containing(needs: 'all' | 'any'): ReadonlySet<number>;
  /** The statistics of all texts of the partition; undefined where the reader covers only a part of it. */
  readonly statistics: (() => TextStatistics) | undefined;
  /** A description for explanations. */
  readonly text: string;
}

export interface RankedItems {
  readonly rids: readonly number[];
  /** Greater is better, descending. */
  readonly scores: readonly number[];
  /** The largest relative error of a score; 0 for exact scores. */
  readonly slack: number;
  /** True where the order is approximate: better items that were missed are accepted. */
  readonly isApproximate: boolean;
}
