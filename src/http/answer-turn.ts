/**
 * Answers of one turn of the event loop go out together at its end. A client that sleeps is woken by the first of them and
 * finds the others; written one by one, each would wake it again, at the cost of whoever writes.
 */
import type { Writable } from 'node:stream';

/** No more wait for each other: a turn with thousands of requests takes a while. */
const HELD_MAX = 32;
/**
 * Something else than requests takes its time at the end of turns, such as a long query. Then waiting costs more than it
 * spares, and the next answers leave as they come.
 */
const TURN_MS_MAX = 2;
const UNHELD_AFTER_LONG_TURN = 200;

export class AnswerTurn {
  #held: Writable[] = [];
  #isEnding = false;
  #startedMs = 0;
  #unheld = 0;

  /** What is written from here on waits for the end of the turn. */
  hold(socket: Writable): void {
    if (socket.writableCorked > 0) return;
    if (this.#unheld > 0) {
      this.#unheld--;
      return;
    }
    if (this.#held.length >= HELD_MAX) this.#letGo();
    socket.cork();
    this.#held.push(socket);
    if (this.#isEnding) return;
    this.#isEnding = true;
    this.#startedMs = performance.now();
    setImmediate(this.#end);
  }

  readonly #end = (): void => {
    this.#isEnding = false;
    if (performance.now() - this.#startedMs > TURN_MS_MAX) this.#unheld = UNHELD_AFTER_LONG_TURN;
    this.#letGo();
  };

  #letGo(): void {
    const held = this.#held;
    this.#held = [];
    for (const socket of held) socket.uncork();
  }
}
