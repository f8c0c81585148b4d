/** Collections that nobody stored: what shells read about a cluster in `config`, and the buckets of a time series. */
import { type Bson, type BsonDocument, Extended } from '../../../value/index.ts';
import type { Call } from '../call.ts';
import { bucketPipeline, bucketsOf } from '../collections/buckets.ts';
import { type Collection, collectionsOf } from '../collections/collection.ts';
import { collectionUuid } from '../collections/collection-uuid.ts';
import { type Namespace, namespaceText } from '../collections/namespace.ts';
import { replicaConfig } from '../commands/administration/replica-set.ts';
import { addressText, REPLICA_SET } from '../commands/connection/hello.ts';
import { documentOf } from '../reply.ts';
import type { View } from './view.ts';

/** Undefined where the name means nothing to the server. */
export function systemView(call: Call, namespace: Namespace): View | undefined {
  const series = bucketsOf(call.context.service, namespace);
  if (series !== undefined)
    return viewOn(namespace, series.namespace.collection, bucketPipeline(series));
  if (
    namespaceText(namespace) === 'local.system.replset' &&
    call.context.topology === 'replica-set'
  )
    return documentsView(namespace, [replicaConfig(call)]);
  if (namespace.database !== 'config' || !Object.hasOwn(CONFIG, namespace.collection))
    return undefined;
  return documentsView(namespace, CONFIG[namespace.collection]?.(call) ?? []);
}

function documentsView(namespace: Namespace, documents: readonly BsonDocument[]): View {
  const literals = documents.map((each) => documentOf({ $literal: each }));
  return viewOn(namespace, '', [documentOf({ $documents: literals })]);
}

function viewOn(namespace: Namespace, collection: string, pipeline: readonly Bson[]): View {
  return { namespace, options: documentOf({ viewOn: collection, pipeline }) };
}

/** One shard, the server itself; a partition is a chunk, between positions in the hash space. */
const CONFIG: Readonly<Record<string, (call: Call) => readonly BsonDocument[]>> = {
  version: () => [documentOf({ _id: 1 })],
  shards: ({ connection }) => [
    documentOf({
      _id: REPLICA_SET,
      host: `${REPLICA_SET}/${addressText(connection.info)}`,
      state: 1,
    }),
  ],
  databases: ({ context }) =>
    databaseNames(context.service).map((name) => documentOf({ _id: name, primary: REPLICA_SET })),
  collections: (call) => shardedCollections(call).map(describeSharded),
  chunks: (call) => shardedCollections(call).flatMap((each) => chunksOf(call, each)),
  settings: () => [],
  tags: () => [],
  mongos: () => [],
  changelog: () => [],
};

const SYSTEM_DATABASES: ReadonlySet<string> = new Set(['admin', 'config', 'local']);

function databaseNames(service: Call['context']['service']): readonly string[] {
  return service.databases
    .list()
    .map(({ id }) => id)
    .filter((id) => !SYSTEM_DATABASES.has(id))
    .sort();
}

function shardedCollections({ context: { service } }: Call): readonly Collection[] {
  return databaseNames(service)
    .flatMap((name) => collectionsOf(service, name))
    .filter(({ shardKey }) => shardKey !== undefined);
}

function describeSharded({ namespace, container, shardKey = [] }: Collection): BsonDocument {
  return documentOf({
    _id: namespaceText(namespace),
    key: documentOf({ [shardKey.join('.')]: 'hashed' }),
    unique: false,
    noBalance: false,
    uuid: collectionUuid(container),
  });
}

function chunksOf(
  { context: { service } }: Call,
  { container, shardKey = [] }: Collection,
): readonly BsonDocument[] {
  const routes = service.containers.routes(container);
  const bound = (value: Bson): BsonDocument => documentOf({ [shardKey.join('.')]: value });
  const ends = [new Extended({ kind: 'minKey' }), new Extended({ kind: 'maxKey' })] as const;
  return routes.map(({ min, max }, at) =>
    documentOf({
      _id: `${container.rid}-${min}`,
      uuid: collectionUuid(container),
      min: bound(at === 0 ? ends[0] : min),
      max: bound(at === routes.length - 1 ? ends[1] : max),
      shard: REPLICA_SET,
    }),
  );
}
