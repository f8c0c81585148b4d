/**
 * When refused requests are told to come back: one after the other, as far apart as their charges need, so that each
 * finds what the one before it left. Told the same moment they would all return at once, one would be served, and the
 * others would use up their retries.
 *
 * Turns reach as far ahead as a client waits at most in total; then they begin again at the front. Where they are used
 * up much faster than they come due, most who are refused do not come back (they give up, or do not care); the reach is
 * then cut, lest those who do come back wait for turns that nobody takes.
 */
const REACH_MAX_MS = 25_000;
const REACH_MIN_MS = 1000;
/** Turns given out this many times faster than time passes are a flood. */
const FLOOD_FACTOR = 8;

/** Turns are this much wider than the average charge needs: whoever comes a little early is refused once more. */
const MARGIN = 1.02;

export class Turns {
  #nextMs = Number.NEGATIVE_INFINITY;
  #reachMs = REACH_MAX_MS;
  #roundBeganMs = Number.NEGATIVE_INFINITY;

  /**
   * The next free turn.
   * @param freeAtMs - when something is left for anybody.
   * @param widthMs - how long it takes to earn an average charge.
   */
  take(freeAtMs: number, widthMs: number, nowMs: number): number {
    let turnMs = Math.max(freeAtMs, this.#nextMs);
    if (turnMs - freeAtMs > this.#reachMs) {
      const isFlood = nowMs - this.#roundBeganMs < this.#reachMs / FLOOD_FACTOR;
      this.#reachMs = isFlood
        ? Math.max(REACH_MIN_MS, this.#reachMs / 2)
        : Math.min(REACH_MAX_MS, this.#reachMs * 2);
      this.#roundBeganMs = nowMs;
      turnMs = freeAtMs;
    }
    this.#nextMs = turnMs + MARGIN * widthMs;
    return turnMs;
  }

  /** After a change of rates or of the clock: earlier turns mean nothing. */
  clear(): void {
    this.#nextMs = Number.NEGATIVE_INFINITY;
    this.#roundBeganMs = Number.NEGATIVE_INFINITY;
  }
}
