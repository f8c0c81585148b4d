/** The results of a batch: one entry per operation, item bodies as they are stored. */
import { assert, type Bytes, type DomainError, PAGE_BYTES_MAX } from '../../../base/index.ts';
import type { Item } from '../../../partition/index.ts';
import { CLOSING_BRACE, CLOSING_BRACKET, COMMA, OPENING_BRACKET } from '../../../value/index.ts';
import { SUBSTATUS_RESPONSE_TOO_LARGE, statusOf } from '../errors.ts';

export interface OperationResult {
  readonly status: number;
  readonly substatus?: number;
  readonly charge: number;
  readonly item?: Item | undefined;
  /** False where the client does not want the item in the response. */
  readonly hasBody?: boolean;
  readonly isRead?: boolean;
  readonly message?: string;
  readonly retryAfterMs?: number | undefined;
}

/** The result of an operation that was not tried, or undone, because another one failed. */
export const FAILED_DEPENDENCY: OperationResult = { status: 424, charge: 0 };

export function isFailure({ status }: OperationResult): boolean {
  return status >= 400;
}

/** The status of the whole response: 207 unless all succeeded; a 304 among the results also makes it 207. */
export function statusOfAll(results: readonly OperationResult[]): 200 | 207 {
  return results.every(({ status }) => status < 300) ? 200 : 207;
}

/** Throws an error that is our bug; any other becomes a result. */
export function failedResult(error: unknown): OperationResult {
  const { status, substatus } = statusOf(error);
  if (status === 500) throw error;
  const { responseInfo, retryAfterMs } = error as Partial<DomainError>;
  const { message } = error as Error;
  return { status, substatus, charge: responseInfo?.charge ?? 0, message, retryAfterMs };
}

/** Cuts the results to the size of a response: a read that no longer fits becomes a 413, a write loses its item. */
export function fitResults(results: readonly OperationResult[]): readonly OperationResult[] {
  let bytes = 0;
  return results.map((result) => {
    const length = bodyLength(result);
    if (bytes + length <= PAGE_BYTES_MAX) {
      bytes += length;
      return result;
    }
    const withoutBody = { ...result, hasBody: false };
    return result.isRead === true
      ? { ...withoutBody, status: 413, substatus: SUBSTATUS_RESPONSE_TOO_LARGE }
      : withoutBody;
  });
}

export function printResults(results: readonly OperationResult[]): Bytes {
  const heads = headsOf(results);
  let length = 1;
  for (const head of heads) length += head.length + 2;
  for (const result of results) length += bodyLength(result);
  const printed = Buffer.allocUnsafe(length);
  let end = 0;
  results.forEach((result, at) => {
    printed[end++] = at === 0 ? OPENING_BRACKET : COMMA;
    const head = heads[at] as Buffer;
    printed.set(head, end);
    end += head.length;
    const body = bodyOf(result);
    if (body !== undefined) {
      printed.set(body, end);
      end += body.length;
    }
    printed[end++] = CLOSING_BRACE;
  });
  assert(end === length - 1, 'the results fill the buffer, which is not zeroed');
  printed[end] = CLOSING_BRACKET;
  return printed;
}

/** The item of a result, where the client wants it. */
export function bodyOf({ hasBody, item }: OperationResult): Bytes | undefined {
  return hasBody === false ? undefined : item?.body;
}

function bodyLength(result: OperationResult): number {
  return bodyOf(result)?.length ?? 0;
}

/** The texts before the items. Neighbours in a transaction mostly have the same text, which is printed once. */
function headsOf(results: readonly OperationResult[]): readonly Buffer[] {
  const heads: Buffer[] = [];
  for (let at = 0; at < results.length; at++) {
    const result = results[at] as OperationResult;
    const before = results[at - 1];
    const isAlike = before !== undefined && hasSameHead(before, result);
    heads.push(isAlike ? (heads[at - 1] as Buffer) : Buffer.from(headText(result)));
  }
  return heads;
}

function hasSameHead(a: OperationResult, b: OperationResult): boolean {
  return (
    a.status === b.status &&
    a.substatus === b.substatus &&
    a.charge === b.charge &&
    a.message === b.message &&
    a.retryAfterMs === b.retryAfterMs &&
    a.item?.etag === b.item?.etag &&
    (bodyOf(a) === undefined) === (bodyOf(b) === undefined)
  );
}

/** Everything up to the item, without the closing brace. */
function headText(result: OperationResult): string {
  const { status, substatus, charge, item, message, retryAfterMs } = result;
  let text = `{"statusCode":${status}`;
  if (substatus) text += `,"subStatusCode":${substatus}`;
  text += `,"requestCharge":${charge}`;
  if (retryAfterMs !== undefined) text += `,"retryAfterMilliseconds":${Math.ceil(retryAfterMs)}`;
  if (item !== undefined) text += `,"eTag":${JSON.stringify(item.etag)}`;
  if (message !== undefined) text += `,"message":${JSON.stringify(message)}`;
  return bodyOf(result) === undefined ? text : `${text},"resourceBody":`;
}
