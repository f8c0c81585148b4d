/** How many documents collections have, and how many bytes. */
import type { Service } from '../../../service/index.ts';
import type { Collection } from '../collections/collection.ts';
import { declaredIndexes } from '../indexes/index-spec.ts';

interface Sizes {
  readonly count: number;
  readonly dataSize: number;
  readonly indexes: number;
  readonly indexSize: number;
}

/** The bytes of an entry of an index: keys are short. Nobody counts them exactly. */
const INDEX_ENTRY_BYTES = 32;

export async function collectionSizes(service: Service, collection: Collection): Promise<Sizes> {
  const { containers } = service;
  let count = 0;
  let dataSize = 0;
  await containers.inspect(collection.container, async (routes) => {
    count = 0;
    dataSize = 0;
    for (const route of routes) {
      const { itemCount, itemBytes } = await containers.statistics(route);
      count += itemCount;
      dataSize += itemBytes;
    }
  });
  const indexes = declaredIndexes(collection).length + 1;
  return { count, dataSize, indexes, indexSize: count * indexes * INDEX_ENTRY_BYTES };
}

export async function databaseSizes(
  service: Service,
  collections: readonly Collection[],
): Promise<Sizes> {
  const total = { count: 0, dataSize: 0, indexes: 0, indexSize: 0 };
  for (const collection of collections) {
    if (collection.options.has('viewOn')) continue;
    const sizes = await collectionSizes(service, collection);
    total.count += sizes.count;
    total.dataSize += sizes.dataSize;
    total.indexes += sizes.indexes;
    total.indexSize += sizes.indexSize;
  }
  return total;
}
