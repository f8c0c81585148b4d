/** The port of one API: what the API is given, what it gives, and the listener that carries it. */
import type { RequestMetrics } from '../api/admin/index.ts';
import type { Clock, Metrics } from '../base/index.ts';
import {
  type Exchange,
  type Guard,
  guardedHandler,
  guardedUpgrade,
  type HttpHandler,
  type UpgradeHandler,
  withFailureHandling,
} from '../http/index.ts';
import type { ByteProtocol } from '../net/index.ts';
import type { AccessControl, OperationReport, Service } from '../service/index.ts';
import type { ApiName, ServerConfig } from './config.ts';
import { errorText } from './error-text.ts';
import { type ConnectionCount, type Listener, listenBytes, listenHttp } from './listen/index.ts';
import type { Log } from './log.ts';
import type { Storage } from './storage/index.ts';
import type { TlsOptions } from './tls/index.ts';

/** The parts of the server that APIs are made from; each API declares those that it needs. */
export interface ServerParts {
  readonly storage: Storage;
  readonly config: ServerConfig;
  readonly version: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly service: Service;
  readonly access: AccessControl;
  readonly metrics: Metrics;
  readonly requests: RequestMetrics;
  readonly tls: TlsOptions | undefined;
  readonly connections: ConnectionCount;
}

export interface ApiParts extends ServerParts {
  /** Called for every request that has been answered, by APIs that do not speak HTTP. */
  onRequest(report: OperationReport): void;
  /** Receives errors that are bugs, with the operation that failed. */
  onFailure(failure: { readonly operation: string; readonly error: unknown }): void;
  /** Receives refused logins and rights, for the log. */
  onRefusal(refusal: { readonly from: string; readonly reason: string }): void;
}

/** An API over HTTP; with `upgrade`, over WebSockets too. */
export interface HttpPort {
  readonly handler: HttpHandler;
  readonly upgrade?: UpgradeHandler;
  /** Rules for web pages, where the API has any. */
  readonly allowsOrigin?: (exchange: Exchange) => boolean;
  /** The keep-alive time that responses announce, where it is less than connections really stay open. */
  readonly announcedKeepAliveMs?: number;
  /** False: node:http reads every request, which responses that stream need. */
  readonly hasFastPath?: boolean;
}

export type ApiPort = ByteProtocol | HttpPort;

/** Serves when the promise resolves. Rejects with ExitError 1. */
export function openPort(
  api: ApiName,
  port: number,
  created: ApiPort,
  parts: ServerParts,
): Promise<Listener> {
  const { config, log, tls, connections } = parts;
  const common = {
    host: config.host,
    port,
    flag: `${api}-port`,
    connections,
    tls,
    onError: (error: Error) => log.error('listenerFailed', { api, error: error.message }),
  };
  if ('open' in created)
    return listenBytes({
      ...common,
      protocol: created,
      onFailure: (error, { remoteAddress }) =>
        log.error('connectionFailed', { api, from: remoteAddress, error: errorText(error) }),
    });
  const { handler, upgrade, allowsOrigin, announcedKeepAliveMs, hasFastPath = true } = created;
  const guard = { ...guardOf(api, parts), allowsOrigin };
  return listenHttp({
    ...common,
    handler: withFailureHandling(guardedHandler(handler, guard), (error, { method }) =>
      log.error('requestFailed', { method, error: errorText(error) }),
    ),
    upgrade: upgrade === undefined ? undefined : guardedUpgrade(upgrade, guard),
    onUpgradeFailure: (error) => log.error('connectionFailed', { api, error: errorText(error) }),
    hasFastPath: config.hasHttpFastPath && hasFastPath,
    announcedKeepAliveMs,
  });
}

export function partsFor(api: ApiName, parts: ServerParts): ApiParts {
  const { log, requests } = parts;
  return {
    ...parts,
    onRequest: requests.forOperations(api),
    onFailure: ({ operation, error }) =>
      log.error('requestFailed', { api, operation, error: errorText(error) }),
    onRefusal: (refusal) => log.info('accessRefused', { api, ...refusal }),
  };
}

/** Web pages are kept out while anyone who can send a request is let in. */
function guardOf(api: ApiName, { config, access, log }: ServerParts): Guard {
  return {
    access,
    names: [config.host.toLowerCase(), ...config.hostNames],
    onRefusal: (refusal) => log.info('accessRefused', { api, ...refusal }),
  };
}
