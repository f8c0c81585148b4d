/** The Cassandra API as a protocol of byte streams: what all connections share. */
import { randomUUID } from 'node:crypto';
import { isIP } from 'node:net';
import { type Random, systemRandom } from '../../base/index.ts';
import type { ByteProtocol, ConnectionInfo } from '../../net/index.ts';
import type { AccessControl, OperationReport, Service } from '../../service/index.ts';
import { CassandraConnection } from './connection.ts';
import { UserFunctions } from './functions/user-functions.ts';
import { PreparedStatements } from './prepared-statements.ts';
import { RequestHandler } from './request-handler.ts';
import { type LoginMode, Logins } from './roles/logins.ts';
import { DEFAULT_ROLE, RoleStore } from './roles/role-store.ts';
import { Keyspaces } from './schema/keyspaces.ts';
import { WritesUnderWay } from './schema/writes-under-way.ts';
import { timeUuid } from './statements/expressions/time-functions.ts';
import type { Environment } from './statements/plan.ts';
import { type LocalNode, SystemKeyspaces } from './system/system-rows.ts';
import { Traces } from './tracing/traces.ts';
import { uuidText } from './types/text-forms.ts';
import { PartitionLocks } from './views/partition-locks.ts';
import { schemaChangeEvent } from './wire/responses.ts';

interface CassandraOptions {
  readonly service: Service;
  readonly access: AccessControl;
  readonly random?: Random;
  /** Who may log in; account keys and roles unless said otherwise. */
  readonly loginMode?: LoginMode;
  /** How long a throttled statement waits in the server before it is refused; 0: not at all. */
  readonly retryWaitMs?: number;
  onRequest?(report: OperationReport): void;
  onFailure?(failure: { readonly operation: string; readonly error: unknown }): void;
  onRefusal?(refusal: { readonly from: string; readonly reason: string }): void;
}

/** What a connection needs of its server. */
export interface ServerParts extends CassandraOptions {
  readonly requests: RequestHandler;
  readonly logins: Logins;
  nodeOf(info: ConnectionInfo): LocalNode;
  closed(connection: CassandraConnection): void;
}

export function createCassandraProtocol(options: CassandraOptions): ByteProtocol {
  const { service, random = systemRandom, loginMode = 'keys' } = options;
  const keyspaces = new Keyspaces(service);
  const roles = new RoleStore(service, loginMode === 'cassandra' ? DEFAULT_ROLE : undefined);
  const traces = new Traces(service.clock, () =>
    uuidText(timeUuid({ environment: { clock: service.clock, random } })),
  );
  const functions = new UserFunctions(keyspaces);
  const connections = new Set<CassandraConnection>();
  const system = new SystemKeyspaces({
    keyspaces,
    hostId: randomUUID(),
    roles,
    functions,
    traces,
    clients: () => [...connections].map(({ description }) => description),
  });
  const environment: Environment = {
    service,
    clock: service.clock,
    random,
    keyspaces,
    system,
    roles,
    functions,
    traces,
    writes: new WritesUnderWay(),
    viewLocks: new PartitionLocks(),
  };
  const prepared = new PreparedStatements(environment);
  const requests = new RequestHandler(environment, prepared, {
    retryWaitMs: options.retryWaitMs ?? 0,
    onSchemaChange(change) {
      const event = schemaChangeEvent(change);
      for (const connection of connections) connection.sendEvent('SCHEMA_CHANGE', event);
    },
  });
  const parts: ServerParts = {
    ...options,
    requests,
    logins: new Logins(loginMode, options.access.passwords, roles),
    nodeOf,
    closed: (connection) => void connections.delete(connection),
  };
  return {
    open(socket, info) {
      const connection = new CassandraConnection(socket, info, parts);
      connections.add(connection);
      return connection;
    },
  };
}

/** Drivers connect to the address that system.local names, so it is the one that they reached. */
function nodeOf({ host, port }: ConnectionInfo): LocalNode {
  return { address: isIP(host) === 0 ? '127.0.0.1' : host, port };
}
