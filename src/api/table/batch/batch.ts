/** POST of $batch: a change set is one transaction of the service, all or nothing. */
import { bytesToText, type MaybePromise } from '../../../base/index.ts';
import { TransactionError } from '../../../partition/index.ts';
import type { Operation as ItemOperation } from '../../../service/index.ts';
import { type Call, ownerTable, withThrottleWait } from '../call.ts';
import { readEntityByKey } from '../entities/entities.ts';
import { type EntityPlan, planWrite } from '../entities/entity-write.ts';
import { queryEntities } from '../entities/queries.ts';
import { TableError, tableErrorOf } from '../errors.ts';
import { BATCH_OPERATIONS_MAX, REQUEST_BYTES_MAX } from '../limits.ts';
import { errorReply, type Reply, statusText } from '../reply.ts';
import { parseTarget, type Target } from '../target.ts';
import { type BatchPart, type BatchRequest, parseBatch } from './batch-request.ts';

export function runBatch(call: Call): MaybePromise<Reply> {
  const request = parseBatch(call.headers('content-type'), bytesToText(call.body));
  if (request.kind === 'query')
    return queryPart(call, request).then((part) => batchReply(call, [part], false));
  const { parts } = request;
  if (parts.length === 0) return batchReply(call, [], true);
  const contentIds = parts.map(({ contentId }) => contentId);
  const refused = (error: unknown): Reply => {
    const refusal = tableErrorOf(error);
    if (isOfWhole(refusal)) throw error;
    const at = error instanceof BatchError ? error.operation : 0;
    return batchReply(call, [errorPart(call, contentIds[at], refusal, at)], true);
  };
  try {
    return runChanges(call, parts).then(
      (replies) => batchReply(call, numbered(replies, contentIds), true),
      refused,
    );
  } catch (error) {
    return refused(error);
  }
}

/**
 * True for a refusal of the whole batch instead of one part. Clients look for a 429 in the status and headers of the
 * response only and then send the batch again; bugs are left to the handler, which reports them.
 */
function isOfWhole({ status }: TableError): boolean {
  return status === 429 || status >= 500;
}

/** A refusal with the number of the refused operation. */
class BatchError extends TableError {
  readonly operation: number;

  constructor(operation: number, { tableCode, message, retryAfterMs, charge }: TableError) {
    super(tableCode, message, { retryAfterMs, charge });
    this.operation = operation;
  }
}

/** Not async, so that the request's text is not kept in memory while the write waits for the disk. */
function runChanges(call: Call, parts: readonly BatchPart[]): Promise<readonly Reply[]> {
  if (parts.length > BATCH_OPERATIONS_MAX)
    throw new TableError(
      'InvalidInput',
      `The batch request operation exceeds the maximum ${BATCH_OPERATIONS_MAX} changes per change set.`,
    );
  let target: Target | undefined;
  const plans = parts.map((part, at) => {
    try {
      // Inserts all have the same URL, which is parsed once.
      if (target === undefined || part.url !== parts[at - 1]?.url) target = targetOf(part);
      return planPart(call, part, target);
    } catch (error) {
      throw error instanceof TableError ? new BatchError(at, error) : error;
    }
  });
  checkGroup(plans);
  const [{ table, key }] = plans as [EntityPlan, ...EntityPlan[]];
  const container = ownerTable(call, table);
  const operations = plans.map(({ write }): ItemOperation => write);
  const replies = plans.map(({ reply }) => reply);
  const bounds = { operationsMax: BATCH_OPERATIONS_MAX, bytesMax: REQUEST_BYTES_MAX };
  const { service, dialect } = call;
  const attempt = () =>
    service.items.transact(container, [key.partitionKey], operations, dialect.requestClass, bounds);
  return Promise.resolve(withThrottleWait(call, attempt)).then(
    ({ outcomes, charge }) =>
      replies.map((reply, at) => reply(outcomes[at]?.item, at === 0 ? charge : 0)),
    (error: unknown) => {
      if (error instanceof TransactionError)
        throw new BatchError(error.operation, tableErrorOf(error));
      throw error;
    },
  );
}

function numbered(
  replies: readonly Reply[],
  contentIds: readonly (string | undefined)[],
): readonly PartReply[] {
  return replies.map((reply, at) => ({ reply, contentId: contentIds[at] }));
}

