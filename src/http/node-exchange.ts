/** An exchange over node:http, which reads all requests that are not simple. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Bytes, bytesToLatin1, type MaybePromise } from '../base/index.ts';
import {
  BaseExchange,
  FAILURE,
  isBodiless,
  JOINED_BODY_BYTES_MAX,
  lengthOf,
} from './base-exchange.ts';
import type { Exchange, HttpHandler, ResponseStream } from './exchange.ts';
import { collectBody, isUnreadBodyLong } from './request-body.ts';

/** A listener of a node:http server. */
export function overNodeHttp(
  handler: HttpHandler,
): (request: IncomingMessage, response: ServerResponse) => void {
  return (request, response) => handler(new NodeExchange(request, response));
}

class NodeExchange extends BaseExchange implements Exchange {
  /** No batch: an abort is noticed only while the body is read, so reading must begin at once. */
  readonly batch = undefined;
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;

  constructor(request: IncomingMessage, response: ServerResponse) {
    const { method = 'GET', url = '/', headers, socket } = request;
    super({ method, url, headers }, socket);
    this.#request = request;
    this.#response = response;
  }

  readBody(bytesMax: number): MaybePromise<Bytes> {
    return collectBody(this.#request, bytesMax);
  }

  send(
    status: number,
    headers: string[],
    body: Bytes | string | undefined,
    encoding?: 'latin1',
  ): void {
    const response = this.#response;
    if (response.destroyed || response.headersSent) return;
    if (isUnreadBodyLong(this.#request)) headers.push('connection', 'close');
    if (isBodiless(status)) {
      response.writeHead(status, headers);
      response.end();
      return;
    }
    const length = body === undefined ? 0 : lengthOf(body, encoding);
    headers.push('content-length', String(length));
    response.writeHead(status, headers);
    // Node leaves out the body of a response to HEAD.
    if (body === undefined) response.end();
    else if (typeof body === 'string') response.end(body, encoding ?? 'utf8');
    else if (length <= JOINED_BODY_BYTES_MAX) response.end(bytesToLatin1(body), 'latin1');
    else response.end(body);
  }

  stream(status: number, headers: string[]): ResponseStream | undefined {
    const response = this.#response;
    if (response.destroyed || response.headersSent) return undefined;
    response.writeHead(status, headers);
    response.flushHeaders();
    return {
      write: (text) => response.writable && response.write(text),
      end: () => void response.end(),
      onClose: (listener) => void response.once('close', listener),
    };
  }

  fail(): void {
    if (this.#response.headersSent) this.#response.destroy();
    else this.send(FAILURE.status, [...FAILURE.headers], FAILURE.body);
  }
}
