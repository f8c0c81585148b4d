/** A worker thread seen from the main one: keeps the process alive only while it owes an answer. */
import type { Transferable } from 'node:worker_threads';
import { Worker } from 'node:worker_threads';

interface ThreadEvents<Answer> {
  readonly onResponse: (answer: Answer) => void;
  /** The thread is no more; nothing it owed will come. Called once, not after `end`. */
  readonly onDeath: (reason: string) => void;
}

export class Thread<Question, Answer> {
  readonly #worker: Worker;
  #pendingReplies = 0;
  #isAlive = true;

  constructor(script: URL, events: ThreadEvents<Answer>) {
    // Flags of the main program (`--input-type`, loaders of test runners) are none of the thread's business.
    this.#worker = new Worker(script, { execArgv: [] });
    this.#worker.unref();
    this.#worker.on('message', events.onResponse);
    const die = (reason: string) => {
      if (!this.#isAlive) return;
      this.#isAlive = false;
      events.onDeath(reason);
    };
    this.#worker.on('error', (error: unknown) =>
      die(error instanceof Error ? error.message : String(error)),
    );
    this.#worker.on('exit', (code) => die(`exit code ${code}`));
  }

  get isAlive(): boolean {
    return this.#isAlive;
  }

  /** `owed`: how many answers will come of it, for which the process has to live. */
  post(question: Question, owed: number, transfer: readonly Transferable[] = []): void {
    this.#worker.postMessage(question, transfer);
    if (owed > 0 && this.#pendingReplies === 0) this.#worker.ref();
    this.#pendingReplies += owed;
  }

  /** So many of the owed answers have come. */
  whenAnswered(answered: number): void {
    this.#pendingReplies -= answered;
    if (answered > 0 && this.#pendingReplies === 0) this.#worker.unref();
  }

  /** Ends an idle thread. */
  async end(): Promise<void> {
    this.#isAlive = false;
    await this.#worker.terminate();
  }
}

/** A sibling of the calling module, as source or as built. */
export function threadScript(name: string, importMetaUrl: string): URL {
  return new URL(`./${name}.${importMetaUrl.endsWith('.ts') ? 'ts' : 'js'}`, importMetaUrl);
}
