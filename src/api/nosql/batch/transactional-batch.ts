/** A transactional batch: one partition key, one decision, all operations or none. */
import { DomainError, PAGE_BYTES_MAX } from '../../../base/index.ts';
import type { OperationOutcome } from '../../../cluster/index.ts';
import { TransactionError } from '../../../partition/index.ts';
import { BATCH_BOUNDS, type Operation } from '../../../service/index.ts';
import type { Call } from '../call.ts';
import type { ContainerView } from '../containers/container-view.ts';
import { RequestError } from '../errors.ts';
import { type KeyValues, requiredPartitionKey } from '../items/partition-key-header.ts';
import { headerRequestClass } from '../request.ts';
import type { BatchOutcome } from './batch.ts';
import { addSteps, type RequestOperation } from './batch-request.ts';
import { FAILED_DEPENDENCY, failedResult, type OperationResult } from './batch-result.ts';

/** Not an async function, so that the request body is not kept while the write waits for the disk. */
export function runTransaction(
  call: Call,
  view: ContainerView,
  sent: readonly RequestOperation[],
): Promise<BatchOutcome> {
  const key = requiredPartitionKey(call, view);
  if (sent.some(({ partitionKey }) => partitionKey !== undefined && !isSameKey(partitionKey, key)))
    throw new RequestError(
      400,
      'One or more operations within the batch request have a different partition key value than the request.',
    );
  const operations: Operation[] = [];
  /** The last step of each operation. */
  const ends: number[] = [];
  /** Whether the client wants the item of each step. */
  const isWanted: boolean[] = [];
  for (let at = 0; at < sent.length; at++) {
    try {
      const operation = sent[at] as RequestOperation;
      addSteps(operations, view, operation, key);
      ends.push(operations.length - 1);
      while (isWanted.length < operations.length) isWanted.push(operation.wantsItem);
    } catch (error) {
      return Promise.resolve(failed(sent.length, at, error));
    }
  }
  const kinds = sent.map(({ kind }) => kind);
  const bounds: typeof BATCH_BOUNDS = {
    ...BATCH_BOUNDS,
    response: { bytesMax: PAGE_BYTES_MAX, isWanted },
  };
  const requestClass = headerRequestClass(call);
  return call.service.items.transact(view.record, key, operations, requestClass, bounds).then(
    (reply) => ({
      results: kinds.map((kind, at) => {
        const end = ends[at] as number;
        return toResult(kind, reply.outcomes[end] as OperationOutcome, isWanted[end] === true);
      }),
      charge: reply.charge,
      responseInfo: reply,
    }),
    (error: unknown) => {
      // An error about the batch as a whole, such as a full partition or 429, is the response to the request.
      if (!(error instanceof TransactionError)) throw error;
      const at = ends.findIndex((end) => end >= error.operation);
      // The items after the first that does not fit do not fit either; they get the same error, as in bulk.
      const isShared = error.code === 'responseTooLarge';
      return failed(
        kinds.length,
        at,
        error,
        (other) => isShared && isWanted[ends[other] as number] === true,
      );
    },
  );
}

/** @param isAlike - whether an operation after the failed one fails with the same error. */
function failed(
  count: number,
  at: number,
  error: unknown,
  isAlike: (other: number) => boolean = () => false,
): BatchOutcome {
  const result = failedResult(error);
  const alike = { ...result, charge: 0 };
  const responseInfo = error instanceof DomainError ? error.responseInfo : undefined;
  return {
    results: Array.from({ length: count }, (_, other) => {
      if (other === at) return result;
      return other > at && isAlike(other) ? alike : FAILED_DEPENDENCY;
    }),
    charge: result.charge,
    responseInfo,
  };
}

const STATUSES = {
  created: 201,
  replaced: 200,
  deleted: 204,
  kept: 200,
  read: 200,
  notModified: 304,
  expected: 200,
} as const;

function toResult(
  sent: RequestOperation['kind'],
  { kind, item, charge }: OperationOutcome,
  isWanted: boolean,
): OperationResult {
  const status = sent === 'replace' ? STATUSES.replaced : STATUSES[kind];
  return { status, charge, item, hasBody: isWanted && kind !== 'notModified' };
}

function isSameKey(a: KeyValues, b: KeyValues): boolean {
  return a.length === b.length && a.every((value, at) => value === b[at]);
}
