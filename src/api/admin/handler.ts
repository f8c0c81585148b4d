/** Routes of `/_mesocosm/`: one table of path, required key and handler. */
import { type Clock, DomainError, type Metrics } from '../../base/index.ts';
import type { EngineReport } from '../../engine/index.ts';
import {
  type Exchange,
  type HttpHandler,
  type HttpReply,
  type PendingRequest,
  serve,
} from '../../http/index.ts';
import { type AccountKeys, isReadOnly, type KeyName, type Service } from '../../service/index.ts';
import type { ValueMap } from '../../value/index.ts';
import { distributeThroughput } from './distribution.ts';
import { createGraph } from './graphs.ts';
import { EMULATOR_PATH, PREFIX } from './in-front.ts';
import { listKeys, rotateKey } from './keys.ts';
import { partitionCount } from './metrics/partition-metrics.ts';
import type { RequestMetrics } from './metrics/request-metrics.ts';
import { type Content, json, readBody, refusal, refusalOf, replyOf } from './replies.ts';
import { reportHotKeys } from './reports/hot-keys.ts';
import { reportLineage } from './reports/lineage.ts';
import { reportMonitor } from './reports/monitor.ts';
import { type ApiState, reportOverview } from './reports/overview.ts';
import { reportPartitions } from './reports/partitions.ts';
import { planThroughput } from './reports/plan.ts';
import { reportQueryShapes } from './reports/query-shapes.ts';
import type { SeriesRecorder } from './reports/series.ts';
import { mergePartitions, splitPartition } from './resize.ts';
import { type SignatureCheck, signatureCheck } from './signature.ts';

interface AdminOptions {
  readonly service: Service;
  readonly metrics: Metrics;
  readonly requests: RequestMetrics;
  readonly recorder: SeriesRecorder;
  /** The APIs of this server and where they are served. */
  readonly apis: () => readonly ApiState[];
  /** Routes of parts above this one, by name; `x/*` is everything below `x/`. */
  readonly more?: Readonly<Record<string, AdminRoute>>;
  readonly version: string;
  /** Seconds since the server became ready. */
  readonly uptimeSec: () => number;
  readonly clock: Clock;
  readonly keys: AccountKeys;
  /** Where partitions are kept, and how many copies there are. */
  readonly storage: { report(): EngineReport };
  /** Runs a query and reports its execution; throws DomainError. */
  readonly explain: (request: ValueMap) => Promise<object>;
  /** True where only this machine can connect: then metrics need no key. */
  readonly areMetricsOpen: boolean;
  /** The certificate to trust, PEM; undefined where TLS is off. */
  readonly authorityPem?: string | undefined;
  /** Receives every request that was refused for its key. */
  readonly onRefusal?: (refusal: AdminRefusal) => void;
  /** Receives every failure that is a bug of ours. */
  readonly onFailure?: (failure: AdminFailure) => void;
}

interface AdminFailure {
  readonly error: unknown;
  readonly method: string;
  readonly path: string;
}

/** One refused request, for the log. */
interface AdminRefusal {
  readonly who: string;
  readonly from: string;
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly reason: string;
}

export interface AdminRoute {
  readonly methods: readonly string[];
  readonly needsKey: 'read' | 'master';
  respond(request: AdminRequest): Content | Promise<Content>;
  /** Begins a response without an end; false where this connection cannot carry it: then `respond` answers. */
  open?(exchange: Exchange, query: URLSearchParams): boolean;
}

interface Route {
  readonly method: 'GET' | 'POST';
  /** `read`: a read-only key is enough. `metrics`: likewise, where other machines can connect. */
  readonly needsKey: false | 'read' | 'master' | 'metrics';
  readonly respond: (options: AdminOptions, request: AdminRequest) => Content | Promise<Content>;
}

export interface AdminRequest {
  readonly method: string;
  /** What follows `x/` in a route of everything below it. */
  readonly rest: string;
  /** False for keys that only read. */
  readonly mayWrite: boolean;
  /** Who waits for the answer. */
  readonly client: { readonly isGone: boolean };
  readonly query: URLSearchParams;
  /** The JSON object in the body of a POST. */
  readonly body: ValueMap;
}

