/**
 * A node:http server whose connections begin on the fast path (`fast-path/`) and move to node:http at the first request
 * that is not simple. Both give their requests to the same handler. Limits, counts and shutdown of node:http hold for all
 * connections.
 */
import { Server, type ServerOptions } from 'node:http';
import type { Socket } from 'node:net';
import { assert, type Clock, systemClock } from '../base/index.ts';
import type { HttpHandler } from './exchange.ts';
import { FastConnection, type FastPath } from './fast-path/fast-connection.ts';
import { RequestHeads } from './fast-path/request-head.ts';
import { ResponseHeads } from './fast-path/response-head.ts';
import { overNodeHttp } from './node-exchange.ts';
import { RequestBatch } from './request-batch.ts';
import { DISCARD_BYTES_MAX } from './request-body.ts';
import { type UpgradeHandler, Upgrades } from './upgrades.ts';

/** Interval at which requests that arrive in pieces are checked for their timeout. */
const SWEEP_MS = 5000;

interface HttpServerOptions extends ServerOptions {
  /** For the Date header; the system's by default. */
  readonly clock?: Clock;
  /** False: node:http reads every request. True by default. */
  readonly hasFastPath?: boolean;
  /** Takes connections that leave HTTP; undefined: none may. */
  readonly upgrade?: UpgradeHandler | undefined;
  /** Receives errors of the upgrade handler and its connections. */
  readonly onUpgradeFailure?: ((error: unknown) => void) | undefined;
}

export class HttpServer extends Server {
  readonly #connections = new Set<FastConnection>();
  readonly #waiting = new Set<FastConnection>();
  readonly #upgrades: Upgrades | undefined;

  constructor(options: HttpServerOptions, handler: HttpHandler) {
    super(options, overNodeHttp(handler));
    const { clock = systemClock, hasFastPath = true } = options;
    const { upgrade, onUpgradeFailure = () => undefined } = options;
    if (upgrade !== undefined) this.#upgrades = new Upgrades(this, upgrade, onUpgradeFailure);
    if (hasFastPath) this.#beginOnFastPath(handler, clock);
  }

  /** Closes connections whose request began to arrive too long before now. */
  sweep(nowMs: number): void {
    for (const connection of this.#waiting) connection.expire(nowMs - this.requestTimeout);
  }

  override close(callback?: (error?: Error) => void): this {
    super.close(callback);
    this.#upgrades?.stop();
    return this;
  }

  override closeIdleConnections(): void {
    this.#upgrades?.closeIdle(performance.now());
    super.closeIdleConnections();
    for (const connection of this.#connections) if (connection.isIdle) connection.socket.destroy();
  }

  override closeAllConnections(): void {
    super.closeAllConnections();
    this.#upgrades?.closeAll();
    for (const connection of this.#connections) connection.socket.destroy();
  }

  #beginOnFastPath(handler: HttpHandler, clock: Clock): void {
    const [serveByNode] = this.listeners('connection') as [(socket: Socket) => void];
    assert(serveByNode !== undefined, 'node:http listens for connections');
    this.removeListener('connection', serveByNode);
    const fastPath = this.#openFastPath(handler, clock, serveByNode);
    this.on('connection', (socket) => {
      this.#connections.add(new FastConnection(socket, fastPath));
    });
    const sweep = setInterval(() => this.sweep(performance.now()), SWEEP_MS).unref();
    this.on('close', () => clearInterval(sweep));
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
