/** Documents about the server and its collections, for stages such as `$collStats`. */
import { type Bson, type BsonDocument, Extended } from '../../../../value/index.ts';
import type { Call } from '../../call.ts';
import { type Collection, collectionsOf, findCollection } from '../../collections/collection.ts';
import { type Namespace, namespaceText } from '../../collections/namespace.ts';
import { runningOperations } from '../../commands/administration/current-op.ts';
import { typeOf } from '../../commands/collections/list-collections.ts';
import { INDEX_ENTRY_BYTES } from '../../diagnostics/sizes.ts';
import { findDocuments } from '../../documents/find-documents.ts';
import { MongoError } from '../../errors.ts';
import { declaredIndexes, ID_INDEX } from '../../indexes/index-spec.ts';
import { EVERYTHING } from '../../query/filter.ts';
import type { DescribedKind } from '../stages/stage.ts';

export async function describe(
  call: Call,
  kind: DescribedKind,
  options: BsonDocument,
  namespace: Namespace,
): Promise<readonly BsonDocument[]> {
  switch (kind) {
    case 'collStats':
      return [await collStats(call, options, namespace)];
    case 'indexStats':
      return indexStats(call, namespace);
    case 'listCatalog':
      return collectionsOf(call.context.service, namespace.database).map(
        ({ namespace: own }): BsonDocument =>
          new Map<string, Bson>([
            ['db', own.database],
            ['name', own.collection],
            ['type', 'collection'],
            ['ns', namespaceText(own)],
          ]),
      );
    case 'currentOp':
      return runningOperations(call);
    case 'clusterCatalog':
      return clusterCatalog(call, namespace);
    case 'planCacheStats':
      if (findCollection(call.context.service, namespace) === undefined)
        throw new MongoError(
          'Location50933',
          `collection '${namespaceText(namespace)}' does not exist`,
        );
      return [];
    default:
      return [];
  }
}

/** The collections of a database, or of all. */
function clusterCatalog(call: Call, { database }: Namespace): readonly BsonDocument[] {
  const { service } = call.context;
  const names = database === 'admin' ? service.databases.list().map(({ id }) => id) : [database];
  return names
    .flatMap((name) => collectionsOf(service, name))
    .map((collection): BsonDocument => {
      const type = typeOf(collection);
      const made = new Map<string, Bson>([
        ['db', collection.namespace.database],
        ['ns', namespaceText(collection.namespace)],
        ['type', type],
        ['options', collection.options],
        ['info', new Map([['readOnly', type === 'view']])],
      ]);
      if (type !== 'view') made.set('idIndex', ID_INDEX);
      return made.set('sharded', collection.shardKey !== undefined);
    });
}

const HOST = 'localhost';

async function collStats(
  call: Call,
  options: BsonDocument,
  namespace: Namespace,
): Promise<BsonDocument> {
  const collection = findCollection(call.context.service, namespace);
  const now = new Extended({ kind: 'date', ms: Math.trunc(call.store.nowMs()) });
  const made = new Map<string, Bson>([
    ['ns', namespaceText(namespace)],
    ['host', HOST],
    ['localTime', now],
  ]);
  let count = 0;
  let bytes = 0;
  if (options.has('count') || options.has('storageStats')) {
    if (collection === undefined)
      throw new MongoError(
        'NamespaceNotFound',
        `Unable to retrieve ${options.has('count') ? 'count' : 'storageStats'} in $collStats stage :: caused by :: Collection [${namespaceText(namespace)}] not found.`,
      );
    for await (const batch of findDocuments(call.store, collection, EVERYTHING)) {
      count += batch.length;
      for (const { body } of batch) bytes += body.length;
    }
  }
  if (options.has('latencyStats')) {
    const zero = (): BsonDocument =>
      new Map<string, Bson>([
        ['latency', 0n],
        ['ops', 0n],
        ['queryableEncryptionLatencyMicros', 0n],
      ]);
    made.set(
      'latencyStats',
      new Map<string, Bson>(
        ['reads', 'writes', 'commands', 'transactions'].map((name) => [name, zero()]),
      ),
    );
  }
  if (options.has('storageStats')) {
    made.set('storageStats', storageStats(collection, count, bytes));
  }
  if (options.has('count')) made.set('count', count);
  if (options.has('queryExecStats'))
    made.set(
      'queryExecStats',
      new Map<string, Bson>([
        [
          'collectionScans',
          new Map<string, Bson>([
            ['total', 0n],
            ['nonTailable', 0n],
          ]),
        ],
      ]),
    );
  return made;
}

function storageStats(
  collection: Collection | undefined,
  count: number,
  bytes: number,
): BsonDocument {
  const declared = collection === undefined ? [] : declaredIndexes(collection);
  const names = ['_id_', ...declared.map(({ name }) => name)];
  const perIndex = count * INDEX_ENTRY_BYTES;
  return new Map<string, Bson>([
    ['size', bytes],
    ['count', count],
    ['avgObjSize', count === 0 ? 0 : Math.trunc(bytes / count)],
    ['numOrphanDocs', 0],
    ['storageSize', bytes],
    ['freeStorageSize', 0],
    ['capped', collection?.options.get('capped') === true],
    ['nindexes', names.length],
    ['indexBuilds', []],
    ['totalIndexSize', perIndex * names.length],
    ['totalSize', bytes + perIndex * names.length],
    ['indexSizes', new Map<string, Bson>(names.map((name) => [name, perIndex]))],
    ['scaleFactor', 1],
  ]);
}

function indexStats(call: Call, namespace: Namespace): readonly BsonDocument[] {
  const collection = findCollection(call.context.service, namespace);
  if (collection === undefined) return [];
  const since = new Extended({ kind: 'date', ms: Math.trunc(call.store.nowMs()) });
  return [ID_INDEX, ...declaredIndexes(collection).map(({ spec }) => spec)].map(
    (spec): BsonDocument =>
      new Map<string, Bson>([
        ['name', spec.get('name') as Bson],
        ['key', spec.get('key') as Bson],
        ['host', HOST],
        [
          'accesses',
          new Map<string, Bson>([
            ['ops', 0n],
            ['since', since],
          ]),
        ],
        ['spec', spec],
      ]),
  );
}
