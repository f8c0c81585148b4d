export type { Change, ChangePage } from './change-log.ts';
export type { CommitGroup } from './commit-group.ts';
export { cutOfComposite, cutOfTerm } from './cut-entries.ts';
export type { Effect, WriteResult } from './effect.ts';
export type { FeedChange, FeedMode, FeedRead, FeedSlice } from './feed.ts';
export type { Erasure } from './hidden.ts';
export { pathNumber } from './index-paths.ts';
export {
  type ComputedProperty,
  compositePart,
  Indexing,
  type IndexingOptions,
  isSameTerm,
  ridOfEntry,
  type SpatialPath,
  termPrefix,
  valueOfTerm,
} from './indexing.ts';
export {
  type Conditions,
  decideOp,
  type ItemOp,
  intentOf,
  itemNotFound,
  type Mutation,
  type NewBody,
  type Put,
  type WriteIntent,
} from './intent.ts';
export {
  formatEtag,
  Item,
  ItemKey,
  type ItemVersion,
  type Lsn,
  type Rid,
  type Seal,
  type Stamp,
} from './item.ts';
export { KeySizes } from './key-sizes.ts';
export type { KeyCount, KeySize } from './key-survey.ts';
export {
  epkOfPrimary,
  itemKey,
  itemKeyOf,
  logicalPartitionPrefix,
  logicalPartitionRange,
  partitionKeyOfPrimary,
  primaryRange,
} from './keyspace.ts';
export type { MovedEntry } from './moved-history.ts';
export type { MovedState } from './moved-state.ts';
export { openPartition, type PartitionOptions } from './open-partition.ts';
export { Partition } from './partition.ts';
export { PartitionReader, type ReaderContext } from './partition-reader.ts';
export { isIntact } from './record.ts';
export { RecordCache } from './record-cache.ts';
export { outsideRetention, type Retention, retainedWithin } from './retention.ts';
export type { EpkRange, ItemPage, ItemScan } from './scan.ts';
export { stampedItem } from './stamper.ts';
export type { PartitionStatistics } from './state.ts';
export type { SweepStep } from './sweeper.ts';
export {
  type AnswerBound,
  type OperationEffect,
  type Transaction,
  TransactionError,
  type TransactionOp,
  type TransactionOptions,
  transactionOf,
} from './transaction.ts';
export type { Version, VersionKind } from './version.ts';
export type { Watch } from './watch.ts';
export { timeEtag, writeTime } from './write-times.ts';