const ROUTES: Readonly<Record<string, Route>> = {
  'ca.pem': {
    method: 'GET',
    needsKey: false,
    respond: ({ authorityPem }) => {
      if (authorityPem === undefined)
        throw new DomainError('itemNotFound', 'TLS is off: start the server with --tls.');
      return { contentType: 'application/x-pem-file', body: authorityPem };
    },
  },
  explain: {
    method: 'POST',
    needsKey: 'master',
    respond: async ({ explain }, { body }) => json(await explain(body)),
  },
  health: {
    method: 'GET',
    needsKey: false,
    respond: ({ service, version, uptimeSec }) =>
      json({
        status: 'ready',
        version,
        partitions: partitionCount(service),
        uptimeSec: Math.floor(uptimeSec()),
      }),
  },
  metrics: {
    method: 'GET',
    needsKey: 'metrics',
    respond: ({ metrics }) => ({
      contentType: 'text/plain; version=0.0.4; charset=utf-8',
      body: metrics.print(),
    }),
  },
  partitions: {
    method: 'GET',
    needsKey: 'read',
    respond: async ({ service, storage }, { query }) =>
      json(await reportPartitions(service, storage.report(), query)),
  },
  'hot-keys': {
    method: 'GET',
    needsKey: 'read',
    respond: ({ service }, { query }) => json(reportHotKeys(service, query)),
  },
  overview: {
    method: 'GET',
    needsKey: 'read',
    respond: (options) => json(reportOverview(options)),
  },
  series: {
    method: 'GET',
    needsKey: 'read',
    respond: ({ recorder }, { query }) => ({
      contentType: 'application/json',
      body: `${recorder.reportText(query)}\n`,
    }),
  },
  lineage: {
    method: 'GET',
    needsKey: 'read',
    respond: ({ service, recorder }, { query }) => json(reportLineage(service, recorder, query)),
  },
  monitor: {
    method: 'GET',
    needsKey: 'read',
    respond: ({ requests, uptimeSec }) => json(reportMonitor(requests, uptimeSec())),
  },
  'query-shapes': {
    method: 'GET',
    needsKey: 'read',
    respond: ({ service }, { query }) => json(reportQueryShapes(service, query)),
  },
  plan: {
    method: 'POST',
    needsKey: 'read',
    respond: ({ service }, { body }) => json(planThroughput(service, body)),
  },
  keys: {
    method: 'GET',
    needsKey: 'master',
    respond: ({ keys }) => json(listKeys(keys)),
  },
  'keys/rotate': {
    method: 'POST',
    needsKey: 'master',
    respond: async ({ keys }, { body }) => json(await rotateKey(keys, body)),
  },
  merge: {
    method: 'POST',
    needsKey: 'master',
    respond: async ({ service }, { body }) => json(await mergePartitions(service, body)),
  },
  split: {
    method: 'POST',
    needsKey: 'master',
    respond: async ({ service }, { body }) => json(await splitPartition(service, body)),
  },
  graphs: {
    method: 'POST',
    needsKey: 'master',
    respond: async ({ service }, { body }) => json(await createGraph(service, body)),
  },
  distribution: {
    method: 'POST',
    needsKey: 'master',
    respond: async ({ service, storage }, { query, body }) =>
      json(await distributeThroughput(service, storage.report(), query, body)),
  },
};

export interface Admin {
  readonly handler: HttpHandler;
  /** The state of all containers. */
  overview(): object;
  /** Answers for a caller who is known to this process already. Never rejects. */
  answer(exchange: Exchange, path: string, mayWrite: boolean): Promise<HttpReply>;
}

export function createAdmin(options: AdminOptions): Admin {
  const signer = signatureCheck(options.keys, options.clock);
  const routes = new Map([
    ...Object.entries(ROUTES).map(own),
    ...Object.entries(options.more ?? {}),
  ]);
  const failed = (exchange: Exchange, error: unknown): HttpReply => {
    if (!(error instanceof DomainError))
      options.onFailure?.({ error, method: exchange.method, path: pathOf(exchange) });
    return refusalOf(error);
  };
  const api = {
    onRequest: undefined,
    admit: () => undefined,
    respond: ({ exchange }: PendingRequest) => {
      const { pathname } = new URL(exchange.url, 'http://localhost');
      const name = pathname === EMULATOR_PATH ? 'ca.pem' : pathname.slice(PREFIX.length);
      return respond(options, routes, {
        exchange,
        name: name.replace(/\/$/, ''),
        keyOf: (needsKey, link) => keyOf(options, exchange, signer, { needsKey, link }),
      });
    },
    onFailure: ({ exchange }: PendingRequest, error: unknown) =>
      options.onFailure?.({ error, method: exchange.method, path: pathOf(exchange) }),
    refuse: ({ exchange }: PendingRequest, error: unknown) => failed(exchange, error),
    finish: (_: PendingRequest, { headers }: HttpReply) =>
      void headers.push('cache-control', 'no-store'),
  };

  function openStream(exchange: Exchange): boolean {
    const { pathname, searchParams } = new URL(exchange.url, 'http://localhost');
    const name = pathname.slice(PREFIX.length);
    const route = exchange.method === 'GET' ? options.more?.[name] : undefined;
    if (route?.open === undefined) return false;
    const { needsKey } = route;
    const isKnown = keyOf(options, exchange, signer, { needsKey, link: name }) !== undefined;
    return isKnown && route.open(exchange, searchParams);
  }

  /** The routes of this file, as those that are given. */
  function own([name, { method, needsKey, respond: answer }]: [string, Route]): [string, AnyRoute] {
    return [name, { methods: [method], needsKey, respond: (request) => answer(options, request) }];
  }

  return {
    overview: () => reportOverview(options),
    handler(exchange) {
      if (!openStream(exchange)) serve(api, { exchange, startedMs: 0, resource: 'none' });
    },
    async answer(exchange, path, mayWrite) {
      const key = mayWrite ? 'primary' : 'primaryReadonly';
      try {
        return await respond(options, routes, { exchange, name: path, keyOf: () => key });
      } catch (error) {
        return failed(exchange, error);
      }
    },
  };
}

