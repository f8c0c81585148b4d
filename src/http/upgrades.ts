/**
 * Connections that left HTTP for another protocol, as for WebSockets. The API takes the socket over; the server still
 * counts it, ends it where its client reads nothing, and waits for it when it stops.
 */
import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

/** A client that has not taken a single byte of what waits for it in this time will not take the rest. */
const STALLED_MS = 60_000;

/** The time that a client has to answer the end of the protocol, such as a close frame. */
const FAREWELL_MS = 1000;

/** The API's side of a connection that has left HTTP. */
export interface UpgradedConnection {
  /** True where no request is under way and nothing is left to send. */
  readonly isIdle: boolean;
  /** The server stops: finish the requests under way, take no others, then end as the protocol ends. Called once. */
  stop(): void;
}

/**
 * Takes a connection over, `head` being its first bytes after the request. Undefined: refused; the API has responded and
 * ended the socket. What it throws is logged and ends this connection only.
 */
export type UpgradeHandler = (
  request: IncomingMessage,
  socket: Duplex,
  head: Buffer,
) => UpgradedConnection | undefined;

export class Upgrades {
  readonly #handler: UpgradeHandler;
  readonly #onFailure: (error: unknown) => void;
  readonly #open = new Map<Socket, UpgradedConnection>();
  readonly #idleSinceMs = new Map<Socket, number>();
  #isStopping = false;

  constructor(server: Server, handler: UpgradeHandler, onFailure: (error: unknown) => void) {
    this.#handler = handler;
    this.#onFailure = onFailure;
    // The stream is the socket of the connection, plain or with TLS.
    server.on('upgrade', (request, stream, head) => this.#take(request, stream as Socket, head));
  }

  stop(): void {
    this.#isStopping = true;
    for (const socket of this.#open.keys()) this.#stopOne(socket);
  }

  /** While the server stops: a client that does not answer the end is not waited for. */
  closeIdle(nowMs: number): void {
    for (const [socket, connection] of this.#open) {
      if (!this.#isIdle(socket, connection)) continue;
      const sinceMs = this.#idleSinceMs.get(socket) ?? nowMs;
      this.#idleSinceMs.set(socket, sinceMs);
      if (nowMs - sinceMs > FAREWELL_MS) socket.destroy();
    }
  }

  closeAll(): void {
    for (const socket of this.#open.keys()) socket.destroy();
  }

  #take(request: IncomingMessage, socket: Socket, head: Buffer): void {
    // Nothing to do: `close` follows every error.
    socket.on('error', () => undefined);
    let connection: UpgradedConnection | undefined;
    try {
      connection = this.#handler(request, socket, head);
    } catch (error) {
      this.#fail(socket, error);
      return;
    }
    if (connection === undefined || socket.destroyed) return;
    this.#open.set(socket, connection);
    socket.once('close', () => {
      this.#open.delete(socket);
      this.#idleSinceMs.delete(socket);
    });
    socket.setTimeout(STALLED_MS);
    socket.on('timeout', () => {
      if (socket.writableLength > 0) socket.destroy();
      else socket.setTimeout(STALLED_MS);
    });
    if (this.#isStopping) this.#stopOne(socket);
  }

  #stopOne(socket: Socket): void {
    try {
      this.#open.get(socket)?.stop();
    } catch (error) {
      this.#fail(socket, error);
    }
  }

  #isIdle(socket: Socket, connection: UpgradedConnection): boolean {
    try {
      return connection.isIdle;
    } catch (error) {
      this.#fail(socket, error);
      return false;
    }
  }

  #fail(socket: Socket, error: unknown): void {
    socket.destroy();
    this.#onFailure(error);
  }
}
