/** Refusals of the Table API: one table of codes, and the mapping of the errors of the layers below. */
import { DomainError, type ErrorCode } from '../../base/index.ts';
import { TransactionError } from '../../partition/index.ts';

/** Status and text of every code; a refusal may have its own text instead. */
export const TABLE_ERRORS = {
  AccountIsDisabled: [403, 'The specified account is disabled.'],
  AtomFormatNotSupported: [415, 'Atom format is not supported.'],
  AuthenticationFailed: [
    403,
    'Server failed to authenticate the request. Make sure the value of Authorization header is formed correctly including the signature.',
  ],
  AuthorizationFailure: [403, 'This request is not authorized to perform this operation.'],
  AuthorizationPermissionMismatch: [
    403,
    'This request is not authorized to perform this operation using this permission.',
  ],
  AuthorizationProtocolMismatch: [
    403,
    'This request is not authorized to perform this operation using this protocol.',
  ],
  AuthorizationResourceTypeMismatch: [
    403,
    'This request is not authorized to perform this operation using this resource type.',
  ],
  AuthorizationServiceMismatch: [
    403,
    'This request is not authorized to perform this operation using this service.',
  ],
  AuthorizationSourceIPMismatch: [
    403,
    'This request is not authorized to perform this operation using this source IP.',
  ],
  BadRequest: [400, 'The input name is invalid.'],
  CommandsInBatchActOnDifferentPartitions: [
    400,
    'All commands in a batch must operate on same entity group.',
  ],
  CorsPreflightFailure: [403, 'CORS not enabled or no matching rule found for this request.'],
  EntityAlreadyExists: [409, 'The specified entity already exists.'],
  EntityTooLarge: [400, 'The entity is larger than the maximum size permitted.'],
  InsufficientAccountPermissions: [403, 'Write operations are not allowed.'],
  InternalError: [500, 'Server encountered an internal error. Please try again after some time.'],
  InvalidAuthenticationInfo: [
    400,
    'Authentication information is not given in the correct format. Check the value of Authorization header.',
  ],
  InvalidDuplicateRow: [
    400,
    'The batch request contains multiple changes with same row key. An entity can appear only once in a batch request.',
  ],
  InvalidHeaderValue: [400, 'The value for one of the HTTP headers is not in the correct format.'],
  InvalidInput: [400, 'One of the request inputs is not valid.'],
  InvalidQueryParameterValue: [
    400,
    'Value for one of the query parameters specified in the request URI is invalid.',
  ],
  InvalidResourceName: [400, 'The specifed resource name contains invalid characters.'],
  InvalidXmlDocument: [400, 'XML specified is not syntactically valid.'],
  InvalidXmlNodeValue: [400, 'The value for one of the XML nodes is not in the correct format.'],
  JsonFormatNotSupported: [415, 'JSON format is not supported.'],
  KeyValueTooLarge: [400, 'The key property is larger than the maximum size permitted for keys.'],
  MediaTypeNotSupported: [415, 'None of the provided media types are supported'],
  MissingRequiredHeader: [
    400,
    "An HTTP header that's mandatory for this request is not specified.",
  ],
  MissingRequiredQueryParameter: [
    400,
    "A query parameter that's mandatory for this request is not specified.",
  ],
  NotImplemented: [501, 'The requested operation is not implemented on the specified resource.'],
  OperationTimedOut: [500, 'The operation could not be completed within the permitted time.'],
  OutOfRangeInput: [
    400,
    'The specified resource name length is not within the permissible limits.',
  ],
  PropertiesNeedValue: [400, 'The values are not specified for all properties in the entity.'],
  PropertyNameInvalid: [400, 'The property name is invalid.'],
  PropertyNameTooLong: [400, 'The property name exceeds the maximum allowed length.'],
  PropertyValueTooLarge: [
    400,
    'The property value exceeds the maximum allowed size (64KB). If the property value is a string, it is UTF-16 encoded and the maximum number of characters should be 32K or less.',
  ],
  RequestBodyTooLarge: [
    413,
    'The request body is too large and exceeds the maximum permissible limit.',
  ],
  ResourceNotFound: [404, 'The specified resource does not exist.'],
  ServerBusy: [
    503,
    'The server is currently unable to receive requests. Please retry your request.',
  ],
  TableAlreadyExists: [409, 'The table specified already exists.'],
  TableNotFound: [404, 'The table specified does not exist.'],
  TooManyProperties: [400, 'The entity contains more properties than allowed.'],
  TooManyRequests: [429, 'The request rate is too large.'],
  UnsupportedHttpVerb: [405, "The resource doesn't support specified Http Verb."],
  UpdateConditionNotSatisfied: [
    412,
    'The update condition specified in the request was not satisfied.',
  ],
} as const satisfies Readonly<Record<string, readonly [number, string]>>;

