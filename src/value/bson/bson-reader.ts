/** BSON bytes to the model. Every length is checked against the bytes that hold it; faults are SyntaxErrors. */
import { BSON_NESTING_MAX, type Bytes, bufferOf } from '../../base/index.ts';
import { Extended } from '../value.ts';
import {
  BSON_TYPES,
  BSON_UNDEFINED,
  type Bson,
  BsonCode,
  type BsonDocument,
  BsonPointer,
  BsonSymbol,
  Double,
} from './bson.ts';
import { digitsOfBytes } from './decimal-bytes.ts';

/** Length and end of an empty document. */
const DOCUMENT_BYTES_MIN = 5;

/** The document that fills these bytes. The result shares no memory with them. */
export function readBson(bytes: Bytes): BsonDocument {
  const reader = new BsonReader(bufferOf(bytes));
  const document = reader.document(0);
  if (reader.at !== bytes.length) throw new SyntaxError('bytes follow the document');
  return document;
}

/** A position in a buffer that holds one or more documents. */
export class BsonReader {
  readonly #buffer: Buffer;
  at: number;

  constructor(buffer: Buffer, at = 0) {
    this.#buffer = buffer;
    this.at = at;
  }

  /** Where the document at the position ends. */
  documentEnd(): number {
    const length = this.#int32();
    const end = this.at - 4 + length;
    if (length < DOCUMENT_BYTES_MIN || end > this.#buffer.length || this.#buffer[end - 1] !== 0)
      throw new SyntaxError('a document has a wrong length');
    return end;
  }

  /** Goes to the first value of a document or an array at this depth; returns where it must end. */
  enter(depth: number): number {
    if (depth > BSON_NESTING_MAX) throw new SyntaxError('the document is nested too deeply');
    return this.documentEnd();
  }

  /** Checks that the document or array has ended where it said. */
  leave(end: number): void {
    if (this.at !== end) throw new SyntaxError('a document has a wrong length');
  }

  document(depth: number): BsonDocument {
    const end = this.enter(depth);
    const document = new Map<string, Bson>();
    for (;;) {
      const type = this.#buffer[this.at++] as number;
      if (type === 0) break;
      const name = this.cString();
      document.set(name, this.value(type, depth));
    }
    this.leave(end);
    return document;
  }

  #array(depth: number): readonly Bson[] {
    const end = this.enter(depth);
    const list: Bson[] = [];
    for (;;) {
      const type = this.#buffer[this.at++] as number;
      if (type === 0) break;
      this.skipCString();
      list.push(this.value(type, depth));
    }
    this.leave(end);
    return list;
  }

  value(type: number, depth: number): Bson {
    switch (type) {
      case BSON_TYPES.string:
        return this.#text();
      case BSON_TYPES.int:
        return this.#int32();
      case BSON_TYPES.double:
        return new Double(this.#buffer.readDoubleLE(this.#take(8)));
      case BSON_TYPES.long:
        return this.#buffer.readBigInt64LE(this.#take(8));
      case BSON_TYPES.object:
        return this.document(depth + 1);
      case BSON_TYPES.array:
        return this.#array(depth + 1);
      case BSON_TYPES.bool:
        return this.#bool();
      case BSON_TYPES.null:
        return null;
      default:
        return this.#rare(type, depth);
    }
  }

  #rare(type: number, depth: number): Bson {
    switch (type) {
      case BSON_TYPES.objectId:
        return new Extended({ kind: 'objectId', bytes: this.#bytes(12) });
      case BSON_TYPES.date:
        return new Extended({
          kind: 'date',
          ms: Number(this.#buffer.readBigInt64LE(this.#take(8))),
        });
      case BSON_TYPES.binData:
        return this.#binary();
      case BSON_TYPES.decimal:
        return new Extended({
          kind: 'decimal',
          digits: digitsOfBytes(this.#bytes(16)),
        });
      case BSON_TYPES.timestamp: {
        const low = this.#buffer.readUInt32LE(this.#take(4));
        return new Extended({
          kind: 'timestamp',
          high: this.#buffer.readUInt32LE(this.#take(4)),
          low,
        });
      }
      case BSON_TYPES.regex: {
        const source = this.cString();
        return new Extended({ kind: 'regex', source, flags: this.cString() });
      }
      case BSON_TYPES.minKey:
        return new Extended({ kind: 'minKey' });
      case BSON_TYPES.maxKey:
        return new Extended({ kind: 'maxKey' });
      case BSON_TYPES.undefined:
        return BSON_UNDEFINED;
      case BSON_TYPES.javascript:
        return new BsonCode(this.#text());
      case BSON_TYPES.symbol:
        return new BsonSymbol(this.#text());
      case BSON_TYPES.javascriptWithScope: {
        this.#int32();
        const source = this.#text();
        return new BsonCode(source, this.document(depth + 1));
      }
      case BSON_TYPES.dbPointer: {
        const namespace = this.#text();
        return new BsonPointer(namespace, this.#bytes(12));
      }
      default:
        throw new SyntaxError('a document has a value of an unknown type');
    }
  }

  cString(): string {
    const start = this.at;
    this.skipCString();
    return this.#buffer.toString('utf8', start, this.at - 1);
  }

  skipCString(): void {
    const end = this.#buffer.indexOf(0, this.at);
    if (end < 0) throw new SyntaxError('a name has no end');
    this.at = end + 1;
  }

  #text(): string {
    const length = this.#int32();
    if (length < 1) throw new SyntaxError('a text has a wrong length');
    const start = this.#take(length);
    if (this.#buffer[this.at - 1] !== 0) throw new SyntaxError('a text has no end');
    return this.#buffer.toString('utf8', start, this.at - 1);
  }

  #bool(): boolean {
    const byte = this.#buffer[this.#take(1)] as number;
    if (byte > 1) throw new SyntaxError('a boolean is 0 or 1');
    return byte === 1;
  }

  #binary(): Extended {
    const length = this.#int32();
    if (length < 0) throw new SyntaxError('a binary has a wrong length');
    const subtype = this.#buffer[this.#take(1)] as number;
    return new Extended({ kind: 'binary', subtype, bytes: this.#bytes(length) });
  }

  #int32(): number {
    return this.#buffer.readInt32LE(this.#take(4));
  }

  #bytes(length: number): Bytes {
    const start = this.#take(length);
    return new Uint8Array(this.#buffer.subarray(start, this.at));
  }

  /** Steps over so many bytes and returns where they begin. */
  #take(length: number): number {
    const start = this.at;
    if (start + length > this.#buffer.length) throw new SyntaxError('a document ends too early');
    this.at = start + length;
    return start;
  }
}
