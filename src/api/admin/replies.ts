/** Bodies in and replies out, as all routes of `/_mesocosm/` have them. */
import { bytesToText, DomainError, ITEM_BYTES_MAX } from '../../base/index.ts';
import type { Exchange, HttpReply } from '../../http/index.ts';
import { isMap, type Value, type ValueMap } from '../../value/index.ts';

export interface Content {
  readonly contentType: string;
  readonly body: string;
  /** 200 by default. */
  readonly status?: number;
}

/** A query and its parameters; the same bound as everywhere. */
const BODY_BYTES_MAX = ITEM_BYTES_MAX;

export async function readBody(exchange: Exchange): Promise<ValueMap> {
  const body = await exchange.readBody(BODY_BYTES_MAX);
  try {
    const value = JSON.parse(bytesToText(body)) as Value;
    if (isMap(value)) return value;
  } catch {
    // Not JSON: refused below like every other body that is no object.
  }
  throw new DomainError('invalidInput', 'A JSON object is expected.');
}

/** Any other error is a bug, whose details are for the log and not for the client. */
export function refusalOf(error: unknown): HttpReply {
  if (!(error instanceof DomainError))
    return refusal(
      500,
      'InternalServerError',
      'An unexpected error occurred; the server has logged it.',
    );
  switch (error.code) {
    case 'tooLarge':
      return refusal(413, 'RequestEntityTooLarge', error.message);
    case 'forbidden':
      return refusal(403, 'Forbidden', error.message);
    case 'invalidInput':
      return refusal(400, 'BadRequest', error.message);
    case 'partitionGone':
      return refusal(410, 'Gone', error.message);
    case 'itemNotFound':
    case 'databaseNotFound':
    case 'containerNotFound':
      return refusal(404, 'NotFound', error.message);
    default:
      return refusal(503, 'ServiceUnavailable', error.message);
  }
}

export function refusal(status: number, code: string, message: string): HttpReply {
  return replyOf(status, json({ code, message }));
}

export function replyOf(status: number, { contentType, body }: Content): HttpReply {
  return { status, charge: 0, headers: ['content-type', contentType], body };
}

export function json(value: object): Content {
  return { contentType: 'application/json', body: `${JSON.stringify(value)}\n` };
}
