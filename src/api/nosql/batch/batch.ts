/** A batch request: transactional or bulk, as its headers say; answered in the form it was sent in. */
import type { ResponseInfo } from '../../../base/index.ts';
import type { Call } from '../call.ts';
import type { ContainerView } from '../containers/container-view.ts';
import { type Reply, receiptHeaders } from '../reply.ts';
import { readBatch } from './batch-request.ts';
import { type OperationResult, printResults, statusOfAll } from './batch-result.ts';
import { isBinaryBatch } from './binary-batch.ts';
import { runBulk } from './bulk.ts';
import { printResultRecords } from './hybrid-row/index.ts';
import { runTransaction } from './transactional-batch.ts';

/** Results of all operations, in their order, with the items that are wanted back, and where they come from. */
export interface BatchOutcome {
  readonly results: readonly OperationResult[];
  readonly charge: number;
  /** Undefined where no partition was asked. */
  readonly receipt: ResponseInfo | undefined;
}

/** How results are told. */
interface Form {
  readonly print: typeof printResults;
  readonly contentType: string;
}

const JSON_LIST: Form = { print: printResults, contentType: 'application/json' };
const RECORDS: Form = { print: printResultRecords, contentType: 'application/octet-stream' };

export async function postBatch(call: Call): Promise<Reply> {
  const face = call.ownerContainer();
  // Asked before anything is awaited: what was sent is not kept.
  const form = isBinaryBatch(call.body) ? RECORDS : JSON_LIST;
  return run(call, face).then((outcome) => batchReply(face, outcome, form));
}

function run(call: Call, face: ContainerView): Promise<BatchOutcome> {
  const operations = readBatch(call, face);
  return call.isHeaderTrue('x-ms-cosmos-batch-atomic')
    ? runTransaction(call, face, operations)
    : runBulk(call, face, operations);
}

function batchReply(
  face: ContainerView,
  { results, charge, receipt }: BatchOutcome,
  { print, contentType }: Form,
): Reply {
  const headers = [...face.scopeHeaders];
  if (receipt !== undefined) headers.push(...receiptHeaders(receipt));
  return {
    status: statusOfAll(results),
    charge: Math.round(charge * 100) / 100,
    headers,
    body: print(results),
    contentType,
  };
}
