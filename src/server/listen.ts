/**
 * HTTP listeners: the settings that keep them alive under bad clients, and an error response to bytes that are not HTTP.
 * Idle keep-alive connections cost a few kilobytes each and no time; timeouts end half-sent requests.
 */
import type { Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { type HttpHandler, HttpServer } from '../http/index.ts';
import { ExitError } from './exit-error.ts';
import { acceptTls, type TlsOptions } from './tls/index.ts';

/** Clients keep pooled connections for a minute or two; a server that closes first may lose the client's next request. */
const KEEP_ALIVE_MS = 120_000;
/** The client's clock for an idle connection starts later than ours. */
const KEEP_ALIVE_GRACE_MS = 1000;
/** A request line and headers fit one packet or two; a client that needs longer will not finish. */
const HEADERS_TIMEOUT_MS = 60_000;
/** Enough for two megabytes of body over a slow connection. */
const REQUEST_TIMEOUT_MS = 120_000;
/** Session tokens of containers with many partitions, and continuation tokens, travel in headers. */
const HEADER_BYTES_MAX = 64 * 1024;
/** Above this, new connections are closed at once, so that those being served keep memory and file handles. */
const CONNECTIONS_MAX = 20_000;
/** Pending connections of a burst, beyond Node's 511. */
const BACKLOG = 4096;
/** Delay of the TCP probes that find clients which vanished without closing. */
const TCP_PROBE_DELAY_MS = 60_000;

export interface Listener {
  readonly server: Server;
  readonly port: number;
  /** Open connections. */
  readonly sockets: ReadonlySet<Socket>;
  /** Connections whose TLS handshake is not finished. */
  readonly handshakes: Iterable<Socket>;
}

interface ListenOptions {
  readonly host: string;
  readonly port: number;
  /** The flag to name in the message when the port cannot be used. */
  readonly flag: string;
  readonly handler: HttpHandler;
  /** False: node:http reads every request. */
  readonly hasFastPath?: boolean;
  /** Connections that the limit of open files allows. */
  readonly connectionsMax: number;
  /** The keep-alive time that responses announce, where it is less than connections really stay open. */
  readonly announcedKeepAliveMs?: number | undefined;
  /** Undefined: plain HTTP only. */
  readonly tls?: TlsOptions | undefined;
  /** Receives failures to accept a connection, as when file handles run out; the listener goes on. */
  readonly onError: (error: Error) => void;
}

/** Serves when the promise resolves. Rejects with ExitError 1. */
export function listen(options: ListenOptions): Promise<Listener> {
  const { host, port, flag, handler, tls, onError, connectionsMax } = options;
  const { announcedKeepAliveMs = KEEP_ALIVE_MS, hasFastPath = true } = options;
  const server = new HttpServer(
    {
      keepAliveTimeout: announcedKeepAliveMs,
      keepAliveTimeoutBuffer: KEEP_ALIVE_MS - announcedKeepAliveMs + KEEP_ALIVE_GRACE_MS,
      headersTimeout: HEADERS_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      maxHeaderSize: HEADER_BYTES_MAX,
      keepAlive: true,
      keepAliveInitialDelay: TCP_PROBE_DELAY_MS,
      noDelay: true,
      // Such a request is `readableEnded` from the start and emits no `end`.
      optimizeEmptyRequests: true,
      hasFastPath,
    },
    handler,
  );
  server.maxConnections = Math.min(CONNECTIONS_MAX, connectionsMax);
  server.on('clientError', refuseBadClient);
  const handshakes = tls === undefined ? [] : acceptTls(server, tls);
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      reject(new ExitError(1, listenFailure(error, { host, port, flag })));
    });
    server.listen({ host, port, backlog: BACKLOG }, () => {
      server.removeAllListeners('error').on('error', onError);
      resolve({ server, port: (server.address() as AddressInfo).port, sockets, handshakes });
    });
  });
}

function listenFailure(
  error: NodeJS.ErrnoException,
  { host, port, flag }: Pick<ListenOptions, 'host' | 'port' | 'flag'>,
): string {
  switch (error.code) {
    case 'EADDRINUSE':
      return `port ${port} on ${host} is in use. Choose another with --${flag} (0 = any free port, off = not served).`;
    case 'EACCES':
      return `port ${port} needs rights this user does not have. Choose one above 1023 with --${flag}.`;
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return `${host} is no address of this machine. Choose another with --host.`;
    default:
      return `cannot listen on ${host}:${port} (--${flag}): ${error.message}`;
  }
}

const BAD_CLIENT_RESPONSES: Readonly<Record<string, readonly [string, string, string]>> = {
  HPE_HEADER_OVERFLOW: [
    '431 Request Header Fields Too Large',
    'RequestHeaderFieldsTooLarge',
    `The request line and headers together may have at most ${HEADER_BYTES_MAX} bytes.`,
  ],
  ERR_HTTP_REQUEST_TIMEOUT: [
    '408 Request Timeout',
    'RequestTimeout',
    'The request did not arrive in time.',
  ],
};

const NOT_HTTP: readonly [string, string, string] = [
  '400 Bad Request',
  'BadRequest',
  'The request is not valid HTTP/1.1.',
];

/** The parser gave up on this connection: no later byte can be trusted, so it gets an error response and is closed. */
function refuseBadClient(error: NodeJS.ErrnoException, socket: Socket): void {
  // An error response must not be written into the middle of another response (Node's own handler checks this too).
  const underWay = (socket as Socket & { _httpMessage?: { headersSent: boolean } })._httpMessage;
  if (error.code === 'ECONNRESET' || !socket.writable || underWay?.headersSent === true) {
    socket.destroy();
    return;
  }
  const [status, code, message] = BAD_CLIENT_RESPONSES[error.code ?? ''] ?? NOT_HTTP;
  const body = JSON.stringify({ code, message });
  socket.end(
    `HTTP/1.1 ${status}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
    // Bytes that the client still sends are not read.
    () => socket.destroy(),
  );
}
