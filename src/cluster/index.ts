export type { Balancer, KeyWarning, SplitFailure } from './balance/balancer.ts';
export { NEAR_SHARE } from './balance/key-limit.ts';
export type { Cluster } from './cluster.ts';
export { containerIndexing } from './container/container-indexing.ts';
export { type ContainerName, containerFolder, storeName } from './container/container-name.ts';
export { type HomeApi, HomeApis, type Projection } from './container/home-api.ts';
export { textLanguages } from './container/search-spec.ts';
export type { ExpirySweeper } from './expiry/expiry-sweeper.ts';
export type { MoveStep } from './mover/move.ts';
export type { PartitionResizer } from './mover/partition-resizer.ts';
export type { Resize } from './mover/resize-log.ts';
export { type ClusterHooks, type ClusterSettings, openCluster } from './open-cluster.ts';
export { type ChangesReply, type FeedStart, readPartitionChanges } from './read/change-feed.ts';
export { readFromPartition, scanPartition } from './read/key-access.ts';
export type { QueryReader } from './read/query-reader.ts';
export {
  type OperationOutcome,
  type PageReply,
  type PageRequest,
  type PageScope,
  type ReadReply,
  type SequenceReply,
  type SequenceResult,
  type TransactionReply,
  togetherInfo,
  type WorkShare,
  type WriteReply,
} from './reply.ts';
export type { PartitionHandle } from './routing/partition-handle.ts';
export type { PartitionFailure } from './routing/partition-registry.ts';
export type { Route, RoutingMap } from './routing/routing-map.ts';
export type {
  CommittedTransaction,
  InteractiveTransaction,
} from './transaction/interactive-transaction.ts';
export type { ClusterTransaction } from './transaction/transaction.ts';
export type { Committed, TransactionStep } from './transaction/transaction-committer.ts';
export type { BeginOptions, ClusterTransactions } from './transaction/transactions.ts';
