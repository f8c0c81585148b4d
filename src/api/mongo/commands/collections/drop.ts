/** Drops a collection; there need not be one. */
import type { Command } from '../../call.ts';
import { collectionsOf, findCollection, isView } from '../../collections/collection.ts';
import { checkUuid } from '../../collections/collection-uuid.ts';
import { namespaceText } from '../../collections/namespace.ts';
import { namespaceOf } from '../../collections/target.ts';
import { MongoError } from '../../errors.ts';
import { indexCount } from '../../indexes/listed-indexes.ts';
import { ok } from '../../reply.ts';

export const drop: Command = {
  needs: 'write',
  fields: { collectionUUID: 'uuid' },
  async run(call) {
    const { context, body, database } = call;
    const { service, changes } = context;
    const namespace = namespaceOf(call);
    const collection = findCollection(service, namespace);
    checkUuid(call, namespace, collection);
    if (namespace.collection.startsWith('system.') && !DROPPABLE.has(namespace.collection))
      throw new MongoError(
        'IllegalOperation',
        `can't drop system collection ${namespaceText(namespace)}`,
      );
    if (collection === undefined) return ok();
    await changes.drain(database);
    await service.containers.delete(collection.container);
    changes.dropped(namespace);
    if (collectionsOf(service, database).length === 0) await dropEmpty(call);
    if (isView(collection) || body.size === 0) return ok({ ns: namespaceText(namespace) });
    return ok({
      nIndexesWas: indexCount(collection),
      ns: namespaceText(namespace),
    });
  },
};

const DROPPABLE: ReadonlySet<string> = new Set([
  'system.profile',
  'system.js',
  'system.users',
  'system.roles',
  'system.views',
]);

/** A database without collections is none; one that somebody gave throughput, or watches, stays. */
async function dropEmpty({
  context: { service },
  database,
}: Parameters<Command['run']>[0]): Promise<void> {
  const record = service.databases.find(database);
  if (record === undefined || record.throughput !== undefined || record.policies !== undefined)
    return;
  if (service.containers.list(record).length === 0)
    await service.databases.delete(record.rid, record.etag);
}
