/** A batch of the .NET client: operations as binary rows, each with its item as JSON text. */
import { BATCH_OPERATIONS_MAX, type Bytes, bufferOf, DomainError } from '../../../base/index.ts';
import type { Value } from '../../../value/index.ts';
import type { ContainerView } from '../containers/container-view.ts';
import { parseJson } from '../items/json-body.ts';
import { requestItem } from '../items/request-item.ts';
import type { CanonicalOperation } from './canonical-batch.ts';
import {
  type OperationRow,
  ROW_VERSION,
  readOperationRow,
  readRecords,
} from './hybrid-row/index.ts';

interface BinaryOperation extends CanonicalOperation {
  /** The error in its item. Bulk requests collect items of many callers, and only the one at fault gets the error. */
  readonly bodyError: DomainError | undefined;
}

interface ReadBody {
  readonly value: Value;
  readonly text?: Bytes | undefined;
  readonly bodyError?: DomainError | undefined;
}

/** The first byte of binary JSON, which clients can be configured to send. */
const BINARY_JSON = 0x80;

export function isBinaryBatch(body: Bytes): boolean {
  return body[0] === ROW_VERSION;
}

/** Reads at most one operation more than a batch may have, so that the caller sees the excess. */
export function readBinaryBatch(body: Bytes, view: ContainerView): readonly BinaryOperation[] {
  return readRecords(bufferOf(body), BATCH_OPERATIONS_MAX + 1).map((record) => {
    const row = readOperationRow(record);
    const { value, text, bodyError } = checkedBody(row, view);
    return { fields: { ...row, resourceBody: value }, text, bodyError };
  });
}

function checkedBody(row: OperationRow, view: ContainerView): ReadBody {
  try {
    return readBody(row, view);
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    return { value: undefined, bodyError: error };
  }
}

function readBody({ operationType, resourceBody }: OperationRow, view: ContainerView): ReadBody {
  if (resourceBody === undefined) return { value: undefined };
  switch (operationType) {
    case 'Create':
    case 'Upsert':
    case 'Replace': {
      checkIsText(resourceBody);
      const { item, text } = requestItem(resourceBody, view);
      return { value: item, text };
    }
    case 'Patch':
      checkIsText(resourceBody);
      return { value: parseJson(resourceBody) };
    default:
      return { value: undefined };
  }
}

function checkIsText(body: Bytes): void {
  if (body[0] === BINARY_JSON)
    throw new DomainError(
      'invalidInput',
      'The resourceBody of the operation is in binary JSON, which is not supported: JSON text is expected.',
    );
}
