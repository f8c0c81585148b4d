/** An evaluation thread seen from the main one. It is ended, with what runs in it, when it does not answer in time. */
import { Worker } from 'node:worker_threads';
import { EVALUATION_MEMORY_MB } from '../../../base/index.ts';
import type { FromThread, ToThread } from './protocol.ts';

export type Answer =
  | FromThread
  /** The thread is no more. */
  | { readonly kind: 'lost'; readonly isMemory: boolean };

export class EvaluationThread {
  readonly #worker: Worker;
  #isAlive = true;
  #waiting: ((answer: Answer) => void) | undefined;
  /** When the thread has started: that takes its time, which is no query's. */
  readonly ready: Promise<Answer>;

  constructor() {
    // Flags of the main program (loaders of test runners) are none of the thread's business.
    this.#worker = new Worker(threadScript(), {
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: EVALUATION_MEMORY_MB },
    });
    this.ready = new Promise((resolve) => {
      this.#waiting = (answer) => {
        this.#worker.unref();
        resolve(answer);
      };
    });
    this.#worker.on('message', (answer: FromThread) => this.#settle(answer));
    this.#worker.on('error', (error: { readonly code?: unknown }) =>
      this.#die(error.code === 'ERR_WORKER_OUT_OF_MEMORY'),
    );
    this.#worker.on('exit', () => this.#die(false));
  }

  get isAlive(): boolean {
    return this.#isAlive;
  }

  /** One question at a time, of a thread that is ready; never rejects. */
  ask(question: ToThread, patienceMs: number): Promise<Answer> {
    if (!this.#isAlive) return Promise.resolve({ kind: 'lost', isMemory: false });
    this.#worker.ref();
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.end(), patienceMs);
      this.#waiting = (answer) => {
        clearTimeout(timer);
        this.#worker.unref();
        resolve(answer);
      };
      const sent = 'bodies' in question ? [question.bodies.buffer] : [];
      this.#worker.postMessage(question, sent);
    });
  }

  end(): void {
    this.#die(false);
    void this.#worker.terminate();
  }

  #settle(answer: Answer): void {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    waiting?.(answer);
  }

  #die(isMemory: boolean): void {
    this.#isAlive = false;
    this.#settle({ kind: 'lost', isMemory });
  }
}

/** As source or as built. */
function threadScript(): URL {
  const isSource = import.meta.url.endsWith('.ts');
  return new URL(`./evaluation-worker.${isSource ? 'ts' : 'js'}`, import.meta.url);
}
