/** One request and its answer, whatever carries them: what the APIs are written against. */
import type { IncomingHttpHeaders } from 'node:http';
import type { Bytes, MaybePromise } from '../base/index.ts';
import type { RequestBatch } from './request-batch.ts';

export interface Exchange {
  readonly method: string;
  /** As it was sent: a path and perhaps a query. */
  readonly url: string;
  /** By lower-case name, one character per byte; repeated ones are joined or dropped as node:http does it. */
  readonly headers: IncomingHttpHeaders;
  /** Of the client; undefined where it is gone. */
  readonly remoteAddress: string | undefined;
  readonly isEncrypted: boolean;
  /** The server as the client addresses it: `scheme://host/`. */
  readonly origin: string;

  /** Where it waits for the others that arrived with it; undefined: it waits for nobody. */
  readonly batch: RequestBatch | undefined;

  /**
   * The whole body, at once where it is all there. Throws or rejects with `tooLarge` beyond `bytesMax`, with AbortedError
   * where nobody is left to answer. Asked at most once; a body nobody asks for is thrown away.
   */
  readBody(bytesMax: number): MaybePromise<Bytes>;

  /**
   * Writes the answer, once; to a client that is gone it does nothing. `headers` are flat names and values, to which it
   * adds the content's length, and the date and what becomes of the connection. Statuses 204 and 304 and answers to HEAD
   * have no body on the wire. A text is UTF-8, or with `latin1` one character per byte.
   */
  send(
    status: number,
    headers: string[],
    body: Bytes | string | undefined,
    encoding?: 'latin1',
  ): void;

  /** For an answer that could not be sent: says 500 in its place, or cuts the connection where a part of it is out. */
  fail(): void;
}

/** Gets every request of a server; must answer each, now or later. */
export type HttpHandler = (exchange: Exchange) => void;

/** A header that was sent once, or the first of several. */
export function headerOf({ headers }: Exchange, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value[0] : value;
}
