/** Digests of collections: equal for equal contents. */
import { createHash } from 'node:crypto';
import { type Bson, isArray } from '../../../../value/index.ts';
import type { Call, Command } from '../../call.ts';
import { type Collection, collectionsOf, isView } from '../../collections/collection.ts';
import { collectionUuid } from '../../collections/collection-uuid.ts';
import { checkDatabase } from '../../collections/namespace.ts';
import { MongoError } from '../../errors.ts';
import { ok } from '../../reply.ts';

export const dbHash: Command = {
  needs: 'read',
  async run(call) {
    const { context, args, database } = call;
    const startedMs = performance.now();
    checkDatabase(database);
    const wanted = namesIn(args.get('collections'));
    const found = collectionsOf(context.service, database).filter(
      (each) =>
        !isView(each) &&
        !each.namespace.collection.startsWith('system.') &&
        (wanted.length === 0 || wanted.includes(each.namespace.collection)),
    );
    const hashes = new Map<string, string>();
    for (const each of found) hashes.set(each.namespace.collection, await hashOf(call, each));
    const all = createHash('md5');
    for (const [name, digest] of hashes) all.update(name).update(digest);
    return ok({
      host: `${call.connection.info.host}:${call.connection.info.port}`,
      collections: hashes,
      capped: found
        .filter(({ options }) => options.get('capped') === true)
        .map(({ namespace }) => namespace.collection),
      uuids: new Map(
        found.map(({ namespace, container }) => [namespace.collection, collectionUuid(container)]),
      ),
      md5: all.digest('hex'),
      timeMillis: Math.round(performance.now() - startedMs),
    });
  },
};

/** Anything but a list names nothing, as in MongoDB. */
function namesIn(sent: Bson | undefined): readonly Bson[] {
  if (!isArray(sent)) return [];
  for (const name of sent)
    if (typeof name !== 'string')
      throw new MongoError('BadValue', 'collections entries have to be strings');
  return sent;
}

/** Each partition keeps a checksum of its items: no document is read. */
async function hashOf({ context: { service } }: Call, { container }: Collection): Promise<string> {
  const hash = createHash('md5');
  let checksum = 0;
  let count = 0;
  for (const route of service.containers.routes(container)) {
    const statistics = await service.containers.statistics(route);
    checksum ^= statistics.checksum;
    count += statistics.itemCount;
  }
  return hash.update(`${checksum} ${count}`).digest('hex');
}
