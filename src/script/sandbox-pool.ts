/** A few sandbox threads, started when needed and ended when idle. A leased thread has one user. */
import {
  assert,
  DomainError,
  SCRIPT_QUEUE_MAX,
  SCRIPT_THREAD_IDLE_MS,
  SCRIPT_THREADS_MAX,
  SCRIPT_WAIT_MS,
} from '../base/index.ts';
import type { SandboxSettings } from './sandbox-protocol.ts';
import { SandboxThread } from './sandbox-thread.ts';

export interface Lease {
  readonly thread: SandboxThread;
  /** Must be called exactly once. */
  release(): void;
}

interface Waiting {
  readonly timer: NodeJS.Timeout;
  readonly resolve: (lease: Promise<Lease>) => void;
}

interface IdleThread {
  readonly thread: SandboxThread;
  readonly sinceMs: number;
}

export class SandboxPool {
  readonly #settings: SandboxSettings;
  /** The thread used last is the last one. */
  #idle: IdleThread[] = [];
  readonly #leased = new Set<SandboxThread>();
  readonly #waiting: Waiting[] = [];
  #sweeper: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(settings: SandboxSettings) {
    this.#settings = settings;
  }

  get threadCount(): number {
    return this.#idle.length + this.#leased.size;
  }

  /** @param preferred - a thread with a realm of the caller, which is taken if it is idle. */
  lease(preferred?: SandboxThread): Promise<Lease> {
    if (this.#isClosed) return Promise.reject(busy());
    const thread = this.#take(preferred);
    if (thread !== undefined) return this.#leaseOf(thread);
    if (this.#waiting.length >= SCRIPT_QUEUE_MAX) return Promise.reject(busy());
    return new Promise((resolve, reject) => {
      const waiting: Waiting = {
        resolve,
        timer: setTimeout(() => {
          this.#waiting.splice(this.#waiting.indexOf(waiting), 1);
          reject(busy());
        }, SCRIPT_WAIT_MS),
      };
      this.#waiting.push(waiting);
    });
  }

  /** Ends all threads, also busy ones. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#sweeper);
    const threads = [...this.#leased, ...this.#idle.map(({ thread }) => thread)];
    this.#idle = [];
    await Promise.all(threads.map((thread) => thread.end()));
  }

  #take(preferred: SandboxThread | undefined): SandboxThread | undefined {
    this.#idle = this.#idle.filter(({ thread }) => thread.isAlive);
    const at = this.#idle.findIndex(({ thread }) => thread === preferred);
    const [found] = at >= 0 ? this.#idle.splice(at, 1) : this.#idle.splice(-1);
    if (found !== undefined) return found.thread;
    if (this.#leased.size >= SCRIPT_THREADS_MAX) return undefined;
    return new SandboxThread(this.#settings);
  }

  async #leaseOf(thread: SandboxThread): Promise<Lease> {
    this.#leased.add(thread);
    await thread.ready;
    return { thread, release: () => this.#release(thread) };
  }

  #release(thread: SandboxThread): void {
    const wasLeased = this.#leased.delete(thread);
    assert(wasLeased, 'a lease is released once');
    if (this.#isClosed) return;
    const next = this.#waiting.shift();
    if (next !== undefined) {
      clearTimeout(next.timer);
      next.resolve(this.#leaseOf(thread.isAlive ? thread : new SandboxThread(this.#settings)));
      return;
    }
    if (thread.isAlive) this.#idle.push({ thread, sinceMs: performance.now() });
    this.#sweeper ??= setInterval(() => this.#sweep(), SCRIPT_THREAD_IDLE_MS / 2).unref();
  }

  #sweep(): void {
    const before = performance.now() - SCRIPT_THREAD_IDLE_MS;
    const expired = this.#idle.filter(({ sinceMs }) => sinceMs < before);
    this.#idle = this.#idle.filter(({ sinceMs }) => sinceMs >= before);
    for (const { thread } of expired) void thread.end();
    if (this.threadCount > 0) return;
    clearInterval(this.#sweeper);
    this.#sweeper = undefined;
  }
}

function busy(): DomainError {
  return new DomainError('unavailable', 'Too many scripts are waiting to run; retry later.');
}
