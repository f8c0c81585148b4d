/** The entry: one request in, one answer out. URL → caller → body → operation → reply. */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  AbortedError,
  type Bytes,
  collectBody,
  EMPTY_BYTES,
  isPromise,
  isUnreadBodyLong,
  type MaybePromise,
} from '../../base/index.ts';
import type { Service } from '../../service/index.ts';
import { Authorizer, type Caller } from './authorize.ts';
import type { Call } from './call.ts';
import { corsHeaders, preflight } from './cors.ts';
import { TableError, tableErrorOf } from './errors.ts';
import type { IdentityAccess } from './identity-access.ts';
import { REQUEST_BYTES_MAX } from './limits.ts';
import { DEFAULT_VERSION, errorReply, type Reply, sendReply } from './reply.ts';
import { operationOf } from './routes.ts';
import type { KeyCheck } from './shared-key.ts';
import { storedPolicy } from './stored-policies.ts';
import { parseTarget, type Target } from './target.ts';

export interface TableOptions {
  readonly service: Service;
  readonly keys: KeyCheck;
  /** True where a key is public knowledge: requests need not say when they were made. */
  readonly isDateOptional?: boolean | undefined;
  /** Vouches for bearer tokens, which come over TLS only; undefined: they are refused. */
  readonly identities?: IdentityAccess | undefined;
  /** Told of every answer. */
  readonly onRequest?: (report: TableRequestReport) => void;
  /** Told of every failure that is not the client's: our bugs. */
  readonly onFailure?: (failure: TableRequestFailure) => void;
}

export interface TableRequestReport {
  /** The kind of the resource: `entity`, `tables`; `none` for unknown paths. */
  readonly resource: string;
  readonly method: string;
  readonly status: number;
  readonly charge: number;
  readonly durationMs: number;
}

export interface TableRequestFailure {
  readonly error: unknown;
  readonly requestId: string;
  readonly method: string;
}

export type TableHandler = (request: IncomingMessage, response: ServerResponse) => void;

export function createTableHandler(options: TableOptions): TableHandler {
  const server = new TableServer(options);
  return (request, response) => server.serve(request, response);
}

/** A request under way. */
interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly requestId: string;
  readonly startedMs: number;
  target: Target | undefined;
}

class TableServer {
  readonly #options: TableOptions;
  readonly #authorizer: Authorizer;

  constructor(options: TableOptions) {
    this.#options = options;
    const { keys, identities, service, isDateOptional } = options;
    this.#authorizer = new Authorizer({
      keys,
      identities,
      isDateOptional,
      clock: service.clock,
      policy: (table, id) => storedPolicy(service, table, id),
    });
  }

  serve(request: IncomingMessage, response: ServerResponse): void {
    const exchange: Exchange = {
      request,
      response,
      requestId: randomUUID(),
      startedMs: this.#options.onRequest === undefined ? 0 : performance.now(),
      target: undefined,
    };
    let reply: MaybePromise<Reply>;
    try {
      reply = this.#answer(exchange);
    } catch (error) {
      this.#fail(exchange, error);
      return;
    }
    if (isPromise(reply))
      reply.then(
        (later) => this.#send(exchange, later),
        (error) => this.#fail(exchange, error),
      );
    else this.#send(exchange, reply);
  }

  #answer(exchange: Exchange): MaybePromise<Reply> {
    const { request } = exchange;
    const { headers, url = '/', socket } = request;
    const sentMethod = request.method ?? 'GET';
    const target = parseTarget(url, headers.host);
    exchange.target = target;
    checkVersion(headerOf(request, 'x-ms-version'));
    if (sentMethod === 'OPTIONS') return preflight(this.#options.service, headers);
    const caller = this.#authorizer.authorize({
      method: sentMethod,
      target,
      headers,
      isEncrypted: isEncrypted(request),
      address: socket.remoteAddress ?? '',
    });
    const method = meantMethod(request);
    if (target.isSecondary && method !== 'GET' && method !== 'HEAD')
      throw new TableError('InsufficientAccountPermissions');
    const run = ({ access, account }: Caller, body: Bytes): MaybePromise<Reply> => {
      const call: Call = {
        service: this.#options.service,
        method,
        target,
        headers: (name) => headerOf(request, name),
        body,
        access,
        account,
        origin: originOf(request, target),
        requestId: exchange.requestId,
      };
      return operationOf(call)(call);
    };
    if (sentMethod === 'GET' && !isPromise(caller)) return run(caller, EMPTY_BYTES);
    return Promise.all([caller, collectBody(request, REQUEST_BYTES_MAX)]).then(([known, body]) =>
      run(known, body),
    );
  }

  #send(exchange: Exchange, reply: Reply): void {
    const { request, response, requestId, target, startedMs } = exchange;
    const version = headerOf(request, 'x-ms-version');
    sendReply(response, reply, {
      requestId,
      clientRequestId: clientRequestId(request),
      version: version !== undefined && VERSION.test(version) ? version : DEFAULT_VERSION,
      corsHeaders:
        request.headers.origin === undefined || request.method === 'OPTIONS'
          ? NO_HEADERS
          : corsHeaders(this.#options.service, request.headers, request.method ?? 'GET'),
    });
    this.#options.onRequest?.({
      resource: target?.resource.kind ?? 'none',
      method: request.method ?? '',
      status: reply.status,
      charge: reply.charge,
      durationMs: performance.now() - startedMs,
    });
  }

  #fail(exchange: Exchange, error: unknown): void {
    if (error instanceof AbortedError) return;
    const { request, requestId, target } = exchange;
    const known = tableErrorOf(error);
    if (known.status === 500)
      this.#options.onFailure?.({ error, requestId, method: request.method ?? '' });
    const isXml = target?.query.has('comp') === true && target.query.get('comp') !== '';
    const nowMs = this.#options.service.clock.nowMs();
    const reply = errorReply(known, { requestId, nowMs, isXml });
    if (isUnreadBodyLong(request)) reply.headers.push('Connection', 'close');
    this.#send(exchange, reply);
  }
}

const NO_HEADERS: readonly string[] = [];
const VERSION = /^20\d\d-\d\d-\d\d$/;
const CLIENT_REQUEST_ID = /^[ -~]{1,1024}$/;

function checkVersion(version: string | undefined): void {
  if (version !== undefined && !VERSION.test(version)) throw new TableError('InvalidHeaderValue');
}

function headerOf({ headers }: IncomingMessage, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value[0] : value;
}

/** Clients behind proxies that know few verbs send POST and say what they mean. */
function meantMethod(request: IncomingMessage): string {
  const method = request.method ?? 'GET';
  return method === 'POST' ? (headerOf(request, 'x-http-method') ?? method) : method;
}

function clientRequestId(request: IncomingMessage): string | undefined {
  const sent = headerOf(request, 'x-ms-client-request-id');
  return sent !== undefined && CLIENT_REQUEST_ID.test(sent) ? sent : undefined;
}

function isEncrypted({ socket }: IncomingMessage): boolean {
  return 'encrypted' in socket && socket.encrypted === true;
}

function originOf(request: IncomingMessage, { account, isSecondary }: Target): string {
  const scheme = isEncrypted(request) ? 'https' : 'http';
  const { socket, headers } = request;
  const host = headers.host ?? `${socket.localAddress}:${socket.localPort}`;
  const segment = account === undefined ? '' : `${account}${isSecondary ? '-secondary' : ''}/`;
  return `${scheme}://${host}/${segment}`;
}
