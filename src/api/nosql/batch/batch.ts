/** A batch request: transactional or bulk, as its headers say; answered in the form it was sent in. */
import type { Receipt } from '../../../base/index.ts';
import type { Call } from '../call.ts';
import type { ContainerFace } from '../container-face.ts';
import { type Reply, receiptHeaders } from '../reply.ts';
import { wantsMinimal } from '../request.ts';
import { readBatch } from './batch-request.ts';
import { fitResults, type OperationResult, printResults, statusOfAll } from './batch-result.ts';
import { isBinaryBatch } from './binary-batch.ts';
import { runBulk } from './bulk.ts';
import { printResultRecords } from './hybrid-row/index.ts';
import { runTransaction } from './transactional-batch.ts';

/** Results of all operations, in their order, and where they come from. */
export interface BatchOutcome {
  readonly results: readonly OperationResult[];
  readonly charge: number;
  /** Undefined where no partition was asked. */
  readonly receipt: Receipt | undefined;
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
  const isAtomic = call.isOn('x-ms-cosmos-batch-atomic');
  // Asked before anything is awaited: what was sent is not kept.
  const form = isBinaryBatch(call.body) ? RECORDS : JSON_LIST;
  return run(call, face, isAtomic).then((outcome) => batchReply(face, outcome, { isAtomic, form }));
}

/** The outcome, with the items that are wanted back. */
function run(call: Call, face: ContainerFace, isAtomic: boolean): Promise<BatchOutcome> {
  const operations = readBatch(call, face);
  const isMinimal = wantsMinimal(call);
  const hasBodies = operations.map(
    ({ kind, wantsMinimal: isOwnMinimal }) => kind === 'read' || !(isMinimal || isOwnMinimal),
  );
  const outcome = isAtomic
    ? runTransaction(call, face, operations)
    : runBulk(call, face, operations);
  if (!hasBodies.includes(false)) return outcome;
  return outcome.then(({ results, ...rest }) => ({
    ...rest,
    results: results.map((result, at) =>
      hasBodies[at] === false ? { ...result, hasBody: false } : result,
    ),
  }));
}

function batchReply(
  face: ContainerFace,
  outcome: BatchOutcome,
  { isAtomic, form }: { isAtomic: boolean; form: Form },
): Reply {
  const results = fitResults(outcome.results, isAtomic);
  const headers = [...face.scopeHeaders];
  if (outcome.receipt !== undefined) headers.push(...receiptHeaders(outcome.receipt));
  const status = statusOfAll(results);
  const charge = Math.round(outcome.charge * 100) / 100;
  const { contentType } = form;
  return { status, charge, headers, body: form.print(results), contentType };
}
