/**
 * The entry: one request in, one response out. path → resource → caller → body → operation → reply. No promise is made
 * where the service returns its result synchronously.
 */
import { randomUUID } from 'node:crypto';
import {
  type Bytes,
  ITEM_BYTES_MAX,
  isPromise,
  type MaybePromise,
  SlicedWork,
} from '../../base/index.ts';
import {
  type Exchange,
  type HttpApi,
  type HttpHandler,
  type PendingRequest,
  type RequestReport,
  serve,
} from '../../http/index.ts';
import { type AccessControl, MASTER, type Principal, type Service } from '../../service/index.ts';
import { Authenticator } from './access/authenticate.ts';
import { authorize } from './access/authorize.ts';
import { AccessRefusal } from './access/refusal.ts';
import { Call, type RequestHandler } from './call.ts';
import { ContainerViews } from './containers/container-view.ts';
import { failureReply, statusOf } from './errors.ts';
import { PreparedQueries } from './query/prepared-queries.ts';
import { addServiceHeaders, type Reply, serviceHeaders } from './reply.ts';
import { checkVersion } from './request.ts';
import { findHandler, findResource, type Resource } from './routes.ts';
import { parseTarget } from './target.ts';

interface NosqlOptions {
  readonly service: Service;
  readonly access: AccessControl;
  /** The version of the server, for error messages. */
  readonly version: string;
  /** Called after every response. */
  readonly onRequest?: (report: RequestReport) => void;
  /** Called for every request that was refused because the caller lacks the right. */
  readonly onRefusal?: (refusal: RequestRefusal) => void;
  /** Called for every failure that is our bug. */
  readonly onFailure?: (failure: RequestFailure) => void;
}

/** A refused request for the audit log, without keys and tokens. */
export interface RequestRefusal {
  readonly who: string;
  readonly from: string;
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly reason: string;
  readonly activityId: string;
}

interface RequestFailure {
  readonly error: unknown;
  readonly activityId: string;
  readonly method: string;
  readonly path: string;
}

export function createNosqlHandler(options: NosqlOptions): HttpHandler {
  const api = new NosqlApi(options);
  const isTimed = options.onRequest !== undefined;
  return (exchange) =>
    serve(api, {
      exchange,
      activityId: activityIdOf(exchange),
      startedMs: isTimed ? performance.now() : 0,
      resource: 'none',
      call: undefined,
    });
}

/** Requests with these verbs have a body. */
const VERBS_WITH_BODY: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH']);

interface NosqlRequest extends PendingRequest {
  readonly activityId: string;
  call: Call | undefined;
}

/** A request whose caller has the right to make it. */
interface Admitted {
  readonly resource: Resource;
  readonly call: Call;
}

class NosqlApi implements HttpApi<NosqlRequest, Admitted, Reply> {
  readonly onRequest: ((report: RequestReport) => void) | undefined;
  readonly #options: NosqlOptions;
  readonly #authenticator: Authenticator;
  readonly #views: ContainerViews;
  readonly #queries: PreparedQueries;
  readonly #slicedWork = new SlicedWork();
  readonly #serviceHeaders: readonly string[];

  constructor(options: NosqlOptions) {
    this.#options = options;
    this.onRequest = options.onRequest;
    const { clock } = options.service;
    this.#views = new ContainerViews(options.service.homes);
    this.#authenticator = new Authenticator(options.access, clock);
    this.#queries = new PreparedQueries(options.service);
    this.#serviceHeaders = serviceHeaders(clock.nowMs());
  }

  admit(pending: NosqlRequest): MaybePromise<Admitted> {
    const { exchange } = pending;
    const { method, headers } = exchange;
    const target = parseTarget(exchange.url);
    const resource = findResource(target);
    pending.resource = resource.type;
    const caller = this.#authenticator.identify({ method, type: resource.type, target, headers });
    const call = new Call({
      service: this.#options.service,
      access: this.#options.access,
      views: this.#views,
      queries: this.#queries,
      slicedWork: this.#slicedWork,
      exchange,
      target,
    });
    pending.call = call;
    const admitted = { resource, call };
    return caller === MASTER ? admitted : this.#authorized(caller, admitted);
  }

  /** Checks the rights of a caller without a master key. */
  async #authorized(caller: MaybePromise<Principal>, admitted: Admitted): Promise<Admitted> {
    await authorize(await caller, admitted.call, this.#options.access);
    return admitted;
  }

  respond(_: NosqlRequest, { resource, call }: Admitted): MaybePromise<Reply> {
    checkVersion(call.headers['x-ms-version']);
    const handle = findHandler(resource, call);
    if (!VERBS_WITH_BODY.has(call.method)) return handle(call);
    const body = call.exchange.readBody(ITEM_BYTES_MAX);
    if (isPromise(body)) return body.then((bytes) => runWith(bytes, handle, call));
    return runWith(body, handle, call);
  }

  onFailure({ exchange, activityId }: NosqlRequest, error: unknown): void {
    const { method, url: path } = exchange;
    this.#options.onFailure?.({ error, activityId, method, path });
  }

  finish({ activityId }: NosqlRequest, reply: Reply): void {
    addServiceHeaders(reply, activityId, this.#serviceHeaders);
  }

  refuse(pending: NosqlRequest, error: unknown): Reply {
    const { exchange, activityId, call } = pending;
    const { url: path } = exchange;
    if (statusOf(error).status === 500) this.onFailure(pending, error);
    const isRefusal = error instanceof AccessRefusal;
    if (isRefusal) this.#report(pending, error);
    // A caller who may not see a container does not get its resource id either.
    const scopeHeaders = isRefusal ? [] : (call?.scopeHeaders ?? []);
    return failureReply(error, { activityId, path, version: this.#options.version, scopeHeaders });
  }

  #report({ exchange, activityId }: NosqlRequest, { who, reason, status }: AccessRefusal): void {
    this.#options.onRefusal?.({
      who,
      from: exchange.remoteAddress ?? 'unknown',
      method: exchange.method,
      path: exchange.url.slice(0, REPORTED_PATH_LENGTH_MAX),
      status,
      reason,
      activityId,
    });
  }
}

const REPORTED_PATH_LENGTH_MAX = 512;

function runWith(body: Bytes, handle: RequestHandler, call: Call): MaybePromise<Reply> {
  call.body = body;
  return handle(call);
}

const ACTIVITY_ID = /^[0-9A-Za-z-]{1,64}$/;

/** The activity id that the client sent, if it is valid in a header; else a new one. */
function activityIdOf({ headers }: Exchange): string {
  const sent = headers['x-ms-activity-id'];
  return typeof sent === 'string' && ACTIVITY_ID.test(sent) ? sent : randomUUID();
}
