/** The collection that a command names as its first argument. */
import { bsonTypeOf } from '../../../value/index.ts';
import type { Call } from '../call.ts';
import { MongoError } from '../errors.ts';
import { type Collection, findCollection } from './collection.ts';
import { type Namespace, namespaceText, parseNamespace } from './namespace.ts';

/** Throws InvalidNamespace. */
export function namespaceOf({ body, name, database }: Call): Namespace {
  const sent = body.get(name) ?? null;
  if (typeof sent !== 'string')
    throw new MongoError(
      'InvalidNamespace',
      `collection name has invalid type ${bsonTypeOf(sent)}`,
    );
  return parseNamespace(database, sent);
}

/** Throws NamespaceNotFound. */
export function existingCollection(call: Call): Collection {
  const namespace = namespaceOf(call);
  const found = findCollection(call.context.service, namespace);
  if (found === undefined)
    throw new MongoError('NamespaceNotFound', `ns does not exist: ${namespaceText(namespace)}`);
  return found;
}
