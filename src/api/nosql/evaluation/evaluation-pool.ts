/** A few evaluation threads, started when needed and ended when idle. A leased thread serves one page only. */
import {
  assert,
  DomainError,
  EVALUATION_IDLE_MS,
  EVALUATION_QUEUE_MAX,
  EVALUATION_THREADS_MAX,
  EVALUATION_WAIT_MS,
} from '../../../base/index.ts';
import { EvaluationThread } from './evaluation-thread.ts';

interface Waiting {
  readonly timer: NodeJS.Timeout;
  readonly resolve: (thread: Promise<EvaluationThread>) => void;
}

interface IdleThread {
  readonly thread: EvaluationThread;
  readonly sinceMs: number;
}

export class EvaluationPool {
  /** In the order of their last use. */
  #idle: IdleThread[] = [];
  readonly #leased = new Set<EvaluationThread>();
  readonly #onResponse: Waiting[] = [];
  #sweeper: NodeJS.Timeout | undefined;

  /** The caller gives the thread back with `release`. Throws `unavailable` when the queue is full or the wait too long. */
  lease(): Promise<EvaluationThread> {
    const thread = this.#take();
    if (thread !== undefined) return this.#started(thread);
    if (this.#onResponse.length >= EVALUATION_QUEUE_MAX) return Promise.reject(busy());
    return new Promise((resolve, reject) => {
      const waiting: Waiting = {
        resolve,
        timer: setTimeout(() => {
          this.#onResponse.splice(this.#onResponse.indexOf(waiting), 1);
          reject(busy());
        }, EVALUATION_WAIT_MS),
      };
      this.#onResponse.push(waiting);
    });
  }

  release(thread: EvaluationThread): void {
    const wasLeased = this.#leased.delete(thread);
    assert(wasLeased, 'a leased thread is released once');
    const next = this.#onResponse.shift();
    if (next !== undefined) {
      clearTimeout(next.timer);
      next.resolve(this.#started(thread.isAlive ? thread : new EvaluationThread()));
      return;
    }
    if (thread.isAlive) this.#idle.push({ thread, sinceMs: performance.now() });
    this.#sweeper ??= setInterval(() => this.#sweep(), EVALUATION_IDLE_MS / 2).unref();
  }

  #take(): EvaluationThread | undefined {
    this.#idle = this.#idle.filter(({ thread }) => thread.isAlive);
    const found = this.#idle.pop();
    if (found !== undefined) return found.thread;
    return this.#leased.size < EVALUATION_THREADS_MAX ? new EvaluationThread() : undefined;
  }

  async #started(thread: EvaluationThread): Promise<EvaluationThread> {
    this.#leased.add(thread);
    await thread.ready;
    return thread;
  }

  #sweep(): void {
    const before = performance.now() - EVALUATION_IDLE_MS;
    const expired = this.#idle.filter(({ sinceMs }) => sinceMs < before);
    this.#idle = this.#idle.filter(({ sinceMs }) => sinceMs >= before);
    for (const { thread } of expired) thread.end();
    if (this.#idle.length + this.#leased.size > 0) return;
    clearInterval(this.#sweeper);
    this.#sweeper = undefined;
  }
}

function busy(): DomainError {
  return new DomainError(
    'unavailable',
    'Too many queries that take long are waiting to be evaluated; retry later.',
  );
}
