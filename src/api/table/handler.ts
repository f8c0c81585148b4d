/** The entry of the API: URL → caller → body → operation → reply. */
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
import { REQUEST_BYTES_MAX, RETRY_WAIT_MS_MAX } from './limits.ts';
import { addServiceHeaders, DEFAULT_VERSION, errorReply, type Reply } from './reply.ts';
import { RequestIds } from './request-ids.ts';
import { handlerOf } from './routes.ts';
import { parseTarget, type Target } from './target.ts';

interface TableOptions {
  readonly service: Service;
  readonly keys: KeyCheck;
  /** True while a key is public knowledge: then requests need no date. */
  readonly isDateOptional?: (() => boolean) | undefined;
  /** Checks bearer tokens, which are accepted over TLS only; undefined: they are refused. */
  readonly identities?: IdentityAccess | undefined;
  /** How long a throttled request waits before it gets a 429. */
  readonly retryWaitMs?: number | undefined;
  /** Receives a report of every response. */
  readonly onRequest?: (report: RequestReport) => void;
  /** Receives every failure that is a bug of ours. */
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
  readonly pending: TableRequest;
  readonly target: Target;
  /** The effective verb, which x-http-method may override. */
  readonly method: string;
}

/** A request whose caller is checked. */
interface Admitted {
  readonly request: Addressed;
  /** Undefined for a preflight request of a browser. */
  readonly caller: Caller | undefined;
}

class TableApi implements HttpApi<TableRequest, Admitted, Reply> {
  readonly onRequest: ((report: RequestReport) => void) | undefined;
  readonly #options: TableOptions;
  readonly #authorizer: Authorizer;

  constructor(options: TableOptions) {
    this.#options = options;
    this.onRequest = options.onRequest;
    const { keys, identities, service, isDateOptional } = options;
    this.#authorizer = new Authorizer({
      keys,
      identities,
      isDateOptional,
      clock: service.clock,
      tables: (host) => signedTables(service, dialectOf(host)),
    });
  }

  admit(pending: TableRequest): MaybePromise<Admitted> {
    const { exchange } = pending;
    const { headers, method } = exchange;
    const target = parseTarget(exchange.url, headers.host);
    pending.target = target;
    pending.resource = target.resource.kind;
    if (target.isOfOtherAccount) throw new TableError('ResourceNotFound');
    checkVersion(headerOf(exchange, 'x-ms-version'));
    const request = { pending, target, method: effectiveMethod(exchange) };
    if (method === 'OPTIONS') return { request, caller: undefined };
    const caller = this.#authorizer.authorize({
      method,
      target,
      headers,
      isEncrypted: exchange.isEncrypted,
      address: exchange.remoteAddress ?? '',
    });
    return andThen(caller, (found) => {
      if (target.isSecondary) checkSecondary(request.method, headers.host);
      return { request, caller: found };
    });
  }

  respond({ exchange }: TableRequest, { request, caller }: Admitted): MaybePromise<Reply> {
    if (caller === undefined) return preflight(this.#options.service, exchange.headers);
    return this.#read(caller, request);
  }

  #read(caller: Caller, request: Addressed): MaybePromise<Reply> {
    const { exchange } = request.pending;
    if (exchange.method === 'GET') return this.#run(caller, request, EMPTY_BYTES);
    const body = exchange.readBody(REQUEST_BYTES_MAX);
    return andThen(body, (whole) => this.#run(caller, request, whole));
  }

  #run({ access, account }: Caller, request: Addressed, body: Bytes): MaybePromise<Reply> {
    const { pending, target, method } = request;
    const { exchange, requestId } = pending;
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
      retryWaitMs: this.#options.retryWaitMs ?? RETRY_WAIT_MS_MAX,
    };
    return handlerOf(call)(call);
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

  refuse(pending: TableRequest, error: unknown): Reply {
    const { exchange, requestId, target } = pending;
    const refusal = tableErrorOf(error);
    if (refusal.status === 500) this.onFailure(pending, error);
    const isXml = target?.isOfOtherAccount === true || (target?.query.get('comp') ?? '') !== '';
    const nowMs = this.#options.service.clock.nowMs();
    const dialect = dialectOf(exchange.headers.host);
    return errorReply(dialect.translated(refusal), { requestId, nowMs, isXml, dialect });
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

/** Clients behind proxies that know few verbs send POST and the verb in a header. */
function effectiveMethod(exchange: Exchange): string {
  const { method } = exchange;
  return method === 'POST' ? (headerOf(exchange, 'x-http-method') ?? method) : method;
}

function clientRequestId(exchange: Exchange): string | undefined {
  const sent = headerOf(exchange, 'x-ms-client-request-id');
  return sent !== undefined && CLIENT_REQUEST_ID.test(sent) ? sent : undefined;
}

/** The origin, with the account where that is the first segment of the path. */
function accountOrigin({ origin }: Exchange, { account, isSecondary }: Target): string {
  return account === undefined ? origin : `${origin}${account}${isSecondary ? '-secondary' : ''}/`;
}
