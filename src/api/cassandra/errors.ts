/** Refusals of the native protocol: codes, and the mapping of the errors of the layers below. */
import { randomUUID } from 'node:crypto';
import { type Bytes, DomainError, type ErrorCode } from '../../base/index.ts';
import { TransactionError } from '../../partition/index.ts';

/** Codes of the specification, by the names of Cassandra's exceptions. */
export const CQL_CODES = {
  serverError: 0x0000,
  protocolError: 0x000a,
  badCredentials: 0x0100,
  unavailable: 0x1000,
  overloaded: 0x1001,
  readTimeout: 0x1200,
  writeTimeout: 0x1100,
  functionFailure: 0x1400,
  writeFailure: 0x1500,
  syntaxError: 0x2000,
  unauthorized: 0x2100,
  invalid: 0x2200,
  configError: 0x2300,
  alreadyExists: 0x2400,
  unprepared: 0x2500,
} as const;

type CqlCode = keyof typeof CQL_CODES;

/** What the body of an error has behind its message. */
type ErrorDetail =
  | { readonly kind: 'existing'; readonly keyspace: string; readonly table: string }
  | { readonly kind: 'unprepared'; readonly id: Bytes }
  | {
      readonly kind: 'function';
      readonly keyspace: string;
      readonly name: string;
      readonly types: readonly string[];
    };

/** A refusal in this API's own words; a DomainError, so that a decision in a partition can refuse with it as well. */
export class CqlError extends DomainError {
  readonly cqlCode: CqlCode;
  readonly detail: ErrorDetail | undefined;

  constructor(cqlCode: CqlCode, message: string, detail?: ErrorDetail) {
    super('invalidInput', message);
    this.cqlCode = cqlCode;
    this.detail = detail;
  }
}

export function invalid(message: string): CqlError {
  return new CqlError('invalid', message);
}

export function syntaxError(message: string): CqlError {
  return new CqlError('syntaxError', message);
}

export function protocolError(message: string): CqlError {
  return new CqlError('protocolError', message);
}

const CODES: Readonly<Record<ErrorCode, CqlCode>> = {
  invalidInput: 'invalid',
  partitionKeyMismatch: 'invalid',
  unauthorized: 'badCredentials',
  forbidden: 'unauthorized',
  partitionKeyFull: 'invalid',
  itemNotFound: 'invalid',
  databaseNotFound: 'invalid',
  containerNotFound: 'invalid',
  offerNotFound: 'invalid',
  resourceNotFound: 'invalid',
  resourceExists: 'invalid',
  sessionNotAvailable: 'unavailable',
  itemExists: 'invalid',
  databaseExists: 'alreadyExists',
  containerExists: 'alreadyExists',
  uniqueKeyViolation: 'invalid',
  preconditionFailed: 'invalid',
  tooLarge: 'invalid',
  responseTooLarge: 'invalid',
  partitionGone: 'unavailable',
  throttled: 'overloaded',
  bucketThrottled: 'overloaded',
  retryWith: 'unavailable',
  scriptFailed: 'invalid',
  scriptLimit: 'invalid',
  scriptTimeout: 'serverError',
  queryTimeout: 'serverError',
  unavailable: 'unavailable',
  outcomeUnknown: 'writeTimeout',
};

/** Any failure as a refusal of this API; undefined: a bug of ours. */
export function cqlErrorOf(error: unknown): CqlError | undefined {
  if (error instanceof CqlError) return error;
  if (error instanceof TransactionError) return cqlErrorOf(error.refusal);
  if (!(error instanceof DomainError)) return undefined;
  const code = CODES[error.code] ?? 'serverError';
  return code === 'overloaded'
    ? new CqlError(
        code,
        `Request rate is large: ActivityID=${randomUUID()}, RetryAfterMs=${Math.ceil(error.retryAfterMs ?? 0)}, Additional details='${error.message}'`,
      )
    : new CqlError(code, error.message);
}
