/**
 * The entry: one request in, one answer out. path → resource → caller → body → operation → reply. A request that
 * the service answers at once is answered without a promise.
 */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  AbortedError,
  collectBody,
  ITEM_BYTES_MAX,
  isPromise,
  isUnreadBodyLong,
  type MaybePromise,
} from '../../base/index.ts';
import type { Access, Service } from '../../service/index.ts';
import { Authenticator } from './access/authenticate.ts';
import { authorize } from './access/authorize.ts';
import { MASTER, type Principal } from './access/principal.ts';
import { AccessRefusal } from './access/refusal.ts';
import { Call } from './call.ts';
import { ContainerFaces } from './container-face.ts';
import { failureReply, statusOf } from './errors.ts';
import { PreparedQueries } from './prepared-queries.ts';
import { type Reply, sendReply, serviceHeaders } from './reply.ts';
import { checkVersion } from './request.ts';
import { findOperation, findResource, type Resource } from './routes.ts';
import { parseTarget } from './target.ts';

export interface NosqlOptions {
  readonly service: Service;
  readonly access: Access;
  /** Of the program, for error texts. */
  readonly version: string;
  /** Told of every answer. */
  readonly onRequest?: (report: RequestReport) => void;
  /** Told of every request that was turned away for want of rights. */
  readonly onRefusal?: (refusal: RequestRefusal) => void;
  /** Told of every failure that is not the client's: our bugs. */
  readonly onFailure?: (failure: RequestFailure) => void;
}

export interface RequestReport {
  /** The kind of the resource as clients sign it: `docs`, `colls`; `none` for unknown paths. */
  readonly resource: string;
  readonly method: string;
  readonly status: number;
  readonly charge: number;
  readonly durationMs: number;
}

/** Without keys and tokens: it is made for logs. */
export interface RequestRefusal {
  readonly who: string;
  readonly from: string;
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly reason: string;
  readonly activityId: string;
}

export interface RequestFailure {
  readonly error: unknown;
  readonly activityId: string;
  readonly method: string;
  readonly path: string;
}

export type NosqlHandler = (request: IncomingMessage, response: ServerResponse) => void;

export function createNosqlHandler(options: NosqlOptions): NosqlHandler {
  const server = new NosqlServer(options);
  return (request, response) => server.serve(request, response);
}

/** Requests with these verbs have a body. */
const VERBS_WITH_BODY: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH']);

/** A request under way. */
interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly activityId: string;
  readonly serviceHeaders: readonly string[];
  readonly startedMs: number;
  resource: string;
  call: Call | undefined;
}

class NosqlServer {
  readonly #options: NosqlOptions;
  readonly #authenticator: Authenticator;
  readonly #faces = new ContainerFaces();
  readonly #queries: PreparedQueries;
  readonly #serviceHeaders: readonly string[];

  constructor(options: NosqlOptions) {
    this.#options = options;
    const { clock } = options.service;
    this.#authenticator = new Authenticator(options.access, clock);
    this.#queries = new PreparedQueries(options.service);
    this.#serviceHeaders = serviceHeaders(clock.nowMs());
  }

  serve(request: IncomingMessage, response: ServerResponse): void {
    const exchange: Exchange = {
      request,
      response,
      activityId: activityIdOf(request),
      serviceHeaders: this.#serviceHeaders,
      startedMs: this.#options.onRequest === undefined ? 0 : performance.now(),
      resource: 'none',
      call: undefined,
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
    const { headers, method = 'GET', url = '/' } = request;
    const target = parseTarget(url);
    const resource = findResource(target);
    exchange.resource = resource.type;
    const caller = this.#authenticator.identify({ method, type: resource.type, target, headers });
    const call = new Call({
      service: this.#options.service,
      access: this.#options.access,
      faces: this.#faces,
      queries: this.#queries,
      method,
      target,
      headers,
      origin: () => originOf(request),
    });
    exchange.call = call;
    if (caller === MASTER) return run(request, resource, call);
    return this.#runAs(caller, { request, resource, call });
  }

  /** For all but master keys: what is asked has to be theirs. */
  async #runAs(
    caller: MaybePromise<Principal>,
    { request, resource, call }: { request: IncomingMessage; resource: Resource; call: Call },
  ): Promise<Reply> {
    await authorize(await caller, call, this.#options.access);
    return run(request, resource, call);
  }

  #send(exchange: Exchange, reply: Reply): void {
    const { request, response, resource, startedMs } = exchange;
    sendReply(response, reply, exchange);
    this.#options.onRequest?.({
      resource,
      method: request.method ?? '',
      status: reply.status,
      charge: reply.charge,
      durationMs: performance.now() - startedMs,
    });
  }

  #fail(exchange: Exchange, error: unknown): void {
    if (error instanceof AbortedError) return;
    const { request, activityId, call } = exchange;
    const path = request.url ?? '';
    if (statusOf(error).status === 500)
      this.#options.onFailure?.({ error, activityId, method: request.method ?? '', path });
    const isRefusal = error instanceof AccessRefusal;
    if (isRefusal) this.#report(exchange, error);
    // Who may not see a container does not learn its number either.
    const scopeHeaders = isRefusal ? [] : (call?.scopeHeaders ?? []);
    const context = { activityId, path, version: this.#options.version, scopeHeaders };
    const reply = failureReply(error, context);
    if (isUnreadBodyLong(request)) reply.headers.push('connection', 'close');
    this.#send(exchange, reply);
  }

  #report({ request, activityId }: Exchange, { who, reason, status }: AccessRefusal): void {
    this.#options.onRefusal?.({
      who,
      from: request.socket.remoteAddress ?? 'unknown',
      method: request.method ?? '',
      path: (request.url ?? '').slice(0, REPORTED_PATH_LENGTH_MAX),
      status,
      reason,
      activityId,
    });
  }
}

const REPORTED_PATH_LENGTH_MAX = 512;

function run(request: IncomingMessage, resource: Resource, call: Call): MaybePromise<Reply> {
  checkVersion(call.headers['x-ms-version']);
  const operation = findOperation(resource, call);
  if (!VERBS_WITH_BODY.has(call.method)) return operation(call);
  return collectBody(request, ITEM_BYTES_MAX).then((body) => {
    call.body = body;
    return operation(call);
  });
}

const ACTIVITY_ID = /^[0-9A-Za-z-]{1,64}$/;

/** The client's own, where it sent one that may stand in a header. */
function activityIdOf({ headers }: IncomingMessage): string {
  const sent = headers['x-ms-activity-id'];
  return typeof sent === 'string' && ACTIVITY_ID.test(sent) ? sent : randomUUID();
}

function originOf({ socket, headers }: IncomingMessage): string {
  const scheme = 'encrypted' in socket && socket.encrypted === true ? 'https' : 'http';
  const host = headers.host ?? `${socket.localAddress}:${socket.localPort}`;
  return `${scheme}://${host}/`;
}
