/** A transactional batch: one partition key, one decision, all operations or none. */
import { DomainError } from '../../../base/index.ts';
import type { OperationOutcome } from '../../../cluster/index.ts';
import { TransactionError } from '../../../partition/index.ts';
import type { Operation } from '../../../service/index.ts';
import type { Call } from '../call.ts';
import type { ContainerFace } from '../container-face.ts';
import { RequestError } from '../errors.ts';
import { type KeyValues, requiredPartitionKey } from '../partition-key-header.ts';
import { requestTraffic } from '../request.ts';
import type { BatchOutcome } from './batch.ts';
import { addSteps, type SentOperation } from './batch-request.ts';
import { FAILED_DEPENDENCY, failedResult, type OperationResult } from './batch-result.ts';

/** Returns before anything is awaited: what was sent is not kept while the write waits for the disk. */
export function runTransaction(
  call: Call,
  face: ContainerFace,
  sent: readonly SentOperation[],
): Promise<BatchOutcome> {
  const key = requiredPartitionKey(call, face);
  if (sent.some(({ partitionKey }) => partitionKey !== undefined && !isSameKey(partitionKey, key)))
    throw new RequestError(
      400,
      'One or more operations within the batch request have a different partition key value than the request.',
    );
  const operations: Operation[] = [];
  /** Of each sent operation, the last step. */
  const ends: number[] = [];
  for (let at = 0; at < sent.length; at++) {
    try {
      addSteps(operations, call, face, sent[at] as SentOperation, key);
      ends.push(operations.length - 1);
    } catch (error) {
      return Promise.resolve(failed(sent.length, at, error));
    }
  }
  const kinds = sent.map(({ kind }) => kind);
  return call.service.items.transact(face.record, key, operations, requestTraffic(call)).then(
    (reply) => ({
      results: kinds.map((kind, at) =>
        toResult(kind, reply.outcomes[ends[at] as number] as OperationOutcome),
      ),
      charge: reply.charge,
      receipt: reply,
    }),
    (error: unknown) => {
      // Whatever refuses the batch as a whole, such as a full partition or 429, is the answer to the request.
      if (!(error instanceof TransactionError)) throw error;
      const at = ends.findIndex((end) => end >= error.operation);
      return failed(kinds.length, at, error);
    },
  );
}

function failed(count: number, at: number, error: unknown): BatchOutcome {
  const result = failedResult(error);
  const receipt = error instanceof DomainError ? error.receipt : undefined;
  return {
    results: Array.from({ length: count }, (_, index) =>
      index === at ? result : FAILED_DEPENDENCY,
    ),
    charge: result.charge,
    receipt,
  };
}

const STATUSES = {
  created: 201,
  replaced: 200,
  deleted: 204,
  read: 200,
  notModified: 304,
  expected: 200,
} as const;

function toResult(
  sent: SentOperation['kind'],
  { kind, item, charge }: OperationOutcome,
): OperationResult {
  const status = sent === 'replace' ? STATUSES.replaced : STATUSES[kind];
  return { status, charge, item, hasBody: kind !== 'notModified' };
}

function isSameKey(a: KeyValues, b: KeyValues): boolean {
  return a.length === b.length && a.every((value, at) => value === b[at]);
}
