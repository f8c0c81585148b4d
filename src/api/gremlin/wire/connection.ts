/** One WebSocket: login, requests in their order of arrival, several under way at a time, responses in batches. */
import type { RawData, WebSocket } from 'ws';
import type { UpgradedConnection } from '../../../http/index.ts';
import type { OperationReport, Service } from '../../../service/index.ts';
import { CODES, type GremlinError, internalError, outcomeOf, refusalOf } from '../errors.ts';
import { formatOf } from '../io/formats.ts';
import type { Format, GremlinRequest, GremlinResponse } from '../io/message.ts';
import {
  IDLE_MS,
  REQUESTS_UNDER_WAY_MAX,
  REQUESTS_WAITING_MAX,
  UNSENT_BYTES_MAX,
  WAITING_BYTES_MAX,
} from '../limits.ts';
import type { GremlinValue } from '../model/value.ts';
import { Sessions } from '../sessions.ts';
import { attributesOf, errorAttributes, errorMessage, type Progress } from './attributes.ts';
import { type ReceivedRequest, readFrame } from './frame.ts';
import { type Login, type LoginChecks, login } from './login.ts';
import { Meter } from './meter.ts';
import { batchSizeOf, evaluationOf, operationOf, sessionOf } from './operation.ts';

export interface GremlinParts {
  readonly service: Service;
  readonly access: LoginChecks;
  /** Called for every request that has been answered. */
  onRequest?(report: OperationReport): void;
  /** Receives errors that are bugs. */
  onFailure?(failure: { readonly operation: string; readonly error: unknown }): void;
  /** Receives refused logins. */
  onRefusal?(refusal: { readonly from: string; readonly reason: string }): void;
}

/** Close codes of WebSockets. */
const GOING_AWAY = 1001;
const TOO_MANY_REQUESTS = 1008;

export class GremlinConnection implements UpgradedConnection {
  readonly #webSocket: WebSocket;
  readonly #parts: GremlinParts;
  readonly #from: string;
  #login: Login | undefined;
  /** The request whose id the challenge has; undefined while none waits for a login. */
  #challenged: ReceivedRequest | undefined;
  readonly #waiting: ReceivedRequest[] = [];
  /** Bytes of the frames that wait. */
  #waitingBytes = 0;
  readonly #sessions: Sessions;
  #underWay = 0;
  #isStopping = false;
  #isClosed = false;
  #idleTimer: NodeJS.Timeout | undefined;

