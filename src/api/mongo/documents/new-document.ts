/** A document that a client inserts: with an `_id` in front, within MongoDB's rules. */
import { ObjectId } from 'bson';
import { BSON_NESTING_MAX, type Bytes } from '../../../base/index.ts';
import {
  type Bson,
  type BsonDocument,
  BsonWriter,
  bsonTypeOf,
  Extended,
  isDocument,
  readBson,
} from '../../../value/index.ts';
import { MongoError } from '../errors.ts';
import { DOCUMENT_BYTES_MAX } from '../limits.ts';
import { stamped } from '../update/update.ts';

export interface NewDocument {
  readonly document: BsonDocument;
  /** The client's own bytes wherever they can be kept. */
  readonly body: Bytes;
}

function newObjectId(): Extended {
  return new Extended({ kind: 'objectId', bytes: new Uint8Array(new ObjectId().id) });
}

/**
 * @param nowMs - what empty timestamps become; undefined: they are kept.
 * @param read - the document, where it is decoded already.
 */
export function readNewDocument(
  sent: Bytes,
  nowMs: number | undefined,
  read = readBson(sent),
): NewDocument {
  const document = nowMs === undefined ? read : stamped(read, nowMs);
  if (document !== read) return finishDocument(document);
  const [first] = document.keys();
  if (first === '_id') {
    checkId(document.get('_id') as Bson);
    checkSize(sent);
    return { document, body: sent };
  }
  return finishDocument(document);
}

/** Puts `_id` in front, and makes one where there is none. */
export function finishDocument(document: BsonDocument): NewDocument {
  const sent = document.get('_id');
  const id = sent === undefined ? newObjectId() : sent;
  checkId(id);
  const ordered = new Map<string, Bson>([['_id', id]]);
  for (const [name, value] of document) if (name !== '_id') ordered.set(name, value);
  const body = writeDocument(ordered);
  checkSize(body);
  return { document: ordered, body };
}

/**
 * The bytes of a document that is to be stored. Operators put values under paths, so that it may be nested deeper than
 * what clients send. It could not be read again: not by an index, whose entries are made while others are committed.
 */
export function writeDocument(document: BsonDocument): Bytes {
  const writer = new BsonWriter().document(document);
  if (writer.nesting > BSON_NESTING_MAX)
    throw new MongoError(
      'Overflow',
      `Document exceeds maximum nesting depth of ${BSON_NESTING_MAX}`,
    );
  return writer.take();
}

function checkId(id: Bson): void {
  const type = bsonTypeOf(id);
  if (type === 'array' || type === 'regex' || type === 'undefined')
    throw new MongoError('InvalidIdField', `The '_id' value cannot be of type ${type}`);
  if (isDocument(id))
    for (const name of id.keys())
      if (name.startsWith('$') && name !== '$ref' && name !== '$id' && name !== '$db')
        throw new MongoError(
          'DollarPrefixedFieldName',
          `_id fields may not contain '$'-prefixed fields: ${name} is not valid for storage.`,
        );
}

export function checkSize(body: Bytes): void {
  if (body.length > DOCUMENT_BYTES_MAX)
    throw new MongoError(
      'BSONObjectTooLarge',
      `object to insert too large. size in bytes: ${body.length}, max size: ${DOCUMENT_BYTES_MAX}`,
    );
}
