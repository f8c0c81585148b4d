/** A cursor on a list that is in memory already: collections, indexes. */
import { type BsonDocument, bsonTypeOf } from '../../../value/index.ts';
import { isNumber } from '../bson/arithmetic.ts';
import type { Call, Reply } from '../call.ts';
import { Row, type Rows } from '../documents/rows.ts';
import { MongoError } from '../errors.ts';
import { checkFields, wrongType } from '../fields/field-table.ts';
import { wholeOf } from '../fields/numbers.ts';
import { FIRST_BATCH_DOCUMENTS } from '../limits.ts';
import { Cursor } from './cursor.ts';
import { firstBatch, originOf } from './open-cursor.ts';

export function openList(
  call: Call,
  namespace: string,
  documents: readonly BsonDocument[],
): Promise<Reply> {
  const batchSize = batchSizeOf(call);
  const cursor = new Cursor(rowsOf(documents), originOf(call, namespace));
  return firstBatch(call, cursor, { batchSize, isSingleBatch: false });
}

async function* rowsOf(documents: readonly BsonDocument[]): Rows {
  if (documents.length > 0) yield documents.map((document) => Row.of(document));
}

/** `cursor: { batchSize }`, checked. */
function batchSizeOf({ body, name }: Call): number {
  const options = body.get('cursor') ?? null;
  if (options === null) return FIRST_BATCH_DOCUMENTS;
  if (!(options instanceof Map)) throw wrongType(`${name}.cursor`, options, 'object');
  checkFields(`${name}.cursor`, options as BsonDocument, { batchSize: 'any' }, false);
  const size = (options as BsonDocument).get('batchSize') ?? null;
  if (size === null) return FIRST_BATCH_DOCUMENTS;
  if (!isNumber(size))
    throw new MongoError(
      'TypeMismatch',
      `BSON field 'cursor.batchSize' is the wrong type '${bsonTypeOf(size)}', expected types '[long, int, decimal, double]'`,
    );
  const count = wholeOf(size);
  if (count < 0)
    throw new MongoError(
      'BadValue',
      `BSON field 'batchSize' value must be >= 0, actual value '${count}'`,
    );
  return count;
}
