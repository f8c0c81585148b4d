/** The figures of one stored collection, as `collStats` and `$collStats` show them. */
import type { Service } from '../../../service/index.ts';
import type { Bson, BsonDocument } from '../../../value/index.ts';
import type { Collection } from '../collections/collection.ts';
import { numberBson } from '../fields/numbers.ts';
import { declaredIndexes } from '../indexes/index-spec.ts';
import { documentOf } from '../reply.ts';
import { collectionSizes } from './sizes.ts';

export async function collectionStatistics(
  service: Service,
  collection: Collection,
  scale: number,
): Promise<Readonly<Record<string, Bson>>> {
  const { options } = collection;
  const { count, dataSize, indexes, indexSize } = await collectionSizes(service, collection);
  const scaled = (bytes: number): Bson => numberBson(Math.floor(bytes / scale));
  const names = ['_id_', ...declaredIndexes(collection).map(({ name }) => name)];
  const each = (value: Bson): BsonDocument => new Map(names.map((name) => [name, value] as const));
  const perIndex = scaled(indexes === 0 ? 0 : Math.floor(indexSize / indexes));
  return {
    size: scaled(dataSize),
    count: numberBson(count),
    ...(count > 0 ? { avgObjSize: numberBson(Math.floor(dataSize / count)) } : {}),
    numOrphanDocs: 0,
    storageSize: scaled(dataSize),
    freeStorageSize: 0,
    capped: options.get('capped') === true,
    ...(options.get('capped') === true
      ? { max: options.get('max') ?? 0, maxSize: scaled(Number(options.get('size'))) }
      : {}),
    wiredTiger: documentOf({}),
    nindexes: indexes,
    indexDetails: each(documentOf({})),
    indexBuilds: [],
    totalIndexSize: scaled(indexSize),
    indexSizes: each(perIndex),
    totalSize: scaled(dataSize + indexSize),
    scaleFactor: scale,
  };
}
