/** The MongoDB API on connections of bytes. */
import { ObjectId } from 'bson';
import type { ByteProtocol } from '../../net/index.ts';
import type { AccessControl, Service } from '../../service/index.ts';
import { Activity } from './activity.ts';
import { Users } from './auth/users.ts';
import type { MongoContext, Topology } from './call.ts';
import { SchemaChanges } from './change-streams/schema-changes.ts';
import { WriteHints } from './change-streams/write-hints.ts';
import { ClusterClock } from './cluster-clock.ts';
import { CappedTrims } from './collections/capped.ts';
import { removeLeftovers } from './collections/leftovers.ts';
import { ClusterParameters } from './commands/administration/cluster-parameters.ts';
import { MongoConnection } from './connection.ts';
import { Cursors } from './cursors/cursors.ts';
import { IndexUse } from './diagnostics/index-use.ts';
import { Operations } from './diagnostics/operations.ts';
import { ProfilerSettings } from './diagnostics/profiler-settings.ts';
import { WriteBlock } from './diagnostics/write-block.ts';
import { WriteLock } from './diagnostics/write-lock.ts';
import type { DispatchOptions } from './dispatch.ts';
import { FailPoints } from './fail-points/fail-points.ts';
import { IndexFilters } from './query-shapes/index-filters.ts';
import { QuerySettingsTable } from './query-shapes/query-settings.ts';
import { Sessions } from './sessions/sessions.ts';
import { SessionTransactions } from './sessions/transactions.ts';

interface MongoOptions extends Omit<DispatchOptions, 'context'> {
  readonly service: Service;
  readonly access: AccessControl;
  readonly version: string;
  /** How long a throttled command waits before it is refused; 60 s by default, as in the reference service. */
  readonly retryWaitMs?: number;
  readonly topology?: Topology;
  /** True: nobody has to log in. */
  readonly isOpen?: boolean;
  /** True: fail points may be configured. */
  readonly hasTestCommands?: boolean;
}

const RETRY_WAIT_MS = 60_000;

export function createMongoProtocol(options: MongoOptions): ByteProtocol {
  const { service, access, version, retryWaitMs = RETRY_WAIT_MS } = options;
  const context: MongoContext = {
    service,
    version,
    retryWaitMs,
    topology: options.topology ?? 'replica-set',
    isOpen: options.isOpen ?? false,
    cursors: new Cursors(service.clock),
    passwords: access.passwords,
    sessions: new Sessions(service.clock),
    transactions: new SessionTransactions(service),
    clusterClock: new ClusterClock(service.clock),
    activity: new Activity(),
    states: new Activity(),
    processId: new Uint8Array(new ObjectId().id),
    users: new Users(service),
    operations: new Operations(),
    indexUse: new IndexUse(service.clock.nowMs()),
    writeLock: new WriteLock(),
    changes: new SchemaChanges(),
    hints: new WriteHints(),
    trims: new CappedTrims(),
    parameters: {},
    clusterParameters: new ClusterParameters(),
    profiler: new ProfilerSettings(),
    writeBlock: new WriteBlock(),
    indexFilters: new IndexFilters(),
    querySettings: new QuerySettingsTable(),
    failPoints: options.hasTestCommands === true ? new FailPoints() : undefined,
  };
  removeLeftovers(service).catch((error: unknown) => {
    options.onFailure({ operation: 'removeLeftovers', error });
  });
  return { open: (socket, info) => new MongoConnection(socket, info, { ...options, context }) };
}
