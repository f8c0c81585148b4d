/** One request and its response: the interface that APIs are written against. */
import type { IncomingHttpHeaders } from 'node:http';
import type { Bytes, MaybePromise } from '../base/index.ts';
import type { RequestBatch } from './request-batch.ts';

export interface Exchange {
  readonly method: string;
  /** As it was sent: a path and perhaps a query. */
  readonly url: string;
  /** By lower-case name, one character per byte; repeated ones are joined or dropped as node:http does it. */
  readonly headers: IncomingHttpHeaders;
  /** The client's address; undefined where the client is gone. */
  readonly remoteAddress: string | undefined;
  /** True where nobody can receive a response any more. */
  readonly isGone: boolean;
  readonly isEncrypted: boolean;
  /** The server as the client addresses it: `scheme://host/`. */
  readonly origin: string;

  /** The batch whose stages the request waits for; undefined: it is processed alone. */
  readonly batch: RequestBatch | undefined;

  /**
   * The whole body, at once where it is all there. Throws or rejects with `tooLarge` beyond `bytesMax`, with AbortedError
   * where the client is gone. Called at most once; a body that is never read is discarded.
   */
  readBody(bytesMax: number): MaybePromise<Bytes>;

  /**
   * Writes the response, once; does nothing where the client is gone. `headers` are flat names and values, to which it
   * adds the content's length, the date and whether the connection stays open. Statuses 204 and 304 and responses to HEAD
   * have no body on the wire. A text is UTF-8, or with `latin1` one character per byte.
   */
  send(
    status: number,
    headers: string[],
    body: Bytes | string | undefined,
    encoding?: 'latin1',
  ): void;

  /**
   * Begins a response whose body comes in pieces over time; undefined where this connection cannot: then `send` refuses.
   * Only connections that node:http reads can.
   */
  stream?(status: number, headers: string[]): ResponseStream | undefined;

  /** Sends a 500 after a response that could not be sent, or closes the connection where a part of that was written. */
  fail(): void;
}

/** A body that is written in pieces. Calls after its end do nothing. */
export interface ResponseStream {
  /** False: the client is slow, and what was written is still in memory. */
  write(text: string): boolean;
  end(): void;
  /** Called once, whoever ended it. */
  onClose(listener: () => void): void;
}

/** Receives every request of a server; must respond to each, now or later. */
export type HttpHandler = (exchange: Exchange) => void;

/** A header that was sent once, or the first of several. */
export function headerOf({ headers }: Exchange, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value[0] : value;
}
