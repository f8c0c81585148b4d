/**
 * Puts the parts together: storage, service, APIs, listeners. The only place that names concrete engines and APIs.
 */
import {
  collectGlobalIndexes,
  collectPartitions,
  collectProcess,
  collectResizes,
  createAdminHandler,
  isAdminPath,
  RequestMetrics,
} from '../api/admin/index.ts';
import {
  computedProperties,
  createExplainer,
  createNosqlHandler,
  finishJson,
  projectRows,
} from '../api/nosql/index.ts';
import { createTableHandler, finishEntity, originCheck } from '../api/table/index.ts';
import { type Clock, Metrics, systemRandom } from '../base/index.ts';
import { type Engine, FormatError } from '../engine/index.ts';
import { memoryEngine } from '../engine/memory/index.ts';
import { sqliteEngine } from '../engine/sqlite/index.ts';
import { guardedHandler, type HttpHandler, withFailureHandling } from '../http/index.ts';
import {
  type Access,
  memoryAccessStore,
  openAccess,
  openService,
  type Service,
  type ServiceOptions,
} from '../service/index.ts';
import { accessFileIn } from './access-file.ts';
import { API_NAMES, type ApiName, isLoopback, type ServerConfig } from './config.ts';
import { openDataDirectory } from './data-directory.ts';
import { ExitError } from './exit-error.ts';
import { type Listener, listen } from './listen.ts';
import type { Log } from './log.ts';
import { type OpenFiles, openFiles } from './open-files.ts';
import { readRolesFile } from './roles-file.ts';
import { endpointOf } from './start-table.ts';
import { openTls, type TlsOptions } from './tls/index.ts';

interface Environment {
  readonly version: string;
  readonly clock: Clock;
  readonly log: Log;
  /** Receives each step of a split or merge, which waits. Tests stop and kill there; the program does not set it. */
  readonly onMoveStep?: NonNullable<ServiceOptions['onMoveStep']>;
}

export interface ComposedServer {
  readonly listeners: readonly Listener[];
  /** Only APIs that are served have one. */
  readonly endpoints: Readonly<Partial<Record<ApiName, string>>>;
  /** The primary key, base64. */
  readonly key: string;
  /** Flushes and closes everything below the listeners, which are stopped before. */
  close(): Promise<void>;
}

/** All listeners serve when the promise resolves; otherwise nothing is left open. Rejects with ExitError. */
export async function compose(
  config: ServerConfig,
  environment: Environment,
): Promise<ComposedServer> {
  const files = openFiles();
  if (files.isLow && config.storage.kind !== 'memory')
    environment.log.info('openFilesLimitLow', {
      limit: files.limit,
      openPartitionsMax: files.partitionsMax,
      connectionsMax: files.connectionsMax,
      advice: 'raise it with ulimit -n',
    });
  const storage = openStorage(config);
  const listeners: Listener[] = [];
  try {
    const service = await open(config, storage, environment, files);
    const access = openServerAccess(config, environment);
    const tls = await openListenerTls(config, environment);
    const scheme = tls === undefined ? 'http' : 'https';
    const endpoints: Partial<Record<ApiName, string>> = {};
    const metrics = new Metrics();
    const requests = new RequestMetrics(metrics);
    const parts = { service, access, tls, metrics, requests };
    const handlers = guardedHandlers(config, parts, environment);
    for (const api of API_NAMES) {
      const port = config.ports[api];
      const handler = handlers[api];
      if (port === 'off' || handler === undefined) continue;
      const listener = await listen({
        host: config.host,
        port,
        flag: `${api}-port`,
        handler: withFailureHandling(handler, (error, { method }) =>
          environment.log.error('requestFailed', { method, error: errorText(error) }),
        ),
        hasFastPath: config.hasHttpFastPath,
        connectionsMax: files.connectionsMax,
        announcedKeepAliveMs: api === 'table' ? TABLE_KEEP_ALIVE_MS : undefined,
        tls,
        onError: (error) => environment.log.error('listenerFailed', { error: error.message }),
      });
      listeners.push(listener);
      endpoints[api] = endpointOf(config.host, listener.port, scheme);
    }
    return {
      listeners,
      endpoints,
      key: access.keys.get('primary'),
      async close() {
        await service.close();
        await storage.close();
      },
    };
  } catch (error) {
    for (const { server } of listeners) server.close();
    await storage.close();
    throw error;
  }
}

/** Keys, tokens and roles of every API. */
function openServerAccess({ access, storage }: ServerConfig, { clock }: Environment): Access {
  const { keys, identities, rolesFile } = access;
  const roles = rolesFile === undefined ? undefined : readRolesFile(rolesFile);
  const store = storage.kind === 'memory' ? memoryAccessStore() : accessFileIn(storage.path);
  return openAccess({ keys, identities, roles }, store, clock);
}

