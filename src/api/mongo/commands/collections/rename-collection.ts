/** Gives a collection another name; to another database, its documents and indexes are copied. */
import { randomUUID } from 'node:crypto';
import type { Bytes } from '../../../../base/index.ts';
import { ANYTHING } from '../../../../query/index.ts';
import { type BsonDocument, bsonTypeOf } from '../../../../value/index.ts';
import type { Call, Command } from '../../call.ts';
import {
  type Collection,
  createCollection,
  findCollection,
  isView,
} from '../../collections/collection.ts';
import { checkUuid, collectionUuid } from '../../collections/collection-uuid.ts';
import {
  checkNewName,
  type Namespace,
  namespaceText,
  splitNamespace,
} from '../../collections/namespace.ts';
import { insertDocuments } from '../../documents/insert.ts';
import { MongoError } from '../../errors.ts';
import { wrongType } from '../../fields/field-table.ts';
import { declaredIndexes } from '../../indexes/index-spec.ts';
import { documentOf, ok } from '../../reply.ts';

export const renameCollection: Command = {
  needs: 'write',
  isAdminOnly: true,
  fields: { to: 'string!', dropTarget: 'any', stayTemp: 'flag', collectionUUID: 'uuid' },
  async run(call) {
    const { context, args, body, name } = call;
    const { service, changes } = context;
    const sent = body.get(name) ?? null;
    if (typeof sent !== 'string') throw wrongType(`${name}.${name}`, sent, 'string');
    const [from, to] = [splitNamespace(sent), splitNamespace(args.text('to'))];
    const dropsTarget = dropTarget(body);
    checkNames(from, to);
    const source = findCollection(service, from);
    checkUuid(call, from, source);
    if (source === undefined)
      throw new MongoError(
        'NamespaceNotFound',
        `Source collection ${namespaceText(from)} does not exist`,
      );
    if (isView(source))
      throw new MongoError(
        'CommandNotSupportedOnView',
        `cannot rename view: ${namespaceText(from)}`,
      );
    if (source.options.has('timeseries'))
      throw new MongoError(
        'IllegalOperation',
        `Cannot rename time-series collection ${namespaceText(from)}`,
      );
    if (namespaceText(from) === namespaceText(to))
      throw new MongoError('IllegalOperation', "Can't rename a collection to itself");
    const target = findCollection(service, to);
    if (target !== undefined && !dropsTarget)
      throw new MongoError('NamespaceExists', 'target namespace exists');
    if (target !== undefined && isView(target))
      throw new MongoError(
        'NamespaceExists',
        `a view already exists with that name: ${namespaceText(to)}`,
      );
    await changes.drain(from.database);
    if (from.database === to.database)
      await service.containers.rename(source.container, to.collection, target !== undefined);
    else await moveCollection(call, source, to, target);
    changes.renamed(
      from,
      to,
      documentOf({
        to: documentOf({ db: to.database, coll: to.collection }),
        ...(target === undefined ? {} : { dropTarget: collectionUuid(target.container) }),
      }),
    );
    return ok();
  },
};

function dropTarget(body: BsonDocument): boolean {
  const sent = body.get('dropTarget') ?? null;
  if (sent === null) return false;
  if (typeof sent === 'boolean') return sent;
  const type = bsonTypeOf(sent);
  if (type === 'int' || type === 'long' || type === 'double' || type === 'decimal')
    return Number((sent as { value?: number }).value ?? sent) !== 0;
  if (type === 'binData') return true;
  throw wrongType('renameCollection.dropTarget', sent, '[bool, binData]');
}

function checkNames(from: Namespace, to: Namespace): void {
  checkNewName(to);
  for (const { database, collection } of [from, to]) {
    if (
      collection.startsWith('system.') &&
      collection !== 'system.js' &&
      collection !== 'system.views'
    )
      throw new MongoError(
        'IllegalOperation',
        `Cannot rename system collection ${database}.${collection}`,
      );
    if (database === 'local' || database === 'config')
      throw new MongoError(
        'IllegalOperation',
        `Cannot rename collections between a replicated and an unreplicated database`,
      );
  }
}

const COPIED_AT_ONCE = 1000;

/** Copies into a collection of another name, which then replaces the target. */
async function moveCollection(
  { context: { service }, store }: Call,
  source: Collection,
  to: Namespace,
  target: Collection | undefined,
): Promise<void> {
  const temporary = {
    database: to.database,
    collection: `tmp${randomUUID().slice(0, 8)}.${to.collection}`,
  };
  const made = await createCollection(service, temporary, {
    options: source.options,
    shardKey: source.shardKey,
  });
  const rows = store.find(source, {
    partitionKey: undefined,
    condition: ANYTHING,
    test: undefined,
  });
  for await (const batch of rows)
    for (let at = 0; at < batch.length; at += COPIED_AT_ONCE) {
      const bodies: readonly Bytes[] = batch.slice(at, at + COPIED_AT_ONCE).map(({ body }) => body);
      await insertDocuments({
        store,
        collection: made,
        bodies,
        isOrdered: true,
        retryable: undefined,
      });
    }
  let { container } = made;
  for (const index of declaredIndexes(source)) {
    const { id: _id, origin: _origin, ...definition } = index.definition;
    const created = await service.indexes.create(container, definition as never);
    await service.indexes.whenBuilt(created.container, created.index.id);
    container = created.container;
  }
  await service.containers.rename(container, to.collection, target !== undefined);
  await service.containers.delete(source.container);
}
