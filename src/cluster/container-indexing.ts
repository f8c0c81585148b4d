/** Translates the indexing policy of a container into the rules of its partitions. */
import type { ContainerRecord } from '../catalog/index.ts';
import { type ComputedProperty, Indexing, type SpatialPath } from '../partition/index.ts';
import { codecOf, type Encoding, earthGrid, isMap, planeGrid } from '../value/index.ts';

/** The computed properties of containers, from the APIs that know the language of their definitions. */
export type ComputedByEncoding = Readonly<
  Partial<Record<Encoding, (container: ContainerRecord) => readonly ComputedProperty[]>>
>;

export function containerIndexing(
  container: ContainerRecord,
  computed: ComputedByEncoding = {},
): Indexing {
  const { indexingPolicy, partitionKey, encoding, globalIndex, uniqueKeys } = container;
  return new Indexing({
    isOff: indexingPolicy.indexingMode === 'none',
    included: indexingPolicy.includedPaths.map(({ path }) => path),
    excluded: indexingPolicy.excludedPaths.map(({ path }) => path),
    // Rows of a global secondary index are found by the items they are made from.
    always: [...partitionKey.paths, ...(globalIndex ? ['/id'] : [])].map((path) => `${path}/?`),
    composites: (indexingPolicy.compositeIndexes ?? []).map((parts) =>
      parts.map(({ path, order }) => ({ path, isDescending: order === 'descending' })),
    ),
    uniqueKeys:
      uniqueKeys.length === 0
        ? undefined
        : {
            constraints: uniqueKeys.map(({ paths }) => paths),
            partitionKey: partitionKey.paths,
          },
    codec: codecOf(encoding),
    computed: computed[encoding]?.(container) ?? [],
    spatial: spatialPaths(container),
  });
}

/**
 * A path of a spatial index is that of the geometry, whether it ends in a wildcard or not. Every kind of geometry is
 * indexed there, whichever the policy lists: a query by index must find all items.
 */
function spatialPaths({ indexingPolicy, policies }: ContainerRecord): readonly SpatialPath[] {
  const { geospatialConfig } = policies;
  const isFlat = isMap(geospatialConfig) && geospatialConfig.type === 'Geometry';
  return (indexingPolicy.spatialIndexes ?? []).flatMap(({ path, boundingBox }): SpatialPath[] => {
    if (!isFlat) return [{ path, grid: earthGrid, gridName: 'earth' }];
    if (boundingBox === undefined) return [];
    const { xmin, ymin, xmax, ymax } = boundingBox;
    const gridName = `plane ${[xmin, ymin, xmax, ymax].join(' ')}`;
    return [{ path, grid: planeGrid(boundingBox), gridName }];
  });
}
