/** Routes of `/_mesocosm/`: one table of path, required key and handler. */
import {
  bytesToText,
  type Clock,
  DomainError,
  ITEM_BYTES_MAX,
  type Metrics,
} from '../../base/index.ts';
import {
  type Exchange,
  type HttpHandler,
  type HttpReply,
  type PendingRequest,
  serve,
} from '../../http/index.ts';
import { type AccountKeys, isReadOnly, type KeyName, type Service } from '../../service/index.ts';
import { isMap, type Value, type ValueMap } from '../../value/index.ts';
import { distributeThroughput } from './distribution.ts';
import { reportHotKeys } from './hot-keys.ts';
import { listKeys, rotateKey } from './keys.ts';
import { partitionCount } from './partition-metrics.ts';
import { reportPartitions } from './partitions.ts';
import { mergePartitions, splitPartition } from './resize.ts';
import { type SignatureCheck, signatureCheck } from './signature.ts';

const PREFIX = '/_mesocosm/';

/** The path from which scripts for the official emulator fetch the certificate to trust. */
const EMULATOR_PATH = '/_explorer/emulator.pem';

interface AdminOptions {
  readonly service: Service;
  readonly metrics: Metrics;
  readonly version: string;
  /** Seconds since the server became ready. */
  readonly uptimeSec: () => number;
  readonly clock: Clock;
  readonly keys: AccountKeys;
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

interface Content {
  readonly contentType: string;
  readonly body: string;
}

interface Route {
  readonly method: 'GET' | 'POST';
  /** `read`: a read-only key is enough. `metrics`: likewise, where other machines can connect. */
  readonly needsKey: false | 'read' | 'master' | 'metrics';
  readonly respond: (options: AdminOptions, request: AdminRequest) => Content | Promise<Content>;
}

interface AdminRequest {
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
    respond: async ({ service }, { query }) => json(await reportPartitions(service, query)),
  },
  'hot-keys': {
    method: 'GET',
    needsKey: 'read',
    respond: ({ service }, { query }) => json(reportHotKeys(service, query)),
  },
  keys: {
    method: 'GET',
    needsKey: 'master',
    respond: ({ keys }) => json(listKeys(keys)),
  },
  'keys/rotate': {
    method: 'POST',
    needsKey: 'master',
    respond: ({ keys }, { body }) => json(rotateKey(keys, body)),
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
  distribution: {
    method: 'POST',
    needsKey: 'master',
    respond: async ({ service }, { query, body }) =>
      json(await distributeThroughput(service, query, body)),
  },
};

export function isAdminPath(url: string): boolean {
  return url.startsWith(PREFIX) || url === EMULATOR_PATH;
}

export function createAdminHandler(options: AdminOptions): HttpHandler {
  const signer = signatureCheck(options.keys, options.clock);
  const api = {
    onRequest: undefined,
    admit: () => undefined,
    respond: ({ exchange }: PendingRequest) => respond(options, exchange, signer),
    onFailure: ({ exchange }: PendingRequest, error: unknown) =>
      options.onFailure?.({ error, method: exchange.method, path: pathOf(exchange) }),
    refuse: (request: PendingRequest, error: unknown) => {
      if (!(error instanceof DomainError)) api.onFailure(request, error);
      return refusalOf(error);
    },
    finish: (_: PendingRequest, { headers }: HttpReply) =>
      void headers.push('cache-control', 'no-store'),
  };
  return (exchange) => serve(api, { exchange, startedMs: 0, resource: 'none' });
}

async function respond(
  options: AdminOptions,
  exchange: Exchange,
  signer: SignatureCheck,
): Promise<HttpReply> {
  const { pathname, searchParams } = new URL(exchange.url, 'http://localhost');
  const name =
    pathname === EMULATOR_PATH ? 'ca.pem' : pathname.slice(PREFIX.length).replace(/\/$/, '');
  const route = Object.hasOwn(ROUTES, name) ? ROUTES[name] : undefined;
  if (route === undefined) return refusal(404, 'NotFound', `There is nothing at ${pathname}.`);
  const method = exchange.method === 'HEAD' ? 'GET' : exchange.method;
  if (method !== route.method)
    return refusal(405, 'MethodNotAllowed', `${pathname} answers ${route.method} only.`);
  const isOpen = route.needsKey === 'metrics' && options.areMetricsOpen;
  if (route.needsKey !== false && !isOpen) {
    const allowsBearer = route.needsKey === 'metrics';
    const key =
      signer(exchange, `${PREFIX.slice(1)}${name}`) ??
      (allowsBearer ? bearerKey(options.keys, exchange) : undefined);
    const isShort = route.needsKey === 'master' && key !== undefined && isReadOnly(key);
    if (key === undefined || isShort)
      return refused(options, exchange, { pathname, isKnown: key !== undefined });
  }
  const body = method === 'POST' ? await readBody(exchange) : {};
  return replyOf(200, await route.respond(options, { query: searchParams, body }));
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

/** A query and its parameters; the same bound as everywhere. */
const BODY_BYTES_MAX = ITEM_BYTES_MAX;

async function readBody(exchange: Exchange): Promise<ValueMap> {
  const body = await exchange.readBody(BODY_BYTES_MAX);
  try {
    const value = JSON.parse(bytesToText(body)) as Value;
    if (isMap(value)) return value;
  } catch {
    // Not JSON: refused below like every other body that is no object.
  }
  throw new DomainError('invalidInput', 'A JSON object is expected.');
}

/** Any other error is a bug, whose details are for the log and not for the client. */
function refusalOf(error: unknown): HttpReply {
  if (!(error instanceof DomainError))
    return refusal(
      500,
      'InternalServerError',
      'An unexpected error occurred; the server has logged it.',
    );
  switch (error.code) {
    case 'tooLarge':
      return refusal(413, 'RequestEntityTooLarge', error.message);
    case 'invalidInput':
      return refusal(400, 'BadRequest', error.message);
    case 'partitionGone':
      return refusal(410, 'Gone', error.message);
    case 'itemNotFound':
    case 'databaseNotFound':
    case 'containerNotFound':
      return refusal(404, 'NotFound', error.message);
    default:
      return refusal(503, 'ServiceUnavailable', error.message);
  }
}

function refusal(status: number, code: string, message: string): HttpReply {
  return replyOf(status, json({ code, message }));
}

function replyOf(status: number, { contentType, body }: Content): HttpReply {
  return { status, charge: 0, headers: ['content-type', contentType], body };
}

function json(value: object): Content {
  return { contentType: 'application/json', body: `${JSON.stringify(value)}\n` };
}
