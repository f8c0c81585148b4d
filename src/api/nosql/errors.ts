/**
 * Errors in the form of the protocol: status, substatus and a JSON body. Domain codes are mapped exhaustively. An error
 * that is neither a DomainError nor a RequestError is our bug and becomes a 500.
 */
import { type Bytes, DomainError, type ErrorCode } from '../../base/index.ts';
import { ScriptError } from '../../script/index.ts';
import type { Reply } from './reply.ts';
import { printSessionToken } from './session-token.ts';
import { SqlError } from './sql/index.ts';

/** An error that only this protocol has: wrong method, unknown route, missing owner, bad signature. */
export class RequestError extends Error {
  override readonly name = 'RequestError';
  readonly status: Status;
  readonly substatus: number;
  /** Flat names and values, such as `allow`. */
  readonly headers: readonly string[];
  /** A property of the body that clients act upon. */
  readonly additionalErrorInfo: string | undefined;

  constructor(
    status: Status,
    message: string,
    options: { substatus?: number; headers?: string[]; additionalErrorInfo?: string } = {},
  ) {
    super(message);
    this.status = status;
    this.substatus = options.substatus ?? 0;
    this.headers = options.headers ?? [];
    this.additionalErrorInfo = options.additionalErrorInfo;
  }
}

/** The `code` of an error body, by status. */
const CODES = {
  400: 'BadRequest',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  405: 'MethodNotAllowed',
  408: 'RequestTimeout',
  409: 'Conflict',
  410: 'Gone',
  412: 'PreconditionFailed',
  413: 'RequestEntityTooLarge',
  429: 'TooManyRequests',
  449: 'RetryWith',
  500: 'InternalServerError',
  503: 'ServiceUnavailable',
} as const;

export type Status = keyof typeof CODES;

const SUBSTATUS_PARTITION_KEY_MISMATCH = 1001;
export const SUBSTATUS_OWNER_NOT_FOUND = 1003;
export const SUBSTATUS_CROSS_PARTITION = 1004;
export const SUBSTATUS_WRONG_CONTAINER = 1024;
export const SUBSTATUS_RESPONSE_TOO_LARGE = 3402;

const STATUSES: Readonly<Record<ErrorCode, { status: Status; substatus: number }>> = {
  invalidInput: { status: 400, substatus: 0 },
  partitionKeyMismatch: { status: 400, substatus: SUBSTATUS_PARTITION_KEY_MISMATCH },
  unauthorized: { status: 401, substatus: 0 },
  forbidden: { status: 403, substatus: 0 },
  partitionKeyFull: { status: 403, substatus: 1014 },
  itemNotFound: { status: 404, substatus: 0 },
  databaseNotFound: { status: 404, substatus: 0 },
  containerNotFound: { status: 404, substatus: 0 },
  offerNotFound: { status: 404, substatus: 0 },
  resourceNotFound: { status: 404, substatus: 0 },
  sessionNotAvailable: { status: 404, substatus: 1002 },
  itemExists: { status: 409, substatus: 0 },
  databaseExists: { status: 409, substatus: 0 },
  containerExists: { status: 409, substatus: 0 },
  resourceExists: { status: 409, substatus: 0 },
  uniqueKeyViolation: { status: 409, substatus: 0 },
  preconditionFailed: { status: 412, substatus: 0 },
  tooLarge: { status: 413, substatus: 0 },
  responseTooLarge: { status: 413, substatus: SUBSTATUS_RESPONSE_TOO_LARGE },
  partitionGone: { status: 410, substatus: 1002 },
  throttled: { status: 429, substatus: 3200 },
  bucketThrottled: { status: 429, substatus: 3088 },
  scriptFailed: { status: 400, substatus: 0 },
  scriptTimeout: { status: 408, substatus: 0 },
  scriptLimit: { status: 403, substatus: 0 },
  retryWith: { status: 449, substatus: 0 },
  queryTimeout: { status: 408, substatus: 0 },
  unavailable: { status: 503, substatus: 0 },
  outcomeUnknown: { status: 408, substatus: 0 },
};

interface FailureContext {
  readonly activityId: string;
  readonly path: string;
  readonly version: string;
  /** Headers that name the container, where it was found before the request failed. */
  readonly scopeHeaders: readonly string[];
}

const PATH_LENGTH_MAX = 512;

/** The message of a 500; its cause is for the log, not for clients. */
const UNEXPECTED = 'An unexpected error occurred; the server has logged it.';

/** The response to a request that failed. Its body is never empty, because clients read `message` unchecked. */
export function failureReply(error: unknown, context: FailureContext): Reply {
  const { status, substatus } = statusOf(error);
  const headers = [...context.scopeHeaders];
  if (substatus !== 0) headers.push('x-ms-substatus', String(substatus));
  if (error instanceof RequestError || error instanceof ScriptError) headers.push(...error.headers);
  if (error instanceof DomainError) {
    const { responseInfo, retryAfterMs } = error;
    if (retryAfterMs !== undefined) headers.push('x-ms-retry-after-ms', String(retryAfterMs));
    if (responseInfo !== undefined)
      headers.push(
        'x-ms-session-token',
        printSessionToken(responseInfo),
        'lsn',
        String(responseInfo.lsn),
      );
  }
  const charge = error instanceof DomainError ? (error.responseInfo?.charge ?? 0) : 0;
  const shown = status === 500 ? UNEXPECTED : error;
  const body = {
    code: CODES[status],
    message: decorate(shown, context),
    ...(error instanceof RequestError && error.additionalErrorInfo !== undefined
      ? { additionalErrorInfo: error.additionalErrorInfo }
      : {}),
  };
  return { status, charge, headers, body: Buffer.from(JSON.stringify(body)) };
}

/** The body of an operation that failed inside a batch; its status is in the row of the result. */
export function errorBody(status: number, message: string): Bytes {
  return Buffer.from(JSON.stringify({ code: CODES[status as Status], message }));
}

export function statusOf(error: unknown): { status: Status; substatus: number } {
  // The substatus carries the number that a script gave its error.
  if (error instanceof ScriptError && error.number !== 0)
    return { ...STATUSES[error.code], substatus: error.number };
  if (error instanceof DomainError) return STATUSES[error.code];
  if (error instanceof RequestError) return error;
  return { status: 500, substatus: 0 };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The form clients and their tests look for: the error as JSON inside the text, then where it happened. */
function decorate(error: unknown, { activityId, path, version }: FailureContext): string {
  const uri = path.slice(0, PATH_LENGTH_MAX);
  // The message of a SqlError is a JSON list already.
  const list =
    error instanceof SqlError ? error.message : JSON.stringify({ Errors: [messageOf(error)] });
  return `Message: ${list}\r\nActivityId: ${activityId}, Request URI: ${uri}, RequestStats: , SDK: mesocosm/${version}`;
}
