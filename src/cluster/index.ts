export type { Balancer, KeyWarning, SplitFailure } from './balancer.ts';
export { type ChangesReply, type FeedStart, readPartitionChanges } from './change-feed.ts';
export type { Cluster } from './cluster.ts';
export { containerIndexing } from './container/container-indexing.ts';
export { type ContainerName, containerFolder, storeName } from './container/container-name.ts';
export { type HomeApi, HomeApis, type Projection } from './container/home-api.ts';
export { textLanguages } from './container/search-spec.ts';
export type { ExpirySweeper } from './expiry/expiry-sweeper.ts';
export type { CommittedTransaction, InteractiveTransaction } from './interactive-transaction.ts';
export { NEAR_SHARE } from './key-limit.ts';
export type { MoveStep } from './mover/move.ts';
export type { Resize } from './mover/resize-log.ts';
export { type ClusterHooks, type ClusterSettings, openCluster } from './open-cluster.ts';
export type { PartitionHandle } from './partition-handle.ts';
export type { PartitionFailure } from './partition-registry.ts';
export type { PartitionResizer } from './partition-resizer.ts';
export type { QueryReader } from './query-reader.ts';
export { readFromPartition, scanPartition } from './read/key-access.ts';
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
export type { Route, RoutingMap } from './routing-map.ts';
export type { ClusterTransaction } from './transaction/transaction.ts';
export type { Committed, TransactionStep } from './transaction/transaction-committer.ts';
export type { BeginOptions, ClusterTransactions } from './transaction/transactions.ts';
