/**
 * The port of the portal: the page and its files, sessions, events, and the APIs for who is logged in.
 *
 *   GET  /assets/…            files of the page
 *   GET  /portal/session      who is logged in
 *   POST /portal/login|logout
 *   GET  /portal/events       server-sent events
 *   *    /portal/api/nosql/…  the NoSQL API, signed by the server
 *   *    /portal/api/…        the routes of /_mesocosm/
 *   *    /_mesocosm/…         the same, signed by the caller
 *   GET  anything else        the page
 */
import { randomBytes } from 'node:crypto';
import type { Admin } from '../api/admin/index.ts';
import { ITEM_BYTES_MAX, isPromise } from '../base/index.ts';
import type { Exchange, HttpHandler, HttpReply } from '../http/index.ts';
import { type Events, topicsIn } from './events.ts';
import type { NosqlClient } from './local/http-clients.ts';
import type { Role, Sessions } from './sessions.ts';
import type { StaticFiles } from './static-files.ts';

export interface PortalParts {
  readonly admin: Admin;
  readonly nosql: NosqlClient;
  readonly sessions: Sessions;
  readonly events: Events;
  readonly files: StaticFiles;
  readonly version: string;
  readonly onFailure: (failure: { readonly error: unknown; readonly path: string }) => void;
  readonly onRefusal: (refusal: { readonly from: string; readonly reason: string }) => void;
}

/** Reads and is safe to repeat; everything else needs the header that only our page sends. */
const SAFE_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD']);
const OWN_HEADER = 'x-mesocosm-portal';

export function createPortalHandler(parts: PortalParts): HttpHandler {
  return (exchange) => {
    respond(parts, exchange).catch((error) => {
      parts.onFailure({ error, path: exchange.url.slice(0, 512) });
      exchange.fail();
    });
  };
}

async function respond(parts: PortalParts, exchange: Exchange): Promise<void> {
  const { pathname } = new URL(exchange.url, 'http://localhost');
  if (pathname.startsWith('/_mesocosm/')) parts.admin.handler(exchange);
  else if (pathname.startsWith('/portal/')) await respondToPage(parts, exchange, pathname);
  else if (!SAFE_METHODS.has(exchange.method))
    sendJson(exchange, 405, refusal('MethodNotAllowed', 'Pages are only read.'));
  else if (pathname.startsWith('/assets/')) sendFile(parts, exchange, pathname);
  else sendPage(parts, exchange);
}

async function respondToPage(parts: PortalParts, exchange: Exchange, path: string): Promise<void> {
  const foreign = foreignReason(exchange);
  if (foreign !== undefined) {
    parts.onRefusal({ from: exchange.remoteAddress ?? 'unknown', reason: foreign });
    return sendJson(exchange, 403, refusal('Forbidden', `Refused: ${foreign}.`));
  }
  const { sessions } = parts;
  if (path === '/portal/login') return login(parts, exchange);
  const role = sessions.roleOf(exchange);
  if (path === '/portal/session')
    return sendJson(exchange, 200, {
      role: role ?? null,
      isOpen: sessions.isOpen,
      isReadOnly: sessions.isReadOnly,
      version: parts.version,
    });
  if (role === undefined)
    return sendJson(exchange, 401, refusal('Unauthorized', 'Log in with a key of the account.'));
  if (path === '/portal/logout') {
    const headers = [...SAFETY, 'set-cookie', sessions.logout(exchange)];
    return exchange.send(204, headers, undefined);
  }
  if (path === '/portal/events') return openEvents(parts, exchange);
  if (path.startsWith('/portal/api/nosql/')) return askNosql(parts, exchange, role);
  if (path.startsWith('/portal/api/')) return askAdmin(parts, exchange, role, path);
  sendJson(exchange, 404, refusal('NotFound', `There is nothing at ${path}.`));
}

