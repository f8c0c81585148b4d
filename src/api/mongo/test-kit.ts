/** Documents for unit tests, written as the stock library has them. */
import { BSON, EJSON } from 'bson';
import { type Bson, type BsonDocument, readBson, writeBson } from '../../value/index.ts';

export function documentFrom(object: object): BsonDocument {
  return readBson(BSON.serialize(object));
}

export function valueFrom(value: unknown): Bson {
  return documentFrom({ value }).get('value') as Bson;
}

/** The document as extended JSON that shows every type. */
export function shown(document: BsonDocument): string {
  return EJSON.stringify(BSON.deserialize(writeBson(document), { promoteValues: false }), {
    relaxed: false,
  });
}

/** The document as plain JavaScript. */
export function plain(document: BsonDocument): object {
  return BSON.deserialize(writeBson(document));
}
