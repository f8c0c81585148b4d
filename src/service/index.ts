export { type HomeApi, HomeApis, type Projection } from '../cluster/index.ts';
export {
  type AccessControl,
  type AccessSettings,
  type AccessState,
  type AccessStore,
  AccountKeys,
  type Action,
  ANYONE,
  BUILT_IN_ROLES,
  CONTRIBUTOR,
  currentKey,
  describePrincipal,
  type Grant,
  type GrantScope,
  type Identity,
  type IdentityFault,
  type IdentityRules,
  type IdentitySettings,
  isInMasks,
  isRead,
  isReadOnly,
  isShort,
  KEY_BYTES_MIN,
  KEY_NAMES,
  type KeyName,
  MASTER,
  memoryAccessStore,
  openAccessControl,
  type Passwords,
  type Principal,
  READER,
  ResourceTokens,
  type RoleAssignment,
  type RoleDefinition,
  type RoleSettings,
  Roles,
  type RotatedKeys,
  readSharedSignature,
  type ScramMechanism,
  type ScramSecret,
  type ScriptType,
  type SharedGrant,
} from './access/index.ts';
export {
  ChangeFeed,
  type ChangeFeedPage,
  type ChangeFeedPosition,
  type ChangeFeedSegment,
  type ChangeFeedStart,
  onlyLsn,
} from './change-feed/change-feed.ts';
export { parseChangePosition, printChangePosition } from './change-feed/change-feed-token.ts';
export {
  type ContainerSpec,
  Containers,
  type ContainerUpdate,
  containerNotFound,
} from './containers/containers.ts';
export { type Databases, databaseNotFound } from './containers/databases.ts';
export { TABLE_PARTITION_KEY, TABLES_DATABASE } from './containers/tables.ts';
export type {
  GlobalIndexes,
  GlobalIndexReport,
} from './global-index/index.ts';
export { type FeedPage, type FeedRequest, readFeed } from './items/item-feed.ts';
export { Items, readOnly } from './items/items.ts';
export {
  BATCH_BOUNDS,
  checkBounds,
  type ItemAddress,
  type ItemPut,
  type ItemWrite,
  type Operation,
  type PutOperation,
  type TransactionBounds,
  toOp,
  toTransactionOp,
  type UpdateOperation,
  type WriteOperation,
} from './items/operations.ts';
export type { FeedScope } from './items/scope-range.ts';
export { SystemProperties } from './items/system-properties.ts';
export type { OperationOutcome, OperationReport } from './operation-report.ts';
export { Queries, type QueryPage } from './queries.ts';
export { CATALOG_STORE, openService, type Service, type ServiceOptions } from './service.ts';
export { DEFAULT_SETTINGS, type Settings } from './settings.ts';
export { type Distribution, EVEN } from './throughput/distribution.ts';
export type { Offer, OfferChange, Offers } from './throughput/offers.ts';
export {
  containerKind,
  newHistory,
  partitionCount,
  throughputBounds,
} from './throughput/throughput.ts';
export {
  type KeyTransaction,
  KeyTransactions,
} from './transactions/key-transactions.ts';
export type { Transaction, Transactions } from './transactions/transactions.ts';
