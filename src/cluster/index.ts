export type { Balancer, KeyWarning, SplitFailure } from './balancer.ts';
export { type ChangesReply, type FeedStart, readPartitionChanges } from './change-feed.ts';
export type { Cluster } from './cluster.ts';
export { type ComputedByEncoding, containerIndexing } from './container-indexing.ts';
export { type ContainerName, containerFolder, storeName } from './container-name.ts';
export type { ExpirySweeper } from './expiry-sweeper.ts';
export type { CommittedTransaction, InteractiveTransaction } from './interactive-transaction.ts';
export { NEAR_SHARE } from './key-limit.ts';
export type { MoveStep } from './mover/move.ts';
export type { Resize } from './mover/resize-log.ts';
export { type ClusterHooks, type ClusterSettings, openCluster } from './open-cluster.ts';
export type { PartitionFailure } from './partition-registry.ts';
export type { PartitionResizer } from './partition-resizer.ts';
export type { QueryReader } from './query-reader.ts';
export type {
  OperationOutcome,
  PageReply,
  PageRequest,
  PageScope,
  ReadReply,
  TransactionReply,
  WorkShare,
  WriteReply,
} from './reply.ts';
export type { FinishersByEncoding } from './router.ts';
export type { Route, RoutingMap } from './routing-map.ts';
export { textLanguages } from './search-spec.ts';
export { printSessionToken, printSessionTokens, sessionLsn } from './session-token.ts';
