/** Names of requests: GUIDs that no other request of any server has. They are told to clients and in logs, and need no secret. */
import { randomUUID } from 'node:crypto';

const COUNTER_DIGITS = 12;

/** One random beginning for all, and a number behind it. */
export class RequestIds {
  readonly #beginning = randomUUID().slice(0, -COUNTER_DIGITS);
  #count = 0;

  next(): string {
    this.#count++;
    return this.#beginning + this.#count.toString(16).padStart(COUNTER_DIGITS, '0');
  }
}
