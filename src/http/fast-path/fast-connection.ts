/**
 * One connection whose simple requests are served without node:http, one after the other. At the first request that is
 * not simple the connection is handed over, with every byte from there on, and stays with node:http.
 */
import type { Socket } from 'node:net';
import { assert, type Bytes } from '../../base/index.ts';
import type { HttpHandler } from '../exchange.ts';
import { type BatchStep, type RequestBatch, STAGES } from '../request-batch.ts';
import { FastExchange } from './fast-exchange.ts';
import { IncomingBody } from './incoming-body.ts';
import { HEAD_BYTES_MAX, type RequestHead, type RequestHeads } from './request-head.ts';
import type { ResponseHeads } from './response-head.ts';

/**
 * The most pieces of one head: a head longer than a packet comes in a few. A client that sends more pieces is slow, and
 * better served by a parser that does not begin again with every piece.
 */
const HEAD_PIECES_MAX = 4;

/** The state that all fast connections of a server share. */
export interface FastPath {
  readonly handler: HttpHandler;
  readonly requestHeads: RequestHeads;
  readonly responseHeads: ResponseHeads;
  /** An idle connection is closed after this time. */
  readonly idleMs: number;
  readonly isStopping: boolean;
  readonly batch: RequestBatch;
  /** Connections that wait for the rest of a request. */
  readonly waiting: Set<FastConnection>;
  /** Gives the connection to node:http. */
  handOver(socket: Socket): void;
  /** Responds to a broken request by node's error code for it, and closes the connection. */
  refuse(socket: Socket, code: string): void;
  closed(connection: FastConnection): void;
}

export class FastConnection implements BatchStep {
  readonly socket: Socket;
  readonly #fastPath: FastPath;
  /** The request that has no response yet. */
  #exchange: FastExchange | undefined;
  /** The body that is still arriving, whether or not its request has its response. */
  #arriving: IncomingBody | undefined;
  /** Bytes after the current request; the socket is paused while there are any. */
  #rest: Buffer | undefined;
  /** The beginning of a head, and in how many pieces it came so far. */
  #partial: Buffer | undefined;
  #pieces = 0;
  #isServing = false;
  /** True when the client has closed its half of the connection. */
  #hasEnded = false;

