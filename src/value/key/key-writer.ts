/**
 * Builds keys whose byte order is the order of the written parts; tuple.ts has the format. One writer is reused for
 * many keys, because every point read needs one. Keys are written one after the other into a slab and returned as
 * views of it, so a key costs no copy and no allocation but its view. A caller that keeps a few of many keys for long
 * should copy them, since each keeps its slab alive.
 */
import { assert, type Bytes, KEY_TEXT_BYTES_MAX, unreachable } from '../../base/index.ts';
import type { Collation } from '../order.ts';
import { Extended, isList, UUID_SUBTYPE, type Value, type ValueMap } from '../value.ts';
import { canonicalDigest, digestOf } from './canonical.ts';
import { KEY_TAGS, keyKindOf } from './key-tags.ts';
import { locateNumber } from './number-key.ts';
import { encodeNumberSuffix } from './number-suffix.ts';
import { textToWtf8 } from './wtf8.ts';

/** Space for some fifty keys: the cost of a new slab is spread, and a key that is kept does not keep much memory. */
const SLAB_BYTES_DEFAULT = 4096;
const SHORT_BYTES = 16;
const TWO_32 = 2 ** 32;
/** Marks an escaped byte in whole texts. */
export const ESCAPE = 0x01;

export class KeyWriter {
  #bytes: Buffer;
  /** The key under construction is bytes[start, length). The bytes before it were returned and must not change. */
  #start = 0;
  #length = 0;
  #isTaken = false;
  readonly #double = new Float64Array(1);
  readonly #halves = new Uint32Array(this.#double.buffer);

  constructor(capacity = SLAB_BYTES_DEFAULT) {
    this.#bytes = slabOf(capacity);
  }

