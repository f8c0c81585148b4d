/**
 * Long computations on the one thread that serves requests, a few milliseconds at a time. All tasks of a process
 * share one round-robin queue: however many there are, a request waits for one slice at most.
 */

/** The longest that a request waits for a slice. */
const SLICE_MS = 3;

/** Yields at every good point to stop: every few microseconds, not milliseconds. */
export type Steps<T> = Generator<void, T, void>;

interface Task {
  /** False once the task is complete. */
  step(): boolean;
}

export class SlicedWork {
  readonly #tasks: Task[] = [];

  run<T>(steps: Steps<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#tasks.push({
        step: () => {
          try {
            const { done, value } = steps.next();
            if (done !== true) return true;
            resolve(value);
          } catch (error) {
            reject(error);
          }
          return false;
        },
      });
      if (this.#tasks.length === 1) setImmediate(this.#slice);
    });
  }

  readonly #slice = (): void => {
    const endMs = performance.now() + SLICE_MS;
    for (let task = this.#tasks[0]; task !== undefined && performance.now() < endMs; ) {
      if (task.step()) continue;
      this.#tasks.shift();
      task = this.#tasks[0];
    }
    // Round robin: no task waits until the longest one is complete.
    const first = this.#tasks.shift();
    if (first === undefined) return;
    this.#tasks.push(first);
    setImmediate(this.#slice);
  };
}
