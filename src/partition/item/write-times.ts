/**
 * Times of writes for the Table API: to 100 ns, and later than that of every write before. The clock has milliseconds;
 * writes within one of them are a hundred nanoseconds apart.
 */

const TICKS_PER_MS = 10_000;

export class WriteTimes {
  #ms = 0;
  #ticks = 0;

  /** The next time. It continues from the last one while the clock is behind, such as after it was set back. */
  next(nowMs: number): string {
    if (nowMs > this.#ms) {
      this.#ms = nowMs;
      this.#ticks = 0;
    } else if (++this.#ticks === TICKS_PER_MS) {
      this.#ms++;
      this.#ticks = 0;
    }
    return writeTime(this.#ms, this.#ticks);
  }
}

/** Many writes share a second. */
let lastSecond = { sec: -1, text: '' };

/** The text of a time; `ticks` of 100 ns after the millisecond. */
export function writeTime(ms: number, ticks = 0): string {
  const sec = Math.floor(ms / 1000);
  if (lastSecond.sec !== sec)
    lastSecond = { sec, text: new Date(sec * 1000).toISOString().slice(0, 19) };
  const fraction = (ms - sec * 1000) * TICKS_PER_MS + ticks;
  return `${lastSecond.text}.${String(fraction).padStart(7, '0')}Z`;
}

/** The weak etag that names a write by its time: the second name of a version, beside `etag`. */
export function timeEtag(time: string): string {
  return `W/"datetime'${time.slice(0, 13)}%3A${time.slice(14, 16)}%3A${time.slice(17)}'"`;
}
