/**
 * Requests that arrive in one turn of the event loop go their way together at its end, stage by stage: all are admitted, then
 * all are answered, then all answers are printed and leave. So each stage finds its code and its data in the CPU's caches,
 * where requests one after the other would each bring their whole way with them again. And a client that sleeps is woken
 * by the first answer and finds the others; written one by one, each would wake it, at the cost of whoever writes.
 */
import type { Writable } from 'node:stream';

/** What is to be done next with a request. */
export const STAGES = { admit: 0, answer: 1, send: 2 } as const;
export type Stage = (typeof STAGES)[keyof typeof STAGES];
const IN_ORDER: readonly Stage[] = [STAGES.admit, STAGES.answer, STAGES.send];

/** A request at some stage of its way. */
export interface BatchStep {
  proceed(): void;
}

/** No more wait for each other: a turn with thousands of requests takes a while. */
const TOGETHER_MAX = 32;
/**
 * Something else than requests takes its time at the end of turns, such as a long query. Then waiting costs more than it
 * spares, and the next requests go their way as they come.
 */
const TURN_MS_MAX = 2;
const ALONE_AFTER_LONG_TURN = 200;

export class RequestBatch {
  readonly #waiting: [BatchStep[], BatchStep[], BatchStep[]] = [[], [], []];
  #held: Writable[] = [];
  #isEnding = false;
  #isRunning = false;
  #startedMs = 0;
  /** Answers that are still to leave as they come. */
  #alone = 0;

  /** The request proceeds once the others of this turn are as far. */
  await(stage: Stage, passage: BatchStep): void {
    if (this.#alone > 0) {
      passage.proceed();
      return;
    }
    const waiting = this.#waiting[stage];
    waiting.push(passage);
    if (waiting.length >= TOGETHER_MAX && !this.#isRunning) this.#run();
    else this.#endSoon();
  }

  /** What is written from here on leaves with the answers of the others. */
  hold(socket: Writable): void {
    if (socket.writableCorked > 0) return;
    if (this.#alone > 0) {
      this.#alone--;
      return;
    }
    if (this.#held.length >= TOGETHER_MAX) this.#letGo();
    socket.cork();
    this.#held.push(socket);
    this.#endSoon();
  }

  #endSoon(): void {
    if (this.#isEnding) return;
    this.#isEnding = true;
    this.#startedMs = performance.now();
    setImmediate(this.#end);
  }

  readonly #end = (): void => {
    if (performance.now() - this.#startedMs > TURN_MS_MAX) this.#alone = ALONE_AFTER_LONG_TURN;
    this.#run();
    this.#isEnding = false;
    // The next request of a connection whose last one has just been answered.
    if (this.#waiting.some(({ length }) => length > 0)) this.#endSoon();
  };

  /** A stage takes what earlier ones have brought it; what comes to one that is over waits for the next turn. */
  #run(): void {
    this.#isRunning = true;
    for (const stage of IN_ORDER) {
      const passages = this.#waiting[stage];
      if (passages.length === 0) continue;
      this.#waiting[stage] = [];
      for (const passage of passages) proceed(passage);
    }
    this.#isRunning = false;
    this.#letGo();
  }

  #letGo(): void {
    const held = this.#held;
    this.#held = [];
    for (const socket of held) socket.uncork();
  }
}

/** One request that fails must not keep the others of its turn from their way; the failure is the process's to report. */
function proceed(passage: BatchStep): void {
  try {
    passage.proceed();
  } catch (error) {
    queueMicrotask(() => {
      throw error;
    });
  }
}
