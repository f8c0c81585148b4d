/** Prints the head of a response, as strict about its characters as node:http. */
import { STATUS_CODES } from 'node:http';
import type { Clock } from '../../base/index.ts';

const NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
/** A line end in a value would end the header, and what follows could be an attacker's. */
const NOT_IN_VALUES = /[^\t\x20-\x7e\x80-\xff]/;

/** Bound of the set of checked names: our own code has a few dozen. */
const NAMES_MAX = 512;

export class ResponseHeads {
  readonly #clock: Clock;
  readonly #keepAlive: string;
  readonly #names = new Set<string>();
  #date = { second: Number.NaN, line: '' };

  /** `keepAliveMs`: how long an idle connection stays open, as clients are informed. */
  constructor(clock: Clock, keepAliveMs: number) {
    this.#clock = clock;
    this.#keepAlive = `Connection: keep-alive\r\nKeep-Alive: timeout=${Math.floor(keepAliveMs / 1000)}\r\n\r\n`;
  }

  /** `headers` are flat names and values. Throws for characters that are not allowed in a head. */
  print(status: number, headers: readonly string[], isLast: boolean): string {
    let text = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? 'unknown'}\r\n`;
    for (let at = 0; at < headers.length; at += 2) {
      const name = headers[at] as string;
      const value = headers[at + 1] as string;
      if (!this.#names.has(name)) this.#check(name);
      if (NOT_IN_VALUES.test(value)) throw new TypeError(`Invalid value of the header ${name}`);
      text += `${name}: ${value}\r\n`;
    }
    return `${text}${this.#dateLine()}${isLast ? LAST : this.#keepAlive}`;
  }

  #check(name: string): void {
    if (!NAME.test(name)) throw new TypeError('Invalid name of a header');
    if (this.#names.size < NAMES_MAX) this.#names.add(name);
  }

  #dateLine(): string {
    const nowMs = this.#clock.nowMs();
    const second = Math.floor(nowMs / 1000);
    if (second !== this.#date.second)
      this.#date = { second, line: `Date: ${new Date(nowMs).toUTCString()}\r\n` };
    return this.#date.line;
  }
}

const LAST = 'Connection: close\r\n\r\n';
