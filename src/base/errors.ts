/**
 * Operational errors, as opposed to our bugs (see assert.ts). Every refusal below the APIs is a DomainError with a
 * code of this table. Each API maps the codes to its own statuses, exhaustively.
 */
export type ErrorCode =
  /** The request itself is wrong: shape, range, name. */
  | 'invalidInput'
  /** The partition key in the request is not the one in the item. */
  | 'partitionKeyMismatch'
  | 'unauthorized'
  | 'forbidden'
  /** A logical partition has reached its storage limit. */
  | 'partitionKeyFull'
  | 'itemNotFound'
  | 'databaseNotFound'
  | 'containerNotFound'
  | 'offerNotFound'
  /** A script, a user, a permission, an encryption key. */
  | 'resourceNotFound'
  /** The session token names a later state than this partition has. */
  | 'sessionNotAvailable'
  | 'itemExists'
  | 'databaseExists'
  | 'containerExists'
  | 'resourceExists'
  | 'uniqueKeyViolation'
  | 'preconditionFailed'
  | 'tooLarge'
  /** The items that the response must contain do not fit in it; nothing was applied. */
  | 'responseTooLarge'
  /** The physical partition was replaced by others (split or merge); the caller must look up the ranges again. */
  | 'partitionGone'
  | 'throttled'
  /** The throughput bucket of the request has used its share; the partition has not. */
  | 'bucketThrottled'
  /** A script threw, or is not a function. */
  | 'scriptFailed'
  | 'scriptTimeout'
  /** A script needed more memory than it may have. */
  | 'scriptLimit'
  /** Other writers kept changing items that a script read; nothing was applied. */
  | 'retryWith'
  /** A query has reached its deadline, or its caller has given it up. */
  | 'queryTimeout'
  /** The store failed: disk full, input/output error, queue full. Nothing was applied. */
  | 'unavailable'
  /** The store failed while the write was under way: it may be applied or not. */
  | 'outcomeUnknown';

/** A point in the log of a partition. */
export interface PartitionPosition {
  readonly partitionId: string;
  /** Log sequence number. */
  readonly lsn: number;
}

/** How much of any partitions a client has seen. The API that has such tokens prints and parses them. */
export type SessionToken = readonly PartitionPosition[];

/** Every response of a partition carries this, refusals too: where the partition was at that time. */
export interface ResponseInfo extends PartitionPosition {
  /** Request units. */
  readonly charge: number;
  /** Set where several partitions responded: all but the first. */
  readonly others?: readonly PartitionPosition[] | undefined;
}

export class DomainError extends Error {
  override readonly name = 'DomainError';
  readonly code: ErrorCode;
  /** Milliseconds after which the same request may succeed; only set for throttled requests. */
  readonly retryAfterMs: number | undefined;
  /** Plain data about the refusal, such as the values that another item has. */
  details: Readonly<Record<string, unknown>> | undefined;
  /** Set where a partition refused the request. */
  responseInfo: ResponseInfo | undefined;

  constructor(code: ErrorCode, message: string, retryAfterMs?: number) {
    super(message);
    this.code = code;
    this.retryAfterMs = retryAfterMs;
  }
}
