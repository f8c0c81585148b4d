/** The model to BSON bytes. */
import { assert, type Bytes, unreachable } from '../../base/index.ts';
import { Extended, type ExtendedPayload, UUID_SUBTYPE } from '../value.ts';
import {
  BSON_TYPES,
  type Bson,
  BsonCode,
  type BsonDocument,
  BsonPointer,
  BsonSymbol,
  bsonTypeOf,
  Double,
} from './bson.ts';
import { bytesOfDigits } from './decimal-bytes.ts';

const CAPACITY_DEFAULT = 512;

export function writeBson(document: BsonDocument): Bytes {
  const writer = new BsonWriter();
  writer.document(document);
  return writer.take();
}

export class BsonWriter {
  #buffer = Buffer.allocUnsafe(CAPACITY_DEFAULT);
  #length = 0;
  #depth = -1;
  #deepest = 0;

  /** Levels of documents and arrays within the first document: readers refuse more than BSON_NESTING_MAX. */
  get nesting(): number {
    return this.#deepest;
  }

  get length(): number {
    return this.#length;
  }

  document(document: BsonDocument): this {
    const start = this.begin();
    this.#deepest = Math.max(this.#deepest, ++this.#depth);
    for (const [name, value] of document) this.element(name, value);
    this.#depth--;
    return this.end(start);
  }

  /** Begins a document of which the elements follow; `end` takes the result. */
  begin(): number {
    const start = this.#length;
    this.#reserve(4);
    this.#length += 4;
    return start;
  }

  end(start: number): this {
    this.#byte(0);
    this.#buffer.writeInt32LE(this.#length - start, start);
    return this;
  }

  element(name: string, value: Bson): this {
    this.#byte(BSON_TYPES[bsonTypeOf(value)]);
    this.cString(name);
    this.#value(value);
    return this;
  }

  /** An array of documents that are bytes already. */
  documents(name: string, bodies: readonly Bytes[]): this {
    this.#byte(BSON_TYPES.array);
    this.cString(name);
    const start = this.begin();
    for (let at = 0; at < bodies.length; at++) {
      this.#byte(BSON_TYPES.object);
      this.cString(String(at));
      this.raw(bodies[at] as Bytes);
    }
    return this.end(start);
  }

  /** A document that is bytes already, or any other bytes. */
  raw(bytes: Bytes): this {
    this.#reserve(bytes.length);
    this.#buffer.set(bytes, this.#length);
    this.#length += bytes.length;
    return this;
  }

  /** The start of an element of type object, whose bytes must follow. */
  objectName(name: string): this {
    this.#byte(BSON_TYPES.object);
    return this.cString(name);
  }

  cString(text: string): this {
    assert(!text.includes('\0'), 'a name has no zero byte');
    this.#utf8(text);
    return this.#byte(0);
  }

  int32(value: number): this {
    this.#reserve(4);
    this.#length = this.#buffer.writeInt32LE(value, this.#length);
    return this;
  }

  take(): Bytes {
    return this.#buffer.subarray(0, this.#length);
  }

  #value(value: Bson): void {
    switch (typeof value) {
      case 'string':
        this.#text(value);
        return;
      case 'number':
        this.int32(value);
        return;
      case 'bigint':
        this.#int64(value);
        return;
      case 'boolean':
        this.#byte(value ? 1 : 0);
        return;
      default:
        if (value === null) return;
        if (value instanceof Map) this.document(value as BsonDocument);
        else if (Array.isArray(value)) this.#array(value);
        else if (value instanceof Double) this.#double(value.value);
        else if (value instanceof Extended) this.#extended(value.payload);
        else this.#rare(value);
    }
  }

  #array(values: readonly Bson[]): void {
    const start = this.begin();
    this.#deepest = Math.max(this.#deepest, ++this.#depth);
    for (let at = 0; at < values.length; at++) this.element(String(at), values[at] as Bson);
    this.#depth--;
    this.end(start);
  }

  #extended(payload: ExtendedPayload): void {
    switch (payload.kind) {
      case 'int64':
        this.#int64(payload.value);
        return;
      case 'decimal':
        this.raw(bytesOfDigits(payload.digits));
        return;
      case 'date':
        this.#int64(BigInt(payload.ms));
        return;
      case 'uuid':
        this.#binary(payload.bytes, UUID_SUBTYPE);
        return;
      case 'binary':
        this.#binary(payload.bytes, payload.subtype);
        return;
      case 'objectId':
        this.raw(payload.bytes);
        return;
      case 'timestamp':
        this.int32(payload.low | 0).int32(payload.high | 0);
        return;
      case 'regex':
        this.cString(payload.source).cString(payload.flags);
        return;
      case 'minKey':
      case 'maxKey':
        return;
      default:
        unreachable(payload);
    }
  }

  #rare(value: object): void {
    if (value instanceof BsonSymbol) this.#text(value.text);
    else if (value instanceof BsonCode) this.#code(value);
    else if (value instanceof BsonPointer) {
      this.#text(value.namespace);
      this.raw(value.id);
    }
  }

  #code({ source, scope }: BsonCode): void {
    if (scope === undefined) {
      this.#text(source);
      return;
    }
    const start = this.begin();
    this.#text(source);
    this.document(scope);
    this.#buffer.writeInt32LE(this.#length - start, start);
  }

  #binary(bytes: Bytes, subtype: number): void {
    this.int32(bytes.length);
    this.#byte(subtype);
    this.raw(bytes);
  }

  #double(value: number): void {
    this.#reserve(8);
    this.#length = this.#buffer.writeDoubleLE(value, this.#length);
  }

  #int64(value: bigint): void {
    this.#reserve(8);
    this.#length = this.#buffer.writeBigInt64LE(value, this.#length);
  }

  #text(text: string): void {
    const start = this.#length;
    this.#reserve(4);
    this.#length += 4;
    this.#utf8(text);
    this.#byte(0);
    this.#buffer.writeInt32LE(this.#length - start - 4, start);
  }

  #utf8(text: string): void {
    this.#reserve(text.length * 3);
    this.#length += this.#buffer.write(text, this.#length, 'utf8');
  }

  #byte(value: number): this {
    this.#reserve(1);
    this.#buffer[this.#length++] = value;
    return this;
  }

  #reserve(count: number): void {
    const needed = this.#length + count;
    if (needed <= this.#buffer.length) return;
    const larger = Buffer.allocUnsafe(Math.max(needed, this.#buffer.length * 2));
    larger.set(this.#buffer.subarray(0, this.#length));
    this.#buffer = larger;
  }
}
