/**
 * Long computations on the one thread that serves requests, a few milliseconds at a time. All of a process take turns in
 * one queue: however many there are, a request waits for one slice at most.
 */

/** A request that comes at a bad moment waits this long. */
const SLICE_MS = 3;

/** Yields whenever a good place to stop is reached: after some microseconds, not after some milliseconds. */
export type Steps<T> = Generator<void, T, void>;

interface Task {
  /** False once it is over. */
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
    // The others are as near to their end: none of them waits for the longest.
    const first = this.#tasks.shift();
    if (first === undefined) return;
    this.#tasks.push(first);
    setImmediate(this.#slice);
  };
}
