/** A body of known length that comes in several pieces. Until somebody asks for it the pieces are kept. */
import type { Bytes } from '../../base/index.ts';
import { AbortedError, tooLarge } from '../request-body.ts';

interface Waiter {
  resolve(body: Bytes): void;
  reject(error: Error): void;
}

export class IncomingBody {
  /** When its request began. */
  readonly startedMs: number;
  readonly #length: number;
  #left: number;
  #pieces: Buffer[] = [];
  #state: 'unasked' | 'wanted' | 'refused' | 'dropped' | 'aborted' = 'unasked';
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
    return this.#state !== 'unasked';
  }

  /** Takes what is its own of a chunk; answers how many bytes that was. */
  take(chunk: Buffer): number {
    const bytes = Math.min(chunk.length, this.#left);
    this.#left -= bytes;
    if (this.#state === 'unasked' || this.#state === 'wanted')
      this.#pieces.push(bytes === chunk.length ? chunk : chunk.subarray(0, bytes));
    if (this.#left === 0) this.#settle();
    return bytes;
  }

  /** One too large is read to its end and thrown away, so that the client gets to read the refusal. */
  read(bytesMax: number): Promise<Bytes> {
    if (this.#state === 'aborted') return Promise.reject(new AbortedError(GONE));
    this.#state = this.#length > bytesMax ? 'refused' : 'wanted';
    if (this.#state === 'refused') this.#pieces = [];
    return new Promise((resolve, reject) => {
      this.#waiter = { resolve, reject };
      if (this.#left === 0) this.#settle();
    });
  }

  /** The request was answered without it; what is still to come is of no use. */
  drop(): void {
    if (this.#state !== 'unasked') return;
    this.#state = 'dropped';
    this.#pieces = [];
  }

  /** The client went away. */
  abort(): void {
    this.#state = 'aborted';
    this.#pieces = [];
    this.#waiter?.reject(new AbortedError(GONE));
  }

  #settle(): void {
    if (this.#state === 'refused') this.#waiter?.reject(tooLarge());
    else if (this.#state === 'wanted')
      this.#waiter?.resolve(Buffer.concat(this.#pieces, this.#length));
  }
}

const GONE = 'the client went away';
