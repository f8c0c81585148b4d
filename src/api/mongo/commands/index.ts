/** Every command by its name on the wire, sorted. */
import type { Command } from '../call.ts';
import { compactStructuredEncryptionData } from './administration/compact-structured-encryption-data.ts';
import { configureFailPoint } from './administration/configure-fail-point.ts';
import { currentOp } from './administration/current-op.ts';
import { getDefaultRWConcern, setDefaultRWConcern } from './administration/default-concerns.ts';
import { getClusterParameter } from './administration/get-cluster-parameter.ts';
import { killOp } from './administration/kill-op.ts';
import { replSetGetConfig, replSetGetStatus } from './administration/replica-set.ts';
import {
  createSearchIndexes,
  dropSearchIndex,
  updateSearchIndex,
} from './administration/search-indexes.ts';
import { setClusterParameter } from './administration/set-cluster-parameter.ts';
import { setIndexCommitQuorum } from './administration/set-index-commit-quorum.ts';
import { setUserWriteBlockMode } from './administration/set-user-write-block-mode.ts';
import { balancerStatus, enableSharding, listShards } from './administration/sharding.ts';
import {
  autoCompact,
  dropConnections,
  setFeatureCompatibilityVersion,
} from './administration/small-commands.ts';
import { collMod } from './collections/coll-mod.ts';
import { compact, reIndex } from './collections/compact.ts';
import { cloneCollectionAsCapped, convertToCapped } from './collections/convert-to-capped.ts';
import { create } from './collections/create.ts';
import { drop } from './collections/drop.ts';
import { dropDatabase } from './collections/drop-database.ts';
import { listCollections } from './collections/list-collections.ts';
import { listDatabases } from './collections/list-databases.ts';
import { renameCollection } from './collections/rename-collection.ts';
import { shardCollection } from './collections/shard-collection.ts';
import { validateDBMetadata } from './collections/validate-db-metadata.ts';
import { authenticate } from './connection/authenticate.ts';
import { buildInfo } from './connection/build-info.ts';
import { connectionStatus } from './connection/connection-status.ts';
import { getLog } from './connection/get-log.ts';
import { getParameter, setParameter } from './connection/get-parameter.ts';
import { hello } from './connection/hello.ts';
import { hostInfo } from './connection/host-info.ts';
import { logout } from './connection/logout.ts';
import { ping } from './connection/ping.ts';
import { saslContinue } from './connection/sasl-continue.ts';
import { saslStart } from './connection/sasl-start.ts';
import { whatsmyuri } from './connection/whatsmyuri.ts';
import { collStats } from './diagnostics/coll-stats.ts';
import { dataSize } from './diagnostics/data-size.ts';
import { dbHash } from './diagnostics/db-hash.ts';
import { dbStats } from './diagnostics/db-stats.ts';
import { explaining, explainOf } from './diagnostics/explain.ts';
import { listCommandsOf } from './diagnostics/list-commands.ts';
import { profile } from './diagnostics/profile.ts';
import { serverStatus } from './diagnostics/server-status.ts';
import {
  connPoolStats,
  fsync,
  fsyncUnlock,
  getCmdLineOpts,
  lockInfo,
  logRotate,
} from './diagnostics/small-commands.ts';
import { top } from './diagnostics/top.ts';
import { validate } from './diagnostics/validate.ts';
import { aggregate } from './documents/aggregate.ts';
import { bulkWrite } from './documents/bulk-write.ts';
import { count } from './documents/count.ts';
import { deleteDocuments } from './documents/delete.ts';
import { distinct } from './documents/distinct.ts';
import { filemd5 } from './documents/file-md5.ts';
import { find } from './documents/find.ts';
import { findAndModify } from './documents/find-and-modify.ts';
import { getMore } from './documents/get-more.ts';
import { insert } from './documents/insert.ts';
import { killCursors } from './documents/kill-cursors.ts';
import { mapReduce } from './documents/map-reduce.ts';
import { update } from './documents/update.ts';
import { createIndexes } from './indexes/create-indexes.ts';
import { dropIndexes } from './indexes/drop-indexes.ts';
import { listIndexes } from './indexes/list-indexes.ts';
import {
  planCacheClear,
  planCacheClearFilters,
  planCacheListFilters,
  planCacheSetFilter,
} from './planning/plan-cache.ts';
import { removeQuerySettings, setQuerySettings } from './planning/query-settings.ts';
import { customAction } from './service/custom-action.ts';
import { getLastRequestStatistics } from './service/get-last-request-statistics.ts';
import { abortTransaction } from './sessions/abort-transaction.ts';
import { commitTransaction } from './sessions/commit-transaction.ts';
import { endSessions } from './sessions/end-sessions.ts';
import { killAllSessions } from './sessions/kill-all-sessions.ts';
import { killAllSessionsByPattern } from './sessions/kill-all-sessions-by-pattern.ts';
import { killSessions } from './sessions/kill-sessions.ts';
import { refreshSessions } from './sessions/refresh-sessions.ts';
import { startSession } from './sessions/start-session.ts';
import {
  createRole,
  dropAllRolesFromDatabase,
  dropRole,
  grantPrivilegesToRole,
  grantRolesToRole,
  revokePrivilegesFromRole,
  revokeRolesFromRole,
  updateRole,
} from './users/change-roles.ts';
import {
  createUser,
  dropAllUsersFromDatabase,
  dropUser,
  grantRolesToUser,
  revokeRolesFromUser,
  updateUser,
} from './users/change-users.ts';
import { rolesInfo } from './users/roles-info.ts';
import { usersInfo } from './users/users-info.ts';