/** Certificates for every listener; undefined for plain HTTP. */
async function openListenerTls(
  { tls, storage, host }: ServerConfig,
  { clock, log }: Environment,
): Promise<TlsOptions | undefined> {
  if (tls === undefined) return undefined;
  return openTls({
    settings: tls,
    dataPath: storage.kind === 'memory' ? undefined : storage.path,
    host,
    clock,
    onFailure: (error) => log.error('certificateRenewalFailed', { error: errorText(error) }),
  });
}

interface Storage {
  readonly engine: Engine;
  close(): Promise<void>;
}

function openStorage({ storage }: ServerConfig): Storage {
  if (storage.kind === 'memory') {
    const engine = memoryEngine();
    return { engine, close: () => engine.close() };
  }
  const directory = openDataDirectory(storage.path);
  const engine = sqliteEngine({ directory: directory.storesPath });
  return {
    engine,
    async close() {
      await engine.close();
      directory.release();
    },
  };
}

async function open(
  { settings, storage }: ServerConfig,
  { engine }: Storage,
  { clock, log, onMoveStep }: Environment,
  files: OpenFiles,
): Promise<Service> {
  try {
    return await openService({
      engine,
      openPartitionsMax: storage.kind === 'memory' ? undefined : files.partitionsMax,
      clock,
      random: systemRandom,
      settings,
      finishers: { json: finishJson, edm: finishEntity },
      computed: { json: computedProperties },
      projections: { json: projectRows },
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
    const where = storage.kind === 'memory' ? 'memory' : storage.path;
    throw new ExitError(1, `${where} cannot be read: ${error.message}`);
  }
}

/** The handler of each port. Web pages are kept out while anyone who can send a request is let in. */
function guardedHandlers(
  config: ServerConfig,
  parts: HandlerParts,
  environment: Environment,
): Readonly<Partial<Record<ApiName, HttpHandler>>> {
  const { access, service } = parts;
  const guardOf = (api: ApiName) => ({
    isOn: () => access.isOpenToAnyone(),
    names: [config.host.toLowerCase(), ...config.hostNames],
    onRefusal: (refusal: object) => environment.log.info('accessRefused', { api, ...refusal }),
  });
  return {
    nosql: guardedHandler(nosqlHandler(config, parts, environment), guardOf('nosql')),
    table: guardedHandler(tableHandler(parts, environment), {
      ...guardOf('table'),
      allowsOrigin: originCheck(service),
    }),
  };
}

interface HandlerParts {
  readonly service: Service;
  readonly access: Access;
  readonly tls: TlsOptions | undefined;
  readonly metrics: Metrics;
  readonly requests: RequestMetrics;
}

/** Announced to clients of tables, as storage emulators do: clients then close idle connections before the server. */
const TABLE_KEEP_ALIVE_MS = 5000;

function tableHandler(
  { service, access, requests }: HandlerParts,
  { log }: Environment,
): HttpHandler {
  const count = requests.forApi('table');
  return createTableHandler({
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
}

/** The NoSQL API, with administration under its own path. */
function nosqlHandler(
  { host }: ServerConfig,
  { service, access, tls, metrics, requests }: HandlerParts,
  { version, clock, log }: Environment,
): HttpHandler {
  collectPartitions(metrics, service);
  collectGlobalIndexes(metrics, service);
  collectResizes(metrics, service);
  collectProcess(metrics, process);
  const startedMs = clock.nowMs();
  const uptimeSec = (): number => (clock.nowMs() - startedMs) / 1000;
  const explain = createExplainer(service);
  const admin = createAdminHandler({
    service,
    metrics,
    version,
    uptimeSec,
    clock,
    keys: access.keys,
    explain,
    areMetricsOpen: isLoopback(host),
    authorityPem: tls?.certificates.authorityPem,
    onRefusal: (refused) => log.info('accessRefused', { ...refused }),
    onFailure: ({ error, method, path }) =>
      log.error('requestFailed', { method, path, error: errorText(error) }),
  });
  const nosql = createNosqlHandler({
    service,
    access,
    version,
    onRequest: requests.forApi('nosql'),
    onRefusal: (refusal) => log.info('accessRefused', { ...refusal }),
    onFailure: ({ error, activityId, method }) =>
      log.error('requestFailed', { activityId, method, error: errorText(error) }),
  });
  return (exchange) => {
    if (isAdminPath(exchange.url)) admin(exchange);
    else nosql(exchange);
  };
}

/** With the stack: an error that is not handled is a bug. */
function errorText(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
