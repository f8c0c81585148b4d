/** Routes of `/_mesocosm/`: one table of path, key needed or not, and what answers. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Clock, DomainError, type Metrics } from '../../base/index.ts';
import type { Service } from '../../service/index.ts';
import { distributeThroughput } from './distribution.ts';
import { readJson } from './json-body.ts';
import { partitionCount } from './partition-metrics.ts';
import { reportPartitions } from './partitions.ts';
import { type SignatureCheck, signatureCheck } from './signature.ts';

const PREFIX = '/_mesocosm/';

export interface AdminOptions {
  readonly service: Service;
  readonly metrics: Metrics;
  readonly version: string;
  /** Seconds since the server became ready. */
  readonly uptimeSec: () => number;
  readonly clock: Clock;
  /** Account key, base64. */
  readonly key: string;
}

interface Answer {
  readonly contentType: string;
  readonly body: string;
}

interface Route {
  readonly method: 'GET' | 'POST';
  readonly needsKey: boolean;
  readonly answer: (
    options: AdminOptions,
    query: URLSearchParams,
    body: unknown,
  ) => Answer | Promise<Answer>;
}

const ROUTES: Readonly<Record<string, Route>> = {
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
    needsKey: true,
    answer: async ({ service }, query) => json(await reportPartitions(service, query)),
  },
  distribution: {
    method: 'POST',
    needsKey: true,
    answer: async ({ service }, query, body) =>
      json(await distributeThroughput(service, query, body)),
  },
};

export function isAdminPath(url: string): boolean {
  return url.startsWith(PREFIX);
}

export function createAdminHandler(
  options: AdminOptions,
): (request: IncomingMessage, response: ServerResponse) => void {
  const isSigned = signatureCheck(options.key, options.clock);
  return (request, response) => {
    respond(options, request, isSigned)
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
  isSigned: SignatureCheck,
): Promise<Reply> {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost');
  const name = pathname.slice(PREFIX.length).replace(/\/$/, '');
  const route = Object.hasOwn(ROUTES, name) ? ROUTES[name] : undefined;
  if (route === undefined) return refusal(404, 'NotFound', `There is nothing at ${pathname}.`);
  if (request.method !== route.method && !(request.method === 'HEAD' && route.method === 'GET'))
    return refusal(405, 'MethodNotAllowed', `${pathname} answers ${route.method} only.`);
  if (route.needsKey && !isSigned(request, `${PREFIX.slice(1)}${name}`))
    return refusal(401, 'Unauthorized', `${pathname} needs a signature with the account key.`);
  const body = route.method === 'POST' ? await readJson(request) : undefined;
  return { status: 200, answer: await route.answer(options, searchParams, body) };
}

/** Anything but a refusal of ours is a bug, and ends the process as bugs do. */
function refusalOf(error: unknown): Reply {
  if (!(error instanceof DomainError)) throw error;
  switch (error.code) {
    case 'invalidInput':
      return refusal(400, 'BadRequest', error.message);
    case 'databaseNotFound':
    case 'containerNotFound':
      return refusal(404, 'NotFound', error.message);
    case 'tooLarge':
      return refusal(413, 'RequestEntityTooLarge', error.message);
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
