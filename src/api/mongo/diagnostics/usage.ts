/** What commands have done with each collection, for `top` and `$collStats`: how often, and how long. */
import type { BsonDocument } from '../../../value/index.ts';

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

/** Namespaces at a time: clients name them as they like. The one that was named first is forgotten. */
const NAMESPACES_MAX = 10_000;

export class UsageTable {
  readonly #byDatabase = new Map<string, Map<string, CollectionUsage>>();
  #size = 0;

  note(
    command: string,
    database: string,
    body: BsonDocument,
    { durationMs, isRefused }: { readonly durationMs: number; readonly isRefused: boolean },
  ): void {
    if (command === 'drop' || command === 'dropDatabase') {
      if (!isRefused) this.#forget(command, database, body);
      return;
    }
    const target = body.get(command === 'getMore' ? 'collection' : command);
    if (typeof target !== 'string' || OTHER_TARGETS.has(command)) return;
    const usage = this.#usageOf(database, target)[KINDS[command] ?? 'commands'];
    usage.count += 1;
    usage.timeUs += Math.max(1, Math.round(durationMs * 1000));
  }

  of(database: string, collection: string): CollectionUsage | undefined {
    return this.#byDatabase.get(database)?.get(collection);
  }

  list(): readonly (readonly [database: string, collection: string, usage: CollectionUsage])[] {
    return [...this.#byDatabase].flatMap(([database, collections]) =>
      [...collections].map(([name, usage]) => [database, name, usage] as const),
    );
  }

  #usageOf(database: string, collection: string): CollectionUsage {
    const own = this.#byDatabase.get(database) ?? new Map<string, CollectionUsage>();
    const known = own.get(collection);
    if (known !== undefined) return known;
    if (this.#size >= NAMESPACES_MAX) this.#forgetOldest();
    this.#byDatabase.set(database, own);
    const made = unused();
    own.set(collection, made);
    this.#size += 1;
    return made;
  }

  #forget(command: string, database: string, body: BsonDocument): void {
    const own = this.#byDatabase.get(database);
    if (own === undefined) return;
    if (command === 'dropDatabase') {
      this.#size -= own.size;
      this.#byDatabase.delete(database);
    } else if (own.delete(String(body.get(command)))) this.#size -= 1;
  }

  #forgetOldest(): void {
    const [[database, own] = []] = this.#byDatabase;
    if (database === undefined || own === undefined) return;
    const [oldest] = own.keys();
    if (oldest !== undefined && own.delete(oldest)) this.#size -= 1;
    if (own.size === 0) this.#byDatabase.delete(database);
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
