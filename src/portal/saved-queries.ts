/** Saved queries: few and small, so they are one text, which whoever keeps it stores as a whole. */
import { DomainError } from '../base/index.ts';
import type { ValueMap } from '../value/index.ts';

export interface SavedQuery {
  readonly id: string;
  readonly name: string;
  readonly api: string;
  readonly db: string;
  readonly container: string;
  readonly text: string;
}

/** Where the text lies: a file of the data directory, or memory. */
export interface SavedStore {
  read(): string | undefined;
  write(text: string): void;
}

const QUERIES_MAX = 1000;
const NAME_LENGTH_MAX = 200;
const TEXT_LENGTH_MAX = 64 * 1024;

export class SavedQueries {
  readonly #store: SavedStore;
  #queries: Map<string, SavedQuery> | undefined;

  constructor(store: SavedStore) {
    this.#store = store;
  }

  list(db: string | null, container: string | null): readonly SavedQuery[] {
    return [...this.#load().values()].filter(
      (query) =>
        (db === null || query.db === db) && (container === null || query.container === container),
    );
  }

  find(id: string): SavedQuery | undefined {
    return this.#load().get(id);
  }

  /** Throws `invalidInput`. */
  put(id: string, { name, api, db, container, text }: ValueMap): SavedQuery {
    const queries = this.#load();
    const isText = (value: unknown, max: number): value is string =>
      typeof value === 'string' && value.length <= max;
    if (
      !/^[\w-]{1,64}$/.test(id) ||
      !isText(name, NAME_LENGTH_MAX) ||
      !isText(api, NAME_LENGTH_MAX) ||
      !isText(db, NAME_LENGTH_MAX * 2) ||
      !isText(container, NAME_LENGTH_MAX * 2) ||
      !isText(text, TEXT_LENGTH_MAX)
    )
      throw new DomainError('invalidInput', 'name, api, db, container and text are needed.');
    if (!queries.has(id) && queries.size >= QUERIES_MAX)
      throw new DomainError('invalidInput', `No more than ${QUERIES_MAX} queries are saved.`);
    const saved = { id, name, api, db, container, text };
    queries.set(id, saved);
    this.#keep(queries);
    return saved;
  }

  delete(id: string): boolean {
    const queries = this.#load();
    const isDeleted = queries.delete(id);
    if (isDeleted) this.#keep(queries);
    return isDeleted;
  }

  #load(): Map<string, SavedQuery> {
    if (this.#queries !== undefined) return this.#queries;
    const text = this.#store.read();
    const saved: readonly SavedQuery[] = text === undefined ? [] : JSON.parse(text).queries;
    this.#queries = new Map(saved.map((query) => [query.id, query]));
    return this.#queries;
  }

  #keep(queries: ReadonlyMap<string, SavedQuery>): void {
    this.#store.write(`${JSON.stringify({ version: 1, queries: [...queries.values()] })}\n`);
  }
}
