/**
 * A server whose connections begin in the direct lane and end up with node:http where a client is not an ordinary one.
 * Both give their requests to the same handler. It is a node:http server: limits, counts and ways to close hold for all
 * connections.
 */
import { Server, type ServerOptions } from 'node:http';
import type { Socket } from 'node:net';
import { type Clock, systemClock } from '../base/index.ts';
import type { HttpHandler } from './exchange.ts';
import { FastConnection, type FastPath } from './fast-path/fast-connection.ts';
import { RequestHeads } from './fast-path/request-head.ts';
import { ResponseHeads } from './fast-path/response-head.ts';
import { overNodeHttp } from './node-exchange.ts';
import { RequestBatch } from './request-batch.ts';
import { DISCARD_BYTES_MAX } from './request-body.ts';

/** How often requests that arrive in pieces are looked at. */
const SWEEP_MS = 5000;

export class HttpServer extends Server {
  readonly #connections = new Set<FastConnection>();
  readonly #waiting = new Set<FastConnection>();

  constructor(options: ServerOptions, handler: HttpHandler, clock: Clock = systemClock) {
    super(options, overNodeHttp(handler));
    const [serveByNode] = this.listeners('connection') as [(socket: Socket) => void];
    this.removeListener('connection', serveByNode);
    const lane = this.#openFastPath(handler, clock, serveByNode);
    this.on('connection', (socket) => {
      this.#connections.add(new FastConnection(socket, lane));
    });
    const sweep = setInterval(() => this.sweep(performance.now()), SWEEP_MS).unref();
    this.on('close', () => clearInterval(sweep));
  }

  /** Cuts off what began to arrive too long before now. */
  sweep(nowMs: number): void {
    for (const connection of this.#waiting) connection.expire(nowMs - this.requestTimeout);
  }

  override closeIdleConnections(): void {
    super.closeIdleConnections();
    for (const connection of this.#connections) if (connection.isIdle) connection.socket.destroy();
  }

  override closeAllConnections(): void {
    super.closeAllConnections();
    for (const connection of this.#connections) connection.socket.destroy();
  }

  #openFastPath(
    handler: HttpHandler,
    clock: Clock,
    serveByNode: (socket: Socket) => void,
  ): FastPath {
    const server = this;
    return {
      handler,
      requestHeads: new RequestHeads(DISCARD_BYTES_MAX),
      responseHeads: new ResponseHeads(clock, this.keepAliveTimeout),
      idleMs: this.keepAliveTimeout + this.keepAliveTimeoutBuffer,
      waiting: this.#waiting,
      batch: new RequestBatch(),
      get isStopping() {
        return !server.listening;
      },
      handOver: (socket) => serveByNode.call(server, socket),
      refuse(socket, code) {
        const error = Object.assign(new Error('The request is not complete'), { code });
        if (!server.emit('clientError', error, socket)) socket.destroy();
      },
      closed: (connection) => void server.#connections.delete(connection),
    };
  }
}
