/** Time comes in as an argument, so that tests can turn the hands. */
export interface Clock {
  /** Milliseconds since 1970, may step. */
  nowMs(): number;
}

export const systemClock: Clock = { nowMs: () => Date.now() };

/** A clock that stands until it is moved. */
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