  /** Begins a new key. */
  reset(): this {
    if (this.#isTaken) this.#start = this.#length;
    else this.#length = this.#start;
    this.#isTaken = false;
    return this;
  }

  u8(n: number): this {
    this.#reserve(1);
    this.#bytes[this.#length++] = n;
    return this;
  }

  u16(n: number): this {
    this.#reserve(2);
    this.#bytes[this.#length++] = n >>> 8;
    this.#bytes[this.#length++] = n;
    return this;
  }

  u32(n: number): this {
    this.#reserve(4);
    this.#word(n);
    return this;
  }

  u48(n: number): this {
    assert(Number.isSafeInteger(n) && n >= 0 && n < 2 ** 48, 'a u48 is a whole number below 2^48');
    this.u16(Math.floor(n / TWO_32));
    return this.u32(n);
  }

  /** Eight bytes for a safe integer. */
  u64(n: number): this {
    assert(Number.isSafeInteger(n) && n >= 0, 'a u64 is a safe whole number');
    this.#reserve(8);
    this.#word(Math.floor(n / TWO_32));
    this.#word(n);
    return this;
  }

  /** Writes the bytes unescaped: they must be of fixed length, or the last part. */
  raw(bytes: Bytes): this {
    const { length } = bytes;
    this.#reserve(length);
    // A loop is faster than a native call for a few bytes.
    if (length > SHORT_BYTES) this.#bytes.set(bytes, this.#length);
    else for (let at = 0; at < length; at++) this.#bytes[this.#length + at] = bytes[at] as number;
    this.#length += length;
    return this;
  }

  /** Bytes of any length, with an end: 00 is escaped as 00 FF, then 00. The next part must not begin with FF. */
  bytes(bytes: Bytes): this {
    this.#escape(bytes, bytes.length * 2);
    return this.u8(0);
  }

  /** Writes tag and payload. Undefined is a value like any other. */
  value(value: Value, collation: Collation = 'cosmos'): this {
    if (typeof value === 'string') {
      this.u8(collation === 'cosmos' ? KEY_TAGS.cosmos.text : KEY_TAGS.bson.text);
      this.#text(value);
    } else if (typeof value === 'number') {
      this.u8(collation === 'cosmos' ? KEY_TAGS.cosmos.number : KEY_TAGS.bson.number);
      this.#floor(value);
      this.u8(0);
    } else {
      this.u8(KEY_TAGS[collation][keyKindOf(value)]);
      if (value instanceof Extended) this.#extended(value, collation);
      else if (typeof value === 'object' && value !== null)
        this.raw(canonicalDigest(value, collation));
    }
    return this;
  }

  /**
   * Writes a value of any length with all its bytes, for row keys (whole-key.ts has the format). No written value is
   * the beginning of another.
   */
  whole(value: Value, collation: Collation = 'cosmos'): this {
    if (typeof value === 'string') {
      this.u8(collation === 'cosmos' ? KEY_TAGS.cosmos.text : KEY_TAGS.bson.text);
      return this.wholeText(value);
    }
    if (value instanceof Extended) return this.#wholeExtended(value, collation);
    if (collation === 'cosmos' || typeof value !== 'object' || value === null)
      return this.value(value, collation);
    this.u8(KEY_TAGS[collation][keyKindOf(value)]);
    if (isList(value)) for (const element of value) this.whole(element, collation);
    else this.#properties(value as ValueMap, collation);
    return this.u8(0);
  }

  /** A text without a tag, as `whole` writes it. Most texts are ASCII: their bytes are their characters. */
  wholeText(text: string): this {
    const { length } = text;
    this.#reserve(length + 1);
    const bytes = this.#bytes;
    let end = this.#length;
    for (let at = 0; at < length; at++) {
      const code = text.charCodeAt(at);
      if (code <= ESCAPE || code > 0x7f) return this.#wholeBytes(textToWtf8(text));
      bytes[end++] = code;
    }
    bytes[end++] = 0;
    this.#length = end;
    return this;
  }

  /** Bytes of the key so far. */
  get length(): number {
    return this.#length - this.#start;
  }

  /** A copy of what was written since the key had this length. */
  since(length: number): Bytes {
    return Uint8Array.prototype.slice.call(this.#bytes, this.#start + length, this.#length);
  }

  /** Forgets what was written since the key had this length. Not after `take`. */
  rewind(length: number): this {
    assert(!this.#isTaken, 'a key that was taken does not change');
    this.#length = this.#start + length;
    return this;
  }

  /** Reverses the order of what was written since the key had this length. Not after `take`. */
  flip(length: number): this {
    assert(!this.#isTaken, 'a key that was taken does not change');
    const bytes = this.#bytes;
    for (let at = this.#start + length; at < this.#length; at++)
      bytes[at] = (bytes[at] as number) ^ 0xff;
    return this;
  }

  /** Writes `value(text)` without its end: the common prefix of the keys of all texts that begin so. */
  textPrefix(text: string, collation: Collation = 'cosmos'): this {
    this.u8(KEY_TAGS[collation].text);
    this.#escape(textToWtf8(text), KEY_TEXT_BYTES_MAX);
    return this;
  }

  /** The bytes written since the reset. They never change; the writer may continue or be reset. */
  take(): Bytes {
    this.#isTaken = true;
    return new Uint8Array(this.#bytes.buffer, this.#start, this.#length - this.#start);
  }

  /** The same as text of one character per byte: it compares like the bytes and can be a key of maps. */
  takeText(): string {
    return this.#bytes.toString('latin1', this.#start, this.#length);
  }

  /** Per property its type, its name and its value, which is the order in which BSON compares objects. */
  #properties(map: ValueMap, collation: Collation): void {
    for (const name of Object.keys(map)) {
      const value = map[name];
      if (value === undefined) continue;
      const kind = keyKindOf(value);
      this.u8(KEY_TAGS[collation][kind === 'true' ? 'false' : kind]);
      this.wholeText(name).whole(value, collation);
    }
  }

  #wholeExtended(value: Extended, collation: Collation): this {
    const { payload } = value;
    const { kind } = payload;
    if (kind !== 'binary' && kind !== 'uuid' && kind !== 'regex')
      return this.value(value, collation);
    this.u8(KEY_TAGS[collation][keyKindOf(value)]);
    if (kind === 'regex') return this.wholeText(payload.source).wholeText(payload.flags);
    const subtype = kind === 'uuid' ? UUID_SUBTYPE : payload.subtype;
    if (collation === 'cosmos') return this.#wholeBytes(payload.bytes).u8(subtype);
    return this.u32(payload.bytes.length).u8(subtype).raw(payload.bytes);
  }

  /** Writes 00 and 01 as 01 01 and 01 02, then 00. */
  #wholeBytes(source: Bytes): this {
    this.#reserve(source.length * 2 + 1);
    const bytes = this.#bytes;
    let end = this.#length;
    for (let at = 0; at < source.length; at++) {
      const byte = source[at] as number;
      if (byte > ESCAPE) bytes[end++] = byte;
      else {
        bytes[end++] = ESCAPE;
        bytes[end++] = byte + 1;
      }
    }
    bytes[end++] = 0;
    this.#length = end;
    return this;
  }

  #extended(value: Extended, collation: Collation): void {
    const payload = value.payload;
    switch (payload.kind) {
      case 'int64':
      case 'decimal': {
        const { floor, exact } = locateNumber(value);
        this.#floor(floor);
        this.u8(exact === undefined ? 0 : 1);
        if (exact !== undefined) this.raw(encodeNumberSuffix(floor, exact));
        return;
      }
      case 'date':
        this.#floor(payload.ms);
        return;
      case 'uuid':
        assert(payload.bytes.length === 16, 'a uuid has 16 bytes');
        this.#binary(payload.bytes, UUID_SUBTYPE, collation);
        return;
      case 'binary':
        this.#binary(payload.bytes, payload.subtype, collation);
        return;
      case 'objectId':
        assert(payload.bytes.length === 12, 'an objectId has 12 bytes');
        this.raw(payload.bytes);
        return;
      case 'timestamp':
        this.u32(payload.high).u32(payload.low);
        return;
      case 'regex':
        this.#text(payload.source);
        this.#text(payload.flags);
        return;
      case 'minKey':
      case 'maxKey':
        return;
      default:
        unreachable(payload);
    }
  }

  #binary(bytes: Bytes, subtype: number, collation: Collation): void {
    if (collation === 'cosmos') {
      this.#bounded(bytes);
      this.u8(subtype);
      return;
    }
    this.u32(bytes.length).u8(subtype).raw(bytes.subarray(0, KEY_TEXT_BYTES_MAX));
    if (bytes.length > KEY_TEXT_BYTES_MAX) this.raw(digestOf(bytes));
  }

  /** Most texts are short and ASCII: their bytes are their characters. */
  #text(text: string): void {
    const length = text.length;
    if (length > KEY_TEXT_BYTES_MAX) {
      this.#bounded(textToWtf8(text));
      return;
    }
    this.#reserve(length + 1);
    const bytes = this.#bytes;
    let end = this.#length;
    for (let at = 0; at < length; at++) {
      const code = text.charCodeAt(at);
      if (code === 0 || code > 0x7f) {
        this.#bounded(textToWtf8(text));
        return;
      }
      bytes[end++] = code;
    }
    bytes[end++] = 0;
    this.#length = end;
  }

