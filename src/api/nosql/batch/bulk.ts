/**
 * Bulk: every operation is independent. They run concurrently, so that many share one commit, but operations on one
 * item keep their order. Without `continue-on-error` they run one after the other until one fails.
 */
import { DomainError, type ResponseInfo } from '../../../base/index.ts';
import { itemNotFound } from '../../../partition/index.ts';
import type { Operation } from '../../../service/index.ts';
import type { Call } from '../call.ts';
import type { ContainerView } from '../containers/container-view.ts';
import { type KeyValues, requiredPartitionKey, wholeKey } from '../items/partition-key-header.ts';
import { rangeIdOf } from '../query/query-targets.ts';
import { headerRequestClass } from '../request.ts';
import { parseSessionToken } from '../session-token.ts';
import type { BatchOutcome } from './batch.ts';
import { type RequestOperation, toOperation } from './batch-request.ts';
import {
  FAILED_DEPENDENCY,
  failedResult,
  fitResults,
  isFailure,
  type OperationResult,
} from './batch-result.ts';

interface Run {
  readonly call: Call;
  readonly view: ContainerView;
  /** The response info of the latest operation. */
  responseInfo: ResponseInfo | undefined;
}

export async function runBulk(
  call: Call,
  view: ContainerView,
  sent: readonly RequestOperation[],
): Promise<BatchOutcome> {
  const range = call.header('x-ms-documentdb-partitionkeyrangeid');
  // Operations are routed by their keys. The range id is only checked: an unknown one belongs to another container.
  if (range !== undefined) call.service.queries.rangeOf(view.record, rangeIdOf(range, view));
  const run: Run = { call, view, responseInfo: undefined };
  for (const operation of sent) call.keyGuard?.(keyOf(run, operation));
  const results = call.isHeaderTrue('x-ms-cosmos-batch-continue-on-error')
    ? await runAll(run, sent)
    : await runUntilFailure(run, sent);
  let charge = 0;
  for (const result of results) charge += result.charge;
  return { results: fitResults(results), charge, responseInfo: run.responseInfo };
}

function runAll(run: Run, sent: readonly RequestOperation[]): Promise<OperationResult[]> {
  const last = new Map<string, Promise<OperationResult>>();
  return Promise.all(
    sent.map((operation) => {
      const name = JSON.stringify([operation.partitionKey, operation.id]);
      const before = last.get(name);
      const result =
        before === undefined ? runOne(run, operation) : before.then(() => runOne(run, operation));
      last.set(name, result);
      return result;
    }),
  );
}

async function runUntilFailure(
  run: Run,
  sent: readonly RequestOperation[],
): Promise<OperationResult[]> {
  const results: OperationResult[] = [];
  let hasFailed = false;
  for (const operation of sent) {
    const result = hasFailed ? FAILED_DEPENDENCY : await runOne(run, operation);
    hasFailed ||= isFailure(result);
    results.push(result);
  }
  return results;
}

async function runOne(run: Run, sent: RequestOperation): Promise<OperationResult> {
  try {
    const key = keyOf(run, sent);
    const operation = toOperation(run.view, sent, key);
    return operation.kind === 'read'
      ? await read(run, key, operation)
      : await write(run, key, operation, sent.wantsItem);
  } catch (error) {
    if (error instanceof DomainError) run.responseInfo = error.responseInfo ?? run.responseInfo;
    return failedResult(error);
  }
}

function keyOf({ call, view }: Run, { partitionKey }: RequestOperation): KeyValues {
  if (partitionKey === undefined) return requiredPartitionKey(call, view);
  return wholeKey(partitionKey, view);
}

async function read(
  run: Run,
  partitionKey: KeyValues,
  { rowKey, ifNoneMatch }: Operation & { readonly kind: 'read' },
): Promise<OperationResult> {
  const { service } = run.call;
  const session = parseSessionToken(run.call.header('x-ms-session-token'));
  const address = { partitionKey, rowKey };
  const requestClass = headerRequestClass(run.call);
  const reply = await service.items.read(run.view.record, address, session, requestClass);
  run.responseInfo = reply;
  const { item, charge } = reply;
  if (item === undefined) {
    const missing = itemNotFound();
    missing.responseInfo = reply;
    throw missing;
  }
  if (ifNoneMatch === item.etag || ifNoneMatch === '*')
    return { status: 304, charge: 1, item, hasBody: false };
  return { status: 200, charge, item, isRead: true };
}

async function write(
  run: Run,
  partitionKey: KeyValues,
  operation: Exclude<Operation, { readonly kind: 'read' | 'expect' }>,
  hasBody: boolean,
): Promise<OperationResult> {
  const { service } = run.call;
  const requestClass = headerRequestClass(run.call);
  const reply = await service.items.write(
    run.view.record,
    { ...operation, partitionKey },
    requestClass,
  );
  run.responseInfo = reply;
  const { effect, charge } = reply;
  const status = { created: 201, replaced: 200, deleted: 204, kept: 200 }[effect.kind];
  return { status, charge, item: effect.item, hasBody };
}
