/** One port: what listeners of all protocols have in common. */
import type { AddressInfo, Server, Socket } from 'node:net';
import { ExitError } from '../exit-error.ts';
import { acceptTls, type PlainProtocol, type TlsOptions } from '../tls/index.ts';
import type { ConnectionCount } from './connection-count.ts';

/** Pending connections of a burst, beyond Node's 511. */
const BACKLOG = 4096;

export interface Listener {
  readonly server: StoppableServer;
  readonly port: number;
  /** Open connections. */
  readonly sockets: ReadonlySet<Socket>;
  /** Connections whose TLS handshake is not finished. */
  readonly handshakes: Iterable<Socket>;
  /** Connections that were closed at once because there were too many. */
  readonly refusedCount: number;
}

/** A server of node:http, or one of byte streams. `close` stops accepting and lets open requests finish. */
interface StoppableServer extends Server {
  /** Closes connections without an open request; called again and again while the server stops. */
  closeIdleConnections(): void;
  closeAllConnections(): void;
}

export interface ListenOptions {
  readonly host: string;
  readonly port: number;
  /** The flag to name in the message when the port cannot be used. */
  readonly flag: string;
  /** Shared by all listeners of a server. */
  readonly connections: ConnectionCount;
  /** Undefined: no TLS. */
  readonly tls?: TlsOptions | undefined;
  /** Receives failures to accept a connection, as when file handles run out; the listener goes on. */
  readonly onError: (error: Error) => void;
}

/** Serves when the promise resolves. Rejects with ExitError 1. */
export function openListener(
  server: StoppableServer,
  options: ListenOptions,
  plain: PlainProtocol,
): Promise<Listener> {
  const { host, port, tls, onError, connections } = options;
  // Node asks at every connection: none is too many while others may be opened.
  Object.defineProperty(server, 'maxConnections', {
    get: () => (connections.isFull ? 0 : Number.POSITIVE_INFINITY),
  });
  let refusedCount = 0;
  server.on('drop', () => {
    refusedCount += 1;
  });
  const handshakes = tls === undefined ? [] : acceptTls(server, tls, plain);
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    connections.open += 1;
    socket.once('close', () => {
      sockets.delete(socket);
      connections.open -= 1;
    });
  });
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      server.close();
      reject(new ExitError(1, listenFailure(error, options)));
    });
    server.listen({ host, port, backlog: BACKLOG }, () => {
      server.removeAllListeners('error').on('error', onError);
      resolve({
        server,
        port: (server.address() as AddressInfo).port,
        sockets,
        handshakes,
        get refusedCount() {
          return refusedCount;
        },
      });
    });
  });
}

function listenFailure(error: NodeJS.ErrnoException, { host, port, flag }: ListenOptions): string {
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
