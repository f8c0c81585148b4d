/** One operation of a batch as a row: fixed and variable columns by presence bits, then sparse fields by token. */
import type { Bytes } from '../../../../base/index.ts';
import { malformedBatch } from '../malformed-batch.ts';
import { readRowHeader } from './record-stream.ts';
import { RowCursor } from './row-cursor.ts';
import {
  OPERATION_BITS,
  OPERATION_SCHEMA,
  OPERATION_TOKENS,
  OPERATION_TYPES,
  RESOURCE_TYPE_ITEM,
  TYPE_FALSE,
  TYPE_INT32,
  TYPE_TEXT,
  TYPE_TRUE,
} from './schemas.ts';

export interface OperationRow extends OperationColumns, OperationFields {}

interface OperationColumns {
  /** Undefined for a number that is no operation on items. */
  readonly operationType: string | undefined;
  readonly partitionKey: string | undefined;
  readonly id: string | undefined;
  /** A view into the request buffer, not a copy. */
  readonly resourceBody: Bytes | undefined;
}

interface OperationFields {
  ifMatch?: string;
  ifNoneMatch?: string;
  minimalReturnPreference?: boolean;
}

export function readOperationRow(row: Buffer): OperationRow {
  const cursor = new RowCursor(row);
  if (readRowHeader(cursor) !== OPERATION_SCHEMA)
    throw malformedBatch('a record is not an operation');
  const columns = readColumns(cursor);
  const fields: OperationFields = {};
  while (!cursor.isAtEnd) readField(cursor, fields);
  return { ...columns, ...fields };
}

/** Absent fixed columns still take their bytes; absent variable columns take none. */
function readColumns(cursor: RowCursor): OperationColumns {
  const presence = cursor.byte();
  const has = (bit: number) => (presence & bit) !== 0;
  const operationNumber = cursor.int32();
  const resourceNumber = cursor.int32();
  const partitionKey = has(OPERATION_BITS.partitionKey) ? cursor.text() : undefined;
  if (has(OPERATION_BITS.effectivePartitionKey)) cursor.binary();
  const id = has(OPERATION_BITS.id) ? cursor.text() : undefined;
  // Items are found by id and key values; the binary forms are for containers of another kind and are skipped.
  if (has(OPERATION_BITS.binaryId)) cursor.binary();
  const resourceBody = has(OPERATION_BITS.resourceBody) ? cursor.binary() : undefined;
  if (has(OPERATION_BITS.resourceType) && resourceNumber !== RESOURCE_TYPE_ITEM)
    throw malformedBatch('an operation is about another resource than an item');
  if (has(OPERATION_BITS.effectivePartitionKey) && partitionKey === undefined)
    throw malformedBatch('an operation has the hash of its partition key and not the key');
  const operationType = has(OPERATION_BITS.operationType)
    ? OPERATION_TYPES[operationNumber]
    : undefined;
  return { operationType, partitionKey, id, resourceBody };
}

function readField(cursor: RowCursor, fields: OperationFields): void {
  const type = cursor.byte();
  switch (cursor.varuint()) {
    case OPERATION_TOKENS.ifMatch:
      fields.ifMatch = readText(cursor, type);
      break;
    case OPERATION_TOKENS.ifNoneMatch:
      fields.ifNoneMatch = readText(cursor, type);
      break;
    case OPERATION_TOKENS.minimalReturnPreference:
      fields.minimalReturnPreference = toBoolean(type);
      break;
    // These two are ignored, as in JSON batches: the policy decides on indexing, and items have their own `ttl`.
    case OPERATION_TOKENS.indexingDirective:
      readText(cursor, type);
      break;
    case OPERATION_TOKENS.timeToLiveInSeconds:
      if (type !== TYPE_INT32) throw wrongType();
      cursor.int32();
      break;
    default:
      throw malformedBatch('an operation has an unknown field');
  }
}

function readText(cursor: RowCursor, type: number): string {
  if (type !== TYPE_TEXT) throw wrongType();
  return cursor.text();
}

function toBoolean(type: number): boolean {
  if (type !== TYPE_TRUE && type !== TYPE_FALSE) throw wrongType();
  return type === TYPE_TRUE;
}

function wrongType(): Error {
  return malformedBatch('a field of an operation has the wrong type');
}
