/** Refusals of the MongoDB API: one table of codes, and the mapping of the errors of the layers below. */
import { DomainError, type ErrorCode } from '../../base/index.ts';
import { TransactionError } from '../../partition/index.ts';
import { type Bson, type BsonDocument, Double } from '../../value/index.ts';

/** Codes by their names in MongoDB. Errors that have no name there are LocationNNNN and need no row. */
const MONGO_CODES = {
  InternalError: 1,
  BadValue: 2,
  NoSuchKey: 4,
  GraphContainsCycle: 5,
  HostUnreachable: 6,
  HostNotFound: 7,
  UnknownError: 8,
  FailedToParse: 9,
  UserNotFound: 11,
  UnsupportedFormat: 12,
  Unauthorized: 13,
  TypeMismatch: 14,
  Overflow: 15,
  InvalidLength: 16,
  ProtocolError: 17,
  AuthenticationFailed: 18,
  IllegalOperation: 20,
  AlreadyInitialized: 23,
  LockTimeout: 24,
  NamespaceNotFound: 26,
  IndexNotFound: 27,
  PathNotViable: 28,
  RoleNotFound: 31,
  FileRenameFailed: 37,
  ConflictingUpdateOperators: 40,
  CursorNotFound: 43,
  CursorInUse: 44,
  NoMatchingDocument: 47,
  NamespaceExists: 48,
  MaxTimeMSExpired: 50,
  DollarPrefixedFieldName: 52,
  InvalidIdField: 53,
  NotSingleValueField: 54,
  EmptyFieldName: 56,
  CommandNotFound: 59,
  DatabaseNotFound: 60,
  ShardKeyNotFound: 61,
  StaleShardVersion: 63,
  WriteConcernTimeout: 64,
  ImmutableField: 66,
  CannotBuildIndexKeys: 201,
  CannotCreateIndex: 67,
  IndexAlreadyExists: 68,
  ShardNotFound: 70,
  InvalidOptions: 72,
  InvalidNamespace: 73,
  NoReplicationEnabled: 76,
  UnknownReplWriteConcern: 79,
  IndexOptionsConflict: 85,
  IndexKeySpecsConflict: 86,
  NetworkTimeout: 89,
  CallbackCanceled: 90,
  ShutdownInProgress: 91,
  InvalidRoleModification: 93,
  OperationFailed: 96,
  UnsatisfiableWriteConcern: 100,
  WriteConflict: 112,
  CommandNotSupported: 115,
  ConflictingOperationInProgress: 117,
  DocumentValidationFailure: 121,
  NotAReplicaSet: 123,
  CommandFailed: 125,
  FailedToSatisfyReadPreference: 133,
  ReadConcernMajorityNotAvailableYet: 134,
  CappedPositionLost: 136,
  JSInterpreterFailure: 139,
  ExceededMemoryLimit: 146,
  ReadConcernMajorityNotEnabled: 148,
  StaleEpoch: 150,
  IncompatibleCollationVersion: 161,
  ViewDepthLimitExceeded: 165,
  CommandNotSupportedOnView: 166,
  OptionNotSupportedOnView: 167,
  InvalidPipelineOperator: 168,
  CannotIndexParallelArrays: 171,
  QueryPlanKilled: 175,
  AmbiguousIndexKeyPattern: 181,
  PrimarySteppedDown: 189,
  ViewPipelineMaxSizeExceeded: 195,
  InvalidIndexSpecificationOption: 197,
  NoSuchSession: 206,
  InvalidUUID: 207,
  KeyNotFound: 211,
  IncompleteTransactionHistory: 217,
  QueryFeatureNotAllowed: 224,
  TransactionTooOld: 225,
  MaxSubPipelineDepthExceeded: 232,
  CursorKilled: 237,
  NotImplemented: 238,
  SnapshotTooOld: 239,
  ConversionFailure: 241,
  TransactionAborted: 244,
  SnapshotUnavailable: 246,
  NoSuchTransaction: 251,
  TransactionCommitted: 256,
  InvalidResumeToken: 260,
  ExceededTimeLimit: 262,
  OperationNotSupportedInTransaction: 263,
  PreparedTransactionInProgress: 267,
  ChangeStreamFatalError: 280,
  TransactionCoordinatorReachedAbortDecision: 282,
  ChangeStreamHistoryLost: 286,
  TransactionExceededLifetimeLimitSeconds: 290,
  NoQueryExecutionPlans: 291,
  QueryExceededMemoryLimitNoDiskUseAllowed: 292,
  FeatureNotSupported: 303,
  ObjectIsBusy: 314,
  APIVersionError: 322,
  APIStrictError: 323,
  APIDeprecationError: 324,
  ConnectionPoolExpired: 331,
  MechanismUnavailable: 334,
  UnsupportedOpQueryCommand: 352,
  CannotConvertIndexToUnique: 359,
  CollectionUUIDMismatch: 361,
  UserWritesBlocked: 371,
  ReauthenticationRequired: 391,
  QueryRejectedBySettings: 411,
  SocketException: 9001,
  CannotGrowDocumentInCappedNamespace: 10003,
  NotWritablePrimary: 10107,
  BSONObjectTooLarge: 10334,
  DuplicateKey: 11000,
  InterruptedAtShutdown: 11600,
  Interrupted: 11601,
  InterruptedDueToReplStateChange: 11602,
  NotPrimaryNoSecondaryOk: 13435,
  NotPrimaryOrSecondary: 13436,
  TooManyRequests: 16500,
  DatabaseDifferCase: 13297,
  IDLFailedToParse: 40414,
  IDLUnknownField: 40415,
} as const;

