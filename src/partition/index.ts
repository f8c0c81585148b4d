export type { Effect } from './commit/command/effect.ts';
export type { OperationEffect, StepCheck, TransactionOp } from './commit/command/operation-run.ts';
export {
  type KeyNote,
  type SequenceMode,
  type StepResult,
  sequenceOf,
} from './commit/command/sequence.ts';
export {
  type ResponseBound,
  TransactionError,
  type TransactionOptions,
  transactionOf,
  updateOf,
} from './commit/command/transaction.ts';
export type {
  Outcome,
  UpdateReply,
  Updater,
  Updaters,
} from './commit/command/updater.ts';
export {
  type Conditions,
  commandOf,
  decideOp,
  type ItemOp,
  itemNotFound,
  type Mutation,
  type NewBody,
  type PlainOp,
  type Put,
  type UpdateOp,
  type WriteCommand,
} from './commit/command/write-command.ts';
export type { ConflictTracker, RangeWatch } from './commit/conflict-tracker.ts';
export { freeValues } from './commit/unique/free-values.ts';
export { uniqueViolation } from './commit/unique/unique-claims.ts';
export { type UniqueKeys, type UniqueValues, uniqueChanges } from './commit/unique/unique-keys.ts';
export { stampedItem } from './commit/version-assigner.ts';
export type { Change } from './history/change-log.ts';
export type { FeedChange, FeedMode, FeedSlice } from './history/feed.ts';
export type { MovedState } from './history/moved-state.ts';
export { outsideRetention, retainedWithin } from './history/retention.ts';
export { sortedValues } from './index/declared/bson-entries.ts';
export type { ComputedEntries } from './index/declared/computed-entries.ts';
export type { DeclaredIndex } from './index/declared/declared-indexes.ts';
export {
  compositePart,
  type IndexFilterTest,
  multikeyValues,
} from './index/declared/declared-values.ts';
export { boundedValues } from './index/declared/long-entries.ts';
export type { IndexBuild } from './index/index-builder.ts';
export {
  truncatedPrefixOfComposite,
  truncatedPrefixOfTerm,
} from './index/read/truncated-entries.ts';
export type { ComputedProperty } from './index/terms/computed-property.ts';
export {
  Indexing,
  isSameTerm,
  pathPrefix,
  ridOfEntry,
  type SpatialPath,
  valueOfTerm,
} from './index/terms/indexing.ts';
export type { StoreFormat } from './item/format.ts';
export {
  type BodyFinisher,
  COMMAND_KEYS_MAX,
  formatEtag,
  ITEM_FLAGS,
  Item,
  ItemKey,
  type Lsn,
  type Rid,
  type Stamp,
  WRITES_PER_ITEM_MAX,
} from './item/item.ts';
export {
  ItemKeys,
  type KeyCodec,
  type KeyFormat,
  type RowBounds,
  type RowRange,
} from './item/item-keys.ts';
export {
  epkOfPrimary,
  itemKeyOf,
  partitionKeyOfPrimary,
  primaryRange,
} from './item/keyspace.ts';
export type { Version } from './item/version.ts';
export { timeEtag, writeTime } from './item/write-times.ts';
export type { RangeTombstone } from './lifetime/invisible-items.ts';
export type { SweepStep } from './lifetime/sweeper.ts';
export { epkOfNote, type WriteNote } from './notes/note.ts';
export type { NoteFollower } from './notes/partition-notes.ts';
export { openPartition } from './open-partition.ts';
export { Partition } from './partition.ts';
export { PartitionReader } from './partition-reader.ts';
export { heldByOther, readIsStale, type TransactionId } from './prepared/held-items.ts';
export type { Outcome as TransactionOutcome } from './prepared/prepared-format.ts';
export type { CheckedOp, PreparedTransaction } from './prepared/prepared-transactions.ts';
export {
  type KeyPosition,
  type KeyScan,
  type KeyScanPage,
  positionBehind,
} from './read/key-scan.ts';
export { RecordCache } from './read/record-cache.ts';
export type { EpkRange, ItemPage } from './read/scan.ts';
export type { KeyCount, KeySize } from './sizes/key-size-scan.ts';
export { KeySizes } from './sizes/key-sizes.ts';
export type { PartitionStatistics } from './state.ts';
