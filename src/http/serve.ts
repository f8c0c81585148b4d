/** How an API handles a request: admit, respond now or later or refuse, finish, send, report. */
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

/** A request that has no response yet. */
export interface PendingRequest {
  readonly exchange: Exchange;
  /** Zero where no report is wanted. */
  readonly startedMs: number;
  /** The kind of the resource, from a small fixed set; `none` for unknown paths. */
  resource: string;
}

/** The facts of one response, for metrics. */
export interface RequestReport {
  readonly resource: string;
  readonly method: string;
  readonly status: number;
  /** Request units. */
  readonly charge: number;
  readonly durationMs: number;
}

/** The parts of a request's handling in which the APIs differ. */
export interface HttpApi<Request extends PendingRequest, Admitted, Reply extends HttpReply> {
  readonly onRequest: ((report: RequestReport) => void) | undefined;
  /** Receives errors of steps that must not throw: refusing, finishing, sending, reporting. */
  onFailure(request: Request, error: unknown): void;
  /** Finds target and caller, and checks rights. May throw or reject; returns no promise where nothing is awaited. */
  admit(request: Request): MaybePromise<Admitted>;
  /** May throw or reject; returns no promise where nothing is awaited. */
  respond(request: Request, admitted: Admitted): MaybePromise<Reply>;
  /** The response to a request that failed. */
  refuse(request: Request, error: unknown): Reply;
  /** Adds the headers that every response of the API has. */
  finish(request: Request, reply: Reply): void;
}

export function serve<Request extends PendingRequest, Admitted, Reply extends HttpReply>(
  api: HttpApi<Request, Admitted, Reply>,
  request: Request,
): void {
  new ServedRequest(api, request).admit();
}

class ServedRequest<Request extends PendingRequest, Admitted, Reply extends HttpReply>
  implements BatchStep
{
  readonly #api: HttpApi<Request, Admitted, Reply>;
  readonly #request: Request;
  #admitted: Admitted | undefined;
  #reply: Reply | undefined;

  constructor(api: HttpApi<Request, Admitted, Reply>, request: Request) {
    this.#api = api;
    this.#request = request;
  }

  admit(): void {
    this.#run(
      () => this.#api.admit(this.#request),
      (admitted) => {
        this.#admitted = admitted;
        this.#await(STAGES.respond);
      },
    );
  }

  proceed(): void {
    if (this.#reply === undefined) this.#respond();
    else this.#send(this.#reply);
  }

  #respond(): void {
    this.#run(
      () => this.#api.respond(this.#request, this.#admitted as Admitted),
      (reply) => this.#replied(reply),
    );
  }

  /** Runs a step that may fail, now or later; makes no promise where the step makes none. */
  #run<T>(step: () => MaybePromise<T>, next: (result: T) => void): void {
    let result: MaybePromise<T>;
    try {
      result = step();
    } catch (error) {
      this.#fail(error);
      return;
    }
    if (isPromise(result)) result.then(next, (error) => this.#fail(error));
    else next(result);
  }

  #fail(error: unknown): void {
    // The client is gone: no response can be sent, and an abort is no failure to log.
    if (error instanceof AbortedError) return;
    let refusal: Reply;
    try {
      refusal = this.#api.refuse(this.#request, error);
    } catch (another) {
      this.#giveUp(another);
      return;
    }
    this.#replied(refusal);
  }

  /** The last resort: a failure ends this request and no other. */
  #giveUp(error: unknown): void {
    try {
      this.#request.exchange.fail();
    } finally {
      this.#api.onFailure(this.#request, error);
    }
  }

  #replied(reply: Reply): void {
    this.#reply = reply;
    this.#await(STAGES.send);
  }

  #await(stage: Stage): void {
    const { batch } = this.#request.exchange;
    if (batch === undefined) this.proceed();
    else batch.await(stage, this);
  }

  #send(reply: Reply): void {
    const { exchange, resource, startedMs } = this.#request;
    const { status, charge } = reply;
    try {
      this.#api.finish(this.#request, reply);
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
      this.#api.onFailure(this.#request, error);
    }
  }
}

/** A handler whose errors fail their own request only. */
export function withFailureHandling(
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
