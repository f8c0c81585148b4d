/** A container is a table by its database and its partition key, whichever API creates it. */
import type { CompositePath, DatabaseRecord, IndexingPolicy } from '../../catalog/index.ts';
import type { PartitionKeyDefinition } from '../../value/index.ts';
import type { ContainerSpec } from './containers.ts';

/** The database that holds the tables, under the name it has in the reference service. */
export const TABLES_DATABASE = 'TablesDB';

export const TABLE_PARTITION_KEY: PartitionKeyDefinition = {
  paths: ['/PartitionKey'],
  kind: 'Hash',
  version: 2,
};

/** The order that entities are listed in. */
const KEY_ORDER: readonly CompositePath[] = [
  { path: '/PartitionKey', order: 'ascending' },
  { path: '/RowKey', order: 'ascending' },
];

/** The container as asked for, with items stored as entities where it is a table. */
export function tableOrContainer({ id }: DatabaseRecord, spec: ContainerSpec): ContainerSpec {
  const isTable =
    id === TABLES_DATABASE &&
    spec.globalIndex === undefined &&
    spec.partitionKey?.paths.join() === TABLE_PARTITION_KEY.paths.join();
  if (!isTable) return spec;
  return { ...spec, home: 'table', indexingPolicy: withKeyOrder(spec.indexingPolicy) };
}

/** Lists of entities need an index in their order, whatever else is indexed. */
export function withKeyOrder(policy: IndexingPolicy): IndexingPolicy {
  const { indexingMode, compositeIndexes = [] } = policy;
  const wanted = JSON.stringify(KEY_ORDER);
  if (indexingMode === 'none' || compositeIndexes.some((paths) => JSON.stringify(paths) === wanted))
    return policy;
  return { ...policy, compositeIndexes: [...compositeIndexes, KEY_ORDER] };
}
