export { Balancer, type KeyWarning, type SplitFailure } from './balancer.ts';
export { type BudgetSettings, Budgets } from './budgets.ts';
export { type ChangesReply, type FeedStart, readPartitionChanges } from './change-feed.ts';
export { Cluster } from './cluster.ts';
export type { ClusterOptions } from './cluster-options.ts';
export { type ComputedByEncoding, containerIndexing } from './container-indexing.ts';
export { type ContainerName, containerFolder, storeName } from './container-name.ts';
export { ExpirySweeper, SWEEP_INTERVAL_MS } from './expiry-sweeper.ts';
export {
  beginTransaction,
  type CommittedTransaction,
  type InteractiveTransaction,
  type TransactionContext,
} from './interactive-transaction.ts';
export { NEAR_SHARE } from './key-limit.ts';
export type { MoveStep } from './mover/move.ts';
export { type PartitionFailure, PartitionRegistry } from './partition-registry.ts';
export { PartitionResizer } from './partition-resizer.ts';
export { QueryReader } from './query-reader.ts';
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
export type { Resize } from './resize-log.ts';
export { type Route, RoutingMap } from './routing-map.ts';
export { textLanguages } from './search-spec.ts';
export { printSessionToken, printSessionTokens, sessionLsn } from './session-token.ts';
