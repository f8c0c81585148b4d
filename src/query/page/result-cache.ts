/**
 * Caches the rows of blocking queries for their next pages. The cache only saves work: a result that is no longer in it
 * is computed again.
 */
import { randomUUID } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { printedSize } from '../../value/index.ts';
import type { ResultRow } from '../executable-query.ts';

/** Bounds on memory: a client that reads pages slowly only loses the time that the cache saves. */
const RESULTS_MAX = 100;
const CHARACTERS_MAX = 16 * 1024 * 1024;
/** A result that was not read for so long is dropped. */
const IDLE_MS = 60_000;

interface CachedResult {
  readonly owner: string;
  readonly rows: readonly ResultRow[];
  /** False where more rows follow that were not computed: then the last row only shows that. */
  readonly isWhole: boolean;
}

export class ResultCache {
  readonly #results = new LRUCache<string, CachedResult>({
    max: RESULTS_MAX,
    maxSize: CHARACTERS_MAX,
    maxEntrySize: CHARACTERS_MAX / 4,
    sizeCalculation: ({ rows }) => rows.reduce((sum, row) => sum + sizeOf(row) + 16, 1),
    ttl: IDLE_MS,
    updateAgeOnGet: true,
  });

  /** Returns the name of the result. The result may be dropped at any time. */
  keep(result: CachedResult): string {
    const name = randomUUID();
    this.#results.set(name, result);
    return name;
  }

  /** @param owner - as given to `keep`, so that a token of one container does not find the rows of another. */
  find(owner: string, name: string): CachedResult | undefined {
    const result = this.#results.get(name);
    return result?.owner === owner ? result : undefined;
  }

  drop(name: string): void {
    this.#results.delete(name);
  }
}

/** The rows of blocking queries are no items. */
function sizeOf({ value, text }: ResultRow): number {
  return text?.length ?? printedSize(value, CHARACTERS_MAX);
}
