/**
 * Puts the parts together: storage, service, APIs, listeners. The only place that names concrete APIs.
 */

import type { WebSocket } from 'ws';
import { inFrontOf, RequestMetrics } from '../api/admin/index.ts';
import { cassandraHome, createCassandraProtocol } from '../api/cassandra/index.ts';
import { createGremlinPort, GremlinConnection, gremlinHome } from '../api/gremlin/index.ts';
import { createMongoProtocol, mongoHome } from '../api/mongo/index.ts';
import { createNosqlHandler, nosqlHome } from '../api/nosql/index.ts';
import { createTableHandler, originCheck, tableHome } from '../api/table/index.ts';
import { type Clock, Metrics, systemRandom } from '../base/index.ts';
import { FormatError } from '../engine/index.ts';
import type { HttpHandler } from '../http/index.ts';
import {
  type AccessControl,
  type HomeApi,
  openAccessControl,
  openService,
  type Service,
  type ServiceOptions,
} from '../service/index.ts';
import {
  type ApiParts,
  type ApiPort,
  type HttpPort,
  openPort,
  partsFor,
  type ServerParts,
} from './api-port.ts';
import { type Administration, openAdministration } from './compose-portal.ts';
import { API_NAMES, type ApiName, checkReachableKeys, type ServerConfig } from './config.ts';
import { collectConnections } from './connection-metrics.ts';
import { errorText } from './error-text.ts';
import { ExitError } from './exit-error.ts';
import { ConnectionCount, type Listener } from './listen/index.ts';
import type { Log } from './log.ts';
import { type OpenFiles, openFiles } from './open-files.ts';
import { endpointOf } from './start-table.ts';
import { openStorage, type Storage } from './storage/index.ts';
import { openTls, type TlsOptions } from './tls/index.ts';

interface Environment {
  readonly version: string;
  readonly clock: Clock;
  readonly log: Log;
  /** Called when another node has taken the data over: this one cannot write any more. */
  readonly onTakenOver?: () => void;
  /** Receives each step of a split or merge, which waits. Tests stop and kill there; the program does not set it. */
  readonly onMoveStep?: NonNullable<ServiceOptions['onMoveStep']>;
}

export interface ComposedServer {
  readonly listeners: readonly Listener[];
  /** Only APIs that are served have one. */
  readonly endpoints: Readonly<Partial<Record<ApiName, string>>>;
  /** The primary key, base64. */
  readonly key: string;
  /** Ends responses that would never end by themselves; called before the listeners stop. */
  stopping(): void;
  /** Flushes and closes everything below the listeners, which are stopped before. */
  close(): Promise<void>;
}

/** All listeners serve when the promise resolves; otherwise nothing is left open. Rejects with ExitError. */
export async function compose(
  config: ServerConfig,
  environment: Environment,
): Promise<ComposedServer> {
  const files = openFiles();
  if (files.isLow && config.storage.kind === 'directory')
    environment.log.info('openFilesLimitLow', {
      limit: files.limit,
      openPartitionsMax: files.partitionsMax,
      connectionsMax: files.connectionsMax,
      advice: 'raise it with ulimit -n',
    });
  const storage = await openStorage(config, {
    log: environment.log,
    onTakenOver: environment.onTakenOver ?? (() => undefined),
  });
  const listeners = new Map<ApiName, Listener>();
  let administration: Administration | undefined;
  try {
    const service = await open(config, storage, environment, files);
    const access = openServerAccess(config, storage, environment);
    const tls = await openListenerTls(config, storage, environment);
    await storage.flush();
    const endpoints: Partial<Record<ApiName, string>> = {};
    const metrics = new Metrics();
    const requests = new RequestMetrics(metrics);
    collectConnections(metrics, listeners);
    const parts = { ...environment, config, service, access, tls, metrics, requests, storage };
    const connections = new ConnectionCount(files.connectionsMax);
    const served = createApis({ ...parts, connections }, endpoints, listeners);
    administration = served.administration;
    for (const api of API_NAMES) {
      const port = config.ports[api];
      if (port === 'off') continue;
      const listener = await openPort(api, port, served.ports[api], { ...parts, connections });
      listeners.set(api, listener);
      endpoints[api] = endpointOf(api, config.host, listener.port, tls !== undefined);
    }
    // Derived now, off this thread, not by the first login.
    if (endpoints.mongo !== undefined)
      access.passwords
        .prepare()
        .catch((error) => environment.log.error('passwordsFailed', { error: errorText(error) }));
    return {
      listeners: [...listeners.values()],
      endpoints,
      key: access.keys.get('primary'),
      stopping: () => served.administration.close(),
      async close() {
        served.administration.close();
        await service.close();
        await storage.close();
      },
    };
  } catch (error) {
    for (const { server } of listeners.values()) server.close();
    administration?.close();
    await storage.close();
    throw error;
  }
}

/** Keys, tokens and roles of every API. */
function openServerAccess(
  config: ServerConfig,
  { access, roles }: Storage,
  { clock }: Environment,
): AccessControl {
  const { keys, identities } = config.access;
  const hostNames = [config.host.toLowerCase(), ...config.hostNames];
  if (config.storage.kind === 'postgres') checkReachableKeys(config, access.read()?.keys ?? {});
  return openAccessControl({ keys, identities, roles, hostNames }, access, clock);
}

