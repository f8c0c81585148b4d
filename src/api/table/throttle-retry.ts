/**
 * Retries throttled requests on the server, for a while. Clients of tables retry three times and then lose the write;
 * a loop of twenty workers on a table of 1,000 RU/s would lose some of a thousand. Waiting here, a request is admitted
 * once the budget allows it; only a request that would wait longer gets a 429.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { DomainError, isPromise, type MaybePromise } from '../../base/index.ts';
import type { Call } from './call.ts';
import { RETRY_WAIT_MS_MAX, WAITING_BYTES_MAX, WAITING_REQUESTS_MAX } from './limits.ts';

/** Requests that wait at present, of all tables of a server. */
export class ThrottleRetries {
  readonly #waitMsMax: number;
  #requests = 0;
  #bytes = 0;

  constructor(waitMsMax = RETRY_WAIT_MS_MAX) {
    this.#waitMsMax = waitMsMax;
  }

  /** Returns no promise where the first attempt returns none. */
  run<T>(call: Call, attempt: () => MaybePromise<T>): MaybePromise<T> {
    const bytes = call.body.length;
    try {
      const done = attempt();
      return isPromise(done)
        ? done.catch((error: unknown) => this.#retry(error, bytes, attempt))
        : done;
    } catch (error) {
      return this.#retry(error, bytes, attempt);
    }
  }

  async #retry<T>(first: unknown, bytes: number, attempt: () => MaybePromise<T>): Promise<T> {
    let error = first;
    let waitMs = throttledMs(error);
    if (waitMs === undefined || !this.#hasRoom(bytes)) throw error;
    this.#requests++;
    this.#bytes += bytes;
    try {
      for (let leftMs = this.#waitMsMax; waitMs !== undefined && waitMs <= leftMs; ) {
        const sinceMs = performance.now();
        await sleep(waitMs);
        leftMs -= performance.now() - sinceMs;
        try {
          return await attempt();
        } catch (again) {
          error = again;
          waitMs = throttledMs(again);
        }
      }
    } finally {
      this.#requests--;
      this.#bytes -= bytes;
    }
    throw error;
  }

  #hasRoom(bytes: number): boolean {
    return this.#requests < WAITING_REQUESTS_MAX && this.#bytes + bytes <= WAITING_BYTES_MAX;
  }
}

/** How long a throttled request has to wait; undefined for every other failure. */
function throttledMs(error: unknown): number | undefined {
  return error instanceof DomainError && error.code === 'throttled'
    ? error.retryAfterMs
    : undefined;
}
