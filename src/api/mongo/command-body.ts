/** The document of a command, from its bytes. */
import type { Bytes } from '../../base/index.ts';
import { inSlices } from '../../query/index.ts';
import { type BsonDocument, readBson, readBsonSteps } from '../../value/index.ts';
import { MongoError } from './errors.ts';
import { WireError } from './wire/wire-error.ts';

export function readBody(bytes: Bytes): BsonDocument {
  try {
    return readBson(bytes);
  } catch (error) {
    throw unreadable(error);
  }
}

/** The same in slices: others are served between. */
export async function readLargeBody(bytes: Bytes): Promise<BsonDocument> {
  try {
    return await inSlices(readBsonSteps(bytes));
  } catch (error) {
    throw unreadable(error);
  }
}

function unreadable(error: unknown): unknown {
  if (!(error instanceof SyntaxError)) return error;
  const { message } = error;
  return message.includes('nested')
    ? new MongoError('Overflow', `BSONObj exceeds the nesting limit: ${message}`)
    : new WireError(message);
}