/** Certificates for every listener; undefined for plain HTTP. */
async function openListenerTls(
  { tls, storage, host }: ServerConfig,
  { tlsFiles }: Storage,
  { clock, log }: Environment,
): Promise<TlsOptions | undefined> {
  if (tls === undefined) return undefined;
  return openTls({
    settings: tls,
    dataPath: storage.kind === 'directory' ? storage.path : undefined,
    files: tlsFiles,
    host,
    clock,
    onFailure: (error) => log.error('certificateRenewalFailed', { error: errorText(error) }),
  });
}

/** The home APIs of containers, served or not. */
function homesOf(clock: Clock): readonly HomeApi[] {
  return [nosqlHome, tableHome, mongoHome, gremlinHome, cassandraHome(clock)];
}

async function open(
  { settings, storage }: ServerConfig,
  { engine, where }: Storage,
  { clock, log, onMoveStep }: Environment,
  files: OpenFiles,
): Promise<Service> {
  try {
    return await openService({
      engine,
      openPartitionsMax: storage.kind === 'directory' ? files.partitionsMax : undefined,
      clock,
      random: systemRandom,
      settings,
      homes: homesOf(clock),
      onSplitFailure: ({ container, partitionId, error }) =>
        log.error('splitFailed', {
          container: `${container.databaseRid}/${container.rid}`,
          partition: partitionId,
          error: errorText(error),
        }),
      onPartitionFailure: ({ storeName, error }) =>
        log.error('partitionFailed', { partition: storeName, error: errorText(error) }),
      // The hash, not the value: keys may be personal data, which must not be in logs.
      onKeyNearLimit: ({ container, partitionId, key, bytesMax }) =>
        log.info('partitionKeyNearLimit', {
          container: `${container.databaseRid}/${container.rid}`,
          partition: partitionId,
          keyHash: Buffer.from(key.epk).toString('hex'),
          bytes: key.bytes,
          bytesMax,
        }),
      ...(onMoveStep === undefined ? {} : { onMoveStep }),
    });
  } catch (error) {
    if (!(error instanceof FormatError)) throw error;
    throw new ExitError(1, `${where} cannot be read: ${error.message}`);
  }
}

/** Announced to clients of tables, as storage emulators do: clients then close idle connections before the server. */
const TABLE_KEEP_ALIVE_MS = 5000;

function createTable({ service, access, requests, log }: ApiParts): HttpPort {
  const count = requests.forApi('table');
  const handler = createTableHandler({
    service,
    keys: access.tableKeys,
    identities: access,
    isDateOptional: () => access.keys.hasPublicKey,
    onRequest: (report) => {
      count(report);
      const { method, resource, status } = report;
      if (status === 401 || status === 403)
        log.info('accessRefused', { api: 'table', method, resource, status });
    },
    onFailure: ({ error, requestId, method }) =>
      log.error('requestFailed', { activityId: requestId, method, error: errorText(error) }),
  });
  return {
    handler,
    allowsOrigin: originCheck(service),
    announcedKeepAliveMs: TABLE_KEEP_ALIVE_MS,
  };
}

function createNosql({ service, access, requests, version, log }: ApiParts): HttpHandler {
  return createNosqlHandler({
    service,
    access,
    version,
    onRequest: requests.forApi('nosql'),
    onRefusal: (refusal) => log.info('accessRefused', { ...refusal }),
    onFailure: ({ error, activityId, method }) =>
      log.error('requestFailed', { activityId, method, error: errorText(error) }),
  });
}

/** As long as the reference service retries on its side. */
const CASSANDRA_RETRY_MS = 60_000;

interface CreatedApis {
  readonly ports: Readonly<Record<ApiName, ApiPort>>;
  readonly administration: Administration;
}

/** Every API, served on a port or not: the portal reaches them without. A new one is a line here. */
function createApis(
  parts: ServerParts,
  endpoints: Readonly<Partial<Record<ApiName, string>>>,
  listeners: ReadonlyMap<ApiName, Listener>,
): CreatedApis {
  const nosql = createNosql(partsFor('nosql', parts));
  const { access: accessConfig, mongo: mongoConfig } = parts.config;
  const mongo = createMongoProtocol({ ...partsFor('mongo', parts), ...mongoConfig });
  const cassandra = createCassandraProtocol({
    ...partsFor('cassandra', parts),
    loginMode: accessConfig.cassandraLogin,
    retryWaitMs: accessConfig.hasCassandraRetry ? CASSANDRA_RETRY_MS : 0,
  });
  const gremlinParts = partsFor('gremlin', parts);
  const table = createTable(partsFor('table', parts));
  const administration = openAdministration(
    parts,
    {
      nosql,
      table: table.handler,
      mongo,
      cassandra,
      gremlin: (socket) =>
        void new GremlinConnection(socket as unknown as WebSocket, gremlinParts, 'portal'),
    },
    endpoints,
  );
  const { admin, portal } = administration;
  const portalPort = () => listeners.get('portal')?.port;
  return {
    administration,
    ports: {
      nosql: { handler: inFrontOf(nosql, { admin: admin.handler, portalPort }) },
      mongo,
      cassandra,
      gremlin: createGremlinPort(gremlinParts),
      table,
      // Events are streams, which connections of the fast path cannot carry.
      portal: { handler: portal.serve(admin), hasFastPath: false },
    },
  };
}
