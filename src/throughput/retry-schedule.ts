/**
 * The times at which refused requests are asked to retry: one after the other, as far apart as their charges need, so
 * that each finds the bucket refilled. With the same time for all, they would return at once, one would be served,
 * and the others would use up their retries.
 *
 * The schedule reaches two seconds ahead, so no wait is longer, even if other clients gave up or retried too early
 * and left their times unused. Beyond that, times are assigned again from the later half. The nearer times already
 * belong to others, and the fewer requests return per second, the more of them are served within the retries of a
 * stock client.
 */
export const REACH_MAX_MS = 2000;

/**
 * Times are this much further apart than the average charge needs: a request that returns a little early is refused
 * again.
 */
const MARGIN = 1.02;

export class RetrySchedule {
  #nextMs = Number.NEGATIVE_INFINITY;

  /**
   * The next free time.
   * @param freeAtMs - when the bucket can admit a request at all.
   * @param widthMs - how long it takes to earn an average charge.
   */
  next(freeAtMs: number, widthMs: number, nowMs: number): number {
    const lastMs = nowMs + REACH_MAX_MS;
    let retryAtMs = Math.max(freeAtMs, this.#nextMs);
    if (retryAtMs > lastMs)
      retryAtMs = Math.min(lastMs, Math.max(freeAtMs, nowMs + REACH_MAX_MS / 2));
    this.#nextMs = retryAtMs + MARGIN * widthMs;
    return retryAtMs;
  }

  /** Drops the schedule after a change of the rates or of the clock. */
  clear(): void {
    this.#nextMs = Number.NEGATIVE_INFINITY;
  }
}
