/** From a container's policy to the rules its partitions index by. */
import type { ContainerRecord } from '../catalog/index.ts';
import { type ComputedProperty, Indexing } from '../partition/index.ts';
import { codecOf, type Encoding } from '../value/index.ts';

/** The computed properties of containers, from the APIs that know the language of their definitions. */
export type ComputedByEncoding = Readonly<
  Partial<Record<Encoding, (container: ContainerRecord) => readonly ComputedProperty[]>>
>;

export function containerIndexing(
  container: ContainerRecord,
  computed: ComputedByEncoding = {},
): Indexing {
  const { indexingPolicy, partitionKey, encoding, globalIndex } = container;
  return new Indexing({
    isOff: indexingPolicy.indexingMode === 'none',
    included: indexingPolicy.includedPaths.map(({ path }) => path),
    excluded: indexingPolicy.excludedPaths.map(({ path }) => path),
    // Rows of a global secondary index are found by the items they are made from.
    always: [...partitionKey.paths, ...(globalIndex ? ['/id'] : [])].map((path) => `${path}/?`),
    composites: (indexingPolicy.compositeIndexes ?? []).map((parts) =>
      parts.map(({ path, order }) => ({ path, isDescending: order === 'descending' })),
    ),
    codec: codecOf(encoding),
    computed: computed[encoding]?.(container) ?? [],
  });
}
