/** Reads the notations of the native protocol from the body of one request. Bytes that it returns are views. */
import type { Bytes } from '../../../base/index.ts';
import { protocolError } from '../errors.ts';

/** A bound value that leaves its column as it is. */
export const UNSET: unique symbol = Symbol('unset');

/** A bound value: bytes of its type, null, or nothing said. */
export type BoundValue = Bytes | null | typeof UNSET;

export class BodyReader {
  readonly #bytes: Buffer;
  #at: number;

  constructor(bytes: Buffer, at = 0) {
    this.#bytes = bytes;
    this.#at = at;
  }

  get isAtEnd(): boolean {
    return this.#at === this.#bytes.length;
  }

  /** Everything that was not read yet. */
  rest(): Bytes {
    return this.#slice(this.#bytes.length - this.#at);
  }

  byte(): number {
    return this.#bytes.readUInt8(this.#take(1));
  }

  short(): number {
    return this.#bytes.readUInt16BE(this.#take(2));
  }

  int(): number {
    return this.#bytes.readInt32BE(this.#take(4));
  }

  long(): bigint {
    return this.#bytes.readBigInt64BE(this.#take(8));
  }

  string(): string {
    return this.#text(this.short());
  }

  longString(): string {
    return this.#text(this.int());
  }

  shortBytes(): Bytes {
    return this.#slice(this.short());
  }

  /** Null for a negative length. */
  bytes(): Bytes | null {
    const length = this.int();
    return length < 0 ? null : this.#slice(length);
  }

  /** @param version - below 4, a length of -2 is null as any negative one. */
  value(version: number): BoundValue {
    const length = this.int();
    if (length >= 0) return this.#slice(length);
    if (length === -1 || version < 4) return null;
    if (length === -2) return UNSET;
    throw protocolError(`Invalid ByteBuf length ${length}`);
  }

  stringList(): readonly string[] {
    return Array.from({ length: this.#count(this.short(), 2) }, () => this.string());
  }

  stringMap(): ReadonlyMap<string, string> {
    const count = this.#count(this.short(), 4);
    const map = new Map<string, string>();
    for (let index = 0; index < count; index++) map.set(this.string(), this.string());
    return map;
  }

  bytesMap(): ReadonlyMap<string, Bytes | null> {
    const count = this.#count(this.short(), 6);
    const map = new Map<string, Bytes | null>();
    for (let index = 0; index < count; index++) map.set(this.string(), this.bytes());
    return map;
  }

  /** How many elements of at least `bytesEach` follow: refuses more than the body can have. */
  #count(count: number, bytesEach: number): number {
    if (count * bytesEach > this.#bytes.length - this.#at) throw tooShort();
    return count;
  }

  #text(length: number): string {
    if (length < 0) throw tooShort();
    const from = this.#take(length);
    return this.#bytes.toString('utf8', from, from + length);
  }

  #slice(length: number): Bytes {
    const from = this.#take(length);
    return this.#bytes.subarray(from, from + length);
  }

  #take(length: number): number {
    const from = this.#at;
    if (from + length > this.#bytes.length) throw tooShort();
    this.#at = from + length;
    return from;
  }
}

function tooShort() {
  return protocolError('The body of the request ends too early');
}
