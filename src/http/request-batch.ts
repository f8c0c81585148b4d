/**
 * Requests that arrive in one turn of the event loop are processed together at its end, stage by stage: all are admitted,
 * then all are responded to, then all responses are written. Each stage finds its code and data in the CPU's caches, while
 * requests one after the other would load all stages again for each. The responses also leave together, so that a
 * sleeping client is woken once and not by each of them.
 */
import type { Writable } from 'node:stream';

/** The next step of a request. */
export const STAGES = { admit: 0, respond: 1, send: 2 } as const;
export type Stage = (typeof STAGES)[keyof typeof STAGES];
const IN_ORDER: readonly Stage[] = [STAGES.admit, STAGES.respond, STAGES.send];

/** A request that waits for a stage. */
export interface BatchStep {
  proceed(): void;
}

/** The most requests that wait for each other: a batch of thousands would delay its first one. */
const BATCH_MAX = 32;
/**
 * A turn that takes longer runs something else than requests, such as a long query. Then waiting costs more than it
 * saves, and the next requests are processed as they arrive.
 */
const TURN_MS_MAX = 2;
const UNBATCHED_AFTER_LONG_TURN = 200;

export class RequestBatch {
  readonly #waiting: [BatchStep[], BatchStep[], BatchStep[]] = [[], [], []];
  #held: Writable[] = [];
  #isScheduled = false;
  #isRunning = false;
  #startedMs = 0;
  /** Responses that are still to be written without a batch. */
  #unbatched = 0;

  /** The request proceeds when the batch reaches this stage. */
  await(stage: Stage, step: BatchStep): void {
    if (this.#unbatched > 0) {
      step.proceed();
      return;
    }
    const waiting = this.#waiting[stage];
    waiting.push(step);
    if (waiting.length >= BATCH_MAX && !this.#isRunning) this.#run();
    else this.#scheduleEnd();
  }

  /** Holds what is written to the socket from now on until the responses of the batch leave. */
  hold(socket: Writable): void {
    if (socket.writableCorked > 0) return;
    if (this.#unbatched > 0) {
      this.#unbatched--;
      return;
    }
    if (this.#held.length >= BATCH_MAX) this.#flush();
    socket.cork();
    this.#held.push(socket);
    this.#scheduleEnd();
  }

  #scheduleEnd(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    this.#startedMs = performance.now();
    setImmediate(this.#end);
  }

  readonly #end = (): void => {
    if (performance.now() - this.#startedMs > TURN_MS_MAX)
      this.#unbatched = UNBATCHED_AFTER_LONG_TURN;
    this.#run();
    this.#isScheduled = false;
    // A connection whose request was just responded to may have had its next one waiting.
    if (this.#waiting.some(({ length }) => length > 0)) this.#scheduleEnd();
  };

  /** Requests that come to a stage which is over wait for the next batch. */
  #run(): void {
    this.#isRunning = true;
    for (const stage of IN_ORDER) {
      const steps = this.#waiting[stage];
      if (steps.length === 0) continue;
      this.#waiting[stage] = [];
      for (const step of steps) proceed(step);
    }
    this.#isRunning = false;
    this.#flush();
  }

  #flush(): void {
    const held = this.#held;
    this.#held = [];
    for (const socket of held) socket.uncork();
  }
}

/** Runs one step; an error must not stop the other requests of the batch, so it is thrown outside, where it is logged. */
function proceed(step: BatchStep): void {
  try {
    step.proceed();
  } catch (error) {
    queueMicrotask(() => {
      throw error;
    });
  }
}
