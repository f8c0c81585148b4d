/** The way of every request through an API: admitted, answered now or later, or refused; finished, sent, reported. */
import { type Bytes, isPromise, type MaybePromise } from '../base/index.ts';
import type { Exchange, HttpHandler } from './exchange.ts';
import { type BatchStep, STAGES, type Stage } from './request-batch.ts';
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
export interface PendingRequest {
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
export interface HttpApi<Request extends PendingRequest, Admitted, Reply extends HttpReply> {
  readonly onRequest: ((report: RequestReport) => void) | undefined;
  /** Told of what throws where nothing should: while refusing, finishing, sending or reporting. */
  onFailure(asked: Request, error: unknown): void;
  /** What is asked for and by whom, who may. May throw or reject; gets no promise where all is known at once. */
  admit(asked: Request): MaybePromise<Admitted>;
  /** May throw or reject; a request that can be answered at once gets no promise. */
  respond(asked: Request, admitted: Admitted): MaybePromise<Reply>;
  /** The answer to a request that failed. */
  refuse(asked: Request, error: unknown): Reply;
  /** Adds what every answer of the API says. */
  finish(asked: Request, reply: Reply): void;
}

export function serve<Request extends PendingRequest, Admitted, Reply extends HttpReply>(
  api: HttpApi<Request, Admitted, Reply>,
  asked: Request,
): void {
  new ServedRequest(api, asked).admit();
}

class ServedRequest<Request extends PendingRequest, Admitted, Reply extends HttpReply>
  implements BatchStep
{
  readonly #api: HttpApi<Request, Admitted, Reply>;
  readonly #asked: Request;
  #admitted: Admitted | undefined;
  #reply: Reply | undefined;

  constructor(api: HttpApi<Request, Admitted, Reply>, asked: Request) {
    this.#api = api;
    this.#asked = asked;
  }

  admit(): void {
    this.#take(
      () => this.#api.admit(this.#asked),
      (admitted) => {
        this.#admitted = admitted;
        this.#await(STAGES.answer);
      },
    );
  }

  proceed(): void {
    if (this.#reply === undefined) this.#answer();
    else this.#send(this.#reply);
  }

  #answer(): void {
    this.#take(
      () => this.#api.respond(this.#asked, this.#admitted as Admitted),
      (reply) => this.#replied(reply),
    );
  }

  /** A step that may fail, now or later; no promise is made where it ends at once. */
  #take<T>(step: () => MaybePromise<T>, next: (taken: T) => void): void {
    let taken: MaybePromise<T>;
    try {
      taken = step();
    } catch (error) {
      this.#fail(error);
      return;
    }
    if (isPromise(taken)) taken.then(next, (error) => this.#fail(error));
    else next(taken);
  }

  #fail(error: unknown): void {
    // Nobody is left to answer.
    if (error instanceof AbortedError) return;
    let refusal: Reply;
    try {
      refusal = this.#api.refuse(this.#asked, error);
    } catch (another) {
      this.#giveUp(another);
      return;
    }
    this.#replied(refusal);
  }

  /** The last fence: whatever happens to a request ends with its answer, and nobody else notices. */
  #giveUp(error: unknown): void {
    try {
      this.#asked.exchange.fail();
    } finally {
      this.#api.onFailure(this.#asked, error);
    }
  }

  #replied(reply: Reply): void {
    this.#reply = reply;
    this.#await(STAGES.send);
  }

  #await(stage: Stage): void {
    const { batch } = this.#asked.exchange;
    if (batch === undefined) this.proceed();
    else batch.await(stage, this);
  }

  #send(reply: Reply): void {
    const { exchange, resource, startedMs } = this.#asked;
    const { status, charge } = reply;
    try {
      this.#api.finish(this.#asked, reply);
      exchange.send(status, reply.headers, reply.body, reply.encoding);
    } catch (error) {
      this.#giveUp(error);
      return;
    }
    const { onRequest } = this.#api;
    if (onRequest === undefined) return;
    const durationMs = performance.now() - startedMs;
    try {
      onRequest({ resource, method: exchange.method, status, charge, durationMs });
    } catch (error) {
      this.#api.onFailure(this.#asked, error);
    }
  }
}

/** A handler whose failures end with the request they belong to. */
export function fenced(
  handler: HttpHandler,
  onFailure: (error: unknown, exchange: Exchange) => void,
): HttpHandler {
  return (exchange) => {
    try {
      handler(exchange);
    } catch (error) {
      onFailure(error, exchange);
      exchange.fail();
    }
  };
}
