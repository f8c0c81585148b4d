/** Time comes in as an argument, so that tests can control it. */
export interface Clock {
  /** Milliseconds since 1970. The clock may be set forward or back. */
  nowMs(): number;
}

export const systemClock: Clock = { nowMs: () => Date.now() };

/** A clock that changes only when a test advances it. */
export class FakeClock implements Clock {
  #nowMs: number;

  constructor(startMs = 1_700_000_000_000) {
    this.#nowMs = startMs;
  }

  nowMs(): number {
    return this.#nowMs;
  }

  advance(ms: number): void {
    this.#nowMs += ms;
  }
}
