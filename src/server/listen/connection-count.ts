/** Open connections of all listeners, within one limit. */

/** Above this, new connections are closed at once, so that those being served keep memory and file handles. */
const CONNECTIONS_MAX = 20_000;

export class ConnectionCount {
  /** At present. */
  open = 0;
  readonly #max: number;

  /** @param max - connections that the limit of open files allows. */
  constructor(max: number) {
    this.#max = Math.min(CONNECTIONS_MAX, max);
  }

  get isFull(): boolean {
    return this.open >= this.#max;
  }
}
