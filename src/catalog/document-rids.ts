/**
 * The `_rid`s of the documents of one container (resource-id.ts), for writes in sequence: neighbours differ in a few
 * bytes, and the base64 of the other bytes is cached.
 */
import { documentRid } from './resource-id.ts';

/** The characters of six bytes: the last two of the container's eight and the low half of the number. */
const LOW_START = 8;
const LOW_END = 16;
const TWO_32 = 2 ** 32;

const DIGITS = Buffer.from(
  'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+-',
  'latin1',
);

export class DocumentRids {
  readonly #database: number;
  readonly #container: number;
  /** The last two bytes of the container's rid. */
  readonly #containerEnd: number;
  /** The upper half of the last number, and the cached texts before and after the low half. */
  #high = -1;
  #head = '';
  #tail = '';

  constructor(database: number, container: number) {
    this.#database = database;
    this.#container = container;
    this.#containerEnd = container & 0xffff;
  }

  of(document: number): string {
    const high = Math.floor(document / TWO_32);
    if (high !== this.#high) this.#begin(document, high);
    // The number is little-endian: the lowest byte of its low half comes first.
    const low = document >>> 0;
    const first = (this.#containerEnd << 8) | (low & 0xff);
    const second = (((low >>> 8) & 0xff) << 16) | (((low >>> 16) & 0xff) << 8) | (low >>> 24);
    const middle = String.fromCharCode(
      digit(first >>> 18),
      digit(first >>> 12),
      digit(first >>> 6),
      digit(first),
      digit(second >>> 18),
      digit(second >>> 12),
      digit(second >>> 6),
      digit(second),
    );
    return this.#head + middle + this.#tail;
  }

  #begin(document: number, high: number): void {
    const text = documentRid(this.#database, this.#container, document);
    this.#high = high;
    this.#head = text.slice(0, LOW_START);
    this.#tail = text.slice(LOW_END);
  }
}

function digit(bits: number): number {
  return DIGITS[bits & 0x3f] as number;
}
