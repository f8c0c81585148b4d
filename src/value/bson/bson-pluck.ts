/** Values of a body, without decoding the rest. The body must have been read or written by us before. */
import { type Bytes, bufferOf } from '../../base/index.ts';
import { BSON_TYPES, type Bson, type BsonDocument } from './bson.ts';
import { BsonReader } from './bson-reader.ts';

/** The value at the path; undefined where there is none. Arrays are not entered. */
export function pluckBson(body: Bytes, path: readonly string[]): Bson | undefined {
  const buffer = bufferOf(body);
  const reader = new BsonReader(buffer);
  for (let step = 0; step < path.length; step++) {
    const type = enter(buffer, reader, path[step] as string);
    if (type === 0) return undefined;
    if (step === path.length - 1) return reader.value(type, step);
    if (type !== BSON_TYPES.object) return undefined;
  }
  return undefined;
}

/**
 * The documents of an array of the body, as bytes of the body. Undefined where the body has no such array, or where
 * the array holds something else.
 */
export function pluckBodies(body: Bytes, name: string): readonly Bytes[] | undefined {
  const buffer = bufferOf(body);
  const reader = new BsonReader(buffer);
  if (enter(buffer, reader, name) !== BSON_TYPES.array) return undefined;
  reader.documentEnd();
  const bodies: Bytes[] = [];
  for (;;) {
    const type = buffer[reader.at++] as number;
    if (type === 0) return bodies;
    if (type !== BSON_TYPES.object) return undefined;
    reader.cString();
    const end = endOfValue(buffer, type, reader.at);
    bodies.push(buffer.subarray(reader.at, end));
    reader.at = end;
  }
}

/**
 * Reads the named fields of a body, in the order of the body; the others are stepped over. Where a name is there twice,
 * the first one counts.
 */
export function fieldReader(names: Iterable<string>): (body: Bytes) => BsonDocument {
  const wanted = [...new Set(names)].map((name) => ({ name, bytes: Buffer.from(name) }));
  return (body) => {
    const buffer = bufferOf(body);
    const reader = new BsonReader(buffer);
    reader.documentEnd();
    const found = new Map<string, Bson>();
    while (found.size < wanted.length) {
      const type = buffer[reader.at++] as number;
      if (type === 0) break;
      const start = reader.at;
      let end = start;
      while (buffer[end] !== 0) end += 1;
      reader.at = end + 1;
      const name = nameAt(buffer, start, end - start, wanted);
      if (name === undefined) reader.at = endOfValue(buffer, type, reader.at);
      else found.set(name, reader.value(type, 0));
    }
    return found;
  };
}

interface WantedName {
  readonly name: string;
  readonly bytes: Buffer;
}

/** Which of the names is at the position; no text is made for the others. */
function nameAt(
  buffer: Buffer,
  start: number,
  length: number,
  wanted: readonly WantedName[],
): string | undefined {
  for (const { name, bytes } of wanted) {
    if (bytes.length !== length) continue;
    let at = 0;
    while (at < length && bytes[at] === buffer[start + at]) at += 1;
    if (at === length) return name;
  }
  return undefined;
}

/** Goes to the value of a property in the document at the position; returns its type, or 0. */
function enter(buffer: Buffer, reader: BsonReader, name: string): number {
  reader.documentEnd();
  for (;;) {
    const type = buffer[reader.at++] as number;
    if (type === 0) return 0;
    const isFound = reader.cString() === name;
    if (isFound) return type;
    reader.at = endOfValue(buffer, type, reader.at);
  }
}

const FIXED_SIZES: Readonly<Record<number, number>> = {
  [BSON_TYPES.double]: 8,
  [BSON_TYPES.undefined]: 0,
  [BSON_TYPES.objectId]: 12,
  [BSON_TYPES.bool]: 1,
  [BSON_TYPES.date]: 8,
  [BSON_TYPES.null]: 0,
  [BSON_TYPES.int]: 4,
  [BSON_TYPES.timestamp]: 8,
  [BSON_TYPES.long]: 8,
  [BSON_TYPES.decimal]: 16,
  [BSON_TYPES.minKey]: 0,
  [BSON_TYPES.maxKey]: 0,
};

/** The bytes were read before, so lengths are right. */
function endOfValue(buffer: Buffer, type: number, at: number): number {
  const fixed = FIXED_SIZES[type];
  if (fixed !== undefined) return at + fixed;
  switch (type) {
    case BSON_TYPES.string:
    case BSON_TYPES.javascript:
    case BSON_TYPES.symbol:
      return at + 4 + buffer.readInt32LE(at);
    case BSON_TYPES.binData:
      return at + 5 + buffer.readInt32LE(at);
    case BSON_TYPES.dbPointer:
      return at + 4 + buffer.readInt32LE(at) + 12;
    case BSON_TYPES.regex: {
      const source = buffer.indexOf(0, at);
      return buffer.indexOf(0, source + 1) + 1;
    }
    default:
      return at + buffer.readInt32LE(at);
  }
}