const COMMANDS: Readonly<Record<string, Command>> = {
  abortTransaction,
  aggregate: explaining(aggregate, commandNamed),
  authenticate,
  autoCompact,
  balancerStatus,
  buildInfo,
  buildinfo: buildInfo,
  bulkWrite,
  cloneCollectionAsCapped,
  collMod,
  collStats,
  collstats: collStats,
  commitTransaction,
  compact,
  compactStructuredEncryptionData,
  configureFailPoint,
  connectionStatus,
  connPoolStats,
  convertToCapped,
  count,
  create,
  createIndexes,
  createRole,
  createSearchIndexes,
  createUser,
  currentOp,
  customAction,
  dataSize,
  datasize: dataSize,
  dbHash,
  dbhash: dbHash,
  dbStats,
  dbstats: dbStats,
  delete: deleteDocuments,
  distinct,
  drop,
  dropAllRolesFromDatabase,
  dropAllUsersFromDatabase,
  dropConnections,
  dropDatabase,
  dropIndexes,
  dropRole,
  dropSearchIndex,
  dropUser,
  enableSharding,
  endSessions,
  explain: explainOf(commandNamed),
  filemd5,
  find,
  findAndModify,
  findandmodify: findAndModify,
  fsync,
  fsyncUnlock,
  getClusterParameter,
  getCmdLineOpts,
  getDefaultRWConcern,
  getLastRequestStatistics,
  getLog,
  getMore,
  getParameter,
  grantPrivilegesToRole,
  grantRolesToRole,
  grantRolesToUser,
  hello,
  hostInfo,
  insert,
  isMaster: hello,
  ismaster: hello,
  killAllSessions,
  killAllSessionsByPattern,
  killCursors,
  killOp,
  killSessions,
  listCollections,
  listCommands: listCommandsOf(() => COMMANDS),
  listDatabases,
  listIndexes,
  listShards,
  lockInfo,
  logout,
  logRotate,
  mapReduce,
  mapreduce: mapReduce,
  ping,
  planCacheClear,
  planCacheClearFilters,
  planCacheListFilters,
  planCacheSetFilter,
  profile,
  refreshSessions,
  reIndex,
  removeQuerySettings,
  renameCollection,
  replSetGetConfig,
  replSetGetStatus,
  revokePrivilegesFromRole,
  revokeRolesFromRole,
  revokeRolesFromUser,
  rolesInfo,
  saslContinue,
  saslStart,
  serverStatus,
  setClusterParameter,
  setDefaultRWConcern,
  setFeatureCompatibilityVersion,
  setIndexCommitQuorum,
  setParameter,
  setQuerySettings,
  setUserWriteBlockMode,
  shardCollection,
  startSession,
  top,
  update,
  updateRole,
  updateSearchIndex,
  updateUser,
  usersInfo,
  validate,
  validateDBMetadata,
  whatsmyuri,
};

export function commandNamed(name: string): Command | undefined {
  return Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
}
