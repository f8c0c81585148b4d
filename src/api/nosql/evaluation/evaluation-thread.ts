/** The handle of an evaluation thread in the main thread. A thread that does not respond in time is ended. */
import { Worker } from 'node:worker_threads';
import { assert, EVALUATION_MEMORY_MB } from '../../../base/index.ts';
import type { ThreadRequest, ThreadResponse } from './protocol.ts';

export type ThreadOutcome =
  | ThreadResponse
  /** The thread has ended. */
  | { readonly kind: 'lost'; readonly isMemory: boolean };

export class EvaluationThread {
  readonly #worker: Worker;
  #isAlive = true;
  #onResponse: ((response: ThreadOutcome) => void) | undefined;
  /** Resolves when the thread has started; the start is not charged to a query. */
  readonly ready: Promise<ThreadOutcome>;

  constructor() {
    // The thread does not inherit flags of the main process, such as loaders of test runners.
    this.#worker = new Worker(threadScript(), {
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: EVALUATION_MEMORY_MB },
    });
    this.ready = new Promise((resolve) => {
      this.#onResponse = (response) => {
        this.#worker.unref();
        resolve(response);
      };
    });
    this.#worker.on('message', (response: ThreadResponse) => this.#complete(response));
    this.#worker.on('error', (error: { readonly code?: unknown }) =>
      this.#die(error.code === 'ERR_WORKER_OUT_OF_MEMORY'),
    );
    this.#worker.on('exit', () => this.#die(false));
  }

  get isAlive(): boolean {
    return this.#isAlive;
  }

  /** Sends one request at a time, to a thread that is ready. Never rejects. */
  send(request: ThreadRequest, timeoutMs: number): Promise<ThreadOutcome> {
    if (!this.#isAlive) return Promise.resolve({ kind: 'lost', isMemory: false });
    assert(this.#onResponse === undefined, 'a thread has one request at a time');
    this.#worker.ref();
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.end(), timeoutMs);
      this.#onResponse = (response) => {
        clearTimeout(timer);
        this.#worker.unref();
        resolve(response);
      };
      const sent = 'bodies' in request ? [request.bodies.buffer] : [];
      this.#worker.postMessage(request, sent);
    });
  }

  end(): void {
    this.#die(false);
    void this.#worker.terminate();
  }

  #complete(response: ThreadOutcome): void {
    const waiting = this.#onResponse;
    this.#onResponse = undefined;
    waiting?.(response);
  }

  #die(isMemory: boolean): void {
    this.#isAlive = false;
    this.#complete({ kind: 'lost', isMemory });
  }
}

/** The script of the thread, as source or as built. */
function threadScript(): URL {
  const isSource = import.meta.url.endsWith('.ts');
  return new URL(`./evaluation-worker.${isSource ? 'ts' : 'js'}`, import.meta.url);
}
