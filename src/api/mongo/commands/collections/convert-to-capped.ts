/** Makes a collection capped, or a capped copy of it. */
import { ANYTHING } from '../../../../query/index.ts';
import type { Bson } from '../../../../value/index.ts';
import type { Call, Command } from '../../call.ts';
import { isCapped, trimCapped } from '../../collections/capped.ts';
import {
  type Collection,
  changeOptions,
  createCollection,
  findCollection,
} from '../../collections/collection.ts';
import { namespaceText, parseNamespace } from '../../collections/namespace.ts';
import { namespaceOf } from '../../collections/target.ts';
import { insertDocuments } from '../../documents/insert.ts';
import { MongoError } from '../../errors.ts';
import { wholeOf } from '../../fields/numbers.ts';
import { declaredIndexes } from '../../indexes/index-spec.ts';
import { ok } from '../../reply.ts';

const SIZE_MAX = 2 ** 50;

export const convertToCapped: Command = {
  needs: 'write',
  fields: { size: 'long!', temp: 'flag' },
  async run(call) {
    const { context, store, body } = call;
    const { service } = context;
    const namespace = namespaceOf(call);
    const size = sizeOf(body.get('size') as Bson);
    const found = findCollection(service, namespace);
    if (found === undefined)
      throw new MongoError(
        'NamespaceNotFound',
        `source collection ${namespaceText(namespace)} does not exist`,
      );
    for (const index of declaredIndexes(found))
      await service.indexes.drop(found.container, index.id);
    const current = findCollection(service, namespace) as Collection;
    const options = new Map<string, Bson>([['capped', true], ['size', size], ...kept(current)]);
    const changed = await changeOptions(service, current, options);
    await trimCapped(service, store, changed);
    return ok();
  },
};

export const cloneCollectionAsCapped: Command = {
  needs: 'write',
  fields: { toCollection: 'string!', size: 'long!', temp: 'flag' },
  async run(call) {
    const { context, args, store, body, database } = call;
    const { service } = context;
    const from = namespaceOf(call);
    const to = parseNamespace(database, args.text('toCollection'));
    const size = sizeOf(body.get('size') as Bson);
    const source = findCollection(service, from);
    if (source === undefined)
      throw new MongoError(
        'NamespaceNotFound',
        `source collection ${namespaceText(from)} does not exist`,
      );
    if (findCollection(service, to) !== undefined)
      throw new MongoError(
        'NamespaceExists',
        `cloneCollectionAsCapped failed - destination collection ${namespaceText(to)} already exists.`,
      );
    const options = new Map<string, Bson>([
      ['capped', true],
      ['size', size],
    ]);
    const made = await createCollection(service, to, { options });
    await copy(call, source, made);
    await trimCapped(service, store, made);
    return ok();
  },
};

async function copy({ store }: Call, from: Collection, to: Collection): Promise<void> {
  const all = { partitionKey: undefined, condition: ANYTHING, test: undefined };
  for await (const batch of store.find(from, all))
    await insertDocuments({
      store,
      collection: to,
      bodies: batch.map(({ body }) => body),
      isOrdered: true,
      retryable: undefined,
    });
}

function kept(collection: Collection): readonly (readonly [string, Bson])[] {
  if (isCapped(collection)) return [];
  return [...collection.options].filter(
    ([name]) => name !== 'capped' && name !== 'size' && name !== 'max',
  );
}

function sizeOf(sent: Bson): Bson {
  const size = wholeOf(sent);
  if (size < 1 || size > SIZE_MAX)
    throw new MongoError(
      'InvalidOptions',
      `Capped collection size must be greater than zero and at most ${SIZE_MAX}`,
    );
  return size < 2 ** 31 ? size : BigInt(size);
}
