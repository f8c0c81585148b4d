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

const OPENING_BRACKET = 0x5b;
const CLOSING_BRACKET = 0x5d;
const CLOSING_BRACE = 0x7d;
const COMMA = 0x2c;

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

/** What no longer fits in a response is a read to be asked for again, or a write told without its item. */
export function fitResults(
  results: readonly OperationResult[],
  isAtomic: boolean,
): readonly OperationResult[] {
  let bytes = 0;
  return results.map((result) => {
    const length = bodyLength(result);
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
  const texts = results.map(head);
  let length = 1;
  for (const text of texts) length += Buffer.byteLength(text) + 2;
  for (const result of results) length += bodyLength(result);
  const printed = Buffer.allocUnsafe(length);
  let end = 0;
  results.forEach((result, at) => {
    printed[end++] = at === 0 ? OPENING_BRACKET : COMMA;
    end += printed.write(texts[at] as string, end);
    const body = bodyOf(result);
    if (body !== undefined) {
      printed.set(body, end);
      end += body.length;
    }
    printed[end++] = CLOSING_BRACE;
  });
  printed[end] = CLOSING_BRACKET;
  return printed;
}

function bodyOf({ hasBody, item }: OperationResult): Bytes | undefined {
  return hasBody === false ? undefined : item?.body;
}

function bodyLength(result: OperationResult): number {
  return bodyOf(result)?.length ?? 0;
}

/** Everything up to the item, without the closing brace. */
function head(result: OperationResult): string {
  const { status, substatus, charge, item, message, retryAfterMs } = result;
  let text = `{"statusCode":${status}`;
  if (substatus) text += `,"subStatusCode":${substatus}`;
  text += `,"requestCharge":${charge}`;
  if (retryAfterMs !== undefined) text += `,"retryAfterMilliseconds":${Math.ceil(retryAfterMs)}`;
  if (item !== undefined) text += `,"eTag":${JSON.stringify(item.etag)}`;
  if (message !== undefined) text += `,"message":${JSON.stringify(message)}`;
  return bodyOf(result) === undefined ? text : `${text},"resourceBody":`;
}
