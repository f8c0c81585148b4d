/** The refusals of a second document with the same key. */
import { DomainError } from '../../../base/index.ts';
import {
  type Bson,
  type BsonDocument,
  bsonOfValue,
  equalBson,
  isDocument,
  isMap,
  type Value,
  type ValueMap,
} from '../../../value/index.ts';
import { printDocument } from '../bson/print.ts';
import type { Collection } from '../collections/collection.ts';
import { namespaceText } from '../collections/namespace.ts';
import { MongoError, mongoErrorOf } from '../errors.ts';
import { declaredIndexes } from '../indexes/index-spec.ts';
import { conjuncts, equalityOn, type Filter } from '../query/filter.ts';
import { valueAt } from '../query/path.ts';

export function duplicateId(namespace: string, id: Bson): MongoError {
  return duplicateKey(namespace, '_id_', {
    pattern: new Map([['_id', 1]]),
    value: new Map([['_id', id]]),
  });
}

/** The refusal of a write, with the values that violate an index. */
export function writeError(collection: Collection, error: unknown): MongoError {
  return error instanceof DomainError && error.code === 'uniqueKeyViolation'
    ? uniqueViolation(collection, error)
    : mongoErrorOf(error);
}

/** @param indexId - where it is known which one was violated. */
export function uniqueViolation(
  collection: Collection,
  { details }: DomainError,
  indexId?: Value,
): MongoError {
  const wanted = indexId ?? details?.indexId;
  const violated = declaredIndexes(collection).find(({ id }) => id === wanted);
  const pattern = violated === undefined ? new Map<string, Bson>() : violated.key;
  const sent = details?.values as Value;
  const values: readonly Value[] = isMap(sent) ? Object.values(sent as ValueMap) : [];
  const value = new Map(
    [...pattern.keys()].map((name, at) => [name, bsonOfValue(values[at])] as const),
  );
  const name = violated === undefined ? '' : violated.name;
  return duplicateKey(namespaceText(collection.namespace), name, { pattern, value });
}

/**
 * True for the refusal of an upsert whose filter asks for the very key that somebody else has inserted, and for nothing
 * else: it finds that document now. As in MongoDB, a filter with further conditions is refused.
 */
export function isFoundByFilter(error: unknown, filter: Filter, document: BsonDocument): boolean {
  if (!(error instanceof MongoError) || error.mongoCode !== 'DuplicateKey') return false;
  const pattern = error.more?.get('keyPattern');
  if (!isDocument(pattern) || pattern.size !== conjuncts(filter).length) return false;
  return [...pattern.keys()].every((name) => {
    const asked = equalityOn(filter, name);
    const made = valueAt(document, name.split('.'));
    return asked !== undefined && made !== undefined && equalBson(asked, made);
  });
}

function duplicateKey(
  namespace: string,
  index: string,
  key: { readonly pattern: BsonDocument; readonly value: BsonDocument },
): MongoError {
  return new MongoError(
    'DuplicateKey',
    `E11000 duplicate key error collection: ${namespace} index: ${index} dup key: ${printDocument(key.value)}`,
    {
      more: new Map<string, Bson>([
        ['keyPattern', key.pattern],
        ['keyValue', key.value],
      ]),
    },
  );
}
