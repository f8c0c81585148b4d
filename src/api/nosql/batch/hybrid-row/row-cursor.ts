/** A read position in untrusted bytes. A read beyond their end refuses the request. */
import { isUtf8 } from 'node:buffer';
import { malformedBatch } from '../malformed-batch.ts';

/** Seven bits a byte: enough for any length below two gigabytes. */
const VARUINT_BYTES_MAX = 5;

export class RowCursor {
  at: number;
  readonly end: number;
  readonly #bytes: Buffer;

  constructor(bytes: Buffer, at = 0, end = bytes.length) {
    this.#bytes = bytes;
    this.at = at;
    this.end = end;
  }

  get isAtEnd(): boolean {
    return this.at === this.end;
  }

  byte(): number {
    return this.#bytes[this.#advance(1)] as number;
  }

  int32(): number {
    return this.#bytes.readInt32LE(this.#advance(4));
  }

  uint32(): number {
    return this.#bytes.readUInt32LE(this.#advance(4));
  }

  /** The lowest seven bits first; the highest bit says that more follow. */
  varuint(): number {
    let value = 0;
    for (let digit = 0; digit < VARUINT_BYTES_MAX; digit++) {
      const byte = this.byte();
      value += (byte & 0x7f) * 2 ** (7 * digit);
      if (byte < 0x80) return value;
    }
    throw malformedBatch('a length is too large');
  }

  /** A view into the request buffer, not a copy. */
  bytes(length: number): Buffer {
    const start = this.#advance(length);
    return this.#bytes.subarray(start, start + length);
  }

  /** Bytes that follow their length; a view, not a copy. */
  binary(): Buffer {
    return this.bytes(this.varuint());
  }

  text(): string {
    const bytes = this.binary();
    if (!isUtf8(bytes)) throw malformedBatch('a text is not valid UTF-8');
    return bytes.toString('utf8');
  }

  #advance(length: number): number {
    const start = this.at;
    if (length < 0 || length > this.end - start) throw malformedBatch('it ends in the middle');
    this.at = start + length;
    return start;
  }
}
