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

/** Where the text lies: a file of the data directory, a store of the engine, or memory. */
export interface SavedStore {
  read(): string | undefined;
  /** Done when the text is durable. */
  write(text: string): void | Promise<void>;
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

  /** Rejects with `invalidInput`. */
  async put(id: string, { name, api, db, container, text }: ValueMap): Promise<SavedQuery> {
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
    await this.#keep(new Map(queries).set(id, saved));
    return saved;
  }

  async delete(id: string): Promise<boolean> {
    const queries = new Map(this.#load());
    const isDeleted = queries.delete(id);
    if (isDeleted) await this.#keep(queries);
    return isDeleted;
  }

  #load(): Map<string, SavedQuery> {
    if (this.#queries !== undefined) return this.#queries;
    const text = this.#store.read();
    const saved: readonly SavedQuery[] = text === undefined ? [] : JSON.parse(text).queries;
    this.#queries = new Map(saved.map((query) => [query.id, query]));
    return this.#queries;
  }

  /** What could not be stored is not remembered either. Changes go one after the other. */
  async #keep(queries: Map<string, SavedQuery>): Promise<void> {
    const before = this.#queries;
    this.#queries = queries;
    try {
      await this.#store.write(
        `${JSON.stringify({ version: 1, queries: [...queries.values()] })}\n`,
      );
    } catch (error) {
      this.#queries = before;
      throw error;
    }
  }
}
