/**
 * Decides when a gathering group is committed. A commit costs nearly as much for one write as for twenty, so the writers
 * that were just answered are waited for, a moment at most: all that write side by side end up in one group. A single
 * writer never waits: its group is the end of this turn of the event loop.
 */

/** Writers that were expected and have not come for this long are not waited for. */
const PAUSE_MS = 1;
/** The longest a write waits for others, while more of them come: as long as many of them take to be read. */
const PAUSES_MAX = 8;

export class GroupCommitTimer {
  readonly #flush: () => void;
  /** Writes worth waiting for. */
  #expected = 1;
  #isFlushScheduled = false;
  #timer: NodeJS.Timeout | undefined;
  #count = 0;
  /** Gathered when it was last looked at. */
  #lastCount = 0;
  #pauses = 0;

  constructor(flush: () => void) {
    this.#flush = flush;
  }

  /** A group of `told` writers was answered while `waiting` writes had gathered: the former may write again. */
  expect(waiting: number, told: number): void {
    this.#expected = waiting + told;
  }

  /** `count` writes have gathered, and nothing keeps them from being committed. */
  gathered(count: number): void {
    this.#count = count;
    if (count < this.#expected) {
      this.#timer ??= setTimeout(this.#look, PAUSE_MS);
      return;
    }
    if (this.#isFlushScheduled) return;
    this.#isFlushScheduled = true;
    setImmediate(() => {
      this.#isFlushScheduled = false;
      this.#flush();
    });
  }

  /** The group is on its way; the next one begins. */
  reset(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#lastCount = 0;
    this.#pauses = 0;
  }

  readonly #look = (): void => {
    if (this.#count === this.#lastCount || ++this.#pauses >= PAUSES_MAX) {
      this.#flush();
      return;
    }
    this.#lastCount = this.#count;
    this.#timer = setTimeout(this.#look, PAUSE_MS);
  };
}
