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
import { fenced, guardedHandler, type HttpHandler } from '../http/index.ts';
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
  /** Told of each step of a split or merge; it waits. The program has none: tests stop and kill there. */
  readonly onMoveStep?: NonNullable<ServiceOptions['onMoveStep']>;
}

export interface ComposedServer {
  readonly listeners: readonly Listener[];
  /** Only of APIs that are served. */
  readonly endpoints: Readonly<Partial<Record<ApiName, string>>>;
  /** The primary key, base64. */
  readonly key: string;
  /** Flushes and closes everything below the listeners, which are stopped before. */
  close(): Promise<void>;
}

/** All listeners serve when the promise resolves; otherwise nothing is left open. Rejects with ExitError. */
export async function compose(
  config: ServerConfig,
  surroundings: Environment,
): Promise<ComposedServer> {
  const files = openFiles();
  if (files.isLow && config.storage.kind !== 'memory')
    surroundings.log.info('openFilesLimitLow', {
      limit: files.limit,
      openPartitionsMax: files.partitionsMax,
      connectionsMax: files.connectionsMax,
      advice: 'raise it with ulimit -n',
    });
  const storage = openStorage(config);
  const listeners: Listener[] = [];
  try {
    const service = await open(config, storage, surroundings, files);
    const access = openServerAccess(config, surroundings);
    const tls = await openListenerTls(config, surroundings);
    const scheme = tls === undefined ? 'http' : 'https';
    const endpoints: Partial<Record<ApiName, string>> = {};
    const metrics = new Metrics();
    const requests = new RequestMetrics(metrics);
    const parts = { service, access, tls, metrics, requests };
    const handlers = guardedHandlers(config, parts, surroundings);
    for (const api of API_NAMES) {
      const port = config.ports[api];
      const handler = handlers[api];
      if (port === 'off' || handler === undefined) continue;
      const listener = await listen({
        host: config.host,
        port,
        flag: `${api}-port`,
        handler: fenced(handler, (error, { method }) =>
          surroundings.log.error('requestFailed', { method, error: errorText(error) }),
        ),
        connectionsMax: files.connectionsMax,
        announcedKeepAliveMs: api === 'table' ? TABLE_KEEP_ALIVE_MS : undefined,
        tls,
        onError: (error) => surroundings.log.error('listenerFailed', { error: error.message }),
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

/** Certificates for every listener; undefined where plain HTTP is all that is wanted. */
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
      // The hash, not the value: keys may be names of people, and logs travel.
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

/** What answers on each port; on every one of them web pages are kept out while whoever can send a request may. */
function guardedHandlers(
  config: ServerConfig,
  parts: HandlerParts,
  surroundings: Environment,
): Readonly<Partial<Record<ApiName, HttpHandler>>> {
  const { access, service } = parts;
  const guardOf = (api: ApiName) => ({
    isOn: () => access.isOpenToAnyone(),
    names: [config.host.toLowerCase(), ...config.hostNames],
    onRefusal: (refusal: object) => surroundings.log.info('accessRefused', { api, ...refusal }),
  });
  return {
    nosql: guardedHandler(nosqlHandler(config, parts, surroundings), guardOf('nosql')),
    table: guardedHandler(tableHandler(parts, surroundings), {
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

/** Clients of tables are told that idle connections end soon, as the emulator of Storage does, and let go of them first. */
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

/** With the stack: it was a bug of ours. */
function errorText(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
