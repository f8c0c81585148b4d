/** The labels by which drivers decide what to send again. */
import type { BsonDocument } from '../../value/index.ts';
import {
  type MongoCode,
  type MongoError,
  RETRYABLE_WRITE,
  TRANSIENT_TRANSACTION,
} from './errors.ts';

/** Codes after which a write may be sent again under the same number (documented). */
const RETRYABLE: ReadonlySet<MongoCode> = new Set<MongoCode>([
  'HostUnreachable',
  'HostNotFound',
  'NetworkTimeout',
  'ShutdownInProgress',
  'PrimarySteppedDown',
  'ExceededTimeLimit',
  'SocketException',
  'NotWritablePrimary',
  'InterruptedAtShutdown',
  'InterruptedDueToReplStateChange',
  'NotPrimaryNoSecondaryOk',
  'NotPrimaryOrSecondary',
]);

/** Codes after which the whole transaction may be tried again. */
const TRANSIENT: ReadonlySet<MongoCode> = new Set<MongoCode>([
  'LockTimeout',
  'NoSuchTransaction',
  'PreparedTransactionInProgress',
  'SnapshotUnavailable',
  'TransactionAborted',
  'WriteConflict',
]);

const ENDINGS: ReadonlySet<string> = new Set(['commitTransaction', 'abortTransaction']);

export function isRetryableCode(code: MongoCode): boolean {
  return RETRYABLE.has(code);
}

/** True for commands that drivers send again under the same number. */
export function isRetryableCommand(name: string, body: BsonDocument): boolean {
  if (ENDINGS.has(name)) return true;
  return body.get('txnNumber') !== undefined && body.get('autocommit') === undefined;
}

/** The labels of a refusal, those that it brings along included. */
export function labelsOf(
  { mongoCode, labels }: MongoError,
  name: string,
  body: BsonDocument,
): readonly string[] {
  const isInTransaction = body.get('autocommit') === false;
  const found = new Set(labels);
  if (!isInTransaction) found.delete(TRANSIENT_TRANSACTION);
  else if (TRANSIENT.has(mongoCode) || (RETRYABLE.has(mongoCode) && !ENDINGS.has(name)))
    found.add(TRANSIENT_TRANSACTION);
  if (isRetryableCommand(name, body)) {
    if (RETRYABLE.has(mongoCode)) found.add(RETRYABLE_WRITE);
  } else found.delete(RETRYABLE_WRITE);
  return [...found];
}
