/** Routes of `/_mesocosm/`: one table of path, key needed or not, and what answers. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Clock, DomainError, ITEM_BYTES_MAX, type Metrics } from '../../base/index.ts';
import { type AccountKeys, isReadOnly, type Service } from '../../service/index.ts';
import { isMap, type Value, type ValueMap } from '../../value/index.ts';
import { distributeThroughput } from './distribution.ts';
import { reportHotKeys } from './hot-keys.ts';
import { listKeys, rotateKey } from './keys.ts';
import { partitionCount } from './partition-metrics.ts';
import { reportPartitions } from './partitions.ts';
import { mergePartitions, splitPartition } from './reshape.ts';
import { type SignatureCheck, signatureCheck } from './signature.ts';

const PREFIX = '/_mesocosm/';

export interface AdminOptions {
  readonly service: Service;
  readonly metrics: Metrics;
  readonly version: string;
  /** Seconds since the server became ready. */
  readonly uptimeSec: () => number;
  readonly clock: Clock;
  readonly keys: AccountKeys;
  /** Runs a query and tells how; throws DomainError. */
  readonly explain: (request: ValueMap) => Promise<object>;
  /** The certificate to trust, PEM; undefined where TLS is off. */
  readonly authorityPem?: string | undefined;
  /** Told of every request that was turned away for want of a key. */
  readonly onRefusal?: (refusal: AdminRefusal) => void;
}

/** Made for logs. */
export interface AdminRefusal {
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
  /** `read`: a key that only reads will do. */
  readonly needsKey: false | 'read' | 'master';
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
    needsKey: false,
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
  return url.startsWith(PREFIX);
}

export function createAdminHandler(
  options: AdminOptions,
): (request: IncomingMessage, response: ServerResponse) => void {
  const signer = signatureCheck(options.keys, options.clock);
  return (request, response) => {
    respond(options, request, signer)
      .catch(refusalOf)
      .then(({ status, answer }) => {
        response.writeHead(status, {
          'content-type': answer.contentType,
          'content-length': Buffer.byteLength(answer.body),
          'cache-control': 'no-store',
        });
        response.end(request.method === 'HEAD' ? undefined : answer.body);
      });
  };
}

interface Reply {
  readonly status: number;
  readonly answer: Answer;
}

async function respond(
  options: AdminOptions,
  request: IncomingMessage,
  signer: SignatureCheck,
): Promise<Reply> {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost');
  const name = pathname.slice(PREFIX.length).replace(/\/$/, '');
  const route = Object.hasOwn(ROUTES, name) ? ROUTES[name] : undefined;
  if (route === undefined) return refusal(404, 'NotFound', `There is nothing at ${pathname}.`);
  const method = request.method === 'HEAD' ? 'GET' : request.method;
  if (method !== route.method)
    return refusal(405, 'MethodNotAllowed', `${pathname} answers ${route.method} only.`);
  if (route.needsKey !== false) {
    const key = signer(request, `${PREFIX.slice(1)}${name}`);
    const isShort = route.needsKey === 'master' && key !== undefined && isReadOnly(key);
    if (key === undefined || isShort)
      return turnedAway(options, request, { pathname, isKnown: key !== undefined });
  }
  const body = method === 'POST' ? await readBody(request) : {};
  return { status: 200, answer: await route.answer(options, { query: searchParams, body }) };
}

function turnedAway(
  { onRefusal }: AdminOptions,
  { method = '', socket }: IncomingMessage,
  { pathname, isKnown }: { readonly pathname: string; readonly isKnown: boolean },
): Reply {
  const status = isKnown ? 403 : 401;
  const reason = isKnown ? 'not for keys that only read' : 'no signature with a key of the account';
  onRefusal?.({
    who: isKnown ? 'read-only key' : 'unknown',
    from: socket.remoteAddress ?? 'unknown',
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

/** A query and its parameters; the same bound as everywhere. */
const BODY_BYTES_MAX = ITEM_BYTES_MAX;

async function readBody(request: IncomingMessage): Promise<ValueMap> {
  const chunks: Buffer[] = [];
  let length = 0;
  try {
    for await (const chunk of request as AsyncIterable<Buffer>) {
      length += chunk.length;
      if (length > BODY_BYTES_MAX) break;
      chunks.push(chunk);
    }
  } catch {
    throw new DomainError('invalidInput', 'The client went away.');
  }
  if (length > BODY_BYTES_MAX) throw new DomainError('tooLarge', 'Request size is too large');
  try {
    const value = JSON.parse(Buffer.concat(chunks).toString('utf8')) as Value;
    if (isMap(value)) return value;
  } catch {
    // Falls through to the one refusal below.
  }
  throw new DomainError('invalidInput', 'A JSON object is expected.');
}

/** Anything but a refusal of ours is a bug, and ends the process as bugs do. */
function refusalOf(error: unknown): Reply {
  if (!(error instanceof DomainError)) throw error;
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

function refusal(status: number, code: string, message: string): Reply {
  return { status, answer: json({ code, message }) };
}

function json(value: object): Answer {
  return { contentType: 'application/json', body: `${JSON.stringify(value)}\n` };
}
