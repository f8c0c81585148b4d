/** Makes a sharded collection. The collection must not have documents yet. */
import type { Command } from '../../call.ts';
import { createCollection, findCollection } from '../../collections/collection.ts';
import { namespaceText, splitNamespace } from '../../collections/namespace.ts';
import { MongoError } from '../../errors.ts';
import { splitPath } from '../../query/path.ts';
import { ok } from '../../reply.ts';

export const shardCollection: Command = {
  needs: 'write',
  async run({ context: { service }, args, name }) {
    const namespace = splitNamespace(args.text(name));
    const key = [...args.document('key')];
    const [field, kind] = key[0] ?? [];
    if (key.length !== 1 || field === undefined || (kind !== 'hashed' && kind !== 1))
      throw new MongoError(
        'BadValue',
        "The shard key must be one field with the value 'hashed', such as {shardCollection: 'db.coll', key: {a: 'hashed'}}",
      );
    const shardKey = splitPath(field);
    if (
      shardKey.some((step) => step === '' || step.startsWith('$')) ||
      (field === '_id' && kind !== 'hashed')
    )
      throw new MongoError('BadValue', `The field '${field}' cannot be a shard key`);
    const existing = findCollection(service, namespace);
    if (existing !== undefined) {
      const { items } = await service.items.feed(existing.container, {
        scope: { kind: 'container' },
        continuation: undefined,
        limit: 1,
        bytesMax: 1,
        sessionToken: undefined,
      });
      if (existing.shardKey !== undefined || items.length > 0)
        throw new MongoError(
          'IllegalOperation',
          `The collection ${namespaceText(namespace)} has documents or a shard key already`,
        );
      await service.containers.delete(existing.container);
    }
    await createCollection(service, namespace, { shardKey });
    return ok({ _t: 'ShardCollectionResponse', collectionsharded: namespaceText(namespace) });
  },
};
