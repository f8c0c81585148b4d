/** An exchange over a connection on the fast path. */
import { type Bytes, bytesToLatin1, type MaybePromise } from '../../base/index.ts';
import {
  BaseExchange,
  FAILURE,
  isBodiless,
  JOINED_BODY_BYTES_MAX,
  lengthOf,
} from '../base-exchange.ts';
import type { Exchange } from '../exchange.ts';
import type { RequestBatch } from '../request-batch.ts';
import { tooLarge } from '../request-body.ts';
import type { FastConnection } from './fast-connection.ts';
import type { IncomingBody } from './incoming-body.ts';
import type { RequestHead } from './request-head.ts';

export class FastExchange extends BaseExchange implements Exchange {
  readonly #connection: FastConnection;
  readonly #body: Bytes | IncomingBody;
  /** True when a part of a response was written. */
  #isBegun = false;

  constructor(connection: FastConnection, head: RequestHead, body: Bytes | IncomingBody) {
    super(head, connection.socket);
    this.#connection = connection;
    this.#body = body;
  }

  get batch(): RequestBatch {
    return this.#connection.batch;
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
      const head = connection.printHead(status, headers);
      this.#isBegun = true;
      connection.write(head, undefined);
    } else {
      const length = body === undefined ? 0 : lengthOf(body, encoding);
      headers.push('content-length', String(length));
      const head = connection.printHead(status, headers);
      this.#isBegun = true;
      if (body === undefined || this.method === 'HEAD') connection.write(head, undefined);
      else if (typeof body === 'string') {
        if (body.length === length) connection.write(head + body, undefined);
        else writeBytes(connection, head, Buffer.from(body));
      } else writeBytes(connection, head, body);
    }
    connection.responded();
  }

  fail(): void {
    if (this.#isBegun) this.#connection.socket.destroy();
    else this.send(FAILURE.status, [...FAILURE.headers], FAILURE.body);
  }
}

function writeBytes(connection: FastConnection, head: string, body: Bytes): void {
  if (body.length > JOINED_BODY_BYTES_MAX) connection.write(head, body);
  else connection.write(head + bytesToLatin1(body), undefined);
}
