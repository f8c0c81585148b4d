/**
 * Answers of one turn of the event loop go out together at its end. A client that sleeps is woken by the first of them and
 * finds the others; written one by one, each would wake it again, at the cost of whoever writes.
 */
import type { Writable } from 'node:stream';

/** No more wait for each other: a turn with thousands of requests takes a while. */
const HELD_MAX = 32;

export class AnswerTurn {
  #held: Writable[] = [];
  #isEnding = false;

  /** What is written from here on waits for the end of the turn. */
  hold(socket: Writable): void {
    if (socket.writableCorked > 0) return;
    if (this.#held.length >= HELD_MAX) this.#letGo();
    socket.cork();
    this.#held.push(socket);
    if (this.#isEnding) return;
    this.#isEnding = true;
    setImmediate(this.#end);
  }

  readonly #end = (): void => {
    this.#isEnding = false;
    this.#letGo();
  };

  #letGo(): void {
    const held = this.#held;
    this.#held = [];
    for (const socket of held) socket.uncork();
  }
}
