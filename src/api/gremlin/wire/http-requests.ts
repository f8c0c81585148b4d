/** Requests over plain HTTP: a script in the body of a POST or in the address of a GET, all results in one response. */
import { randomUUID } from 'node:crypto';
import { bytesToText, DomainError } from '../../../base/index.ts';
import { type Exchange, headerOf } from '../../../http/index.ts';
import {
  CODES,
  GremlinError,
  internalError,
  invalidCredentials,
  malformedRequest,
  outcomeOf,
  refusalOf,
  tooMuchMemory,
} from '../errors.ts';
import { formatOf, UNTYPED } from '../io/formats.ts';
import { readGraphson } from '../io/graphson-reader.ts';
import type { Format } from '../io/message.ts';
import { FRAME_BYTES_MAX, HTTP_RESULTS_MAX } from '../limits.ts';
import { GremlinMap } from '../model/collections.ts';
import type { GremlinValue } from '../model/value.ts';
import { attributesOf, errorAttributes, errorMessage } from './attributes.ts';
import type { GremlinParts } from './connection.ts';
import { type Login, loginWith } from './login.ts';
import { Meter } from './meter.ts';
import { evaluationOf } from './operation.ts';

/** Answers one request; never rejects. */
export async function serveHttp(exchange: Exchange, parts: GremlinParts): Promise<void> {
  const meter = new Meter();
  const requestId = randomUUID();
  let format: Format = UNTYPED;
  let refusal: GremlinError | undefined;
  try {
    format = acceptedFormat(exchange);
    const caller = callerOf(exchange, parts);
    const args = await argumentsOf(exchange);
    const evaluation = evaluationOf(
      { requestId, op: 'eval', processor: '', args },
      parts.service,
      caller,
      {
        isCancelled: () => exchange.isGone,
        sessions: undefined,
      },
    );
    meter.charge = () => evaluation.usage.charge;
    const data: GremlinValue[] = [];
    for await (const batch of evaluation.results()) {
      for (const value of batch) data.push(value);
      if (data.length > HTTP_RESULTS_MAX)
        throw tooMuchMemory(`A response over HTTP has at most ${HTTP_RESULTS_MAX} results.`);
    }
    const attributes = attributesOf(CODES.success, meter.progress());
    send(exchange, 200, format, { requestId, code: CODES.success, message: '', attributes, data });
  } catch (error) {
    refusal = refusalFor(error, parts);
    const progress = meter.progress();
    send(exchange, statusOf(refusal), format, {
      requestId,
      code: refusal.code,
      message: errorMessage(refusal, progress),
      attributes: errorAttributes(refusal, progress),
      data: null,
    });
  }
  parts.onRequest?.({
    operation: 'eval',
    outcome: refusal === undefined ? 'ok' : outcomeOf(refusal),
    charge: meter.charge(),
    durationMs: meter.elapsedMs(),
  });
}

function refusalFor(error: unknown, { onFailure }: GremlinParts): GremlinError {
  const refusal = refusalOf(error);
  if (refusal !== undefined) return refusal;
  onFailure?.({ operation: 'eval', error });
  return internalError();
}

function send(
  exchange: Exchange,
  status: number,
  format: Format,
  response: Parameters<Format['writeResponse']>[0],
): void {
  const body = format.writeResponse(response);
  const type =
    typeof body === 'string'
      ? 'application/json; charset=utf-8'
      : 'application/vnd.graphbinary-v1.0';
  const headers = ['content-type', type];
  if (status === 401) headers.push('www-authenticate', 'Basic realm="gremlin"');
  exchange.send(status, headers, body);
}

/** The status of the response as HTTP has it. */
function statusOf({ code, status }: GremlinError): number {
  if (code === CODES.unauthorized) return 401;
  if (code === CODES.malformed || code === CODES.invalidArguments || code === CODES.scriptError)
    return 400;
  return status === 403 || status === 404 || status === 409 || status === 412 || status === 429
    ? status
    : 500;
}

function acceptedFormat(exchange: Exchange): Format {
  const accept = headerOf(exchange, 'accept')?.split(',')[0]?.trim() ?? '*/*';
  if (accept === '*/*' || accept === '') return UNTYPED;
  const format = formatOf(accept);
  if (format === undefined)
    throw malformedRequest(`The format ${accept.slice(0, 100)} is not supported.`);
  return format;
}

/** Basic: the path of a graph as user, and a key or a token as password. */
function callerOf(exchange: Exchange, { access, service }: GremlinParts): Login {
  const [, encoded = ''] =
    /^Basic ([A-Za-z0-9+/=]+)$/.exec(headerOf(exchange, 'authorization') ?? '') ?? [];
  const [user = '', ...password] = Buffer.from(encoded, 'base64').toString('utf8').split(':');
  if (user === '') throw invalidCredentials();
  return loginWith(user, password.join(':'), access, service.clock.nowMs());
}

async function argumentsOf(exchange: Exchange): Promise<GremlinMap> {
  const { method, url } = exchange;
  if (method === 'GET') {
    const { searchParams } = new URL(url, 'http://localhost');
    return new GremlinMap([...searchParams]);
  }
  if (method !== 'POST') throw malformedRequest('A request over HTTP is a POST or a GET.');
  const body = await exchange.readBody(FRAME_BYTES_MAX);
  let value: GremlinValue;
  try {
    value = readGraphson(JSON.parse(bytesToText(body)));
  } catch (error) {
    if (error instanceof GremlinError || error instanceof DomainError) throw error;
    throw malformedRequest('The request is not JSON.');
  }
  if (!(value instanceof GremlinMap)) throw malformedRequest('The request is not a JSON object.');
  return value;
}
