/** What commands have done with each collection, for `top` and `$collStats`: how often, and how long. */
import type { BsonDocument } from '../../../value/index.ts';
import { CollectionMap } from './collection-map.ts';

/** One count and one time for each kind of command. */
type UsageKind = 'queries' | 'getmore' | 'insert' | 'update' | 'remove' | 'commands';

export interface Usage {
  count: number;
  timeUs: number;
}

export type CollectionUsage = Record<UsageKind, Usage>;

const KINDS: Readonly<Record<string, UsageKind>> = {
  aggregate: 'queries',
  count: 'queries',
  delete: 'remove',
  distinct: 'queries',
  find: 'queries',
  findAndModify: 'update',
  findandmodify: 'update',
  getMore: 'getmore',
  insert: 'insert',
  update: 'update',
};

/** Commands whose first argument is no collection of the database, though it may be a text. */
const OTHER_TARGETS: ReadonlySet<string> = new Set(['dataSize', 'datasize', 'renameCollection']);

export class UsageTable {
  readonly #usages = new CollectionMap<string, CollectionUsage>(unused);

  note(
    command: string,
    database: string,
    body: BsonDocument,
    { durationMs, isRefused }: { readonly durationMs: number; readonly isRefused: boolean },
  ): void {
    if (command === 'drop' || command === 'dropDatabase') {
      if (isRefused) return;
      if (command === 'dropDatabase') this.#usages.deleteDatabase(database);
      else this.#usages.delete(database, String(body.get(command)));
      return;
    }
    const target = body.get(command === 'getMore' ? 'collection' : command);
    if (typeof target !== 'string' || OTHER_TARGETS.has(command)) return;
    const usage = this.#usages.getOrMake(database, target)[KINDS[command] ?? 'commands'];
    usage.count += 1;
    usage.timeUs += Math.max(1, Math.round(durationMs * 1000));
  }

  of(database: string, collection: string): CollectionUsage | undefined {
    return this.#usages.get(database, collection);
  }

  list(): readonly (readonly [database: string, collection: string, usage: CollectionUsage])[] {
    return this.#usages.list();
  }
}

function unused(): CollectionUsage {
  const zero = (): Usage => ({ count: 0, timeUs: 0 });
  return {
    queries: zero(),
    getmore: zero(),
    insert: zero(),
    update: zero(),
    remove: zero(),
    commands: zero(),
  };
}

export function sumOf(...parts: readonly Usage[]): Usage {
  const count = parts.reduce((sum, part) => sum + part.count, 0);
  return { count, timeUs: parts.reduce((sum, part) => sum + part.timeUs, 0) };
}
