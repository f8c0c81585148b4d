/** A batch request, transactional or bulk by its headers; the response has the format of the request. */
import { assert, type ResponseInfo } from '../../../base/index.ts';
import type { Call } from '../call.ts';
import type { ContainerView } from '../containers/container-view.ts';
import { type Reply, responseInfoHeaders } from '../reply.ts';
import { type RequestOperation, readBatch } from './batch-request.ts';
import { type OperationResult, printResults, statusOfAll } from './batch-result.ts';
import { isBinaryBatch } from './binary-batch.ts';
import { runBulk } from './bulk.ts';
import { printResultRecords } from './hybrid-row/index.ts';
import { runTransaction } from './transactional-batch.ts';

/** The results of all operations in their order, with the charge and the response info of the partition. */
export interface BatchOutcome {
  readonly results: readonly OperationResult[];
  readonly charge: number;
  /** Undefined where no partition was involved. */
  readonly responseInfo: ResponseInfo | undefined;
}

/** The format of the results. */
interface ResponseFormat {
  readonly print: typeof printResults;
  readonly contentType: string;
}

const JSON_LIST: ResponseFormat = { print: printResults, contentType: 'application/json' };
const RECORDS: ResponseFormat = {
  print: printResultRecords,
  contentType: 'application/octet-stream',
};

export async function postBatch(call: Call): Promise<Reply> {
  const view = call.ownerContainer();
  view.foreign?.refuse('A batch');
  // The format is read before the first await: the request body is not kept.
  const format = isBinaryBatch(call.body) ? RECORDS : JSON_LIST;
  const operations = readBatch(call, view);
  const count = operations.length;
  return run(call, view, operations).then((outcome) => {
    assert(outcome.results.length === count, 'every operation has a result');
    return batchReply(view, outcome, format);
  });
}

function run(
  call: Call,
  view: ContainerView,
  operations: readonly RequestOperation[],
): Promise<BatchOutcome> {
  return call.isHeaderTrue('x-ms-cosmos-batch-atomic')
    ? runTransaction(call, view, operations)
    : runBulk(call, view, operations);
}

function batchReply(
  view: ContainerView,
  { results, charge, responseInfo }: BatchOutcome,
  { print, contentType }: ResponseFormat,
): Reply {
  const headers = [...view.scopeHeaders];
  if (responseInfo !== undefined) headers.push(...responseInfoHeaders(responseInfo));
  return {
    status: statusOfAll(results),
    charge: Math.round(charge * 100) / 100,
    headers,
    body: print(results),
    contentType,
  };
}
