/** A body of known length that arrives in several pieces. The pieces are kept until the body is read or dropped. */
import type { Bytes } from '../../base/index.ts';
import { AbortedError, tooLarge } from '../request-body.ts';

interface Waiter {
  resolve(body: Bytes): void;
  reject(error: Error): void;
}

export class IncomingBody {
  /** The time at which its request began. */
  readonly startedMs: number;
  readonly #length: number;
  #left: number;
  #pieces: Buffer[] = [];
  #state: 'unread' | 'wanted' | 'refused' | 'dropped' | 'aborted' = 'unread';
  #waiter: Waiter | undefined;

  constructor(length: number, startedMs: number) {
    this.#length = length;
    this.#left = length;
    this.startedMs = startedMs;
  }

  get isWhole(): boolean {
    return this.#left === 0;
  }

  get isAwaited(): boolean {
    return this.#state !== 'unread';
  }

  /** Takes the bytes of a chunk that belong to the body; returns how many. */
  take(chunk: Buffer): number {
    const bytes = Math.min(chunk.length, this.#left);
    this.#left -= bytes;
    if (this.#state === 'unread' || this.#state === 'wanted')
      this.#pieces.push(bytes === chunk.length ? chunk : chunk.subarray(0, bytes));
    if (this.#left === 0) this.#complete();
    return bytes;
  }

  /** A body that is too large is received to its end and discarded, so that the client reads the refusal. */
  read(bytesMax: number): Promise<Bytes> {
    if (this.#state === 'aborted') return Promise.reject(new AbortedError(GONE));
    this.#state = this.#length > bytesMax ? 'refused' : 'wanted';
    if (this.#state === 'refused') this.#pieces = [];
    return new Promise((resolve, reject) => {
      this.#waiter = { resolve, reject };
      if (this.#left === 0) this.#complete();
    });
  }

  /** The request has its response already; the rest of the body is discarded. */
  drop(): void {
    if (this.#state !== 'unread') return;
    this.#state = 'dropped';
    this.#pieces = [];
  }

  /** The client closed the connection. */
  abort(): void {
    this.#state = 'aborted';
    this.#pieces = [];
    this.#waiter?.reject(new AbortedError(GONE));
  }

  #complete(): void {
    if (this.#state === 'refused') this.#waiter?.reject(tooLarge());
    else if (this.#state === 'wanted')
      this.#waiter?.resolve(Buffer.concat(this.#pieces, this.#length));
  }
}

const GONE = 'the client went away';