interface AnyRoute {
  readonly methods: readonly string[];
  readonly needsKey: Route['needsKey'];
  respond(request: AdminRequest): Content | Promise<Content>;
}

interface RouteRequest {
  readonly exchange: Exchange;
  /** The route, with what follows it. */
  readonly name: string;
  /** The key of the caller; `open` where none is needed. */
  keyOf(needsKey: Route['needsKey'], name: string): KeyName | 'open' | undefined;
}

async function respond(
  options: AdminOptions,
  routes: ReadonlyMap<string, AnyRoute>,
  { exchange, name, keyOf: find }: RouteRequest,
): Promise<HttpReply> {
  const pathname = `${PREFIX}${name}`;
  const slash = name.indexOf('/');
  const route =
    routes.get(name) ?? (slash < 0 ? undefined : routes.get(`${name.slice(0, slash)}/*`));
  if (route === undefined) return refusal(404, 'NotFound', `There is nothing at ${pathname}.`);
  const method = exchange.method === 'HEAD' ? 'GET' : exchange.method;
  if (!route.methods.includes(method))
    return refusal(
      405,
      'MethodNotAllowed',
      `${pathname} answers ${route.methods.join(', ')} only.`,
    );
  const key = find(route.needsKey, name);
  const isShort =
    route.needsKey === 'master' && key !== undefined && key !== 'open' && isReadOnly(key);
  if (key === undefined || isShort)
    return refused(options, exchange, { pathname, isKnown: key !== undefined });
  const body = method === 'POST' || method === 'PUT' ? await readBody(exchange) : {};
  const { searchParams } = new URL(exchange.url, 'http://localhost');
  const content = await route.respond({
    method,
    rest: slash < 0 ? '' : name.slice(slash + 1),
    mayWrite: key !== 'open' && !isReadOnly(key),
    client: exchange,
    query: searchParams,
    body,
  });
  return replyOf(content.status ?? 200, content);
}

function keyOf(
  options: AdminOptions,
  exchange: Exchange,
  signer: SignatureCheck,
  { needsKey, link }: { readonly needsKey: Route['needsKey']; readonly link: string },
): KeyName | 'open' | undefined {
  if (needsKey === false || (needsKey === 'metrics' && options.areMetricsOpen)) return 'open';
  const bearer = needsKey === 'metrics' ? bearerKey(options.keys, exchange) : undefined;
  return signer(exchange, `${PREFIX.slice(1)}${link}`) ?? bearer;
}

/** Collectors of metrics cannot sign: they send a key of the account as a bearer token, over TLS only. */
function bearerKey(keys: AccountKeys, { headers, isEncrypted }: Exchange): KeyName | undefined {
  const token = /^Bearer (\S{1,1024})$/.exec(headers.authorization ?? '')?.[1];
  return token === undefined || !isEncrypted ? undefined : keys.named(token);
}

function refused(
  { onRefusal }: AdminOptions,
  { method, remoteAddress }: Exchange,
  { pathname, isKnown }: { readonly pathname: string; readonly isKnown: boolean },
): HttpReply {
  const status = isKnown ? 403 : 401;
  const reason = isKnown ? 'not for keys that only read' : 'no signature with a key of the account';
  onRefusal?.({
    who: isKnown ? 'read-only key' : 'unknown',
    from: remoteAddress ?? 'unknown',
    method,
    path: pathname.slice(0, REPORTED_PATH_LENGTH_MAX),
    status,
    reason,
  });
  return isKnown
    ? refusal(403, 'Forbidden', `${pathname} is not for keys that only read.`)
    : refusal(401, 'Unauthorized', `${pathname} needs a signature with the account key.`);
}

const REPORTED_PATH_LENGTH_MAX = 512;

function pathOf({ url }: Exchange): string {
  return url.slice(0, REPORTED_PATH_LENGTH_MAX);
}
