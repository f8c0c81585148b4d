/** A server of connections that speak one protocol. It ends connections that use up their times, and stops gracefully. */
import { Server, type Socket } from 'node:net';
import type { ByteProtocol, ConnectionInfo } from './byte-protocol.ts';
import { CONNECTION_LIMITS, type ConnectionLimits } from './connection-limits.ts';
import { HostedConnection, type Hosting } from './hosted-connection.ts';

/** Interval at which connections are checked for their times. */
const SWEEP_MS = 5000;

/** Delay of the TCP probes that find clients which vanished without closing. */
const TCP_PROBE_DELAY_MS = 60_000;

interface ByteServerOptions {
  readonly protocol: ByteProtocol;
  readonly limits?: Partial<ConnectionLimits>;
  /** Receives errors of the protocol; the connection is closed, others go on. */
  onFailure(error: unknown, info: ConnectionInfo): void;
}

export class ByteServer extends Server {
  readonly #connections = new Set<HostedConnection>();
  #lastId = 0;

  constructor({ protocol, limits, onFailure }: ByteServerOptions) {
    // A client that closes its half is gone: drivers never wait for replies after that.
    super({
      allowHalfOpen: false,
      noDelay: true,
      keepAlive: true,
      keepAliveInitialDelay: TCP_PROBE_DELAY_MS,
    });
    const hosting: Hosting = {
      protocol,
      limits: { ...CONNECTION_LIMITS, ...limits },
      onFailure,
      closed: (connection) => void this.#connections.delete(connection),
    };
    this.on('connection', (socket: Socket) => this.#host(socket, hosting));
    const sweep = setInterval(() => this.sweep(performance.now()), SWEEP_MS).unref();
    this.on('close', () => clearInterval(sweep));
  }

  /** Ends connections whose times are over. */
  sweep(nowMs: number): void {
    for (const connection of this.#connections) connection.expire(nowMs);
  }

  /** Stops accepting, and tells every connection to finish. */
  override close(callback?: (error?: Error) => void): this {
    super.close(callback);
    for (const connection of this.#connections) connection.stop();
    return this;
  }

  closeIdleConnections(): void {
    for (const connection of this.#connections) connection.endIfIdle();
  }

  closeAllConnections(): void {
    for (const connection of this.#connections) connection.destroy();
  }

  #host(socket: Socket, hosting: Hosting): void {
    this.#lastId += 1;
    const connection = new HostedConnection(socket, hosting, this.#lastId);
    if (!socket.destroyed) this.#connections.add(connection);
  }
}
