/**
 * Decides when the open group is committed. A commit costs nearly as much for one write as for twenty, so the timer
 * waits some milliseconds for the writers whose writes just completed: all concurrent writers end up in one group. A
 * single writer never waits: its group ends with this turn of the event loop.
 */

/** After this time without a new write the group is committed, though more were expected. */
const CHECK_INTERVAL_MS = 1;
/** The longest wait, while more writes come: about the time it takes to parse many requests. */
const CHECKS_MAX = 8;

export class GroupCommitTimer {
  readonly #flush: () => void;
  /** Writes that the group waits for. */
  #expected = 1;
  #isFlushScheduled = false;
  #timer: NodeJS.Timeout | undefined;
  #count = 0;
  /** Writes at the last check. */
  #lastCount = 0;
  #checks = 0;

  constructor(flush: () => void) {
    this.#flush = flush;
  }

  /** `completed` writers may write again, while `waiting` writes are already in the open group. */
  expect(waiting: number, completed: number): void {
    this.#expected = waiting + completed;
  }

  /** The open group has `count` writes and may be committed. */
  collected(count: number): void {
    this.#count = count;
    if (count < this.#expected) {
      this.#timer ??= setTimeout(this.#check, CHECK_INTERVAL_MS);
      return;
    }
    if (this.#isFlushScheduled) return;
    this.#isFlushScheduled = true;
    setImmediate(() => {
      this.#isFlushScheduled = false;
      this.#flush();
    });
  }

  /** The group is being committed; the next one begins. */
  reset(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#lastCount = 0;
    this.#checks = 0;
  }

  readonly #check = (): void => {
    if (this.#count === this.#lastCount || ++this.#checks >= CHECKS_MAX) {
      this.#flush();
      return;
    }
    this.#lastCount = this.#count;
    this.#timer = setTimeout(this.#check, CHECK_INTERVAL_MS);
  };
}
