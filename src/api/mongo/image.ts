/**
 * Documents as the NoSQL API shows and takes them: `id` is the text of `_id`, BSON types are extended JSON, and a field
 * of the document that is named `id` itself is shown as `$id`.
 */
import { DomainError } from '../../base/index.ts';
import type { ContainerRecord } from '../../catalog/index.ts';
import type { HomeApi } from '../../service/index.ts';
import {
  type Bson,
  bsonOfExtendedJson,
  bsonOfValue,
  type Value,
  type ValueMap,
} from '../../value/index.ts';
import { collectionOf } from './collections/collection.ts';
import { addressOf, idKey } from './documents/address.ts';
import { idOfText, idTextOf } from './documents/id-text.ts';
import { finishDocument } from './documents/new-document.ts';

const OWN_ID = '$id';

export const mongoImage: NonNullable<HomeApi['image']> = {
  added: ['id', OWN_ID],

  view(_item, value) {
    const document = value as ValueMap;
    const shown: Record<string, Value> = { id: idTextOf(bsonOfValue(document._id)) };
    for (const name of Object.keys(document)) shown[name === 'id' ? OWN_ID : name] = document[name];
    return shown;
  },

  take(document, container) {
    const made = new Map<string, Bson>([['_id', idOf(document)]]);
    for (const name of Object.keys(document)) {
      const value = document[name];
      if (name === 'id' || name === '_id' || value === undefined) continue;
      made.set(name === OWN_ID ? 'id' : name, bsonOfExtendedJson(value));
    }
    const { document: stored, body } = finishDocument(made);
    const collection = collectionOf({ database: '', collection: container.id }, container);
    return { body, ttlSec: 0, ...addressOf(collection, stored) };
  },

  rowKeyOf: (id: string, _container: ContainerRecord) => [idKey(idOfText(id))],
};

function idOf(document: ValueMap): Bson {
  const { id, _id } = document;
  if (typeof id !== 'string') throw new DomainError('invalidInput', 'The id must be a text.');
  if (_id === undefined) return idOfText(id);
  const own = bsonOfExtendedJson(_id);
  if (idTextOf(own) !== id)
    throw new DomainError('invalidInput', 'The id of a document is the text of its _id.');
  return own;
}
