/** Searches: the items that come first by nearness of vectors or by words of texts, as an index gives them. */
import type { Path } from '../value/index.ts';

export type Search = VectorSearch | TextSearch;

interface VectorSearch {
  readonly kind: 'vector';
  readonly path: Path;
  readonly vector: readonly number[];
  readonly distance: 'cosine' | 'dotproduct' | 'euclidean';
  /** The query wants every vector looked at. */
  readonly isExact: boolean;
}

export interface TextSearch {
  readonly kind: 'text';
  readonly path: Path;
  readonly phrases: readonly string[];
  /** Of all texts, where the query brings them along. */
  readonly statistics?: TextStatistics;
}

/** What a score by words knows of all texts: their number, words in all of them, and texts that hold each phrase. */
export interface TextStatistics {
  readonly documentCount: number;
  readonly wordCount: number;
  readonly hitCounts: readonly number[];
}

export interface SearchAccess {
  /** Items it knows. */
  readonly count: number;
  /** The first items by score; fewer than asked for where there are no more. */
  first(count: number): RankedItems;
  /** Rids of the items whose text holds all of the phrases, or any. */
  containing(needs: 'all' | 'any'): ReadonlySet<number>;
  /** Of all texts of the partition; undefined where only a part of it is asked. */
  readonly statistics: (() => TextStatistics) | undefined;
  /** How it was found, for explanations. */
  readonly text: string;
}

export interface RankedItems {
  readonly rids: readonly number[];
  /** Greater is better, descending. */
  readonly scores: readonly number[];
  /** How far a score may be from the exact one, as a share of its size; 0 for exact ones. */
  readonly slack: number;
  /** The order itself is approximate: nobody asks whether better ones were missed. */
  readonly isApproximate: boolean;
}
