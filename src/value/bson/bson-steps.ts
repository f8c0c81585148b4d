/** Reads large documents in steps, so that others are served between them. */
import { type Bytes, bufferOf, type Steps } from '../../base/index.ts';
import { BSON_TYPES, type Bson, type BsonDocument } from './bson.ts';
import { BsonReader } from './bson-reader.ts';

/** Values between two steps: some microseconds each, as names that are new have to be hashed. */
const STEP_VALUES = 64;
/** Documents and arrays within a document are read at once where they are no longer. */
const WHOLE_BYTES = 4096;

/** The document that fills these bytes, as `readBson` reads it. */
export function* readBsonSteps(bytes: Bytes): Steps<BsonDocument> {
  const buffer = bufferOf(bytes);
  const reader = new BsonReader(buffer);
  const document = yield* documentSteps(buffer, reader, 0);
  if (reader.at !== bytes.length) throw new SyntaxError('bytes follow the document');
  return document;
}

function* documentSteps(buffer: Buffer, reader: BsonReader, depth: number): Steps<BsonDocument> {
  const end = reader.enter(depth);
  const document = new Map<string, Bson>();
  for (let count = 1; ; count++) {
    const type = buffer[reader.at++] as number;
    if (type === 0) break;
    const name = reader.cString();
    document.set(name, yield* valueSteps(buffer, reader, type, depth));
    if (count % STEP_VALUES === 0) yield;
  }
  reader.leave(end);
  return document;
}

function* arraySteps(buffer: Buffer, reader: BsonReader, depth: number): Steps<readonly Bson[]> {
  const end = reader.enter(depth);
  const list: Bson[] = [];
  for (let count = 1; ; count++) {
    const type = buffer[reader.at++] as number;
    if (type === 0) break;
    reader.skipCString();
    list.push(yield* valueSteps(buffer, reader, type, depth));
    if (count % STEP_VALUES === 0) yield;
  }
  reader.leave(end);
  return list;
}

function* valueSteps(buffer: Buffer, reader: BsonReader, type: number, depth: number): Steps<Bson> {
  const isNested = type === BSON_TYPES.object || type === BSON_TYPES.array;
  if (!isNested || reader.at + 4 > buffer.length || buffer.readInt32LE(reader.at) <= WHOLE_BYTES)
    return reader.value(type, depth);
  return type === BSON_TYPES.object
    ? yield* documentSteps(buffer, reader, depth + 1)
    : yield* arraySteps(buffer, reader, depth + 1);
}