  constructor(socket: Socket, fastPath: FastPath) {
    this.socket = socket;
    this.#fastPath = fastPath;
    socket.setTimeout(fastPath.idleMs);
    socket.on('data', this.#onData);
    socket.on('end', this.#onEnd);
    socket.on('drain', this.#onDrain);
    socket.on('timeout', this.#onTimeout);
    socket.on('error', this.#onError);
    socket.on('close', this.#onClose);
  }

  /** True where no request is open and everything is written. */
  get isIdle(): boolean {
    const hasBytes = this.#rest !== undefined || this.#partial !== undefined;
    return !this.#isBusy && !hasBytes && this.socket.writableLength === 0;
  }

  get batch(): RequestBatch {
    return this.#fastPath.batch;
  }

  /** The batch has come to this connection's request. */
  proceed(): void {
    if (this.#exchange !== undefined) this.#fastPath.handler(this.#exchange);
  }

  isUnderWay(exchange: FastExchange): boolean {
    return this.#exchange === exchange && this.socket.writable;
  }

  readBody(body: IncomingBody, bytesMax: number): Promise<Bytes> {
    const whole = body.read(bytesMax);
    if (this.#arriving === body) this.socket.resume();
    return whole;
  }

  printHead(status: number, headers: readonly string[]): string {
    return this.#fastPath.responseHeads.print(status, headers, this.#isLast);
  }

  write(text: string, body: Bytes | undefined): void {
    const { socket } = this;
    this.#fastPath.batch.hold(socket);
    if (body === undefined) {
      socket.write(text, 'latin1');
      return;
    }
    socket.cork();
    socket.write(text, 'latin1');
    socket.write(body);
    socket.uncork();
  }

  /** Called when the response to the current request is written. */
  responded(): void {
    const isLast = this.#isLast;
    this.#exchange = undefined;
    if (isLast) {
      this.socket.destroySoon();
      return;
    }
    if (this.#arriving !== undefined) {
      this.#arriving.drop();
      this.socket.resume();
    } else if (!this.#isServing) this.#continue();
  }

  /**
   * Called at intervals while the connection waits: closes it where the current request began too long ago. An incomplete
   * head goes to node:http, which has a timeout for heads.
   */
  expire(startedBeforeMs: number): void {
    if (this.#partial !== undefined) this.#handOver(this.#partial);
    if (this.#arriving === undefined || this.#arriving.startedMs > startedBeforeMs) return;
    if (this.#exchange === undefined) this.socket.destroy();
    else this.#fastPath.refuse(this.socket, 'ERR_HTTP_REQUEST_TIMEOUT');
  }

  get #isBusy(): boolean {
    return this.#exchange !== undefined || this.#arriving !== undefined;
  }

  get #isLast(): boolean {
    if (this.#arriving !== undefined) return false;
    return (this.#hasEnded && this.#rest === undefined) || this.#fastPath.isStopping;
  }

  readonly #onData = (chunk: Buffer): void => {
    const body = this.#arriving;
    if (body === undefined) {
      const partial = this.#partial;
      if (partial !== undefined) this.#fastPath.waiting.delete(this);
      this.#partial = undefined;
      this.#serve(partial === undefined ? chunk : Buffer.concat([partial, chunk]));
      return;
    }
    const taken = body.take(chunk);
    if (!body.isWhole) {
      // The handler has not asked for the body yet, and may never do so: no more of it is buffered.
      if (!body.isAwaited) this.socket.pause();
      return;
    }
    this.#arriving = undefined;
    this.#fastPath.waiting.delete(this);
    if (taken < chunk.length) this.#serve(chunk.subarray(taken));
    else if (this.#exchange === undefined) this.#continue();
  };

  /** Serves the complete requests in these bytes one after the other, until one does not get its response at once. */
  #serve(bytes: Buffer): void {
    const { socket } = this;
    const { requestHeads } = this.#fastPath;
    this.#rest = bytes;
    this.#isServing = true;
    while (this.#rest !== undefined && socket.writable) {
      // A client that does not read its responses gets no more of them.
      if (this.#isBusy || socket.writableNeedDrain) {
        socket.pause();
        break;
      }
      const rest: Buffer = this.#rest;
      const head = requestHeads.read(rest.toString('latin1', 0, HEAD_BYTES_MAX));
      if (head === undefined) this.#handOver(rest);
      else if (head === 'partial') this.#await(rest);
      else this.#begin(head, rest);
    }
    this.#isServing = false;
  }

  #await(partial: Buffer): void {
    if (partial.length >= HEAD_BYTES_MAX || this.#pieces >= HEAD_PIECES_MAX) {
      this.#handOver(partial);
      return;
    }
    this.#rest = undefined;
    this.#partial = partial;
    this.#pieces++;
    this.#fastPath.waiting.add(this);
  }

  #begin(head: RequestHead, bytes: Buffer): void {
    assert(!this.#isBusy, 'one request of a connection at a time');
    this.#pieces = 0;
    const end = head.bytes + head.bodyBytes;
    this.#rest = end < bytes.length ? bytes.subarray(end) : undefined;
    let body: Bytes | IncomingBody = bytes.subarray(head.bytes, end);
    if (end > bytes.length) {
      body = new IncomingBody(head.bodyBytes, performance.now());
      if (head.bytes < bytes.length) body.take(bytes.subarray(head.bytes));
      this.#arriving = body;
      this.#fastPath.waiting.add(this);
    }
    this.#exchange = new FastExchange(this, head, body);
    this.#fastPath.batch.await(STAGES.admit, this);
  }

  /** Continues with the bytes that waited for the end of the last request. */
  #continue(): void {
    if (this.#rest !== undefined) {
      this.socket.resume();
      this.#serve(this.#rest);
    } else if (this.#hasEnded) this.socket.end();
  }

  #handOver(rest: Buffer): void {
    const { socket } = this;
    assert(!this.#isBusy, 'a connection is handed over between two requests');
    this.#partial = undefined;
    this.#rest = undefined;
    if (this.#hasEnded) {
      // Bytes cannot be put back after the end of the stream.
      this.#fastPath.refuse(socket, INCOMPLETE);
      return;
    }
    this.#leave();
    socket.setTimeout(0);
    socket.off('data', this.#onData);
    socket.off('end', this.#onEnd);
    socket.off('drain', this.#onDrain);
    socket.off('timeout', this.#onTimeout);
    socket.off('error', this.#onError);
    socket.off('close', this.#onClose);
    // A flowing stream would not emit the bytes that are put back.
    socket.pause();
    socket.unshift(rest);
    this.#fastPath.handOver(socket);
    socket.resume();
  }

  readonly #onEnd = (): void => {
    this.#hasEnded = true;
    if (this.#partial !== undefined) this.#fastPath.refuse(this.socket, INCOMPLETE);
    else if (this.#arriving !== undefined) this.socket.destroy();
    else if (this.#exchange === undefined && this.#rest === undefined) this.socket.end();
  };

  readonly #onDrain = (): void => {
    if (this.#rest !== undefined && !this.#isBusy) this.#continue();
  };

  /** A connection with an open request is not idle, and one that arrives slowly has a limit of its own. */
  readonly #onTimeout = (): void => {
    if (!this.#isBusy) this.socket.destroy();
  };

  /** Nothing to do: `close` follows every error. */
  readonly #onError = (): void => undefined;

  readonly #onClose = (): void => {
    this.#leave();
    this.#arriving?.abort();
    this.#arriving = undefined;
    this.#partial = undefined;
    this.#rest = undefined;
  };

  #leave(): void {
    this.#fastPath.waiting.delete(this);
    this.#fastPath.closed(this);
  }
}

/** Node's error code for a request that ends in the middle. */
const INCOMPLETE = 'HPE_INVALID_EOF_STATE';
