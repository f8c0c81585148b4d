/**
 * TLS on the port of a plain protocol. A client's first bytes show which it speaks: a TLS record begins with 22 and its
 * version. Both end up in the same server, so its limits, counts and shutdown hold for both.
 */
import type { Server, Socket } from 'node:net';
import { createServer, type TLSSocket } from 'node:tls';
import type { Leaf } from './authority.ts';
import type { Certificates } from './certificates.ts';

/**
 * A TLS record: 22 for a handshake, 3, and 1 to 4. The first byte decides, but for MongoDB, whose messages begin with
 * their length in little endian: one that begins with these three bytes would be a first message of 64 kilobytes.
 */
const TLS_HANDSHAKE = 22;
const TLS_MAJOR = 3;
const TLS_MINOR_MAX = 4;
const TLS_PREFIX_BYTES = 3;

/** Bound for clients that connect and send nothing, or begin a handshake and stop. */
const HANDSHAKE_MS = 30_000;

export interface TlsOptions {
  readonly certificates: Certificates;
  /** False: a plain connection is refused. */
  readonly isPlainServed: boolean;
}

/** The plain protocol of the port. */
export interface PlainProtocol {
  /** The name that clients negotiate in the handshake; undefined where the protocol has none. */
  readonly alpn?: string;
  /** True where a client may close its half and still wait for a response. */
  readonly allowsHalfOpen: boolean;
  /** Ends a plain connection where only TLS is served, with an error where the protocol has one. */
  refusePlain(socket: Socket): void;
}

/**
 * Must be called before the server has any connection listener but node's own. Returns the connections whose
 * handshake is not finished: they have no open requests.
 */
export function acceptTls(
  server: Server,
  { certificates, isPlainServed }: TlsOptions,
  { alpn, allowsHalfOpen, refusePlain }: PlainProtocol,
): Iterable<Socket> {
  const handshakes = new Handshakes();
  const [serve] = server.listeners('connection') as [(socket: Socket) => void];
  server.removeListener('connection', serve);
  const secure = createServer({
    ...(alpn === undefined ? {} : { ALPNProtocols: [alpn] }),
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
    socket.allowHalfOpen = allowsHalfOpen;
    serve.call(server, socket);
  });
  secure.on('tlsClientError', (_error, socket) => socket.destroy());
  let shown: Leaf | undefined;
  const begin = (socket: Socket, isTls: boolean): void => {
    if (isTls) {
      const { first } = certificates;
      if (shown !== first) secure.setSecureContext({ cert: first.certificate, key: first.key });
      shown = first;
      // A client that rejects the certificate closes its half; the other half would stay open until the timeout.
      socket.allowHalfOpen = false;
      handshakes.begin(socket);
      secure.emit('connection', socket);
    } else if (isPlainServed) serve.call(server, socket);
    else refusePlain(socket);
  };
  server.on('connection', (socket: Socket) => awaitFirstBytes(socket, begin));
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

function awaitFirstBytes(socket: Socket, begin: (socket: Socket, isTls: boolean) => void): void {
  const giveUp = (): void => void socket.destroy();
  socket.setTimeout(HANDSHAKE_MS, giveUp);
  socket.on('error', giveUp);
  let seen: Buffer | undefined;
  const read = (): void => {
    const chunk: Buffer | null = socket.read();
    if (chunk === null) {
      giveUp();
      return;
    }
    seen = seen === undefined ? chunk : Buffer.concat([seen, chunk]);
    const isTls = isTlsRecord(seen);
    if (isTls === undefined) return;
    socket.setTimeout(0);
    socket.removeListener('timeout', giveUp);
    socket.removeListener('error', giveUp);
    socket.removeListener('readable', read);
    socket.unshift(seen);
    begin(socket, isTls);
  };
  socket.on('readable', read);
}

/** Undefined: more bytes are needed. */
function isTlsRecord(seen: Buffer): boolean | undefined {
  if (seen[0] !== TLS_HANDSHAKE) return false;
  if (seen.length < TLS_PREFIX_BYTES) return undefined;
  const minor = seen[2] as number;
  return seen[1] === TLS_MAJOR && minor >= 1 && minor <= TLS_MINOR_MAX;
}
