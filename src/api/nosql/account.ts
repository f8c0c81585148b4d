/** The account itself: GET /. Clients read it first, to learn where to send the rest. */
import type { Call } from './call.ts';
import { jsonReply, type Reply } from './reply.ts';

const REGION = 'Local';

/** Limits of the query language, for clients that plan queries themselves. The value is JSON inside JSON. */
const QUERY_ENGINE_CONFIGURATION = JSON.stringify({
  allowNewKeywords: true,
  enableSpatialIndexing: true,
  maxInExpressionItemsCount: 16_000,
  maxJoinsPerSqlQuery: 10,
  maxLogicalAndPerSqlQuery: 2000,
  maxLogicalOrPerSqlQuery: 2000,
  maxQueryRequestTimeoutFraction: 0.9,
  maxSpatialQueryCells: 12,
  maxSqlQueryInputLength: 262_144,
  maxUdfRefPerSqlQuery: 10,
  queryMaxInMemorySortDocumentCount: 500,
  spatialMaxGeometryPointCount: 256,
  sqlAllowAggregateFunctions: true,
  sqlAllowGroupByClause: true,
  sqlAllowLike: true,
  sqlAllowNonFiniteNumbers: false,
  sqlAllowScalarSubQuery: true,
  sqlAllowSubQuery: true,
  sqlAllowTop: true,
});

export function readAccount(call: Call): Reply {
  const locations = [{ name: REGION, databaseAccountEndpoint: call.exchange.origin }];
  const replication = { asyncReplication: false, minReplicaSetSize: 1, maxReplicasetSize: 4 };
  const account = {
    // This id makes clients keep the endpoint they were given, whatever proxy is between them and this server.
    id: 'localhost',
    _self: '',
    _rid: 'localhost',
    _dbs: '//dbs/',
    media: '//media/',
    addresses: '//addresses/',
    writableLocations: locations,
    readableLocations: locations,
    enableMultipleWriteLocations: false,
    enablePerPartitionFailoverBehavior: false,
    continuousBackupEnabled: false,
    enableNRegionSynchronousCommit: false,
    disableCrossRegionalHedging: true,
    userReplicationPolicy: replication,
    userConsistencyPolicy: { defaultConsistencyLevel: call.service.settings.consistency },
    systemReplicationPolicy: replication,
    readPolicy: { primaryReadCoefficient: 1, secondaryReadCoefficient: 1 },
    queryEngineConfiguration: QUERY_ENGINE_CONFIGURATION,
  };
  return jsonReply(200, account, {
    charge: 0,
    headers: ['x-ms-max-media-storage-usage-mb', '2048', 'x-ms-media-storage-usage-mb', '0'],
  });
}
