/**
 * TLS on the port of an HTTP server. A client's first byte shows its protocol: a TLS record begins with 22, an HTTP
 * request with a letter. Both end up in the same server, so its limits, counts and shutdown hold for both.
 */
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { createServer, type TLSSocket } from 'node:tls';
import type { Leaf } from './authority.ts';
import type { Certificates } from './certificates.ts';

const TLS_HANDSHAKE = 22;

/** Bound for clients that connect and send nothing, or begin a handshake and stop. */
const HANDSHAKE_MS = 30_000;

export interface TlsOptions {
  readonly certificates: Certificates;
  /** False: a plain request gets an error response that names TLS. */
  readonly isPlainServed: boolean;
}

/**
 * Must be called before the server has any connection listener but node's own. Returns the connections whose
 * handshake is not finished: they have no open requests.
 */
export function acceptTls(
  server: Server,
  { certificates, isPlainServed }: TlsOptions,
): Iterable<Socket> {
  const handshakes = new Handshakes();
  const [serveHttp] = server.listeners('connection') as [(socket: Socket) => void];
  server.removeListener('connection', serveHttp);
  const secure = createServer({
    ALPNProtocols: ['http/1.1'],
    handshakeTimeout: HANDSHAKE_MS,
    SNICallback: (name, done) => {
      certificates.forName(name).then(
        (context) => done(null, context),
        (error: Error) => done(error),
      );
    },
  });
  secure.on('secureConnection', (socket: TLSSocket) => {
    handshakes.finish(socket);
    socket.allowHalfOpen = true;
    serveHttp.call(server, socket);
  });
  secure.on('tlsClientError', (_error, socket) => socket.destroy());
  let shown: Leaf | undefined;
  const begin = (socket: Socket, firstByte: number): void => {
    if (firstByte === TLS_HANDSHAKE) {
      const { first } = certificates;
      if (shown !== first) secure.setSecureContext({ cert: first.certificate, key: first.key });
      shown = first;
      // A client that rejects the certificate closes its half; the other half would stay open until the timeout.
      socket.allowHalfOpen = false;
      handshakes.begin(socket);
      secure.emit('connection', socket);
    } else if (isPlainServed) serveHttp.call(server, socket);
    else refusePlain(socket);
  };
  server.on('connection', (socket: Socket) => awaitFirstByte(socket, begin));
  return handshakes;
}

/** Connections by the client's address and port, which a socket and the TLS socket around it have in common. */
class Handshakes implements Iterable<Socket> {
  readonly #sockets = new Map<string, Socket>();

  begin(socket: Socket): void {
    const peer = peerOf(socket);
    this.#sockets.set(peer, socket);
    socket.once('close', () => {
      if (this.#sockets.get(peer) === socket) this.#sockets.delete(peer);
    });
  }

  finish(secured: TLSSocket): void {
    this.#sockets.delete(peerOf(secured));
  }

  [Symbol.iterator](): Iterator<Socket> {
    return this.#sockets.values();
  }
}

function peerOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}

function awaitFirstByte(socket: Socket, begin: (socket: Socket, firstByte: number) => void): void {
  const giveUp = (): void => void socket.destroy();
  socket.setTimeout(HANDSHAKE_MS, giveUp);
  socket.on('error', giveUp);
  socket.once('readable', () => {
    const chunk: Buffer | null = socket.read();
    if (chunk === null) {
      giveUp();
      return;
    }
    socket.setTimeout(0);
    socket.removeListener('timeout', giveUp);
    socket.removeListener('error', giveUp);
    socket.unshift(chunk);
    begin(socket, chunk[0] ?? 0);
  });
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
