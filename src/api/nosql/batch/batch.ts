/** A batch request: transactional or bulk, as its headers say. */
import type { Receipt } from '../../../base/index.ts';
import type { Call } from '../call.ts';
import type { ContainerFace } from '../container-face.ts';
import { type Reply, receiptHeaders } from '../reply.ts';
import { wantsMinimal } from '../request.ts';
import { readBatch, type SentOperation } from './batch-request.ts';
import { fitResults, isFailure, type OperationResult, printResults } from './batch-result.ts';
import { runBulk } from './bulk.ts';
import { runTransaction } from './transactional-batch.ts';

/** Results of all operations, in their order, and where they come from. */
export interface BatchOutcome {
  readonly results: readonly OperationResult[];
  readonly charge: number;
  /** Undefined where no partition was asked. */
  readonly receipt: Receipt | undefined;
}

export async function postBatch(call: Call): Promise<Reply> {
  const face = call.ownerContainer();
  const operations = readBatch(call);
  const isAtomic = call.isOn('x-ms-cosmos-batch-atomic');
  const outcome = isAtomic
    ? await runTransaction(call, face, operations)
    : await runBulk(call, face, operations);
  return batchReply(call, face, { operations, outcome, isAtomic });
}

function batchReply(
  call: Call,
  face: ContainerFace,
  {
    operations,
    outcome,
    isAtomic,
  }: { operations: readonly SentOperation[]; outcome: BatchOutcome; isAtomic: boolean },
): Reply {
  const isMinimal = wantsMinimal(call);
  const wanted = outcome.results.map((result, at) => {
    const operation = operations[at];
    const isWrite = operation?.kind !== 'read';
    const hasBody = !(isWrite && (isMinimal || operation?.wantsMinimal === true));
    return hasBody ? result : { ...result, hasBody };
  });
  const results = fitResults(wanted, isAtomic);
  const headers = [...face.scopeHeaders];
  if (outcome.receipt !== undefined) headers.push(...receiptHeaders(outcome.receipt));
  const body = printResults(results);
  const status = results.some(isFailure) ? 207 : 200;
  return { status, charge: Math.round(outcome.charge * 100) / 100, headers, body };
}
