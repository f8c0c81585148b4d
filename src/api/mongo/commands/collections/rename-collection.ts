/** Gives a collection another name; to another database, its documents and indexes are copied. */
import { randomUUID } from 'node:crypto';
import type { Bytes } from '../../../../base/index.ts';
import { ANYTHING } from '../../../../query/index.ts';
import { type BsonDocument, compareBson, Extended } from '../../../../value/index.ts';
import type { Call, Command } from '../../call.ts';
import {
  type Collection,
  createCollection,
  findCollection,
  isTimeSeries,
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
import { missingField, wrongType } from '../../fields/field-table.ts';
import { declaredIndexes } from '../../indexes/index-spec.ts';
import { NAMESPACE_BYTES_MAX } from '../../limits.ts';
import { documentOf, ok } from '../../reply.ts';

export const renameCollection: Command = {
  needs: 'write',
  isAdminOnly: true,
  fields: { to: 'string!', dropTarget: 'any', stayTemp: 'bool', collectionUUID: 'uuid' },
  async run(call) {
    const { context, args, body, name } = call;
    const { service, changes } = context;
    const sent = body.get(name) ?? null;
    if (sent === null) throw missingField(name, name);
    if (typeof sent !== 'string') throw wrongType(`${name}.${name}`, sent, 'string');
    const dropped = dropTarget(body);
    const dropsTarget = dropped !== false;
    const [from, to] = [namesIn(sent), namesIn(args.text('to'))];
    checkNames(from, to);
    checkDropped(call, dropped, from, to);
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
        'CommandNotSupportedOnView',
        `Cannot rename time-series collection ${namespaceText(from)}`,
      );
    if (namespaceText(from) === namespaceText(to))
      throw new MongoError('IllegalOperation', "Can't rename a collection to itself");
    const target = findCollection(service, to);
    if (target !== undefined && !dropsTarget)
      throw new MongoError('NamespaceExists', 'target namespace exists');
    if (target !== undefined && (isView(target) || isTimeSeries(target)))
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

/** True, or the collection that is meant, by its identifier. */
function dropTarget(body: BsonDocument): boolean | Extended {
  if (!body.has('dropTarget')) return false;
  const sent = body.get('dropTarget') ?? null;
  if (typeof sent === 'boolean') return sent;
  if (!(sent instanceof Extended) || sent.payload.kind !== 'binary')
    throw wrongType('renameCollection.dropTarget', sent, '[bool, binData]');
  if (sent.payload.subtype !== 4 || sent.payload.bytes.length !== UUID_BYTES)
    throw new MongoError(
      'InvalidUUID',
      'uuid must be a 16-byte binary field with UUID (4) subtype',
    );
  return sent;
}

const UUID_BYTES = 16;

/** A target that is named by its identifier must be that collection. */
function checkDropped(
  { context: { service } }: Call,
  dropped: boolean | Extended,
  from: Namespace,
  to: Namespace,
): void {
  if (typeof dropped === 'boolean') return;
  if (from.database !== to.database)
    throw new MongoError(
      'InvalidOptions',
      'dropTarget by UUID is not supported for renames across databases',
    );
  const target = findCollection(service, to);
  if (target !== undefined && compareBson(collectionUuid(target.container), dropped) === 0) return;
  throw new MongoError(
    'CollectionUUIDMismatch',
    `dropTarget must be the UUID of ${namespaceText(to)}`,
    {
      more: documentOf({
        db: to.database,
        collectionUUID: dropped,
        expectedCollection: to.collection,
        actualCollection: null,
      }),
    },
  );
}

/** Names that no collection can have are an illegal rename. */
function namesIn(text: string): Namespace {
  try {
    const namespace = splitNamespace(text);
    checkNewName(namespace);
    return namespace;
  } catch (error) {
    const isName = text.includes('.') && !text.startsWith('.') && !text.endsWith('.');
    if (!isName || !(error instanceof MongoError) || (!text.includes('$') && isShort(text)))
      throw error;
    throw new MongoError('IllegalOperation', `Invalid namespace for a rename: ${text}`);
  }
}

function isShort(text: string): boolean {
  return Buffer.byteLength(text) <= NAMESPACE_BYTES_MAX;
}

function checkNames(from: Namespace, to: Namespace): void {
  for (const { database, collection } of [from, to]) {
    if (collection.startsWith('system.'))
      throw new MongoError(
        'IllegalOperation',
        `Cannot rename system collection ${database}.${collection}`,
      );
    if (database === 'local')
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
