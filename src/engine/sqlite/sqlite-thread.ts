/** A worker thread seen from the main one: keeps the process alive only while it owes an answer. */
import type { Transferable } from 'node:worker_threads';
import { Worker } from 'node:worker_threads';

export interface ThreadEvents<Answer> {
  readonly onAnswer: (answer: Answer) => void;
  /** The thread is no more; nothing it owed will come. Called once, not after `end`. */
  readonly onDeath: (reason: string) => void;
}

export class Thread<Question, Answer> {
  readonly #worker: Worker;
  #owed = 0;
  #isAlive = true;

  constructor(script: URL, events: ThreadEvents<Answer>) {
    this.#worker = new Worker(script);
    this.#worker.unref();
    this.#worker.on('message', events.onAnswer);
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

  /** `owes`: whether an answer will come, for which the process has to live. */
  post(question: Question, owes: boolean, transfer: readonly Transferable[] = []): void {
    this.#worker.postMessage(question, transfer);
    if (!owes) return;
    if (this.#owed++ === 0) this.#worker.ref();
  }

  /** One owed answer has come. */
  settle(): void {
    if (--this.#owed === 0) this.#worker.unref();
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