/** Pages of others can send requests here, but neither our header nor our origin. */
function foreignReason({ method, headers }: Exchange): string | undefined {
  const { origin, host } = headers;
  const site = headers['sec-fetch-site'];
  if (origin !== undefined && origin.replace(/^https?:\/\//, '') !== host?.toLowerCase())
    return 'the request comes from a page of another origin';
  if (site !== undefined && site !== 'same-origin' && site !== 'none')
    return 'the request comes from a page of another site';
  if (!SAFE_METHODS.has(method) && headers[OWN_HEADER] !== '1')
    return `requests that may change something need the header ${OWN_HEADER}: 1`;
  return undefined;
}

const KEY_BYTES_MAX = 4096;

async function login(parts: PortalParts, exchange: Exchange): Promise<void> {
  if (exchange.method !== 'POST')
    return sendJson(exchange, 405, refusal('MethodNotAllowed', 'Log in with POST.'));
  const key = keyIn(Buffer.from(await exchange.readBody(KEY_BYTES_MAX)).toString('utf8'));
  const login = parts.sessions.login(key, exchange);
  const from = exchange.remoteAddress ?? 'unknown';
  switch (login.kind) {
    case 'accepted':
      return exchange.send(
        200,
        [...SAFETY, 'content-type', 'application/json', 'set-cookie', login.cookie],
        JSON.stringify({ role: login.role }),
      );
    case 'tooMany':
      parts.onRefusal({ from, reason: 'too many attempts to log in' });
      return sendJson(
        exchange,
        429,
        refusal('TooManyRequests', `Too many attempts: try again in ${login.retryAfterSec} s.`),
        ['retry-after', String(login.retryAfterSec)],
      );
    case 'refused':
      parts.onRefusal({ from, reason: 'a login with no key of the account' });
      return sendJson(exchange, 401, refusal('Unauthorized', 'This is no key of the account.'));
    default:
      login satisfies never;
  }
}

function keyIn(text: string): string {
  try {
    const { key } = JSON.parse(text);
    return typeof key === 'string' ? key.trim() : '';
  } catch {
    // Not JSON: there is no key in it.
    return '';
  }
}

function openEvents({ events }: PortalParts, exchange: Exchange): void {
  const { searchParams } = new URL(exchange.url, 'http://localhost');
  const topics = topicsIn(searchParams);
  if (searchParams.get('once') === '1') sendJson(exchange, 200, events.states(topics));
  else if (!events.open(exchange, topics, [...SAFETY]))
    sendJson(exchange, 503, refusal('ServiceUnavailable', 'Too many streams are open.'));
}

async function askAdmin(
  { admin }: PortalParts,
  exchange: Exchange,
  role: Role,
  path: string,
): Promise<void> {
  const name = path.slice('/portal/api/'.length);
  const reply: HttpReply = await admin.answer(exchange, name, role === 'write');
  exchange.send(
    reply.status,
    [...SAFETY, 'cache-control', 'no-store', ...reply.headers],
    reply.body,
  );
}

/** Headers of the NoSQL API that pages may send. */
const PASSED =
  /^(?:x-ms-(?!date$)[\w-]+|if-match|if-none-match|if-modified-since|content-type|a-im|prefer)$/;
const RETURNED = /^(?:x-ms-[\w-]+|etag|content-type|lsn)$/;
const RETRY_MS_MAX = 10_000;

async function askNosql({ nosql }: PortalParts, exchange: Exchange, role: Role): Promise<void> {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(exchange.headers))
    if (typeof value === 'string' && PASSED.test(name)) headers[name] = value;
  const read = exchange.readBody(ITEM_BYTES_MAX);
  const body = isPromise(read) ? await read : read;
  const url = exchange.url.slice('/portal/api/nosql'.length);
  const startedMs = performance.now();
  for (let retries = 0; ; retries++) {
    const { method } = exchange;
    const reply = await nosql({ method, url, headers, body, mayWrite: role === 'write' });
    const waitMs = Number(reply.headers['x-ms-retry-after-ms'] ?? 1000);
    const isOver = performance.now() - startedMs + waitMs > RETRY_MS_MAX;
    if (reply.status === 429 && !isOver && !exchange.isGone) {
      await new Promise((resolve) => setTimeout(resolve, waitMs));
      continue;
    }
    const flat = Object.entries(reply.headers).flatMap(([name, value]) =>
      RETURNED.test(name) ? [name, value] : [],
    );
    const own = ['cache-control', 'no-store', 'x-mesocosm-retries', String(retries)];
    return exchange.send(reply.status, [...SAFETY, ...own, ...flat], reply.body);
  }
}

/** Sent with every response. */
const SAFETY: readonly string[] = [
  'x-content-type-options',
  'nosniff',
  'referrer-policy',
  'no-referrer',
  'cross-origin-resource-policy',
  'same-origin',
];

const NONCE_BYTES = 16;

function sendPage({ files }: PortalParts, exchange: Exchange): void {
  const nonce = randomBytes(NONCE_BYTES).toString('base64');
  const page = files.page(nonce);
  if (page === undefined) {
    exchange.send(
      503,
      [...SAFETY, 'content-type', 'text/plain; charset=utf-8'],
      'The portal is not built: run npm run build.\n',
    );
    return;
  }
  exchange.send(
    200,
    [
      ...SAFETY,
      'content-type',
      'text/html; charset=utf-8',
      'cache-control',
      'no-store',
      'content-security-policy',
      contentPolicy(nonce),
      'cross-origin-opener-policy',
      'same-origin',
    ],
    page,
  );
}

function contentPolicy(nonce: string): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
  ].join('; ');
}

function sendFile({ files }: PortalParts, exchange: Exchange, path: string): void {
  const found = files.file(path, String(exchange.headers['accept-encoding'] ?? ''));
  if (found === undefined)
    sendJson(exchange, 404, refusal('NotFound', `There is nothing at ${path}.`));
  else exchange.send(200, [...SAFETY, ...found.headers], found.body);
}

function refusal(code: string, message: string): object {
  return { code, message };
}

function sendJson(exchange: Exchange, status: number, value: object, more: string[] = []): void {
  const headers = [...SAFETY, 'content-type', 'application/json', 'cache-control', 'no-store'];
  exchange.send(status, [...headers, ...more], `${JSON.stringify(value)}\n`);
}
