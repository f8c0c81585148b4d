export type { ConflictTracker } from './commit/conflict-tracker.ts';
export type { Effect } from './commit/effect.ts';
export {
  type OperationEffect,
  type ResponseBound,
  TransactionError,
  type TransactionOp,
  type TransactionOptions,
  transactionOf,
} from './commit/transaction.ts';
export { stampedItem } from './commit/version-assigner.ts';
export {
  type Conditions,
  commandOf,
  decideOp,
  type ItemOp,
  itemNotFound,
  type Mutation,
  type NewBody,
  type Put,
  type WriteCommand,
} from './commit/write-command.ts';
export type { Change } from './history/change-log.ts';
export type { FeedChange, FeedMode, FeedSlice } from './history/feed.ts';
export type { MovedState } from './history/moved-state.ts';
export { outsideRetention, retainedWithin } from './history/retention.ts';
export {
  type ComputedProperty,
  compositePart,
  Indexing,
  isSameTerm,
  pathPrefix,
  ridOfEntry,
  type SpatialPath,
  valueOfTerm,
} from './index/indexing.ts';
export { truncatedPrefixOfComposite, truncatedPrefixOfTerm } from './index/truncated-entries.ts';
export {
  type BodyFinisher,
  formatEtag,
  Item,
  ItemKey,
  type Lsn,
  type Rid,
  type Stamp,
} from './item/item.ts';
export {
  epkOfPrimary,
  itemKey,
  itemKeyOf,
  logicalPartitionPrefix,
  logicalPartitionRange,
  partitionKeyOfPrimary,
  primaryRange,
} from './item/keyspace.ts';
export type { Version } from './item/version.ts';
export { timeEtag, writeTime } from './item/write-times.ts';
export type { RangeTombstone } from './lifetime/invisible-items.ts';
export { openPartition } from './open-partition.ts';
export { Partition } from './partition.ts';
export { PartitionReader } from './partition-reader.ts';
export { RecordCache } from './read/record-cache.ts';
export type { EpkRange, ItemPage } from './read/scan.ts';
export type { KeyCount, KeySize } from './sizes/key-size-scan.ts';
export { KeySizes } from './sizes/key-sizes.ts';
export type { PartitionStatistics } from './state.ts';
