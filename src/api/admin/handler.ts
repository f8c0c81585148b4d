/** Routes of `/_mesocosm/`: one table of path, key needed or not, and what answers. */
import {
  bytesToText,
  type Clock,
  DomainError,
  ITEM_BYTES_MAX,
  type Metrics,
} from '../../base/index.ts';
import {
  type Exchange,
  type PendingRequest as HttpAsked,
  type HttpHandler,
  type HttpReply,
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

/** Where scripts written for the official emulator fetch the certificate to trust. */
const EMULATOR_PATH = '/_explorer/emulator.pem';

interface AdminOptions {
  readonly service: Service;
  readonly metrics: Metrics;
  readonly version: string;
  /** Seconds since the server became ready. */
  readonly uptimeSec: () => number;
  readonly clock: Clock;
  readonly keys: AccountKeys;
  /** Runs a query and tells how; throws DomainError. */
  readonly explain: (request: ValueMap) => Promise<object>;
  /** True where only this machine can ask: then metrics need no key. */
  readonly areMetricsOpen: boolean;
  /** The certificate to trust, PEM; undefined where TLS is off. */
  readonly authorityPem?: string | undefined;
  /** Told of every request that was turned away for want of a key. */
  readonly onRefusal?: (refusal: AdminRefusal) => void;
  /** Told of every failure that is not the client's: our bugs. */
  readonly onFailure?: (failure: AdminFailure) => void;
}

interface AdminFailure {
  readonly error: unknown;
  readonly method: string;
  readonly path: string;
}

/** Made for logs. */
interface AdminRefusal {
  readonly who: string;
  readonly from: string;
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly reason: string;
}

interface Answer {
  readonly contentType: string;
  readonly body: string;
}

interface Route {
  readonly method: 'GET' | 'POST';
  /** `read`: a key that only reads will do. `metrics`: likewise, where others can ask. */
  readonly needsKey: false | 'read' | 'master' | 'metrics';
  readonly answer: (options: AdminOptions, asked: Asked) => Answer | Promise<Answer>;
}

interface Asked {
  readonly query: URLSearchParams;
  /** The JSON object that a POST carries. */
  readonly body: ValueMap;
}

const ROUTES: Readonly<Record<string, Route>> = {
  'ca.pem': {
    method: 'GET',
    needsKey: false,
    answer: ({ authorityPem }) => {
      if (authorityPem === undefined)
        throw new DomainError('itemNotFound', 'TLS is off: start the server with --tls.');
      return { contentType: 'application/x-pem-file', body: authorityPem };
    },
  },
  explain: {
    method: 'POST',
    needsKey: 'master',
    answer: async ({ explain }, { body }) => json(await explain(body)),
  },
  health: {
    method: 'GET',
    needsKey: false,
    answer: ({ service, version, uptimeSec }) =>
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
    answer: ({ metrics }) => ({
      contentType: 'text/plain; version=0.0.4; charset=utf-8',
      body: metrics.print(),
    }),
  },
  partitions: {
    method: 'GET',
    needsKey: 'read',
    answer: async ({ service }, { query }) => json(await reportPartitions(service, query)),
  },
  'hot-keys': {
    method: 'GET',
    needsKey: 'read',
    answer: ({ service }, { query }) => json(reportHotKeys(service, query)),
  },
  keys: {
    method: 'GET',
    needsKey: 'master',
    answer: ({ keys }) => json(listKeys(keys)),
  },
  'keys/rotate': {
    method: 'POST',
    needsKey: 'master',
    answer: ({ keys }, { body }) => json(rotateKey(keys, body)),
  },
  merge: {
    method: 'POST',
    needsKey: 'master',
    answer: async ({ service }, { body }) => json(await mergePartitions(service, body)),
  },
  split: {
    method: 'POST',
    needsKey: 'master',
    answer: async ({ service }, { body }) => json(await splitPartition(service, body)),
  },
  distribution: {
    method: 'POST',
    needsKey: 'master',
    answer: async ({ service }, { query, body }) =>
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
    respond: ({ exchange }: HttpAsked) => respond(options, exchange, signer),
    onFailure: ({ exchange }: HttpAsked, error: unknown) =>
      options.onFailure?.({ error, method: exchange.method, path: pathOf(exchange) }),
    refuse: (asked: HttpAsked, error: unknown) => {
      if (!(error instanceof DomainError)) api.onFailure(asked, error);
      return refusalOf(error);
    },
    finish: (_: HttpAsked, { headers }: HttpReply) =>
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
    const isBorne = route.needsKey === 'metrics';
    const key =
      signer(exchange, `${PREFIX.slice(1)}${name}`) ??
      (isBorne ? borneKey(options.keys, exchange) : undefined);
    const isShort = route.needsKey === 'master' && key !== undefined && isReadOnly(key);
    if (key === undefined || isShort)
      return turnedAway(options, exchange, { pathname, isKnown: key !== undefined });
  }
  const body = method === 'POST' ? await readBody(exchange) : {};
  return replyOf(200, await route.answer(options, { query: searchParams, body }));
}

/** Programs that collect metrics send a token and sign nothing: a key of the account, over TLS only. */
function borneKey(keys: AccountKeys, { headers, isEncrypted }: Exchange): KeyName | undefined {
  const token = /^Bearer (\S{1,1024})$/.exec(headers.authorization ?? '')?.[1];
  return token === undefined || !isEncrypted ? undefined : keys.named(token);
}

function turnedAway(
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
    // Falls through to the one refusal below.
  }
  throw new DomainError('invalidInput', 'A JSON object is expected.');
}

/** Anything but a refusal of ours is a bug, for the log and not for the client. */
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

function replyOf(status: number, { contentType, body }: Answer): HttpReply {
  return { status, charge: 0, headers: ['content-type', contentType], body };
}

function json(value: object): Answer {
  return { contentType: 'application/json', body: `${JSON.stringify(value)}\n` };
}
