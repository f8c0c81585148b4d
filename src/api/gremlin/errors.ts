/**
 * Refusals in the protocol's form: a status code of the message, and the service's own code in an attribute. The text
 * names an exception type, as clients of the service look for it.
 */
import { DomainError, type ErrorCode } from '../../base/index.ts';
import type { OperationOutcome } from '../../service/index.ts';

/** Codes of response messages. */
export const CODES = {
  success: 200,
  noContent: 204,
  partial: 206,
  unauthorized: 401,
  authenticate: 407,
  malformed: 498,
  invalidArguments: 499,
  serverError: 500,
  failStep: 595,
  scriptError: 597,
  timeout: 598,
  unserializable: 599,
} as const;

interface Refusal {
  readonly code: number;
  /** The value of x-ms-status-code. */
  readonly status: number;
  readonly type: string;
  readonly message: string;
  readonly retryAfterMs?: number | undefined;
}

export class GremlinError extends Error {
  override readonly name = 'GremlinError';
  readonly code: number;
  readonly status: number;
  /** The exception type in the message. */
  readonly type: string;
  readonly retryAfterMs: number | undefined;

  constructor({ code, status, type, message, retryAfterMs }: Refusal) {
    super(message);
    this.code = code;
    this.status = status;
    this.type = type;
    this.retryAfterMs = retryAfterMs;
  }
}

/** The frame or its arguments are wrong. */
export function malformedRequest(message: string, code: number = CODES.malformed): GremlinError {
  return new GremlinError({ code, status: 1004, type: 'RequestProcessingException', message });
}

/** The text or the bytecode is no traversal. */
export function syntaxError(message: string): GremlinError {
  return new GremlinError({
    code: CODES.scriptError,
    status: 1004,
    type: 'GraphSyntaxException',
    message: `Gremlin Query Syntax Error: ${message}`,
  });
}

/** A traversal that can be read but not compiled: unknown steps, wrong arguments. */
export function compileError(message: string): GremlinError {
  return new GremlinError({
    code: CODES.scriptError,
    status: 1004,
    type: 'GraphCompileException',
    message: `Gremlin Query Compilation Error: ${message}`,
  });
}

/** A traversal that met data it cannot work on. */
export function runtimeError(message: string): GremlinError {
  return new GremlinError({
    code: CODES.serverError,
    status: 1000,
    type: 'GraphRuntimeException',
    message: `Gremlin Query Execution Error: ${message}`,
  });
}

export function timedOut(limitMs: number): GremlinError {
  return new GremlinError({
    code: CODES.timeout,
    status: 1009,
    type: 'GraphTimeoutException',
    message: `A timeout occurred during traversal evaluation: it took longer than ${limitMs} ms.`,
  });
}

export function tooMuchMemory(message: string): GremlinError {
  return new GremlinError({
    code: CODES.serverError,
    status: 1003,
    type: 'GraphRuntimeException',
    message: `Gremlin Query Execution Error: ${message}`,
  });
}

export function invalidCredentials(): GremlinError {
  return new GremlinError({
    code: CODES.unauthorized,
    status: 401,
    type: 'UnauthorizedException',
    message: 'Unauthorized: Invalid credentials provided',
  });
}

export function graphNotFound(): GremlinError {
  return new GremlinError({
    code: CODES.serverError,
    status: 404,
    type: 'NotFoundException',
    message: 'Owner resource does not exist',
  });
}

const CONFLICT = 'Conflicting request to resource has been attempted. Retry to avoid conflicts.';

/** The service's code for every refusal of the core; the message has code 500, except where the protocol has its own. */
const STATUSES: Readonly<Record<ErrorCode, number>> = {
  invalidInput: 400,
  partitionKeyMismatch: 400,
  unauthorized: 401,
  forbidden: 403,
  partitionKeyFull: 403,
  itemNotFound: 404,
  databaseNotFound: 404,
  containerNotFound: 404,
  offerNotFound: 404,
  resourceNotFound: 404,
  sessionNotAvailable: 404,
  itemExists: 409,
  databaseExists: 409,
  containerExists: 409,
  resourceExists: 409,
  uniqueKeyViolation: 409,
  preconditionFailed: 412,
  tooLarge: 413,
  responseTooLarge: 413,
  partitionGone: 410,
  throttled: 429,
  bucketThrottled: 429,
  scriptFailed: 400,
  scriptTimeout: 408,
  queryTimeout: 1009,
  scriptLimit: 413,
  retryWith: 412,
  unavailable: 503,
  outcomeUnknown: 408,
};

/** Undefined for an error that is a bug of ours. */
export function refusalOf(error: unknown): GremlinError | undefined {
  if (error instanceof GremlinError) return error;
  if (!(error instanceof DomainError)) return undefined;
  const status = STATUSES[error.code];
  return new GremlinError({
    code: status === 1009 ? CODES.timeout : CODES.serverError,
    status,
    type: typeOf(status),
    message: messageOf(status, error),
    retryAfterMs: error.retryAfterMs,
  });
}

/** The outcome in metrics. */
export function outcomeOf({ status }: GremlinError): OperationOutcome {
  switch (status) {
    case 401:
      return 'unauthorized';
    case 403:
      return 'forbidden';
    case 404:
      return 'containerNotFound';
    case 409:
      return 'itemExists';
    case 412:
      return 'preconditionFailed';
    case 429:
      return 'throttled';
    case 500:
      return 'failed';
    case 503:
      return 'unavailable';
    case 1003:
      return 'scriptLimit';
    case 1009:
      return 'scriptTimeout';
    default:
      return 'invalidInput';
  }
}

/** A failure that is ours: the client learns no more than that. */
export function internalError(): GremlinError {
  return new GremlinError({
    code: CODES.serverError,
    status: 500,
    type: 'InternalServerErrorException',
    message: 'An unknown error occurred while processing this request.',
  });
}

function typeOf(status: number): string {
  switch (status) {
    case 404:
      return 'NotFoundException';
    case 409:
      return 'ResourceConflictException';
    case 412:
      return 'PreconditionFailedException';
    case 413:
      return 'RequestEntityTooLargeException';
    case 429:
      return 'RequestRateTooLargeException';
    case 503:
      return 'ServiceUnavailableException';
    case 1009:
      return 'GraphTimeoutException';
    default:
      return 'GraphRuntimeException';
  }
}

function messageOf(status: number, { message }: DomainError): string {
  if (status === 409) return CONFLICT;
  return status === 429 ? 'Request rate is large' : message;
}

/** The key or the token of the caller does not allow it. */
export function forbidden(message: string): GremlinError {
  return new GremlinError({ code: 500, status: 403, type: 'ForbiddenException', message });
}
