/** Makes a collection or a view. The same once more is no error. */
import { type Bson, type BsonDocument, compareBson } from '../../../../value/index.ts';
import type { Command } from '../../call.ts';
import { createCollection, findCollection } from '../../collections/collection.ts';
import { CREATE_FIELDS, invalid, parseCreateOptions } from '../../collections/create-options.ts';
import { checkNewName, checkSystemName, namespaceText } from '../../collections/namespace.ts';
import { namespaceOf } from '../../collections/target.ts';
import { MongoError } from '../../errors.ts';
import { ok } from '../../reply.ts';
import { checkView } from '../../views/view.ts';

export const create: Command = {
  needs: 'write',
  fields: CREATE_FIELDS,
  async run(call) {
    const { context, body } = call;
    const { service } = context;
    const namespace = namespaceOf(call);
    checkNewName(namespace);
    checkSystemName(namespace, (body.get('timeseries') ?? null) !== null);
    const options = parseCreateOptions(body, service.clock.nowMs());
    if (options.has('validator') && namespace.collection.startsWith('system.'))
      throw invalid(`Document validators are not allowed on ${namespaceText(namespace)}`);
    if (options.has('viewOn')) checkView(service, namespace, options);
    const existing = findCollection(service, namespace);
    if (existing !== undefined) {
      if (isSame(existing.options, options) && !call.store.isTransaction) return ok();
      throw new MongoError(
        'NamespaceExists',
        isSame(existing.options, options)
          ? `Collection ${namespaceText(namespace)} already exists.`
          : `namespace ${namespaceText(namespace)} already exists, but with different options`,
      );
    }
    await createCollection(service, namespace, { options });
    return ok();
  },
};

/** Options in another order are the same. */
function isSame(a: BsonDocument, b: BsonDocument): boolean {
  const sorted = (options: BsonDocument): Bson =>
    new Map([...options].sort(([one], [other]) => (one < other ? -1 : 1)));
  return compareBson(sorted(a), sorted(b)) === 0;
}
