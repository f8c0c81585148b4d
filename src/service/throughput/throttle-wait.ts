/**
 * Throttled requests that wait in the server, for protocols whose clients give up early or do not retry at all. A request
 * is admitted once the budget allows it; only one that would wait longer than its bound is refused. Each waits for the
 * time that the governor gave it, and the governor gives these times in the order of refusals.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import {
  DomainError,
  isPromise,
  type MaybePromise,
  WAITING_BYTES_MAX,
  WAITING_REQUESTS_MAX,
} from '../../base/index.ts';

interface ThrottleWaitOptions {
  readonly requestsMax: number;
  readonly bytesMax: number;
  sleep(ms: number): Promise<void>;
  /** Monotonic. */
  nowMs(): number;
}

export class ThrottleWait {
  readonly #options: ThrottleWaitOptions;
  #requests = 0;
  #bytes = 0;

  constructor(options: Partial<ThrottleWaitOptions> = {}) {
    this.#options = {
      requestsMax: WAITING_REQUESTS_MAX,
      bytesMax: WAITING_BYTES_MAX,
      sleep,
      nowMs: () => performance.now(),
      ...options,
    };
  }

  /**
   * Returns no promise where the first attempt returns none. The operation must have changed nothing where it is refused.
   * @param bytes - of the request, which stays in memory meanwhile.
   */
  run<T>(waitMaxMs: number, operation: () => MaybePromise<T>, bytes: number): MaybePromise<T> {
    try {
      const done = operation();
      return isPromise(done)
        ? done.catch((error: unknown) => this.#retry(error, waitMaxMs, operation, bytes))
        : done;
    } catch (error) {
      return this.#retry(error, waitMaxMs, operation, bytes);
    }
  }

  async #retry<T>(
    first: unknown,
    waitMaxMs: number,
    operation: () => MaybePromise<T>,
    bytes: number,
  ): Promise<T> {
    let error = first;
    let waitMs = throttledMs(error);
    if (waitMs === undefined || !this.#hasRoom(bytes)) throw error;
    this.#requests += 1;
    this.#bytes += bytes;
    try {
      for (let leftMs = waitMaxMs; waitMs !== undefined && waitMs <= leftMs; ) {
        const sinceMs = this.#options.nowMs();
        await this.#options.sleep(waitMs);
        leftMs -= this.#options.nowMs() - sinceMs;
        try {
          return await operation();
        } catch (again) {
          error = again;
          waitMs = throttledMs(again);
        }
      }
    } finally {
      this.#requests -= 1;
      this.#bytes -= bytes;
    }
    throw error;
  }

  #hasRoom(bytes: number): boolean {
    const { requestsMax, bytesMax } = this.#options;
    return this.#requests < requestsMax && this.#bytes + bytes <= bytesMax;
  }
}

/** How long a throttled request has to wait; undefined for every other failure. */
function throttledMs(error: unknown): number | undefined {
  return error instanceof DomainError && error.code === 'throttled'
    ? error.retryAfterMs
    : undefined;
}