function planPart(call: Call, part: BatchPart, { resource, query }: Target): EntityPlan {
  if (resource.kind !== 'entity' && resource.kind !== 'entities')
    throw new TableError('InvalidInput');
  if (part.method === 'GET')
    throw new TableError('InvalidInput', 'A change set may hold no queries.');
  return planWrite(call, {
    method: part.method,
    resource,
    headers: part.headers,
    query,
    text: part.body,
  });
}

/** A change set has one table, one partition key, and every entity once. */
function checkGroup(plans: readonly EntityPlan[]): void {
  const [first] = plans;
  const rowKeys = new Set<string>();
  plans.forEach(({ table, key }, at) => {
    if (table !== first?.table || key.partitionKey !== first.key.partitionKey)
      throw new BatchError(at, new TableError('CommandsInBatchActOnDifferentPartitions'));
    if (rowKeys.has(key.rowKey)) throw new BatchError(at, new TableError('InvalidDuplicateRow'));
    rowKeys.add(key.rowKey);
  });
}

async function queryPart(
  call: Call,
  { part }: Extract<BatchRequest, { kind: 'query' }>,
): Promise<PartReply> {
  const { contentId } = part;
  try {
    const target = targetOf(part);
    return {
      reply: await runQuery({ ...call, target, headers: part.headers }, part),
      contentId,
    };
  } catch (error) {
    const refusal = tableErrorOf(error);
    if (isOfWhole(refusal)) throw error;
    return errorPart(call, contentId, refusal, 0);
  }
}

function runQuery(call: Call, { method }: BatchPart): MaybePromise<Reply> {
  const { resource } = call.target;
  if (method !== 'GET') throw new TableError('InvalidInput', 'Changes must stand in a change set.');
  if (resource.kind === 'entity') return readEntityByKey(call, resource.table, resource);
  if (resource.kind === 'entities') return queryEntities(call, resource.table);
  throw new TableError('InvalidInput');
}

/** The host of an absolute URL is ignored. */
function targetOf({ url }: BatchPart): Target {
  const path = url.replace(/^https?:\/\/[^/?]*/i, '');
  return parseTarget(path.startsWith('/') ? path : `/${path}`);
}

interface PartReply {
  readonly reply: Reply;
  readonly contentId: string | undefined;
}

function errorPart(
  { service, requestId, dialect }: Call,
  contentId: string | undefined,
  error: TableError,
  at: number,
): PartReply {
  const { tableCode, message, retryAfterMs, charge } = dialect.translated(error);
  const text = /^\d+:/.test(message) ? message : `${at}:${message}`;
  const translated = new TableError(tableCode, text, { retryAfterMs, charge });
  const nowMs = service.clock.nowMs();
  const reply = errorReply(translated, { requestId, nowMs, isXml: false, dialect });
  return { reply, contentId };
}

function batchReply({ requestId }: Call, parts: readonly PartReply[], isChangeSet: boolean): Reply {
  const batch = `batchresponse_${requestId}`;
  const changes = `changesetresponse_${requestId}`;
  const texts = parts.map((part) => `--${isChangeSet ? changes : batch}\r\n${partText(part)}`);
  const charge = parts.reduce((sum, { reply }) => sum + reply.charge, 0);
  const body = isChangeSet
    ? `--${batch}\r\nContent-Type: multipart/mixed; boundary=${changes}\r\n\r\n${texts.join('')}--${changes}--\r\n--${batch}--\r\n`
    : `${texts.join('')}--${batch}--\r\n`;
  return {
    status: 202,
    charge,
    headers: [],
    body,
    contentType: `multipart/mixed; boundary=${batch}`,
  };
}

function partText({ reply, contentId }: PartReply): string {
  const { status, headers, body, contentType } = reply;
  let text = 'Content-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n\r\n';
  text += `HTTP/1.1 ${status} ${statusText(status)}\r\n`;
  if (contentId !== undefined) text += `Content-ID: ${contentId}\r\n`;
  text +=
    'X-Content-Type-Options: nosniff\r\nCache-Control: no-cache\r\nDataServiceVersion: 3.0;\r\n';
  for (let at = 0; at < headers.length; at += 2) text += `${headers[at]}: ${headers[at + 1]}\r\n`;
  if (body === undefined) return `${text}\r\n\r\n`;
  return `${text}Content-Type: ${contentType}\r\n\r\n${body}\r\n`;
}
