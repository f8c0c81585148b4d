/** A worker thread as seen by the main thread: it keeps the process alive only while replies are pending. */
import type { Transferable } from 'node:worker_threads';
import { Worker } from 'node:worker_threads';

interface ThreadEvents<Response> {
  readonly onResponse: (response: Response) => void;
  /** The thread has ended; pending replies will not come. Called once, not after `end`. */
  readonly onEnd: (reason: string) => void;
}

export class Thread<Request, Response> {
  readonly #worker: Worker;
  #pendingReplies = 0;
  #isAlive = true;

  constructor(script: URL, events: ThreadEvents<Response>) {
    // Flags of the main program (`--input-type`, loaders of test runners) must not apply to the thread.
    this.#worker = new Worker(script, { execArgv: [] });
    this.#worker.unref();
    this.#worker.on('message', events.onResponse);
    const onEnd = (reason: string) => {
      if (!this.#isAlive) return;
      this.#isAlive = false;
      events.onEnd(reason);
    };
    this.#worker.on('error', (error: unknown) =>
      onEnd(error instanceof Error ? error.message : String(error)),
    );
    this.#worker.on('exit', (code) => onEnd(`exit code ${code}`));
  }

  get isAlive(): boolean {
    return this.#isAlive;
  }

  /** `replies`: how many replies the request will have. The process stays alive until they come. */
  post(request: Request, replies: number, transfer: readonly Transferable[] = []): void {
    this.#worker.postMessage(request, transfer);
    if (replies > 0 && this.#pendingReplies === 0) this.#worker.ref();
    this.#pendingReplies += replies;
  }

  /** Must be called when so many of the pending replies have come. */
  repliesReceived(count: number): void {
    this.#pendingReplies -= count;
    if (count > 0 && this.#pendingReplies === 0) this.#worker.unref();
  }

  /** Ends an idle thread. */
  async end(): Promise<void> {
    this.#isAlive = false;
    await this.#worker.terminate();
  }
}

/** The URL of a sibling of the calling module, as source or as built. */
export function threadScript(name: string, importMetaUrl: string): URL {
  return new URL(`./${name}.${importMetaUrl.endsWith('.ts') ? 'ts' : 'js'}`, importMetaUrl);
}
