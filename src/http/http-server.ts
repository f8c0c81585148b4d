/**
 * A server whose connections begin in the direct lane and end up with node:http where a client is not an ordinary one.
 * Both give their requests to the same handler. It is a node:http server: limits, counts and ways to close hold for all
 * connections.
 */
import { Server, type ServerOptions } from 'node:http';
import type { Socket } from 'node:net';
import { type Clock, systemClock } from '../base/index.ts';
import { AnswerHeads } from './answer-head.ts';
import { DirectConnection, type Lane } from './direct-connection.ts';
import type { HttpHandler } from './exchange.ts';
import { overNodeHttp } from './node-exchange.ts';
import { DISCARD_BYTES_MAX } from './request-body.ts';
import { RequestHeads } from './request-head.ts';
import { Turn } from './turn.ts';

/** How often requests that arrive in pieces are looked at. */
const SWEEP_MS = 5000;

export class HttpServer extends Server {
  readonly #connections = new Set<DirectConnection>();
  readonly #waiting = new Set<DirectConnection>();

  constructor(options: ServerOptions, handler: HttpHandler, clock: Clock = systemClock) {
    super(options, overNodeHttp(handler));
    const [serveByNode] = this.listeners('connection') as [(socket: Socket) => void];
    this.removeListener('connection', serveByNode);
    const lane = this.#openLane(handler, clock, serveByNode);
    this.on('connection', (socket) => {
      this.#connections.add(new DirectConnection(socket, lane));
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

  #openLane(handler: HttpHandler, clock: Clock, serveByNode: (socket: Socket) => void): Lane {
    const server = this;
    return {
      handler,
      requestHeads: new RequestHeads(DISCARD_BYTES_MAX),
      answerHeads: new AnswerHeads(clock, this.keepAliveTimeout),
      idleMs: this.keepAliveTimeout + this.keepAliveTimeoutBuffer,
      waiting: this.#waiting,
      turn: new Turn(),
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
