export { Catalog, type CatalogChange } from './catalog.ts';
export {
  type IndexDefinition,
  type IndexDefinitions,
  isSameIndex,
  type NewIndex,
  NO_INDEXES,
  withIndex,
  withPolicyIndexes,
} from './index-definition.ts';
export {
  type CompositePath,
  DEFAULT_INDEXING_POLICY,
  type IndexingPolicy,
  normalizeIndexingPolicy,
} from './indexing-policy.ts';
export {
  type BucketLimitRecord,
  type ContainerKind,
  type ContainerRecord,
  type DatabaseRecord,
  type GlobalIndexRecord,
  type HomeName,
  LOCAL_INSTANCE,
  type PartitionRecord,
  provisionedMax,
  type ThroughputRecord,
  type ThroughputSetting,
  type UniqueKey,
} from './records.ts';
export {
  containerRid,
  databaseRid,
  documentRid,
  offerRid,
  parseResourceId,
  rangeRid,
  storedResourceRid,
} from './resource-id.ts';
export type { ResourceOwner, StoredKind, StoredResource } from './stored-resources.ts';
