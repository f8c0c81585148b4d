/** A plain client of the public HTTP API: signs, sends, and reports refusals in one line. */
import { createHmac } from 'node:crypto';
import { append } from '../base/index.ts';
import { CommandError } from './command-error.ts';

const API_VERSION = '2020-07-15';
const TIMEOUT_MS = 60_000;

export interface ClientOptions {
  readonly endpoint: string;
  /** Base64. */
  readonly key: string;
}

interface ClientRequest {
  readonly verb: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Names as people write them; encoded here. `['dbs', 'a', 'colls']` */
  readonly path: readonly string[];
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface ClientReply {
  readonly headers: Headers;
  /** Parsed JSON; undefined where there is none. */
  readonly body: unknown;
}

/** Throws CommandError 1 when the server refuses or cannot be reached. */
export async function send(options: ClientOptions, request: ClientRequest): Promise<ClientReply> {
  const { verb, path, query, body } = request;
  const url = new URL(path.map(encodeURIComponent).join('/'), baseOf(options.endpoint));
  for (const [name, value] of Object.entries(query ?? {})) url.searchParams.set(name, value);
  const date = new Date().toUTCString();
  const headers = {
    authorization: authorization({ verb, path, date, key: options.key }),
    'x-ms-date': date,
    'x-ms-version': API_VERSION,
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    ...request.headers,
  };
  const response = await reach(url, {
    method: verb,
    headers,
    ...(body === undefined ? {} : { body }),
  });
  const text = await response.text();
  if (response.ok) return { headers: response.headers, body: parseJson(text) };
  throw new CommandError(1, refusalText(response.status, text));
}

/** All pages of a feed, as one list. */
export async function sendFeed(
  options: ClientOptions,
  path: readonly string[],
  listName: string,
): Promise<readonly unknown[]> {
  const entries: unknown[] = [];
  let continuation: string | null = null;
  do {
    const reply: ClientReply = await send(options, {
      verb: 'GET',
      path,
      headers: continuation === null ? {} : { 'x-ms-continuation': continuation },
    });
    const list = property(reply.body, listName);
    if (Array.isArray(list)) append(entries, list);
    continuation = reply.headers.get('x-ms-continuation');
  } while (continuation !== null && continuation !== '');
  return entries;
}

interface Signed {
  readonly verb: string;
  readonly path: readonly string[];
  readonly date: string;
  readonly key: string;
}

/** Master-key signature: a resource is signed by its own link, a feed or a creation by its parent's. */
export function authorization({ verb, path, date, key }: Signed): string {
  const isAdmin = path[0] === '_mesocosm';
  const isFeed = path.length % 2 === 1;
  const type = isAdmin ? '' : (path.at(isFeed ? -1 : -2) ?? '');
  // Offers have no names: they are signed by their resource id alone.
  const own = path[0] === 'offers' ? path.slice(1).join('/').toLowerCase() : path.join('/');
  const link = isAdmin || !isFeed ? own : path.slice(0, -1).join('/');
  const text = `${verb.toLowerCase()}\n${type}\n${link}\n${date.toLowerCase()}\n\n`;
  const signature = createHmac('sha256', Buffer.from(key, 'base64')).update(text).digest('base64');
  return encodeURIComponent(`type=master&ver=1.0&sig=${signature}`);
}

export function property(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null
    ? (value as Record<string, unknown>)[name]
    : undefined;
}

function baseOf(endpoint: string): URL {
  try {
    const url = new URL(endpoint.endsWith('/') ? endpoint : `${endpoint}/`);
    if (url.protocol === 'http:' || url.protocol === 'https:') return url;
  } catch {
    // Not a URL: gets the same message as every other invalid address.
  }
  throw new CommandError(
    2,
    `--endpoint ${JSON.stringify(endpoint)}: allowed is http://HOST:PORT/.`,
  );
}

async function reach(url: URL, init: RequestInit): Promise<Response> {
  try {
    return await fetch(url, { ...init, signal: AbortSignal.timeout(TIMEOUT_MS) });
  } catch (error) {
    const cause = error instanceof Error ? (error.cause ?? error) : error;
    const reason =
      cause instanceof Error ? cause.message || String(property(cause, 'code')) : cause;
    throw new CommandError(1, `cannot reach ${url.origin}/: ${reason}. ${adviceFor(cause)}`);
  }
}

/** Error codes of OpenSSL and Node for invalid certificates. */
const CERTIFICATE_FAULT = /CERT|VERIFY|ALTNAME/;

function adviceFor(cause: unknown): string {
  return CERTIFICATE_FAULT.test(String(property(cause, 'code')))
    ? 'Name the authority that signed its certificate with --ca FILE (or MESOCOSM_CA): DATA/tls/ca.pem, or GET /_mesocosm/ca.pem over plain HTTP.'
    : 'Is the server started (mesocosm start), and --endpoint right?';
}

function refusalText(status: number, text: string): string {
  const body = parseJson(text);
  const code = property(body, 'code') ?? 'refused';
  const message = String(property(body, 'message') ?? text);
  const [first = ''] = message.split('\r\n');
  return `${status} ${code}: ${reasonsOf(first) ?? first}`;
}

/** The service wraps its reasons in `Message: {"Errors":["…"]}`, those of a query in `{"errors":[{"message":"…"}]}`. */
function reasonsOf(line: string): string | undefined {
  const wrapped = parseJson(line.replace(/^Message: /, ''));
  const list = property(wrapped, 'Errors') ?? property(wrapped, 'errors');
  if (!Array.isArray(list) || list.length === 0) return undefined;
  return list
    .map((reason) => (typeof reason === 'string' ? reason : String(property(reason, 'message'))))
    .join(' ');
}

function parseJson(text: string): unknown {
  try {
    return text === '' ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}
