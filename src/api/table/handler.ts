/** The entry: one request in, one answer out. URL → caller → body → operation → reply. */
import { andThen, type Bytes, EMPTY_BYTES, type MaybePromise } from '../../base/index.ts';
import {
  type Exchange,
  type HttpApi,
  type HttpHandler,
  headerOf,
  type PendingRequest,
  type RequestReport,
  serve,
} from '../../http/index.ts';
import type { Service } from '../../service/index.ts';
import { Authorizer, type Caller } from './access/authorize.ts';
import { corsHeaders, preflight } from './access/cors.ts';
import type { IdentityAccess } from './access/identity-access.ts';
import type { KeyCheck } from './access/shared-key.ts';
import { signedTables } from './access/signed-tables.ts';
import type { Call } from './call.ts';
import { dialectOf } from './dialect.ts';
import { TableError, tableErrorOf } from './errors.ts';
import { REQUEST_BYTES_MAX } from './limits.ts';
import { addServiceHeaders, DEFAULT_VERSION, errorReply, type Reply } from './reply.ts';
import { RequestIds } from './request-ids.ts';
import { operationOf } from './routes.ts';
import { parseTarget, type Target } from './target.ts';
import { ThrottleRetries } from './throttle-retry.ts';

interface TableOptions {
  readonly service: Service;
  readonly keys: KeyCheck;
  /** True while a key is public knowledge: requests need not say when they were made. */
  readonly isDateOptional?: (() => boolean) | undefined;
  /** Vouches for bearer tokens, which come over TLS only; undefined: they are refused. */
  readonly identities?: IdentityAccess | undefined;
  /** How long a throttled request waits for its turn before it is answered with 429. */
  readonly retryWaitMs?: number | undefined;
  /** Told of every answer. */
  readonly onRequest?: (report: RequestReport) => void;
  /** Told of every failure that is not the client's: our bugs. */
  readonly onFailure?: (failure: TableRequestFailure) => void;
}

interface TableRequestFailure {
  readonly error: unknown;
  readonly requestId: string;
  readonly method: string;
}

export function createTableHandler(options: TableOptions): HttpHandler {
  const api = new TableApi(options);
  const isTimed = options.onRequest !== undefined;
  const ids = new RequestIds();
  return (exchange) =>
    serve(api, {
      exchange,
      requestId: ids.next(),
      startedMs: isTimed ? performance.now() : 0,
      resource: 'none',
      target: undefined,
    });
}

interface TableRequest extends PendingRequest {
  readonly requestId: string;
  target: Target | undefined;
}

interface Addressed {
  readonly asked: TableRequest;
  readonly target: Target;
  /** As it is meant. */
  readonly method: string;
}

/** A request of somebody who may make it. */
interface Admitted {
  readonly request: Addressed;
  /** Undefined: of a browser that asks whether it may ask. */
  readonly caller: Caller | undefined;
}

class TableApi implements HttpApi<TableRequest, Admitted, Reply> {
  readonly onRequest: ((report: RequestReport) => void) | undefined;
  readonly #options: TableOptions;
  readonly #authorizer: Authorizer;
  readonly #retries: ThrottleRetries;

