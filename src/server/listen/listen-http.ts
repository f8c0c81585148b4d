/**
 * HTTP listeners: the settings that keep them alive under bad clients, and an error response to bytes that are not HTTP.
 * Idle keep-alive connections cost a few kilobytes each and no time; timeouts end half-sent requests.
 */
import type { Socket } from 'node:net';
import { type HttpHandler, HttpServer, type UpgradeHandler } from '../../http/index.ts';
import { type Listener, type ListenOptions, openListener } from './listener.ts';

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
/** Delay of the TCP probes that find clients which vanished without closing. */
const TCP_PROBE_DELAY_MS = 60_000;

interface HttpListenOptions extends ListenOptions {
  readonly handler: HttpHandler;
  /** False: node:http reads every request. */
  readonly hasFastPath?: boolean;
  /** The keep-alive time that responses announce, where it is less than connections really stay open. */
  readonly announcedKeepAliveMs?: number | undefined;
  /** Takes connections that leave HTTP, as for WebSockets; undefined: none may. */
  readonly upgrade?: UpgradeHandler | undefined;
  /** Receives errors of the connections that left HTTP; each ends its own. */
  readonly onUpgradeFailure?: ((error: unknown) => void) | undefined;
}

/** Serves when the promise resolves. Rejects with ExitError 1. */
export function listenHttp(options: HttpListenOptions): Promise<Listener> {
  const { handler, announcedKeepAliveMs = KEEP_ALIVE_MS, hasFastPath = true } = options;
  const { upgrade, onUpgradeFailure } = options;
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
      upgrade,
      onUpgradeFailure,
    },
    handler,
  );
  server.on('clientError', refuseBadClient);
  return openListener(server, options, { alpn: 'http/1.1', allowsHalfOpen: true, refusePlain });
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

const TLS_EXPECTED = JSON.stringify({
  code: 'BadRequest',
  message: 'This port speaks TLS only: use an https:// endpoint.',
});

function refusePlain(socket: Socket): void {
  socket.on('error', () => socket.destroy());
  socket.end(
    `HTTP/1.1 400 Bad Request\r\nContent-Type: application/json\r\nContent-Length: ${TLS_EXPECTED.length}\r\nConnection: close\r\n\r\n${TLS_EXPECTED}`,
    () => socket.destroy(),
  );
}
