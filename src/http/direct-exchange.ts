/** An exchange over a connection of our own. */
import { type Bytes, bytesToLatin1, type MaybePromise } from '../base/index.ts';
import { FAILURE, isBodiless, JOINED_BODY_BYTES_MAX, lengthOf } from './answer-body.ts';
import type { ArrivingBody } from './arriving-body.ts';
import type { DirectConnection } from './direct-connection.ts';
import type { Exchange } from './exchange.ts';
import { Received } from './received.ts';
import { tooLarge } from './request-body.ts';
import type { RequestHead } from './request-head.ts';
import type { Turn } from './turn.ts';

export class DirectExchange extends Received implements Exchange {
  readonly #connection: DirectConnection;
  readonly #body: Bytes | ArrivingBody;
  /** Whether something of an answer was written. */
  #isBegun = false;

  constructor(connection: DirectConnection, head: RequestHead, body: Bytes | ArrivingBody) {
    super(head, connection.socket);
    this.#connection = connection;
    this.#body = body;
  }

  get turn(): Turn {
    return this.#connection.turn;
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
    connection.answered();
  }

  fail(): void {
    if (this.#isBegun) this.#connection.socket.destroy();
    else this.send(FAILURE.status, [...FAILURE.headers], FAILURE.body);
  }
}

function writeBytes(connection: DirectConnection, head: string, body: Bytes): void {
  if (body.length > JOINED_BODY_BYTES_MAX) connection.write(head, body);
  else connection.write(head + bytesToLatin1(body), undefined);
}
