/** A sandbox thread, as the main thread uses it. A thread that does not respond in time is ended. */
import { Worker } from 'node:worker_threads';
import { assert } from '../base/index.ts';
import type { SandboxRequest, SandboxResponse, SandboxSettings } from './sandbox-protocol.ts';

export type ThreadResponse =
  | SandboxResponse
  /** The thread has ended. */
  | { readonly kind: 'lost' };

export class SandboxThread {
  readonly #worker: Worker;
  #isAlive = true;
  #waiting: ((response: ThreadResponse) => void) | undefined;
  /** Resolves when the thread has started, so that no script pays for the start with its time. */
  readonly ready: Promise<ThreadResponse>;

  constructor(settings: SandboxSettings) {
    // Flags of the main thread, such as loaders of test runners, must not apply here.
    this.#worker = new Worker(threadScript(), {
      execArgv: [],
      workerData: settings,
      resourceLimits: { maxOldGenerationSizeMb: OLD_GENERATION_MB },
    });
    this.ready = new Promise((resolve) => {
      this.#waiting = (response) => {
        this.#worker.unref();
        resolve(response);
      };
    });
    this.#worker.on('message', (response: SandboxResponse) => this.#complete(response));
    // A script can break its thread, for example by its memory; the caller reports `lost` as a stopped script.
    this.#worker.on('error', () => this.#die());
    this.#worker.on('exit', () => this.#die());
  }

  get isAlive(): boolean {
    return this.#isAlive;
  }

  /** Sends a request to a thread that is ready, one at a time; never rejects. */
  request(request: SandboxRequest, timeoutMs: number): Promise<ThreadResponse> {
    if (!this.#isAlive) return Promise.resolve({ kind: 'lost' });
    assert(this.#waiting === undefined, 'a sandbox thread has one request at a time');
    this.#worker.ref();
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.end(), timeoutMs);
      this.#waiting = (response) => {
        clearTimeout(timer);
        this.#worker.unref();
        resolve(response);
      };
      this.#worker.postMessage(request);
    });
  }

  /** Sends a request that has no response. */
  post(request: SandboxRequest): void {
    if (this.#isAlive) this.#worker.postMessage(request);
  }

  end(): Promise<unknown> {
    this.#die();
    return this.#worker.terminate();
  }

  #complete(response: ThreadResponse): void {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    waiting?.(response);
  }

  #die(): void {
    this.#isAlive = false;
    this.#complete({ kind: 'lost' });
  }
}

/** The heap of the thread itself has only texts of requests and responses; heaps of scripts are WebAssembly memory. */
const OLD_GENERATION_MB = 128;

/** The entry of the thread, as source or as built. */
function threadScript(): URL {
  const isSource = import.meta.url.endsWith('.ts');
  return new URL(`./sandbox-worker.${isSource ? 'ts' : 'js'}`, import.meta.url);
}
