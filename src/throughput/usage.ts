/**
 * Request units that a partition used: totals since the process started, the last minute by seconds, the last hour by
 * its busiest seconds.
 */
const CELLS = 60;

export interface Usage {
  /** Since the process started. */
  readonly requestUnits: number;
  readonly throttled: number;
  readonly requestUnitsLastMinute: number;
  readonly throttledLastMinute: number;
  /** Seconds of the last minute in which requests were refused. */
  readonly throttledSecondsLastMinute: number;
  /** RU of the busiest second. */
  readonly peakLastMinute: number;
  readonly peakLastHour: number;
}

export class UsageSeries {
  #requestUnits = 0;
  #throttled = 0;
  readonly #unitsBySecond = new Float64Array(CELLS);
  readonly #throttledBySecond = new Float64Array(CELLS);
  /** RU of the busiest second of each minute. */
  readonly #peakByMinute = new Float64Array(CELLS);
  #second: number;
  #cell: number;
  #secondEndMs: number;

  constructor(nowMs: number) {
    this.#second = Math.floor(nowMs / 1000);
    this.#cell = this.#second % CELLS;
    this.#secondEndMs = (this.#second + 1) * 1000;
  }

  add(requestUnits: number, nowMs: number): void {
    if (nowMs >= this.#secondEndMs) this.#roll(nowMs);
    this.#requestUnits += requestUnits;
    const cell = this.#cell;
    this.#unitsBySecond[cell] = (this.#unitsBySecond[cell] as number) + requestUnits;
  }

  refuse(nowMs: number): void {
    if (nowMs >= this.#secondEndMs) this.#roll(nowMs);
    this.#throttled++;
    const cell = this.#cell;
    this.#throttledBySecond[cell] = (this.#throttledBySecond[cell] as number) + 1;
  }

  get totals(): Pick<Usage, 'requestUnits' | 'throttled'> {
    return { requestUnits: this.#requestUnits, throttled: this.#throttled };
  }

  read(nowMs: number): Usage {
    if (nowMs >= this.#secondEndMs) this.#roll(nowMs);
    this.#keepPeak();
    return {
      requestUnits: this.#requestUnits,
      throttled: this.#throttled,
      requestUnitsLastMinute: sum(this.#unitsBySecond),
      throttledLastMinute: sum(this.#throttledBySecond),
      throttledSecondsLastMinute: this.#throttledBySecond.filter((count) => count > 0).length,
      peakLastMinute: Math.max(...this.#unitsBySecond),
      peakLastHour: Math.max(...this.#peakByMinute),
    };
  }

  /**
   * Clears the cells between the last recorded second and this one. After a clock was set back, charges count for the
   * last.
   */
  #roll(nowMs: number): void {
    this.#keepPeak();
    const second = Math.floor(nowMs / 1000);
    clearBetween([this.#unitsBySecond, this.#throttledBySecond], this.#second, second);
    clearBetween([this.#peakByMinute], Math.floor(this.#second / 60), Math.floor(second / 60));
    this.#second = second;
    this.#cell = second % CELLS;
    this.#secondEndMs = (second + 1) * 1000;
  }

  #keepPeak(): void {
    const minute = Math.floor(this.#second / 60) % CELLS;
    const used = this.#unitsBySecond[this.#cell] as number;
    if (used > (this.#peakByMinute[minute] as number)) this.#peakByMinute[minute] = used;
  }
}

/** `from` and `to` are counts of cells since 1970; the first cell is not cleared. */
function clearBetween(rings: readonly Float64Array[], from: number, to: number): void {
  const first = Math.max(from + 1, to - CELLS + 1);
  for (let at = first; at <= to; at++) for (const ring of rings) ring[at % CELLS] = 0;
}

function sum(ring: Float64Array): number {
  let total = 0;
  for (const value of ring) total += value;
  return total;
}
