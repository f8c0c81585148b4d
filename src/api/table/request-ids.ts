/** Ids of requests: GUIDs that are unique among all servers. They appear in responses and logs, and need not be secret. */
import { randomUUID } from 'node:crypto';

const COUNTER_DIGITS = 12;

/** One random prefix per process, and a counter. */
export class RequestIds {
  readonly #beginning = randomUUID().slice(0, -COUNTER_DIGITS);
  #count = 0;

  next(): string {
    this.#count++;
    return this.#beginning + this.#count.toString(16).padStart(COUNTER_DIGITS, '0');
  }
}
