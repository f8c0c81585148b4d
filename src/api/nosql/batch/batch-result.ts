/** The results of a batch: one entry per operation, item bodies as they are stored. */
import { type Bytes, DomainError, PAGE_BYTES_MAX } from '../../../base/index.ts';
import type { Item } from '../../../partition/index.ts';
import { statusOf } from '../errors.ts';

export interface OperationResult {
  readonly status: number;
  readonly substatus?: number;
  readonly charge: number;
  readonly item?: Item | undefined;
  /** False where the item itself is not wanted back. */
  readonly hasBody?: boolean;
  readonly isRead?: boolean;
  readonly message?: string;
  readonly retryAfterMs?: number | undefined;
}

/** Not tried, or undone, because another operation failed. */
export const FAILED_DEPENDENCY: OperationResult = { status: 424, charge: 0 };

const SUBSTATUS_RESPONSE_TOO_LARGE = 3402;

export function isFailure({ status }: OperationResult): boolean {
  return status >= 400;
}

/** Throws what is not a refusal: our bug. */
export function failedResult(error: unknown): OperationResult {
  const { status, substatus } = statusOf(error);
  if (status === 500) throw error;
  const { receipt, retryAfterMs } = error as Partial<DomainError>;
  const { message } = error as Error;
  return { status, substatus, charge: receipt?.charge ?? 0, message, retryAfterMs };
}

const PUNCTUATION = {
  open: Buffer.from('['),
  comma: Buffer.from(','),
  end: Buffer.from('}'),
  close: Buffer.from(']'),
};

/** What no longer fits in a response is a read to be asked for again, or a write told without its item. */
export function fitResults(
  results: readonly OperationResult[],
  isAtomic: boolean,
): readonly OperationResult[] {
  let bytes = 0;
  return results.map((result) => {
    const length = bodyOf(result)?.length ?? 0;
    if (bytes + length <= PAGE_BYTES_MAX) {
      bytes += length;
      return result;
    }
    if (isAtomic) throw new DomainError('tooLarge', 'Response size is too large');
    const cut = { ...result, hasBody: false };
    return result.isRead === true
      ? { ...cut, status: 413, substatus: SUBSTATUS_RESPONSE_TOO_LARGE }
      : cut;
  });
}

export function printResults(results: readonly OperationResult[]): Bytes {
  const parts: Bytes[] = [PUNCTUATION.open];
  results.forEach((result, at) => {
    if (at > 0) parts.push(PUNCTUATION.comma);
    const body = bodyOf(result);
    const text = head(result);
    if (body === undefined) parts.push(Buffer.from(`${text}}`));
    else parts.push(Buffer.from(`${text},"resourceBody":`), body, PUNCTUATION.end);
  });
  parts.push(PUNCTUATION.close);
  return Buffer.concat(parts);
}

function bodyOf({ hasBody, item }: OperationResult): Bytes | undefined {
  return hasBody === false ? undefined : item?.body;
}

/** Everything but the item, without the closing brace. */
function head({ status, substatus, charge, item, message, retryAfterMs }: OperationResult): string {
  let text = `{"statusCode":${status}`;
  if (substatus) text += `,"subStatusCode":${substatus}`;
  text += `,"requestCharge":${charge}`;
  if (retryAfterMs !== undefined) text += `,"retryAfterMilliseconds":${Math.ceil(retryAfterMs)}`;
  if (item !== undefined) text += `,"eTag":${JSON.stringify(item.etag)}`;
  if (message !== undefined) text += `,"message":${JSON.stringify(message)}`;
  return text;
}
