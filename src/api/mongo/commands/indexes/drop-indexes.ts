/** Drops indexes by name, by key, or all of them. The one of `_id` stays. */
import { type Bson, bsonTypeOf, equalBson, isArray, isDocument } from '../../../../value/index.ts';
import { printDocument } from '../../bson/print.ts';
import type { Command } from '../../call.ts';
import { type Collection, findCollection } from '../../collections/collection.ts';
import { namespaceText } from '../../collections/namespace.ts';
import { namespaceOf } from '../../collections/target.ts';
import { MongoError } from '../../errors.ts';
import { declaredIndexes, ID_INDEX } from '../../indexes/index-spec.ts';
import { indexCount } from '../../indexes/listed-indexes.ts';
import { ok } from '../../reply.ts';

export const dropIndexes: Command = {
  needs: 'write',
  fields: { index: 'any' },
  async run(call) {
    const {
      context: { service },
      body,
    } = call;
    const namespace = namespaceOf(call);
    const sent = indexIn(body.get('index'));
    const collection = findCollection(service, namespace);
    if (collection === undefined)
      throw new MongoError('NamespaceNotFound', `ns not found ${namespaceText(namespace)}`);
    const count = indexCount(collection);
    for (const id of idsOf(collection, sent)) await service.indexes.drop(collection.container, id);
    return ok({
      nIndexesWas: count,
      ...(sent === '*' ? { msg: 'non-_id indexes dropped for collection' } : {}),
    });
  },
};

function indexIn(sent: Bson | undefined): Bson {
  if (sent === undefined)
    throw new MongoError(
      'IDLFailedToParse',
      "BSON field 'dropIndexes.index' is missing but a required field",
    );
  const isRight =
    typeof sent === 'string' ||
    isDocument(sent) ||
    (isArray(sent) && sent.every((each) => typeof each === 'string'));
  if (isRight) return sent;
  throw new MongoError(
    'TypeMismatch',
    isArray(sent)
      ? "BSON field 'dropIndexes.index' must be an array of strings"
      : `BSON field 'dropIndexes.index' is the wrong type '${bsonTypeOf(sent)}', expected types '[string, object, array]'`,
  );
}

/** What a collection is clustered by goes with the collection. */
function checkClustered({ options }: Collection, sent: Bson): void {
  const clustered = options.get('clusteredIndex');
  if (!isDocument(clustered)) return;
  if (sent !== clustered.get('name') && !equalBson(sent, clustered.get('key') ?? null)) return;
  throw new MongoError('Location5979800', 'It is illegal to drop the clusteredIndex');
}

function idsOf(collection: Collection, sent: Bson): readonly number[] {
  const indexes = declaredIndexes(collection);
  checkClustered(collection, sent);
  if (sent === '*') return indexes.map(({ id }) => id);
  if (isArray(sent)) {
    const ids = sent.flatMap((each) => idsOf(collection, each));
    const again = sent.find((each, at) => sent.indexOf(each) < at);
    if (again !== undefined)
      throw new MongoError('IndexNotFound', `index not found with name [${String(again)}]`);
    return ids;
  }
  if (sent === '_id_' || (isDocument(sent) && equalBson(sent, ID_INDEX.get('key'))))
    throw new MongoError('InvalidOptions', 'cannot drop _id index');
  if (!isDocument(sent)) {
    const named = indexes.find(({ name }) => name === sent);
    if (named !== undefined) return [named.id];
    throw new MongoError('IndexNotFound', `index not found with name [${String(sent)}]`);
  }
  const found = indexes.filter(({ key }) => equalBson(key, sent));
  if (found.length > 1)
    throw new MongoError(
      'AmbiguousIndexKeyPattern',
      `${found.length} indexes found for key: ${printDocument(sent)}, identify by name instead. Conflicting indexes: ${found.map(({ spec }) => printDocument(spec)).join(', ')}`,
    );
  if (found[0] !== undefined) return [found[0].id];
  throw new MongoError('IndexNotFound', `can't find index with key: ${printDocument(sent)}`);
}