  #bounded(bytes: Bytes): void {
    const isWhole = this.#escape(bytes, KEY_TEXT_BYTES_MAX);
    if (isWhole) this.u8(0);
    else this.u8(0xff).raw(digestOf(bytes));
  }

  /** Writes until the escaped form reaches `bytesMax`; true if everything fitted. An escape is never split. */
  #escape(source: Bytes, bytesMax: number): boolean {
    this.#reserve(Math.min(source.length * 2, bytesMax + 1));
    const bytes = this.#bytes;
    const limit = this.#length + bytesMax;
    let end = this.#length;
    let at = 0;
    for (; at < source.length && end < limit; at++) {
      const byte = source[at] as number;
      bytes[end++] = byte;
      if (byte === 0) bytes[end++] = 0xff;
    }
    this.#length = end;
    return at === source.length && end <= limit;
  }

  /** A double in eight bytes with the same order; NaN first, -0 as 0. */
  #floor(value: number): void {
    this.#reserve(8);
    this.#double[0] = value === 0 ? 0 : value;
    const high = this.#halves[1] as number;
    const low = this.#halves[0] as number;
    if (value < 0) {
      this.#word(~high);
      this.#word(~low);
    } else if (Number.isNaN(value)) {
      this.#word(0);
      this.#word(0);
    } else {
      this.#word(high ^ 0x80000000);
      this.#word(low);
    }
  }

  #word(n: number): void {
    const bytes = this.#bytes;
    const at = this.#length;
    bytes[at] = n >>> 24;
    bytes[at + 1] = n >>> 16;
    bytes[at + 2] = n >>> 8;
    bytes[at + 3] = n;
    this.#length = at + 4;
  }

  #reserve(count: number): void {
    if (this.#length + count > this.#bytes.length) this.#grow(count);
  }

  /** A new slab, with the key under construction at its beginning. */
  #grow(count: number): void {
    const written = this.#bytes.subarray(this.#start, this.#length);
    const needed = written.length + count;
    const slab = slabOf(Math.max(this.#bytes.length, needed * 2));
    slab.set(written);
    this.#bytes = slab;
    this.#start = 0;
    this.#length = written.length;
  }
}

/** The memory is separate: Node's pool is shared with buffers that live longer. */
function slabOf(bytes: number): Buffer {
  return Buffer.from(new ArrayBuffer(bytes));
}
