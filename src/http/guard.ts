/**
 * Keeps web pages out while every caller is let in, as with the public key of emulators. Any page can send requests to
 * this machine, and with a name that resolves to a loopback address (DNS rebinding) it can read the responses. So only
 * names of this machine are accepted as Host, and requests of pages of other origins only where a CORS rule allows them.
 */
import { type IncomingMessage, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Exchange, HttpHandler } from './exchange.ts';
import type { UpgradeHandler } from './upgrades.ts';

export interface Guard {
  /** The guard is active while every caller is let in. Asked at every request. */
  readonly access: { isOpenToAnyone(): boolean };
  /** Names and addresses beside those of loopback, in lower case; `*.` matches one further label. */
  readonly names: readonly string[];
  /** Whether a rule lets pages of the Origin that was sent do this; undefined: the API has no rules. */
  readonly allowsOrigin?: ((exchange: Exchange) => boolean) | undefined;
  /** Receives every refusal. */
  readonly onRefusal?: (refusal: GuardRefusal) => void;
}

/** One refused request, for the log. */
export interface GuardRefusal {
  readonly from: string;
  readonly method: string;
  readonly status: number;
  readonly reason: string;
}

/** A handler that receives only the requests that the guard accepts. */
export function guardedHandler(handler: HttpHandler, guard: Guard): HttpHandler {
  // Clients use one name, so the last one that was accepted needs no second check.
  let lastHost: string | undefined;
  return (exchange) => {
    if (!guard.access.isOpenToAnyone()) {
      handler(exchange);
      return;
    }
    const { host, origin } = exchange.headers;
    if (host !== lastHost && host !== undefined) {
      if (!isOwnHost(host, guard.names)) {
        refuse(exchange, guard, FOREIGN_HOST);
        return;
      }
      lastHost = host;
    }
    const isForeign = origin !== undefined && isOfPage(origin) && !isOwnOrigin(origin, host);
    if (isForeign && guard.allowsOrigin?.(exchange) !== true)
      refuse(exchange, guard, FOREIGN_ORIGIN);
    else handler(exchange);
  };
}

/** The same for connections that leave HTTP: pages may open WebSockets to every host, and no CORS rule is asked. */
export function guardedUpgrade(upgrade: UpgradeHandler, guard: Guard): UpgradeHandler {
  return (request, socket, head) => {
    const refusal = guard.access.isOpenToAnyone() ? upgradeRefusal(request, guard) : undefined;
    if (refusal === undefined) return upgrade(request, socket, head);
    refuseUpgrade(request, socket, guard, refusal);
    return undefined;
  };
}

function upgradeRefusal({ headers }: IncomingMessage, guard: Guard): Refusal | undefined {
  const { host, origin } = headers;
  if (host !== undefined && !isOwnHost(host, guard.names)) return FOREIGN_HOST;
  if (origin !== undefined && isOfPage(origin) && !isOwnOrigin(origin, host)) return FOREIGN_ORIGIN;
  return undefined;
}

/** True for a loopback name and for the names given; a port may follow. */
export function isOwnHost(host: string, names: readonly string[]): boolean {
  const name = nameOf(host);
  return name !== undefined && (isLoopbackName(name) || names.some((own) => isNamed(name, own)));
}

/** An address without brackets, or a name without the trailing dot; undefined for anything else. */
function nameOf(host: string): string | undefined {
  const match = /^(?:\[([\da-f:.]+)\]|([\w.-]+?)\.?)(?::\d{1,5})?$/i.exec(host);
  return (match?.[1] ?? match?.[2])?.toLowerCase();
}

/** Names below localhost always resolve to loopback addresses (RFC 6761). */
function isLoopbackName(name: string): boolean {
  return (
    name === 'localhost' ||
    name.endsWith('.localhost') ||
    name === '::1' ||
    /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(name)
  );
}

function isNamed(name: string, own: string): boolean {
  if (!own.startsWith('*.')) return name === own;
  const dot = name.indexOf('.');
  return dot > 0 && name.slice(dot) === own.slice(1);
}

/**
 * Browsers send a scheme and a host, or `null` for pages without them; an empty text is treated as one of a page. Any
 * other text comes from a program.
 */
function isOfPage(origin: string): boolean {
  return origin === '' || origin === 'null' || origin.includes('://');
}

/** True for a page that this server itself has sent. */
function isOwnOrigin(origin: string, host: string | undefined): boolean {
  const scheme = /^https?:\/\//.exec(origin)?.[0];
  return scheme !== undefined && origin.slice(scheme.length) === host?.toLowerCase();
}

interface Refusal {
  readonly status: number;
  readonly code: string;
  readonly reason: string;
  readonly message: string;
}

const WHILE_PUBLIC = 'While the account key is public or short, or every identity is taken,';

const FOREIGN_HOST: Refusal = {
  status: 421,
  code: 'MisdirectedRequest',
  reason: 'the host is not a name of this machine',
  message: `${WHILE_PUBLIC} the server answers to localhost and loopback addresses only. Use one of them, name this host with --tls-names, or start the server with a --key of your own.`,
};

const FOREIGN_ORIGIN: Refusal = {
  status: 403,
  code: 'Forbidden',
  reason: 'a web page of another origin',
  message: `${WHILE_PUBLIC} requests of web pages of other origins are refused. Allow the origin with a CORS rule of the table service, or start the server with a --key of your own.`,
};

function refuse(exchange: Exchange, { onRefusal }: Guard, refusal: Refusal): void {
  const { status, code, reason, message } = refusal;
  const { method, remoteAddress } = exchange;
  const headers = ['content-type', 'application/json', 'cache-control', 'no-store'];
  exchange.send(status, headers, `${JSON.stringify({ code, message })}\n`);
  onRefusal?.({ from: remoteAddress ?? 'unknown', method, status, reason });
}

function refuseUpgrade(
  request: IncomingMessage,
  socket: Duplex,
  { onRefusal }: Guard,
  refusal: Refusal,
): void {
  const { status, code, reason, message } = refusal;
  const body = `${JSON.stringify({ code, message })}\n`;
  const phrase = STATUS_CODES[status] ?? '';
  socket.end(
    `HTTP/1.1 ${status} ${phrase}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
    () => socket.destroy(),
  );
  const from = request.socket.remoteAddress ?? 'unknown';
  onRefusal?.({ from, method: request.method ?? 'GET', status, reason });
}