  constructor(options: TableOptions) {
    this.#options = options;
    this.onRequest = options.onRequest;
    this.#retries = new ThrottleRetries(options.retryWaitMs);
    const { keys, identities, service, isDateOptional } = options;
    this.#authorizer = new Authorizer({
      keys,
      identities,
      isDateOptional,
      clock: service.clock,
      tables: (host) => signedTables(service, dialectOf(host)),
    });
  }

  admit(asked: TableRequest): MaybePromise<Admitted> {
    const { exchange } = asked;
    const { headers, method } = exchange;
    const target = parseTarget(exchange.url, headers.host);
    asked.target = target;
    asked.resource = target.resource.kind;
    if (target.isOfOtherAccount) throw new TableError('ResourceNotFound');
    checkVersion(headerOf(exchange, 'x-ms-version'));
    const request = { asked, target, method: meantMethod(exchange) };
    if (method === 'OPTIONS') return { request, caller: undefined };
    const caller = this.#authorizer.authorize({
      method,
      target,
      headers,
      isEncrypted: exchange.isEncrypted,
      address: exchange.remoteAddress ?? '',
    });
    return andThen(caller, (known) => {
      if (target.isSecondary) checkSecondary(request.method, headers.host);
      return { request, caller: known };
    });
  }

  respond({ exchange }: TableRequest, { request, caller }: Admitted): MaybePromise<Reply> {
    if (caller === undefined) return preflight(this.#options.service, exchange.headers);
    return this.#read(caller, request);
  }

  #read(caller: Caller, request: Addressed): MaybePromise<Reply> {
    const { exchange } = request.asked;
    if (exchange.method === 'GET') return this.#run(caller, request, EMPTY_BYTES);
    const body = exchange.readBody(REQUEST_BYTES_MAX);
    return andThen(body, (whole) => this.#run(caller, request, whole));
  }

  #run({ access, account }: Caller, request: Addressed, body: Bytes): MaybePromise<Reply> {
    const { asked, target, method } = request;
    const { exchange, requestId } = asked;
    const call: Call = {
      service: this.#options.service,
      method,
      target,
      dialect: dialectOf(exchange.headers.host),
      headers: (name) => headerOf(exchange, name),
      body,
      access,
      account,
      origin: accountOrigin(exchange, target),
      requestId,
      retries: this.#retries,
    };
    return operationOf(call)(call);
  }

  finish({ exchange, requestId }: TableRequest, reply: Reply): void {
    const version = headerOf(exchange, 'x-ms-version');
    const { headers, method } = exchange;
    addServiceHeaders(reply, {
      requestId,
      clientRequestId: clientRequestId(exchange),
      version: version !== undefined && isVersion(version) ? version : DEFAULT_VERSION,
      corsHeaders:
        headers.origin === undefined || method === 'OPTIONS'
          ? NO_HEADERS
          : corsHeaders(this.#options.service, headers, method),
    });
  }

  onFailure({ exchange, requestId }: TableRequest, error: unknown): void {
    this.#options.onFailure?.({ error, requestId, method: exchange.method });
  }

  refuse(asked: TableRequest, error: unknown): Reply {
    const { exchange, requestId, target } = asked;
    const known = tableErrorOf(error);
    if (known.status === 500) this.onFailure(asked, error);
    const isXml = target?.isOfOtherAccount === true || (target?.query.get('comp') ?? '') !== '';
    const nowMs = this.#options.service.clock.nowMs();
    const dialect = dialectOf(exchange.headers.host);
    return errorReply(dialect.translated(known), { requestId, nowMs, isXml, dialect });
  }
}

const NO_HEADERS: readonly string[] = [];
const VERSION = /^20\d\d-\d\d-\d\d$/;
const CLIENT_REQUEST_ID = /^[ -~]{1,1024}$/;

function checkVersion(version: string | undefined): void {
  if (version !== undefined && !isVersion(version)) throw new TableError('InvalidHeaderValue');
}

function isVersion(version: string): boolean {
  return version === DEFAULT_VERSION || VERSION.test(version);
}

function checkSecondary(method: string, host: string | undefined): void {
  if (method !== 'GET' && method !== 'HEAD' && dialectOf(host).hasSecondary)
    throw new TableError('InsufficientAccountPermissions');
}

/** Clients behind proxies that know few verbs send POST and say what they mean. */
function meantMethod(exchange: Exchange): string {
  const { method } = exchange;
  return method === 'POST' ? (headerOf(exchange, 'x-http-method') ?? method) : method;
}

function clientRequestId(exchange: Exchange): string | undefined {
  const sent = headerOf(exchange, 'x-ms-client-request-id');
  return sent !== undefined && CLIENT_REQUEST_ID.test(sent) ? sent : undefined;
}

/** With the account, where that is the first segment of the path. */
function accountOrigin({ origin }: Exchange, { account, isSecondary }: Target): string {
  return account === undefined ? origin : `${origin}${account}${isSecondary ? '-secondary' : ''}/`;
}
