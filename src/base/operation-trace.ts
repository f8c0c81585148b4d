/**
 * What the operations of one request did, for those who ask how it ran. Whoever runs a request in a trace gets every
 * query, scan and read that it caused below, in whichever language it was written; others pay one lookup.
 */
import { AsyncLocalStorage } from 'node:async_hooks';

/** One operation of the service. */
export interface TracedOperation {
  readonly kind: 'query' | 'scan' | 'read';
  readonly charge: number;
  /** Ids of the partitions that were read; empty where it is not known. */
  readonly partitions: readonly string[];
  /** How candidates were found, by partition. */
  readonly accessPaths: readonly string[];
  /** The charge by its causes; absent where the charge has one cause only. */
  readonly parts?: Readonly<Record<string, number>>;
  readonly rows: number;
}

/** A request that loops must not fill the memory with its trace. */
const OPERATIONS_MAX = 1000;

export class OperationTrace {
  readonly #storage = new AsyncLocalStorage<TracedOperation[]>();

  /** Runs a request; the list grows while it runs. */
  collect<T>(operations: TracedOperation[], run: () => T): T {
    return this.#storage.run(operations, run);
  }

  /** Notes an operation where a trace is wanted; `describe` is called only then. */
  note(describe: () => TracedOperation): void {
    const operations = this.#storage.getStore();
    if (operations !== undefined && operations.length < OPERATIONS_MAX) operations.push(describe());
  }
}
