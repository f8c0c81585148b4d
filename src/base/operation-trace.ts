/**
 * What the operations of one request did, for those who ask how it ran. Whoever runs a request in a trace gets every
 * query, scan, read and write that it caused below, in whichever language it was written, and the steps of languages
 * that have steps. While nobody traces, others pay one comparison.
 */
import { AsyncLocalStorage } from 'node:async_hooks';

/** One operation of the service. */
export interface TracedOperation {
  readonly kind: 'query' | 'scan' | 'read' | 'write';
  readonly charge: number;
  /** Ids of the partitions that were read; empty where it is not known. */
  readonly partitions: readonly string[];
  /** How candidates were found, by partition. */
  readonly accessPaths: readonly string[];
  /** The charge by its causes; absent where the charge has one cause only. */
  readonly parts?: Readonly<Record<string, number>>;
  readonly rows: number;
  /** The condition that indexes were searched with. */
  readonly condition?: string;
  /** True where one partition key was read, false for a part of the hash space; absent where it is not known. */
  readonly isOneKey?: boolean;
}

/** One step of a request, in the words of its language: a stage of a pipeline, a step of a traversal. */
export interface TracedStep {
  readonly name: string;
  /** Request units of this step alone. */
  readonly charge: number;
  /** What left the step. */
  readonly rows: number;
  /** Calls of partitions that it made; undefined where they are not counted. */
  readonly partitionCalls?: number;
  readonly durationMs: number;
}

export interface RequestTrace {
  readonly operations: TracedOperation[];
  /** Replaced by whoever runs in steps; asked when the request has ended. */
  steps: () => readonly TracedStep[];
}

/** A request that loops must not fill the memory with its trace. */
const OPERATIONS_MAX = 1000;

export class OperationTrace {
  readonly #storage = new AsyncLocalStorage<RequestTrace>();
  #running = 0;

  /** Runs a request; its trace grows while it runs. */
  async collect<T>(trace: RequestTrace, run: () => Promise<T>): Promise<T> {
    this.#running++;
    try {
      return await this.#storage.run(trace, run);
    } finally {
      this.#running--;
    }
  }

  /** True where the present request is traced. */
  get isOn(): boolean {
    return this.#running > 0 && this.#storage.getStore() !== undefined;
  }

  /** Notes an operation where a trace is wanted; `describe` is called only then. */
  note(describe: () => TracedOperation): void {
    if (this.#running === 0) return;
    const operations = this.#storage.getStore()?.operations;
    if (operations !== undefined && operations.length < OPERATIONS_MAX) operations.push(describe());
  }

  /** Names the steps of the present request; where it has several statements, the last one's are kept. */
  noteSteps(steps: () => readonly TracedStep[]): void {
    const trace = this.#running === 0 ? undefined : this.#storage.getStore();
    if (trace !== undefined) trace.steps = steps;
  }
}

export function newTrace(): RequestTrace {
  return { operations: [], steps: () => [] };
}
