/**
 * When refused requests are told to come back: one after the other, as far apart as their charges need, so that each
 * finds what the one before it left. Told the same moment they would all return at once, one would be served, and the
 * others would use up their retries.
 *
 * Turns reach two seconds ahead: no wait is longer, whoever else gave up or came back too early and took turns without
 * using them. Beyond that they begin again, in the later half: the nearer turns are those of others, and
 * the fewer come back per second, the more of them are served within the retries of a stock client.
 */
export const REACH_MAX_MS = 2000;

/** Turns are this much wider than the average charge needs: whoever comes a little early is refused once more. */
const MARGIN = 1.02;

export class RetrySchedule {
  #nextMs = Number.NEGATIVE_INFINITY;

  /**
   * The next free turn.
   * @param freeAtMs - when something is left for anybody.
   * @param widthMs - how long it takes to earn an average charge.
   */
  take(freeAtMs: number, widthMs: number, nowMs: number): number {
    const lastMs = nowMs + REACH_MAX_MS;
    let turnMs = Math.max(freeAtMs, this.#nextMs);
    if (turnMs > lastMs) turnMs = Math.min(lastMs, Math.max(freeAtMs, nowMs + REACH_MAX_MS / 2));
    this.#nextMs = turnMs + MARGIN * widthMs;
    return turnMs;
  }

  /** After a change of rates or of the clock: earlier turns mean nothing. */
  clear(): void {
    this.#nextMs = Number.NEGATIVE_INFINITY;
  }
}
