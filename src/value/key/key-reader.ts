/** Reads the parts of a key in the order in which KeyWriter wrote them; tuple.ts has the format. */
import { assert, type Bytes, KEY_TEXT_BYTES_MAX } from '../../base/index.ts';
import { Extended, UUID_SUBTYPE, type Value, type ValueMap } from '../value.ts';
import { DIGEST_BYTES } from './canonical.ts';
import { KEY_TAGS } from './key-tags.ts';
import { ESCAPE } from './key-writer.ts';
import { decodeNumberSuffix } from './number-suffix.ts';
import { wtf8ToText } from './wtf8.ts';

const COSMOS = KEY_TAGS.cosmos;
const BSON = KEY_TAGS.bson;

export class KeyReader {
  readonly #bytes: Bytes;
  readonly #view: DataView;
  #at: number;
  #isExact = true;

  /** The bytes are not copied and must not change while they are read. */
  constructor(bytes: Bytes, at = 0) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#at = at;
  }

  /** The position of the next part. */
  get position(): number {
    return this.#at;
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#bytes.length;
  }

  /** False once a value was read that its key holds only in part; `value` then returned a substitute. */
  get isExact(): boolean {
    return this.#isExact;
  }

  u8(): number {
    return this.#view.getUint8(this.#skip(1));
  }

  u16(): number {
    return this.#view.getUint16(this.#skip(2));
  }

  u32(): number {
    return this.#view.getUint32(this.#skip(4));
  }

  u48(): number {
    return this.u16() * 2 ** 32 + this.u32();
  }

  u64(): number {
    const value = this.u32() * 2 ** 32 + this.u32();
    assert(Number.isSafeInteger(value), 'a u64 is a safe whole number');
    return value;
  }

  /** A copy of the next `length` bytes. */
  raw(length: number): Bytes {
    const from = this.#skip(length);
    return Uint8Array.prototype.slice.call(this.#bytes, from, from + length);
  }

  bytes(): Bytes {
    const bytes = this.#unescape(Number.POSITIVE_INFINITY);
    this.#skip(1);
    return bytes;
  }

  /**
   * Reads the next value. If the key holds less than the value, `isExact` becomes false and the result is a
   * substitute: an empty array or object, the beginning of a long text or binary, the first digits of a decimal.
   */
  value(): Value {
    const tag = this.u8();
    switch (tag) {
      case COSMOS.undefined:
        return undefined;
      case COSMOS.null:
      case BSON.null:
        return null;
      case COSMOS.false:
      case BSON.false:
        return false;
      case COSMOS.true:
      case BSON.true:
        return true;
      case COSMOS.number:
      case BSON.number:
        return this.#number();
      case COSMOS.text:
      case BSON.text:
        return this.#text();
      case COSMOS.array:
      case BSON.array:
        this.#skipDigest();
        return [];
      case COSMOS.object:
      case BSON.object:
        this.#skipDigest();
        return {};
      default:
        return this.#extended(tag);
    }
  }

  /** Reads the next value that KeyWriter.whole wrote. */
  whole(): Value {
    const tag = this.u8();
    switch (tag) {
      case COSMOS.text:
      case BSON.text:
        return this.#wholeText();
      case COSMOS.binary: {
        const bytes = this.#wholeBytes();
        return binary(bytes, this.u8());
      }
      case BSON.binary: {
        const length = this.u32();
        const subtype = this.u8();
        return binary(this.raw(length), subtype);
      }
      case COSMOS.regex:
      case BSON.regex:
        return new Extended({
          kind: 'regex',
          source: this.#wholeText(),
          flags: this.#wholeText(),
        });
      case BSON.array:
        return this.#list();
      case BSON.object:
        return this.#map();
      default:
        this.#at--;
        return this.value();
    }
  }

  #list(): readonly Value[] {
    const list: Value[] = [];
    while (this.#bytes[this.#at] !== 0) list.push(this.whole());
    this.#skip(1);
    return list;
  }

  #map(): ValueMap {
    const properties: [string, Value][] = [];
    while (this.u8() !== 0) properties.push([this.#wholeText(), this.whole()]);
    // Unlike an assignment, this takes a property named __proto__.
    return Object.fromEntries(properties);
  }

  #wholeText(): string {
    return wtf8ToText(this.#wholeBytes());
  }

  #wholeBytes(): Bytes {
    const end = this.#bytes.indexOf(0, this.#at);
    assert(end >= 0, 'a text has an end');
    const result = Buffer.allocUnsafeSlow(end - this.#at);
    let length = 0;
    for (let at = this.#at; at < end; at++) {
      const byte = this.#bytes[at] as number;
      result[length++] = byte === ESCAPE ? (this.#bytes[++at] as number) - 1 : byte;
    }
    this.#at = end + 1;
    return result.subarray(0, length);
  }

  #extended(tag: number): Extended {
    switch (tag) {
      case COSMOS.binary: {
        const bytes = this.#bounded();
        return binary(bytes, this.u8());
      }
      case BSON.binary:
        return this.#bsonBinary();
      case COSMOS.objectId:
      case BSON.objectId:
        return new Extended({ kind: 'objectId', bytes: this.raw(12) });
      case COSMOS.date:
      case BSON.date:
        return new Extended({ kind: 'date', ms: this.#double() });
      case COSMOS.timestamp:
      case BSON.timestamp:
        return new Extended({ kind: 'timestamp', high: this.u32(), low: this.u32() });
      case COSMOS.regex:
      case BSON.regex:
        return new Extended({ kind: 'regex', source: this.#text(), flags: this.#text() });
      case COSMOS.minKey:
      case BSON.minKey:
        return new Extended({ kind: 'minKey' });
      default:
        assert(tag === COSMOS.maxKey || tag === BSON.maxKey, 'the tag is known');
        return new Extended({ kind: 'maxKey' });
    }
  }

  #number(): Value {
    const floor = this.#double();
    if (this.u8() === 0) return floor;
    const suffix = decodeNumberSuffix(this.#bytes, this.#at, floor);
    this.#at = suffix.end;
    this.#isExact &&= suffix.isExact;
    return suffix.value;
  }

  #double(): number {
    const high = this.u32();
    const low = this.u32();
    if (high === 0 && low === 0) return Number.NaN;
    const flip = high >= 0x80000000 ? 0 : 0xffffffff;
    const view = new DataView(new ArrayBuffer(8));
    view.setUint32(0, flip === 0 ? high ^ 0x80000000 : high ^ flip);
    view.setUint32(4, low ^ flip);
    return view.getFloat64(0);
  }

  #text(): string {
    return wtf8ToText(this.#bounded());
  }

  #bounded(): Bytes {
    const bytes = this.#unescape(KEY_TEXT_BYTES_MAX);
    if (this.u8() !== 0) this.#skipDigest();
    return bytes;
  }

  #bsonBinary(): Extended {
    const length = this.u32();
    const subtype = this.u8();
    const bytes = this.raw(Math.min(length, KEY_TEXT_BYTES_MAX));
    if (length > KEY_TEXT_BYTES_MAX) this.#skipDigest();
    return binary(bytes, subtype);
  }

  #skipDigest(): void {
    this.#skip(DIGEST_BYTES);
    this.#isExact = false;
  }

  /** Reads up to the end mark or until `bytesMax` escaped bytes are read; the position is then at the mark. */
  #unescape(bytesMax: number): Bytes {
    const source = this.#bytes;
    const limit = Math.min(source.length, this.#at + bytesMax);
    const result = Buffer.allocUnsafeSlow(this.#lengthOfEscaped(limit));
    let length = 0;
    let at = this.#at;
    while (at < limit && (source[at] !== 0 || source[at + 1] === 0xff)) {
      result[length++] = source[at] as number;
      at += source[at] === 0 ? 2 : 1;
    }
    this.#at = at;
    return result.subarray(0, length);
  }

  #lengthOfEscaped(limit: number): number {
    let at = this.#at;
    while (at < limit && (this.#bytes[at] !== 0 || this.#bytes[at + 1] === 0xff)) at++;
    return at - this.#at;
  }

  /** Returns the position before the step. */
  #skip(count: number): number {
    const at = this.#at;
    assert(at + count <= this.#bytes.length, 'the key has more bytes');
    this.#at = at + count;
    return at;
  }
}

function binary(bytes: Bytes, subtype: number): Extended {
  return subtype === UUID_SUBTYPE && bytes.length === 16
    ? new Extended({ kind: 'uuid', bytes })
    : new Extended({ kind: 'binary', bytes, subtype });
}
