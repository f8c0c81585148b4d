/** Translates the indexing policy of a container into the rules of its partitions. */
import type { ContainerRecord, IndexDefinition } from '../../catalog/index.ts';
import { type DeclaredIndex, Indexing, type SpatialPath } from '../../partition/index.ts';
import { earthGrid, isMap, planeGrid } from '../../value/index.ts';
import type { HomeApi } from './home-api.ts';

/** Properties that the NoSQL API adds to every document. */
const SYSTEM_NAMES = ['_rid', '_self', '_etag', '_attachments', '_ts'];

export function containerIndexing(container: ContainerRecord, home: HomeApi): Indexing {
  const { indexingPolicy, partitionKey, globalIndex } = container;
  return new Indexing({
    isOff: indexingPolicy.indexingMode === 'none',
    included: indexingPolicy.includedPaths.map(({ path }) => path),
    excluded: indexingPolicy.excludedPaths.map(({ path }) => path),
    // Rows of a global secondary index are found by the items they are made from.
    always: [...partitionKey.paths, ...(globalIndex ? ['/id'] : [])].map((path) => `${path}/?`),
    ...(container.indexes === undefined
      ? policyIndexes(container)
      : declaredIndexes(container.indexes, partitionKey.paths, home)),
    codec: home.codec,
    ...(home.image && { viewNames: [...home.image.added, ...SYSTEM_NAMES] }),
    computed: home.computed?.(container) ?? [],
    spatial: spatialPaths(container),
  });
}

/** Containers of index format 1: composite indexes and unique keys by their places in the policies. */
function policyIndexes({ indexingPolicy, uniqueKeys, partitionKey }: ContainerRecord) {
  const constraints = uniqueKeys.map(({ paths }) => ({ paths }));
  return {
    composites: (indexingPolicy.compositeIndexes ?? []).map((parts) =>
      parts.map(({ path, order }) => ({ path, isDescending: order === 'descending' })),
    ),
    uniqueKeys:
      constraints.length === 0 ? undefined : { constraints, partitionKey: partitionKey.paths },
  };
}

function declaredIndexes(
  all: readonly IndexDefinition[],
  partitionKey: readonly string[],
  home: HomeApi,
) {
  const indexes = all
    .map((index) => ({
      ...index,
      computed: index.isVirtual === true ? home.entries?.(index) : undefined,
      uniqueValues: index.isUniqueByHome === true ? home.uniqueValues?.(index) : undefined,
    }))
    .filter(({ isVirtual, computed }) => isVirtual !== true || computed !== undefined);
  const constraints = indexes
    .filter(({ unique }) => unique !== undefined)
    .map(({ id, parts, isMultikey, isSparse, filter, computed, uniqueValues }) => ({
      id,
      paths: parts.map(({ path }) => path),
      isMultikey,
      isSparse,
      ...(filter && { filter }),
      ...(computed && { computed }),
      ...(uniqueValues && { uniqueValues }),
    }));
  return {
    composites: [],
    declared: indexes.map((index): DeclaredIndex => {
      const { id, parts, collation, isMultikey, isSparse, filter, computed, isHidden } = index;
      const servesQueries = index.origin !== 'uniqueKey';
      return {
        ...{ id, parts, collation, isMultikey, isSparse, servesQueries },
        ...(filter && { filter }),
        ...(computed && { computed }),
        ...(isHidden === true && { isHidden }),
      };
    }),
    uniqueKeys: constraints.length === 0 ? undefined : { constraints, partitionKey },
  };
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
