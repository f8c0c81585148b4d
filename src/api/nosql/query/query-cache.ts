/** Caches parsed queries by text: applications send the same few texts with other parameters. */
import { LRUCache } from 'lru-cache';
import { parseQuery, type Query } from '../sql/index.ts';

const ENTRIES_MAX = 1000;
/** The characters of all texts together; a tree is some twenty times as large. */
const CHARACTERS_MAX = 1024 * 1024;

export class QueryCache {
  readonly #parsed = new LRUCache<string, Query>({
    max: ENTRIES_MAX,
    maxSize: CHARACTERS_MAX,
    sizeCalculation: (_, text) => text.length + 1,
  });

  /** Throws SqlError. */
  parse(text: string): Query {
    let query = this.#parsed.get(text);
    if (query === undefined) {
      query = parseQuery(text);
      this.#parsed.set(text, query);
    }
    return query;
  }
}
