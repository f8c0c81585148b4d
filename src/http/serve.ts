/** The way of every request through an API: answered now or later, or refused; finished, sent, reported. */
import { type Bytes, isPromise, type MaybePromise } from '../base/index.ts';
import type { Exchange } from './exchange.ts';
import { AbortedError } from './request-body.ts';

export interface HttpReply {
  readonly status: number;
  /** Request units. */
  readonly charge: number;
  /** Flat names and values. The reply owns the array: sending it appends to it. */
  readonly headers: string[];
  /** Sent as it is. Undefined: no body. */
  readonly body: Bytes | string | undefined;
  /** `latin1`: a body that is text has one character per byte, as it is stored; nothing is encoded again. */
  readonly encoding?: 'latin1';
}

/** A request under way. */
export interface Asked {
  readonly exchange: Exchange;
  /** 0 where nobody is told. */
  readonly startedMs: number;
  /** The kind of the resource, from a small fixed set; `none` for unknown paths. */
  resource: string;
}

/** What is told of every answer. */
export interface RequestReport {
  readonly resource: string;
  readonly method: string;
  readonly status: number;
  /** Request units. */
  readonly charge: number;
  readonly durationMs: number;
}

/** What makes an API of HTTP: this much differs between them. */
export interface HttpApi<Request extends Asked, Reply extends HttpReply> {
  readonly onRequest: ((report: RequestReport) => void) | undefined;
  /** May throw or reject; a request that can be answered at once gets no promise. */
  answer(asked: Request): MaybePromise<Reply>;
  /** The answer to a request that failed. */
  refuse(asked: Request, error: unknown): Reply;
  /** Adds what every answer of the API says. */
  finish(asked: Request, reply: Reply): void;
}

export function serve<Request extends Asked, Reply extends HttpReply>(
  api: HttpApi<Request, Reply>,
  asked: Request,
): void {
  let reply: MaybePromise<Reply>;
  try {
    reply = api.answer(asked);
  } catch (error) {
    fail(api, asked, error);
    return;
  }
  if (isPromise(reply))
    reply.then(
      (later) => send(api, asked, later),
      (error) => fail(api, asked, error),
    );
  else send(api, asked, reply);
}

function fail<Request extends Asked, Reply extends HttpReply>(
  api: HttpApi<Request, Reply>,
  asked: Request,
  error: unknown,
): void {
  // Nobody is left to answer.
  if (error instanceof AbortedError) return;
  send(api, asked, api.refuse(asked, error));
}

function send<Request extends Asked, Reply extends HttpReply>(
  api: HttpApi<Request, Reply>,
  asked: Request,
  reply: Reply,
): void {
  const { exchange, resource, startedMs } = asked;
  const { status, charge } = reply;
  api.finish(asked, reply);
  exchange.send(status, reply.headers, reply.body, reply.encoding);
  api.onRequest?.({
    resource,
    method: exchange.method,
    status,
    charge,
    durationMs: performance.now() - startedMs,
  });
}
