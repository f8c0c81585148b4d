/** Wakes commands that wait for something: data behind a tailable cursor, or a new state of the server. */

type Wake = () => void;

export class Activity {
  readonly #waiting = new Set<Wake>();
  /** How often the state has changed. */
  changes = 0;

  /** Something was written, or the server stops. */
  notify(): void {
    for (const wake of [...this.#waiting]) wake();
  }

  /** The state is now the one of this number. */
  change(to: number): void {
    this.changes = to;
    this.notify();
  }

  /** Resolves at the next `notify`, or after the time at the latest. */
  wait(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const wake = (): void => {
        clearTimeout(timer);
        this.#waiting.delete(wake);
        resolve();
      };
      const timer = setTimeout(wake, ms);
      this.#waiting.add(wake);
    });
  }
}
