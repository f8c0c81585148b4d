/** The indexes that queries of a shape may use. They last as long as the process, as in MongoDB. */
import type { Bson, BsonDocument } from '../../../value/index.ts';
import type { Collection } from '../collections/collection.ts';
import { shapeText } from './shape.ts';

interface QueryParts {
  readonly query: BsonDocument;
  readonly sort: BsonDocument;
  readonly projection: BsonDocument;
  readonly collation: BsonDocument | undefined;
}

export interface IndexFilter extends QueryParts {
  readonly indexes: readonly Bson[];
}

/** Filters of one collection; a client that sets more loses the oldest. */
const FILTERS_MAX = 1000;

export class IndexFilters {
  readonly #byCollection = new Map<number, Map<string, IndexFilter>>();

  set(collection: Collection, filter: IndexFilter): void {
    const { rid } = collection.container;
    const own = this.#byCollection.get(rid) ?? new Map<string, IndexFilter>();
    this.#byCollection.set(rid, own);
    own.set(keyOf(filter), filter);
    const [oldest] = own.keys();
    if (own.size > FILTERS_MAX && oldest !== undefined) own.delete(oldest);
  }

  list(collection: Collection): readonly IndexFilter[] {
    return [...(this.#byCollection.get(collection.container.rid)?.values() ?? [])];
  }

  find(collection: Collection, parts: QueryParts): IndexFilter | undefined {
    return this.#byCollection.get(collection.container.rid)?.get(keyOf(parts));
  }

  /** @param parts - the one shape; all where it is missing. */
  clear(collection: Collection, parts?: QueryParts): void {
    const own = this.#byCollection.get(collection.container.rid);
    if (parts !== undefined) own?.delete(keyOf(parts));
    if (parts === undefined || own?.size === 0) this.#byCollection.delete(collection.container.rid);
  }
}

function keyOf({ query, sort, projection, collation }: QueryParts): string {
  return [shapeText(query), ...[sort, projection, collation].map(entries)].join('\n');
}

function entries(document: BsonDocument | undefined): string {
  return [...(document ?? [])].map(([name, value]) => `${name}:${String(value)}`).join();
}
