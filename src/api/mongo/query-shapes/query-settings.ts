/** What administrators have said about queries of a shape. Settings last as long as the process. */
import type { BsonDocument } from '../../../value/index.ts';
import { MongoError } from '../errors.ts';
import { commandShape, isShaped } from './shape.ts';

interface QuerySettings {
  readonly hash: string;
  /** A query of the shape; undefined where only its hash was named. */
  readonly query: BsonDocument | undefined;
  readonly settings: BsonDocument;
}

/** Shapes with settings at a time. */
const SHAPES_MAX = 10_000;

export class QuerySettingsTable {
  readonly #byHash = new Map<string, QuerySettings>();

  /** Settings that are not named stay as they are. */
  set(hash: string, query: BsonDocument | undefined, settings: BsonDocument): QuerySettings {
    const known = this.#byHash.get(hash);
    if (known === undefined && this.#byHash.size >= SHAPES_MAX)
      throw new MongoError('BSONObjectTooLarge', 'There are too many query settings');
    const changed = {
      hash,
      query: query ?? known?.query,
      settings: new Map([...(known?.settings ?? []), ...settings]),
    };
    this.#byHash.set(hash, changed);
    return changed;
  }

  remove(hash: string): void {
    this.#byHash.delete(hash);
  }

  list(): readonly QuerySettings[] {
    return [...this.#byHash.values()];
  }

  find(name: string, database: string, body: BsonDocument): QuerySettings | undefined {
    if (this.#byHash.size === 0 || !isShaped(name)) return undefined;
    return this.#byHash.get(commandShape(name, database, body));
  }

  /** Refuses a query whose shape is rejected. */
  check(name: string, database: string, body: BsonDocument): void {
    if (this.find(name, database, body)?.settings.get('reject') === true)
      throw new MongoError('QueryRejectedBySettings', 'Query rejected by admin query settings');
  }
}
