/**
 * Changes of collections and databases, for the change streams of this process: drops, renames and, for streams that
 * ask for them, creations and modifications. They are kept in memory, the last ones only; writes of documents are in the feed.
 */
import { randomUUID } from 'node:crypto';
import type { Bson } from '../../../value/index.ts';
import type { Namespace } from '../collections/namespace.ts';
import { documentOf } from '../reply.ts';

export interface SchemaChange {
  readonly number: number;
  readonly kind: string;
  readonly namespace: Namespace;
  /** The new name, where there is one. */
  readonly to?: Namespace;
  /** Shown only to streams that ask for more kinds of events. */
  readonly isExpanded: boolean;
  readonly description?: Bson;
}

/** Enough for streams that ask every second. */
const KEPT_MAX = 1000;

/** A stream that must read on before its collection goes away. */
interface Watcher {
  drain(database: string): Promise<void>;
}

export class SchemaChanges {
  /** Numbers of another process mean nothing here. */
  readonly process = randomUUID();
  readonly #watchers = new Set<Watcher>();
  #last = 0;
  readonly #kept: SchemaChange[] = [];

  /** The number of the last change. */
  get position(): number {
    return this.#last;
  }

  after(number: number): readonly SchemaChange[] {
    return this.#kept.filter((change) => change.number > number);
  }

  watch(watcher: Watcher): void {
    this.#watchers.add(watcher);
  }

  unwatch(watcher: Watcher): void {
    this.#watchers.delete(watcher);
  }

  /** Call it before a collection is dropped or renamed. */
  async drain(database: string): Promise<void> {
    for (const watcher of [...this.#watchers]) await watcher.drain(database);
  }

  dropped(namespace: Namespace): void {
    this.#add({ kind: 'drop', namespace, isExpanded: false });
  }

  renamed(namespace: Namespace, to: Namespace, description: Bson): void {
    this.#add({ kind: 'rename', namespace, to, isExpanded: false, description });
  }

  databaseDropped(database: string): void {
    const namespace = { database, collection: '' };
    this.#add({ kind: 'dropDatabase', namespace, isExpanded: false });
  }

  /** `create`, `modify`, `createIndexes`, `dropIndexes`, `shardCollection`. */
  expanded(kind: string, namespace: Namespace, description: Readonly<Record<string, Bson>>): void {
    this.#add({ kind, namespace, isExpanded: true, description: documentOf(description) });
  }

  #add(change: Omit<SchemaChange, 'number'>): void {
    this.#last += 1;
    this.#kept.push({ ...change, number: this.#last });
    if (this.#kept.length > KEPT_MAX) this.#kept.shift();
  }
}
