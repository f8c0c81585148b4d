/**
 * Keeps web pages out while whoever reaches the server is let in, as with the public key of emulators. A page of anybody can send requests to this machine, and with
 * a name of its own that resolves to a loopback address (DNS rebinding) it even reads the answers. So only names that are
 * this machine's are taken as Host, and requests that browsers send for pages of other origins only where a rule says so.
 */
import type { Exchange, HttpHandler } from './exchange.ts';

export interface Guard {
  /** True while it is needed: while whoever can reach the server is let in. Asked for every request. */
  isOn(): boolean;
  /** Names and addresses beside those of loopback, in lower case; `*.` stands for one further label. */
  readonly names: readonly string[];
  /** Whether a rule lets pages of the Origin that was sent do this; undefined: the API has no rules. */
  readonly allowsOrigin?: ((exchange: Exchange) => boolean) | undefined;
  /** Told of every request that was turned away. */
  readonly onRefusal?: (refusal: GuardRefusal) => void;
}

/** Made for logs. */
export interface GuardRefusal {
  readonly from: string;
  readonly method: string;
  readonly status: number;
  readonly reason: string;
}

/** A handler that gets only what the guard lets pass. */
export function guardedHandler(handler: HttpHandler, guard: Guard): HttpHandler {
  // Clients keep to one name.
  let lastHost: string | undefined;
  return (exchange) => {
    if (!guard.isOn()) {
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

/** True for a name that only this machine has, and for the names given; a port may follow. */
export function isOwnHost(host: string, names: readonly string[]): boolean {
  const name = nameOf(host);
  return name !== undefined && (isLoopbackName(name) || names.some((own) => isNamed(name, own)));
}

/** An address without brackets, a name without the dot of the root; undefined for what is neither. */
function nameOf(host: string): string | undefined {
  const match = /^(?:\[([\da-f:.]+)\]|([\w.-]+?)\.?)(?::\d{1,5})?$/i.exec(host);
  return (match?.[1] ?? match?.[2])?.toLowerCase();
}

/** Names below localhost are loopback wherever they are looked up (RFC 6761). */
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

/** Browsers send a scheme and a host, or `null` for pages without them (nothing is taken for that); any other text is a program's. */
function isOfPage(origin: string): boolean {
  return origin === '' || origin === 'null' || origin.includes('://');
}

/** Of a page that this server itself has sent. */
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
