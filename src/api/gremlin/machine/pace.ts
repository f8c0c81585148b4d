/** Keeps a traversal within its time and memory, and lets others run in between. */
import { yieldToEventLoop } from '../../../query/index.ts';
import { timedOut, tooMuchMemory } from '../errors.ts';
import { HELD_TRAVERSERS_MAX } from '../limits.ts';

/** Values between two looks at the clock. */
const SLICE = 100;

/** Values of one native sort. */
const SORTED_AT_ONCE = 1000;

export class Pace {
  readonly #limitMs: number;
  readonly #startedMs = performance.now();
  readonly #isCancelled: () => boolean;
  #held = 0;
  #spent = 0;

  constructor(limitMs: number, isCancelled: () => boolean = () => false) {
    this.#limitMs = limitMs;
    this.#isCancelled = isCancelled;
  }

  /** Work on so many traversers was done. */
  async spend(traversers: number): Promise<void> {
    this.#spent += traversers;
    if (this.#spent < SLICE) return;
    this.#spent = 0;
    this.check();
    const pause = yieldToEventLoop();
    if (pause !== undefined) await pause;
  }

  /** Goes through a long list in slices, with room for others between them. */
  async each<T>(list: readonly T[], work: (value: T, at: number) => void): Promise<void> {
    for (let at = 0; at < list.length; at++) {
      if (at % SLICE === SLICE - 1) await this.spend(SLICE);
      work(list[at] as T, at);
    }
  }

  /** The list in order, equal ones as they were. A native sort of a million values would block others for a second. */
  async sorted<T>(list: readonly T[], compare: (a: T, b: T) => number): Promise<readonly T[]> {
    let runs: (readonly T[])[] = [];
    for (let at = 0; at < list.length; at += SORTED_AT_ONCE) {
      runs.push(list.slice(at, at + SORTED_AT_ONCE).sort(compare));
      await this.spend(SORTED_AT_ONCE);
    }
    while (runs.length > 1) {
      const longer: (readonly T[])[] = [];
      for (let at = 0; at < runs.length; at += 2)
        longer.push(await this.#merged(runs[at] ?? [], runs[at + 1] ?? [], compare));
      runs = longer;
    }
    return runs[0] ?? [];
  }

  async #merged<T>(
    a: readonly T[],
    b: readonly T[],
    compare: (a: T, b: T) => number,
  ): Promise<readonly T[]> {
    if (b.length === 0) return a;
    const merged: T[] = [];
    let [atA, atB] = [0, 0];
    while (atA < a.length || atB < b.length) {
      if (merged.length % SLICE === SLICE - 1) await this.spend(SLICE);
      const isFromA = atB >= b.length || (atA < a.length && compare(a[atA] as T, b[atB] as T) <= 0);
      merged.push((isFromA ? a[atA++] : b[atB++]) as T);
    }
    return merged;
  }

  /** Throws where the time is over or nobody waits for the result any more. */
  check(): void {
    if (performance.now() - this.#startedMs > this.#limitMs || this.#isCancelled())
      throw timedOut(this.#limitMs);
  }

  /** So many more traversers are kept until `release`. */
  hold(traversers: number): void {
    this.#held += traversers;
    if (this.#held > HELD_TRAVERSERS_MAX)
      throw tooMuchMemory(`The traversal holds more than ${HELD_TRAVERSERS_MAX} values at a time.`);
  }

  release(traversers: number): void {
    this.#held -= traversers;
  }
}
