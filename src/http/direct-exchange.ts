/** An exchange over a connection of our own. */
import type { IncomingHttpHeaders } from 'node:http';
import { type Bytes, bytesToLatin1, type MaybePromise } from '../base/index.ts';
import { isBodiless, JOINED_BODY_BYTES_MAX, lengthOf } from './answer-body.ts';
import type { ArrivingBody } from './arriving-body.ts';
import type { DirectConnection } from './direct-connection.ts';
import type { Exchange } from './exchange.ts';
import { isEncrypted, originOf } from './origin.ts';
import { tooLarge } from './request-body.ts';
import type { RequestHead } from './request-head.ts';

export class DirectExchange implements Exchange {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly #connection: DirectConnection;
  readonly #body: Bytes | ArrivingBody;

  constructor(connection: DirectConnection, head: RequestHead, body: Bytes | ArrivingBody) {
    this.method = head.method;
    this.url = head.url;
    this.headers = head.headers;
    this.#connection = connection;
    this.#body = body;
  }

  get remoteAddress(): string | undefined {
    return this.#connection.socket.remoteAddress;
  }

  get isEncrypted(): boolean {
    return isEncrypted(this.#connection.socket);
  }

  get origin(): string {
    return originOf(this.#connection.socket, this.headers.host);
  }

  readBody(bytesMax: number): MaybePromise<Bytes> {
    const body = this.#body;
    if (body instanceof Uint8Array) {
      if (body.length > bytesMax) throw tooLarge();
      return body;
    }
    return this.#connection.readBody(body, bytesMax);
  }

  send(
    status: number,
    headers: string[],
    body: Bytes | string | undefined,
    encoding?: 'latin1',
  ): void {
    const connection = this.#connection;
    if (!connection.isUnderWay(this)) return;
    if (isBodiless(status)) {
      connection.write(connection.printHead(status, headers), undefined);
    } else {
      const length = body === undefined ? 0 : lengthOf(body, encoding);
      headers.push('content-length', String(length));
      const head = connection.printHead(status, headers);
      if (body === undefined || this.method === 'HEAD') connection.write(head, undefined);
      else if (typeof body === 'string') {
        if (body.length === length) connection.write(head + body, undefined);
        else writeBytes(connection, head, Buffer.from(body));
      } else writeBytes(connection, head, body);
    }
    connection.answered();
  }
}

function writeBytes(connection: DirectConnection, head: string, body: Bytes): void {
  if (body.length > JOINED_BODY_BYTES_MAX) connection.write(head, body);
  else connection.write(head + bytesToLatin1(body), undefined);
}
