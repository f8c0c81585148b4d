/**
 * Rows of results that are known before their page is asked for, kept for the pages behind it. Only to spare work:
 * who asks for what is no longer kept has it made anew.
 */
import { randomUUID } from 'node:crypto';
import { LRUCache } from 'lru-cache';

const RESULTS_MAX = 100;
const CHARACTERS_MAX = 16 * 1024 * 1024;
/** What nobody has asked for since. */
const KEPT_MS = 60_000;

interface KeptResult {
  readonly owner: string;
  readonly rows: readonly string[];
  /** False where there are more rows, which are not known: the last of these tells so. */
  readonly isWhole: boolean;
}

export class ResultCache {
  readonly #results = new LRUCache<string, KeptResult>({
    max: RESULTS_MAX,
    maxSize: CHARACTERS_MAX,
    maxEntrySize: CHARACTERS_MAX / 4,
    sizeCalculation: ({ rows }) => rows.reduce((sum, row) => sum + row.length + 16, 1),
    ttl: KEPT_MS,
    updateAgeOnGet: true,
  });

  /** The name that it is found by; it may be gone at any time. */
  keep(result: KeptResult): string {
    const name = randomUUID();
    this.#results.set(name, result);
    return name;
  }

  /** @param owner - the same that kept it: what it was asked of. */
  find(owner: string, name: string): KeptResult | undefined {
    const result = this.#results.get(name);
    return result?.owner === owner ? result : undefined;
  }

  drop(name: string): void {
    this.#results.delete(name);
  }
}
