/** A sandbox thread seen from the main one. It is ended, with what runs in it, when it does not answer in time. */
import { Worker } from 'node:worker_threads';
import type { FromSandbox, SandboxSettings, ToSandbox } from './sandbox-protocol.ts';

export type Answer =
  | FromSandbox
  /** The thread is no more. */
  | { readonly kind: 'lost' };

export class SandboxThread {
  readonly #worker: Worker;
  #isAlive = true;
  #waiting: ((answer: Answer) => void) | undefined;
  /** When the thread has started: that takes its time, which is no script's. */
  readonly ready: Promise<Answer>;

  constructor(settings: SandboxSettings) {
    // Flags of the main program (loaders of test runners) are none of the thread's business.
    this.#worker = new Worker(threadScript(), {
      execArgv: [],
      workerData: settings,
      resourceLimits: { maxOldGenerationSizeMb: OLD_GENERATION_MB },
    });
    this.ready = new Promise((resolve) => {
      this.#waiting = (answer) => {
        this.#worker.unref();
        resolve(answer);
      };
    });
    this.#worker.on('message', (answer: FromSandbox) => this.#settle(answer));
    this.#worker.on('error', () => this.#die());
    this.#worker.on('exit', () => this.#die());
  }

  get isAlive(): boolean {
    return this.#isAlive;
  }

  /** One question at a time, of a thread that is ready; never rejects. */
  ask(question: ToSandbox, patienceMs: number): Promise<Answer> {
    if (!this.#isAlive) return Promise.resolve({ kind: 'lost' });
    this.#worker.ref();
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.end(), patienceMs);
      this.#waiting = (answer) => {
        clearTimeout(timer);
        this.#worker.unref();
        resolve(answer);
      };
      this.#worker.postMessage(question);
    });
  }

  /** For what has no answer. */
  tell(question: ToSandbox): void {
    if (this.#isAlive) this.#worker.postMessage(question);
  }

  end(): Promise<unknown> {
    this.#die();
    return this.#worker.terminate();
  }

  #settle(answer: Answer): void {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    waiting?.(answer);
  }

  #die(): void {
    this.#isAlive = false;
    this.#settle({ kind: 'lost' });
  }
}

/** Texts on their way in and out; the heaps of scripts are elsewhere. */
const OLD_GENERATION_MB = 128;

/** As source or as built. */
function threadScript(): URL {
  const isSource = import.meta.url.endsWith('.ts');
  return new URL(`./sandbox-worker.${isSource ? 'ts' : 'js'}`, import.meta.url);
}