/** Errors without a name: their number is in the name. */
type LocationCode = `Location${number}`;
export type MongoCode = keyof typeof MONGO_CODES | LocationCode;

/** The name of a code that a client named by its number. */
export function mongoCodeOf(number: number): MongoCode {
  for (const [name, code] of Object.entries(MONGO_CODES))
    if (code === number) return name as MongoCode;
  return `Location${number}`;
}

interface MongoErrorDetails {
  readonly labels?: readonly string[];
  /** Further properties of the error: `keyPattern`, `keyValue`. */
  readonly more?: BsonDocument;
  readonly charge?: number;
}

/** A refusal in this API's own words; a DomainError, so that a decision in a partition can refuse with it as well. */
export class MongoError extends DomainError {
  readonly mongoCode: MongoCode;
  readonly labels: readonly string[];
  readonly more: BsonDocument | undefined;
  readonly charge: number;

  constructor(mongoCode: MongoCode, message: string, details: MongoErrorDetails = {}) {
    super('invalidInput', message);
    this.mongoCode = mongoCode;
    this.labels = details.labels ?? [];
    this.more = details.more;
    this.charge = details.charge ?? 0;
  }

  get number(): number {
    const code = this.mongoCode;
    return code in MONGO_CODES
      ? MONGO_CODES[code as keyof typeof MONGO_CODES]
      : Number(code.slice('Location'.length));
  }
}

export const UNKNOWN_COMMIT_RESULT = 'UnknownTransactionCommitResult';
export const TRANSIENT_TRANSACTION = 'TransientTransactionError';
/** The driver sends the write again with the same number, so that it is applied once. */
export const RETRYABLE_WRITE = 'RetryableWriteError';

const CODES: Readonly<Partial<Record<ErrorCode, MongoCode>>> = {
  invalidInput: 'BadValue',
  partitionKeyMismatch: 'ShardKeyNotFound',
  unauthorized: 'Unauthorized',
  forbidden: 'Unauthorized',
  partitionKeyFull: 'OperationFailed',
  itemNotFound: 'OperationFailed',
  databaseNotFound: 'NamespaceNotFound',
  containerNotFound: 'NamespaceNotFound',
  itemExists: 'DuplicateKey',
  uniqueKeyViolation: 'DuplicateKey',
  containerExists: 'NamespaceExists',
  tooLarge: 'BSONObjectTooLarge',
  responseTooLarge: 'BSONObjectTooLarge',
  retryWith: 'WriteConflict',
  queryTimeout: 'MaxTimeMSExpired',
  // A collection whose partitions are gone for good was dropped meanwhile.
  partitionGone: 'QueryPlanKilled',
};

/** Any failure as a refusal of this API; what is not a refusal is a bug, an InternalError. */
export function mongoErrorOf(error: unknown): MongoError {
  if (error instanceof MongoError) return error;
  if (error instanceof TransactionError) return mongoErrorOf(error.refusal);
  if (error instanceof SyntaxError) return new MongoError('FailedToParse', error.message);
  if (!(error instanceof DomainError))
    return new MongoError('InternalError', 'The server failed; its log has more.');
  const charge = error.responseInfo?.charge ?? 0;
  if (error.code === 'throttled' || error.code === 'bucketThrottled')
    return throttledError(error, charge);
  if (error.code === 'retryWith')
    return new MongoError('WriteConflict', error.message, {
      labels: [TRANSIENT_TRANSACTION],
      charge,
    });
  if (error.code === 'outcomeUnknown')
    return new MongoError('NetworkTimeout', error.message, { labels: [RETRYABLE_WRITE], charge });
  return new MongoError(CODES[error.code] ?? 'OperationFailed', error.message, { charge });
}

/** The text that clients of the reference service read the delay from. */
function throttledError({ retryAfterMs = 0 }: DomainError, charge: number): MongoError {
  return new MongoError(
    'TooManyRequests',
    `Error=16500, RetryAfterMs=${Math.ceil(retryAfterMs)}, Details='Response status code does not indicate success: ` +
      'TooManyRequests (429); Substatus: 3200; Reason: (Request rate is large. More Request Units may be needed, ' +
      "so no changes were made.)'",
    { charge },
  );
}

/** The reply of a command that was refused. */
export function errorReply(
  error: MongoError,
  labels: readonly string[] = error.labels,
): BsonDocument {
  const reply = new Map<string, Bson>([
    ['ok', new Double(0)],
    ['errmsg', error.message],
    ['code', error.number],
    ['codeName', error.mongoCode],
  ]);
  for (const [name, value] of error.more ?? []) reply.set(name, value);
  if (labels.length > 0) reply.set('errorLabels', labels);
  return reply;
}

export function noSearchIndexes(): MongoError {
  return new MongoError(
    'Location31082',
    'Using Atlas Search Database Commands and the $listSearchIndexes aggregation stage requires additional configuration. ' +
      'Please connect to Atlas or an AtlasCLI local deployment to enable.',
  );
}
