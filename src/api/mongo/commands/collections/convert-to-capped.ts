/** Makes a collection capped, or a capped copy of it. */
import { ANYTHING } from '../../../../query/index.ts';
import type { Bson } from '../../../../value/index.ts';
import { isNumber } from '../../bson/arithmetic.ts';
import type { Call, Command } from '../../call.ts';
import { isCapped } from '../../collections/capped.ts';
import {
  type Collection,
  changeOptions,
  createCollection,
  findCollection,
  isTimeSeries,
  isView,
} from '../../collections/collection.ts';
import { type Namespace, namespaceText, parseNamespace } from '../../collections/namespace.ts';
import { namespaceOf } from '../../collections/target.ts';
import { insertDocuments } from '../../documents/insert.ts';
import { MongoError } from '../../errors.ts';
import { wholeOf } from '../../fields/numbers.ts';
import { declaredIndexes } from '../../indexes/index-spec.ts';
import { ok } from '../../reply.ts';

const SIZE_MAX = 2 ** 50;

export const convertToCapped: Command = {
  needs: 'write',
  // Unknown fields are taken.
  async run(call) {
    const { context, store, body } = call;
    const { service } = context;
    const namespace = namespaceOf(call);
    checkName(namespace);
    const size = sizeOf(body.get('size'));
    const found = findCollection(service, namespace);
    if (found !== undefined && isTimeSeries(found)) throw notStored(namespace);
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
    await context.trims.trim(service, store, changed);
    return ok();
  },
};

export const cloneCollectionAsCapped: Command = {
  needs: 'write',
  // Unknown fields are taken.
  async run(call) {
    const { context, args, store, body, database } = call;
    const { service } = context;
    requireText(body.get('cloneCollectionAsCapped'), 'cloneCollectionAsCapped');
    requireText(body.get('toCollection'), 'toCollection');
    const from = namespaceOf(call);
    const to = parseNamespace(database, args.text('toCollection'));
    for (const namespace of [from, to]) checkName(namespace, true);
    if (to.collection.startsWith('system.'))
      throw new MongoError('InvalidNamespace', `Invalid system namespace: ${namespaceText(to)}`);
    const size = sizeOf(body.get('size'));
    const source = findCollection(service, from);
    if (source !== undefined && isTimeSeries(source)) throw notStored(from);
    if (source === undefined)
      throw new MongoError(
        'NamespaceNotFound',
        `source collection ${namespaceText(from)} does not exist`,
      );
    const taken = findCollection(service, to);
    if (taken !== undefined && isView(taken)) throw notStored(to);
    if (taken !== undefined)
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
    await context.trims.trim(service, store, made);
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

function sizeOf(sent: Bson | undefined): Bson {
  if (!isNumber(sent))
    throw new MongoError('InvalidOptions', 'Capped collection size must be a number');
  const size = wholeOf(sent as Bson);
  if (size < 1)
    throw new MongoError('InvalidOptions', 'Capped collection size must be greater than zero');
  if (size > SIZE_MAX)
    throw new MongoError('BadValue', `Capped collection size must be at most ${SIZE_MAX}`);
  return size < 2 ** 31 ? size : BigInt(size);
}

function requireText(sent: Bson | undefined, field: string): void {
  if (typeof sent !== 'string')
    throw new MongoError('TypeMismatch', `'${field}' must be of type String`);
}

/** Collections of the server itself have a size of their own. */
function checkName({ collection }: Namespace, isCopy = false): void {
  if (isCopy && collection.includes('$'))
    throw new MongoError('InvalidNamespace', `Invalid collection name: ${collection}`);
  if (collection.startsWith('system.buckets.'))
    throw new MongoError('IllegalOperation', 'Cannot make a time-series collection capped');
  if (collection === 'system.views')
    throw new MongoError('BadValue', 'Cannot make system.views capped');
}

function notStored(namespace: Namespace): MongoError {
  return new MongoError(
    'CommandNotSupportedOnView',
    `Namespace ${namespaceText(namespace)} is a view, not a collection`,
  );
}
