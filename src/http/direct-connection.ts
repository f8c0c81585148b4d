/**
 * One connection whose ordinary requests are served without node:http, one after the other. At the first request that
 * is not ordinary the connection is handed over, with every byte from there on, and stays with node:http.
 */
import type { Socket } from 'node:net';
import type { Bytes } from '../base/index.ts';
import type { AnswerHeads } from './answer-head.ts';
import { ArrivingBody } from './arriving-body.ts';
import { DirectExchange } from './direct-exchange.ts';
import type { HttpHandler } from './exchange.ts';
import { HEAD_BYTES_MAX, type RequestHead, type RequestHeads } from './request-head.ts';

/** What the connections of a server have in common. */
export interface Lane {
  readonly handler: HttpHandler;
  readonly requestHeads: RequestHeads;
  readonly answerHeads: AnswerHeads;
  /** Idle connections are closed after it. */
  readonly idleMs: number;
  readonly isStopping: boolean;
  /** Those that wait for the rest of a body. */
  readonly waiting: Set<DirectConnection>;
  /** Gives the connection to node:http. */
  handOver(socket: Socket): void;
  /** A request took longer to arrive than any may; answers and closes. */
  refuseSlow(socket: Socket): void;
  closed(connection: DirectConnection): void;
}

export class DirectConnection {
  readonly socket: Socket;
  readonly #lane: Lane;
  /** The request that is to be answered. */
  #exchange: DirectExchange | undefined;
  /** The rest of its body, answered or not. */
  #arriving: ArrivingBody | undefined;
  /** Bytes behind the request under way; while there are any the socket is paused. */
  #rest: Buffer | undefined;
  #isServing = false;
  /** The client will send no more. */
  #hasEnded = false;

  constructor(socket: Socket, lane: Lane) {
    this.socket = socket;
    this.#lane = lane;
    socket.setTimeout(lane.idleMs);
    socket.on('data', this.#onData);
    socket.on('end', this.#onEnd);
    socket.on('drain', this.#onDrain);
    socket.on('timeout', this.#onTimeout);
    socket.on('error', this.#onError);
    socket.on('close', this.#onClose);
  }

  /** Nothing is under way and everything is written. */
  get isIdle(): boolean {
    return !this.#isBusy && this.#rest === undefined && this.socket.writableLength === 0;
  }

  isUnderWay(exchange: DirectExchange): boolean {
    return this.#exchange === exchange && this.socket.writable;
  }

  readBody(body: ArrivingBody, bytesMax: number): Promise<Bytes> {
    const whole = body.read(bytesMax);
    if (this.#arriving === body) this.socket.resume();
    return whole;
  }

  printHead(status: number, headers: readonly string[]): string {
    return this.#lane.answerHeads.print(status, headers, this.#isLast);
  }

  write(text: string, body: Bytes | undefined): void {
    const { socket } = this;
    if (body === undefined) {
      socket.write(text, 'latin1');
      return;
    }
    socket.cork();
    socket.write(text, 'latin1');
    socket.write(body);
    socket.uncork();
  }

  /** The answer to the request under way is written. */
  answered(): void {
    const isLast = this.#isLast;
    this.#exchange = undefined;
    if (isLast) {
      this.socket.destroySoon();
      return;
    }
    if (this.#arriving !== undefined) {
      this.#arriving.drop();
      this.socket.resume();
    } else if (!this.#isServing) this.#goOn();
  }

  /** Cuts the connection off where the request under way began too long ago. */
  expire(startedBeforeMs: number): void {
    if (this.#arriving === undefined || this.#arriving.startedMs > startedBeforeMs) return;
    if (this.#exchange === undefined) this.socket.destroy();
    else this.#lane.refuseSlow(this.socket);
  }

  get #isBusy(): boolean {
    return this.#exchange !== undefined || this.#arriving !== undefined;
  }

  get #isLast(): boolean {
    return this.#hasEnded || (this.#lane.isStopping && this.#arriving === undefined);
  }

  readonly #onData = (chunk: Buffer): void => {
    const body = this.#arriving;
    if (body === undefined) {
      this.#serve(chunk);
      return;
    }
    const taken = body.take(chunk);
    if (!body.isWhole) {
      // Who will have it, and whether anyone, is not decided yet.
      if (!body.isAsked) this.socket.pause();
      return;
    }
    this.#arriving = undefined;
    this.#lane.waiting.delete(this);
    if (taken < chunk.length) this.#serve(chunk.subarray(taken));
    else if (this.#exchange === undefined) this.#goOn();
  };

  /** Requests that are all there, one after the other, as far as they are answered at once. */
  #serve(bytes: Buffer): void {
    const { socket } = this;
    const { requestHeads } = this.#lane;
    let rest = bytes;
    this.#isServing = true;
    while (rest.length > 0 && socket.writable) {
      // A client that does not read its answers gets no more of them.
      if (this.#isBusy || socket.writableNeedDrain) {
        this.#rest = rest;
        socket.pause();
        break;
      }
      const head = requestHeads.read(rest.toString('latin1', 0, HEAD_BYTES_MAX));
      if (head === undefined) {
        this.#handOver(rest);
        break;
      }
      rest = this.#begin(head, rest);
    }
    this.#isServing = false;
  }

  /** Answers what is behind the request. */
  #begin(head: RequestHead, bytes: Buffer): Buffer {
    const end = head.bytes + head.bodyBytes;
    let body: Bytes | ArrivingBody = bytes.subarray(head.bytes, end);
    if (end > bytes.length) {
      body = new ArrivingBody(head.bodyBytes, performance.now());
      if (head.bytes < bytes.length) body.take(bytes.subarray(head.bytes));
      this.#arriving = body;
      this.#lane.waiting.add(this);
    }
    this.#exchange = new DirectExchange(this, head, body);
    this.#lane.handler(this.#exchange);
    return end < bytes.length ? bytes.subarray(end) : NOTHING;
  }

  /** What waited behind the request that is over now. */
  #goOn(): void {
    const rest = this.#rest;
    if (rest === undefined) {
      if (this.#hasEnded) this.socket.end();
      return;
    }
    this.#rest = undefined;
    this.socket.resume();
    this.#serve(rest);
  }

  #handOver(rest: Buffer): void {
    const { socket } = this;
    this.#leave();
    socket.setTimeout(0);
    socket.off('data', this.#onData);
    socket.off('end', this.#onEnd);
    socket.off('drain', this.#onDrain);
    socket.off('timeout', this.#onTimeout);
    socket.off('error', this.#onError);
    socket.off('close', this.#onClose);
    // Only what was paused looks at bytes that were put back.
    socket.pause();
    socket.unshift(rest);
    this.#lane.handOver(socket);
    socket.resume();
  }

  readonly #onEnd = (): void => {
    this.#hasEnded = true;
    if (this.#arriving !== undefined) this.socket.destroy();
    else if (this.#exchange === undefined) this.socket.end();
  };

  readonly #onDrain = (): void => {
    if (this.#rest !== undefined && !this.#isBusy) this.#goOn();
  };

  /** A request that takes its time is not idle, and one that arrives slowly has a limit of its own. */
  readonly #onTimeout = (): void => {
    if (!this.#isBusy) this.socket.destroy();
  };

  /** The socket closes by itself. */
  readonly #onError = (): void => undefined;

  readonly #onClose = (): void => {
    this.#leave();
    this.#arriving?.abort();
    this.#arriving = undefined;
    this.#rest = undefined;
  };

  #leave(): void {
    this.#lane.waiting.delete(this);
    this.#lane.closed(this);
  }
}

const NOTHING = Buffer.alloc(0);
