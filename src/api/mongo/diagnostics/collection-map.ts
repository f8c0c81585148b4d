/** What is kept about each collection, by database and collection. The one that came first is forgotten for a new one. */

/** Collections at a time: clients name them as they like. */
const COLLECTIONS_MAX = 10_000;

/** @typeParam K - the key of databases and collections: their name, or their rid. */
export class CollectionMap<K, V> {
  readonly #byDatabase = new Map<K, Map<K, V>>();
  readonly #make: () => V;
  #size = 0;

  constructor(make: () => V) {
    this.#make = make;
  }

  get(database: K, collection: K): V | undefined {
    return this.#byDatabase.get(database)?.get(collection);
  }

  getOrMake(database: K, collection: K): V {
    const own = this.#byDatabase.get(database) ?? new Map<K, V>();
    const known = own.get(collection);
    if (known !== undefined) return known;
    if (this.#size >= COLLECTIONS_MAX) this.#forgetOldest();
    this.#byDatabase.set(database, own);
    const made = this.#make();
    own.set(collection, made);
    this.#size += 1;
    return made;
  }

  delete(database: K, collection: K): void {
    if (this.#byDatabase.get(database)?.delete(collection) === true) this.#size -= 1;
  }

  deleteDatabase(database: K): void {
    this.#size -= this.#byDatabase.get(database)?.size ?? 0;
    this.#byDatabase.delete(database);
  }

  list(): readonly (readonly [database: K, collection: K, value: V])[] {
    return [...this.#byDatabase].flatMap(([database, collections]) =>
      [...collections].map(([collection, value]) => [database, collection, value] as const),
    );
  }

  #forgetOldest(): void {
    const [[database, own] = []] = this.#byDatabase;
    if (database === undefined || own === undefined) return;
    const [oldest] = own.keys();
    if (oldest !== undefined && own.delete(oldest)) this.#size -= 1;
    if (own.size === 0) this.#byDatabase.delete(database);
  }
}
