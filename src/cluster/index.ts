export * from './balancer.ts';
export { type BudgetSettings, Budgets, type OfferBook, SERVERLESS_RATE } from './budgets.ts';
export * from './change-feed.ts';
export * from './cluster.ts';
export type { ClusterOptions } from './cluster-options.ts';
export { type ComputedByEncoding, containerIndexing } from './container-indexing.ts';
export { type ContainerName, containerFolder, storeName } from './container-name.ts';
export { Host, type PartitionFailure } from './host.ts';
export { NEAR_SHARE, type SlotLimits } from './key-limit.ts';
export type { MoveStep } from './mover/move.ts';
export {
  beginTransaction,
  type CommittedTransaction,
  type OpenTransaction,
  type TransactionPlace,
} from './open-transaction.ts';
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
export type { Reshape, ReshapeTotals } from './reshape-log.ts';
export * from './reshaper.ts';
export { type Route, RoutingMap } from './routing-map.ts';
export { textLanguages } from './search-spec.ts';
export * from './session-token.ts';
export { UPKEEP_INTERVAL_MS, Upkeep } from './upkeep.ts';
