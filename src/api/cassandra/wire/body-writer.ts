/** Writes the notations of the native protocol into one growing buffer. */
import { assert, type Bytes } from '../../../base/index.ts';

const INITIAL_BYTES = 256;

export class BodyWriter {
  #bytes: Buffer;
  #at = 0;

  constructor(initialBytes: number = INITIAL_BYTES) {
    this.#bytes = Buffer.allocUnsafe(initialBytes);
  }

  get length(): number {
    return this.#at;
  }

  byte(value: number): this {
    const at = this.#grow(1);
    this.#bytes[at] = value;
    return this;
  }

  short(value: number): this {
    const at = this.#grow(2);
    this.#bytes.writeUInt16BE(value, at);
    return this;
  }

  int(value: number): this {
    const at = this.#grow(4);
    this.#bytes.writeInt32BE(value | 0, at);
    return this;
  }

  long(value: bigint): this {
    const at = this.#grow(8);
    this.#bytes.writeBigInt64BE(value, at);
    return this;
  }

  double(value: number): this {
    const at = this.#grow(8);
    this.#bytes.writeDoubleBE(value, at);
    return this;
  }

  string(text: string): this {
    const length = Buffer.byteLength(text);
    assert(length < 2 ** 16, 'a string of the protocol is short');
    this.short(length);
    const at = this.#grow(length);
    this.#bytes.write(text, at);
    return this;
  }

  /** A message of any length, cut to what a string may have. */
  message(text: string): this {
    return this.string(text.length > 16_000 ? `${text.slice(0, 16_000)}…` : text);
  }

  bytes(value: Bytes | null): this {
    if (value === null) return this.int(-1);
    this.int(value.length);
    return this.raw(value);
  }

  shortBytes(value: Bytes): this {
    this.short(value.length);
    return this.raw(value);
  }

  raw(value: Bytes): this {
    const at = this.#grow(value.length);
    this.#bytes.set(value, at);
    return this;
  }

  stringList(texts: readonly string[]): this {
    this.short(texts.length);
    for (const text of texts) this.string(text);
    return this;
  }

  /** Overwrites an int written before. */
  patchInt(at: number, value: number): void {
    this.#bytes.writeInt32BE(value | 0, at);
  }

  /** The bytes written; the writer is not used afterwards. */
  finish(): Buffer {
    return this.#bytes.subarray(0, this.#at);
  }

  #grow(length: number): number {
    const from = this.#at;
    const end = from + length;
    if (end > this.#bytes.length) {
      const larger = Buffer.allocUnsafe(Math.max(end, 2 * this.#bytes.length));
      this.#bytes.copy(larger, 0, 0, from);
      this.#bytes = larger;
    }
    this.#at = end;
    return from;
  }
}
