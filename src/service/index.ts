export * from './access/index.ts';
export * from './change-feed.ts';
export * from './change-feed-token.ts';
export * from './containers.ts';
export { type Databases, databaseNotFound } from './databases.ts';
export { type Distribution, EVEN } from './distribution.ts';
export type {
  GlobalIndexes,
  GlobalIndexReport,
  IndexRow,
  Projection,
  ProjectionsByEncoding,
} from './global-index/index.ts';
export * from './item-feed.ts';
export * from './items.ts';
export {
  type KeyTransaction,
  KeyTransactions,
  type Transacted,
  type TransactionPage,
  type TransactionRequest,
} from './key-transactions.ts';
export type { Offer, OfferChange, Offers } from './offers.ts';
export * from './operations.ts';
export * from './queries.ts';
export type { FeedScope } from './scope-range.ts';
export * from './service.ts';
export * from './settings.ts';
export { SystemProperties } from './system-properties.ts';
export { TABLE_PARTITION_KEY, TABLES_DATABASE } from './tables.ts';