export type TableErrorCode = keyof typeof TABLE_ERRORS;

/** A refusal in this API's own words; a DomainError, so that a decision in a partition can refuse with it as well. */
export class TableError extends DomainError {
  readonly tableCode: TableErrorCode;
  readonly charge: number;

  constructor(
    tableCode: TableErrorCode,
    message: string = TABLE_ERRORS[tableCode][1],
    retry: { retryAfterMs?: number | undefined; charge?: number } = {},
  ) {
    super('invalidInput', message, retry.retryAfterMs);
    this.tableCode = tableCode;
    this.charge = retry.charge ?? 0;
  }

  get status(): number {
    return TABLE_ERRORS[this.tableCode][0];
  }
}

/** The text of `InvalidInput` for a body that is no entity, and for values that do not match their types. */
export const UNREADABLE = 'An error occurred while processing this request.';

/** The text for a filter that cannot be parsed. */
export function invalidFilter(): TableError {
  return new TableError('InvalidInput', 'The query condition specified in the request is invalid.');
}

const CODES: Readonly<Record<ErrorCode, TableErrorCode>> = {
  invalidInput: 'InvalidInput',
  partitionKeyMismatch: 'InvalidInput',
  unauthorized: 'AuthenticationFailed',
  forbidden: 'AuthorizationFailure',
  partitionKeyFull: 'AuthorizationFailure',
  itemNotFound: 'ResourceNotFound',
  databaseNotFound: 'TableNotFound',
  containerNotFound: 'TableNotFound',
  offerNotFound: 'ResourceNotFound',
  resourceNotFound: 'ResourceNotFound',
  resourceExists: 'TableAlreadyExists',
  sessionNotAvailable: 'ResourceNotFound',
  itemExists: 'EntityAlreadyExists',
  databaseExists: 'TableAlreadyExists',
  containerExists: 'TableAlreadyExists',
  uniqueKeyViolation: 'EntityAlreadyExists',
  preconditionFailed: 'UpdateConditionNotSatisfied',
  tooLarge: 'RequestBodyTooLarge',
  responseTooLarge: 'RequestBodyTooLarge',
  partitionGone: 'ServerBusy',
  throttled: 'TooManyRequests',
  bucketThrottled: 'TooManyRequests',
  retryWith: 'ServerBusy',
  scriptFailed: 'InvalidInput',
  scriptLimit: 'InvalidInput',
  scriptTimeout: 'OperationTimedOut',
  queryTimeout: 'OperationTimedOut',
  unavailable: 'ServerBusy',
  outcomeUnknown: 'OperationTimedOut',
};

/** Codes whose own messages are more useful than those of the table. */
const TELLING: ReadonlySet<ErrorCode> = new Set(['invalidInput', 'partitionKeyFull']);

/** Any failure as a refusal of this API; a bug is `InternalError`. */
export function tableErrorOf(error: unknown): TableError {
  if (error instanceof TableError) return error;
  if (error instanceof TransactionError) return tableErrorOf(error.refusal);
  if (!(error instanceof DomainError)) return new TableError('InternalError');
  const code = CODES[error.code] ?? 'InternalError';
  return new TableError(code, TELLING.has(error.code) ? error.message : undefined, {
    retryAfterMs: error.retryAfterMs,
    charge: error.responseInfo?.charge ?? 0,
  });
}