  constructor(webSocket: WebSocket, parts: GremlinParts, from: string) {
    this.#webSocket = webSocket;
    this.#parts = parts;
    this.#from = from;
    this.#sessions = new Sessions(parts.service);
    webSocket.on('message', (data, isBinary) => this.#onMessage(data, isBinary));
    webSocket.on('close', () => this.#onClose());
    // `close` follows every error.
    webSocket.on('error', () => undefined);
    this.#restartIdleTimer();
  }

  get isIdle(): boolean {
    return this.#underWay === 0 && this.#webSocket.bufferedAmount === 0;
  }

  stop(): void {
    this.#isStopping = true;
    this.#forgetWaiting();
    this.#endIfDone();
  }

  #forgetWaiting(): ReceivedRequest[] {
    this.#waitingBytes = 0;
    return this.#waiting.splice(0);
  }

  #endIfDone(): void {
    if (this.#isStopping && this.#underWay === 0) this.#webSocket.close(GOING_AWAY);
  }

  #onClose(): void {
    this.#isClosed = true;
    void this.#sessions.closeAll();
    this.#forgetWaiting();
    clearTimeout(this.#idleTimer);
  }

  #restartIdleTimer(): void {
    clearTimeout(this.#idleTimer);
    this.#idleTimer = setTimeout(() => {
      if (this.isIdle) this.#webSocket.close(GOING_AWAY);
      else this.#restartIdleTimer();
    }, IDLE_MS);
    this.#idleTimer.unref();
  }

  #onMessage(data: RawData, isBinary: boolean): void {
    if (this.#isStopping || this.#webSocket.readyState !== this.#webSocket.OPEN) return;
    this.#restartIdleTimer();
    const frame = bufferOf(data);
    let received: ReceivedRequest;
    try {
      received = readFrame(frame, isBinary);
    } catch (error) {
      this.#refuseFrame(error, frame, isBinary);
      return;
    }
    if (received.request.op === 'authentication') this.#authenticate(received);
    else if (this.#login === undefined) this.#challenge(received);
    else this.#enqueue(received);
  }

  /** A frame that cannot be read is answered without a request id, in the format that it names, else in JSON. */
  #refuseFrame(error: unknown, frame: Buffer, isBinary: boolean): void {
    const refusal = this.#refusalOf(error, 'none');
    const mime = isBinary ? frame.toString('latin1', 1, 1 + (frame[0] ?? 0)) : '';
    const format = formatOf(mime) ?? (formatOf('application/json') as Format);
    this.#report('none', refusal, 0, 0);
    this.#send(format, failure(undefined, refusal, noProgress()));
  }

  #challenge(received: ReceivedRequest): void {
    if (this.#challenged !== undefined) {
      this.#enqueue(received);
      return;
    }
    this.#challenged = received;
    const { request, format } = received;
    this.#send(format, {
      requestId: request.requestId,
      code: CODES.authenticate,
      message: '',
      attributes: attributesOf(CODES.authenticate, noProgress()),
      data: null,
    });
  }

  #authenticate({ request, format }: ReceivedRequest): void {
    const challenged = this.#challenged;
    this.#challenged = undefined;
    try {
      const { access, service } = this.#parts;
      this.#login = login(request, access, service.clock.nowMs());
    } catch (error) {
      const refusal = this.#refusalOf(error, 'authentication');
      this.#parts.onRefusal?.({ from: this.#from, reason: refusal.message });
      this.#report('authentication', refusal, 0, 0);
      // Some clients log in with another id than that of the challenged request, and wait for the latter. What waits
      // behind it cannot be answered either.
      const { requestId } = challenged?.request ?? request;
      this.#send(format, failure(requestId, refusal, noProgress()));
      for (const waiting of this.#forgetWaiting())
        this.#send(waiting.format, failure(waiting.request.requestId, refusal, noProgress()));
      return;
    }
    if (challenged === undefined) this.#respondEmpty(format, request.requestId);
    else {
      this.#waiting.unshift(challenged);
      this.#waitingBytes += challenged.bytes;
    }
    this.#next();
  }

  #respondEmpty(format: Format, requestId: string): void {
    this.#send(format, {
      requestId,
      code: CODES.noContent,
      message: '',
      attributes: attributesOf(CODES.success, noProgress()),
      data: null,
    });
  }

  #enqueue(received: ReceivedRequest): void {
    this.#waitingBytes += received.bytes;
    const isTooMuch = this.#waitingBytes > WAITING_BYTES_MAX;
    if (isTooMuch || this.#waiting.length >= REQUESTS_WAITING_MAX) {
      this.#webSocket.close(TOO_MANY_REQUESTS);
      this.#forgetWaiting();
      return;
    }
    this.#waiting.push(received);
    this.#next();
  }

  #next(): void {
    if (this.#login === undefined) return;
    while (this.#underWay < REQUESTS_UNDER_WAY_MAX) {
      const received = this.#waiting.shift();
      if (received === undefined) return;
      this.#waitingBytes -= received.bytes;
      this.#underWay++;
      void this.#serve(received, this.#login).finally(() => {
        this.#underWay--;
        this.#next();
        this.#endIfDone();
      });
    }
  }

  /** Never rejects. */
  async #serve({ request, format }: ReceivedRequest, caller: Login): Promise<void> {
    const meter = new Meter();
    const operation = operationOf(request);
    let refusal: GremlinError | undefined;
    try {
      if (operation === 'close') {
        await this.#sessions.close(sessionOf(request.args));
        this.#respondEmpty(format, request.requestId);
      } else await this.#evaluate(request, format, caller, meter);
    } catch (error) {
      refusal = this.#refusalOf(error, operation);
      this.#send(format, failure(request.requestId, refusal, meter.progress()));
    }
    this.#report(operation, refusal, meter.charge(), meter.elapsedMs());
  }

  async #evaluate(
    request: GremlinRequest,
    format: Format,
    caller: Login,
    meter: Meter,
  ): Promise<void> {
    const size = batchSizeOf(request);
    const evaluation = evaluationOf(request, this.#parts.service, caller, {
      isCancelled: () => this.#isClosed,
      sessions: this.#sessions,
    });
    meter.charge = () => evaluation.usage.charge;
    let waiting: GremlinValue[] = [];
    const send = async (code: number, data: readonly GremlinValue[] | null): Promise<void> => {
      const attributes = attributesOf(CODES.success, meter.progress());
      await this.#sendAndWait(format, {
        requestId: request.requestId,
        code,
        message: '',
        attributes,
        data,
      });
    };
    for await (const batch of evaluation.results()) {
      waiting = waiting.length === 0 ? [...batch] : [...waiting, ...batch];
      // The last results wait, so that the last message is never empty.
      while (waiting.length > size) await send(CODES.partial, waiting.splice(0, size));
    }
    if (waiting.length === 0) await send(CODES.noContent, null);
    else await send(CODES.success, waiting);
  }

  #send(format: Format, response: GremlinResponse): void {
    if (!this.#isClosed) this.#webSocket.send(format.writeResponse(response));
  }

  /** Waits while the client is slow. */
  async #sendAndWait(format: Format, response: GremlinResponse): Promise<void> {
    if (this.#isClosed) return;
    const message = format.writeResponse(response);
    await new Promise<void>((resolve) => {
      this.#webSocket.send(message, () => resolve());
      if (this.#webSocket.bufferedAmount <= UNSENT_BYTES_MAX) resolve();
    });
  }

  #refusalOf(error: unknown, operation: string): GremlinError {
    const refusal = refusalOf(error);
    if (refusal !== undefined) return refusal;
    this.#parts.onFailure?.({ operation, error });
    return internalError();
  }

  #report(
    operation: string,
    refusal: GremlinError | undefined,
    charge: number,
    durationMs: number,
  ): void {
    const outcome = refusal === undefined ? 'ok' : outcomeOf(refusal);
    this.#parts.onRequest?.({ operation, outcome, charge, durationMs });
  }
}

function noProgress(): Progress {
  return new Meter().progress();
}

function failure(
  requestId: string | undefined,
  error: GremlinError,
  progress: Progress,
): GremlinResponse {
  return {
    requestId,
    code: error.code,
    message: errorMessage(error, progress),
    attributes: errorAttributes(error, progress),
    data: null,
  };
}

function bufferOf(data: RawData): Buffer {
  if (Buffer.isBuffer(data)) return data;
  return Array.isArray(data) ? Buffer.concat(data) : Buffer.from(data);
}
