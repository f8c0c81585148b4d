/** The results of a batch as records. A row has no column for messages: a failure has its message as the body. */
import { assert, type Bytes } from '../../../../base/index.ts';
import { errorBody } from '../../errors.ts';
import { bodyOf, type OperationResult } from '../batch-result.ts';
import {
  RECORD_HEADER_BYTES,
  SEGMENT_HEADER_BYTES,
  writeRecordHeader,
  writeRowHeader,
  writeSegmentHeader,
} from './record-stream.ts';
import {
  RESULT_BITS,
  RESULT_SCHEMA,
  RESULT_TOKENS,
  ROW_HEADER_BYTES,
  TYPE_FLOAT64,
  TYPE_UINT32,
} from './schemas.ts';

/** The columns of variable length, as bytes. */
interface Parts {
  readonly etag: Bytes | undefined;
  readonly body: Bytes | undefined;
}

/** All of a row but its variable columns: presence bits, two numbers, charge, time to wait. */
const FIXED_BYTES = 1 + 4 + 4;
const CHARGE_BYTES = 2 + 8;
const RETRY_AFTER_BYTES = 2 + 4;

export function printResultRecords(results: readonly OperationResult[]): Bytes {
  const parts = results.map(partsOf);
  let length = SEGMENT_HEADER_BYTES;
  results.forEach((result, at) => {
    length += RECORD_HEADER_BYTES + rowLength(result, parts[at] as Parts);
  });
  const stream = Buffer.allocUnsafe(length);
  let end = writeSegmentHeader(stream, 0);
  results.forEach((result, at) => {
    const start = end + RECORD_HEADER_BYTES;
    end = writeRow(stream, start, result, parts[at] as Parts);
    writeRecordHeader(stream, start, end);
  });
  assert(end === length, 'the records fill the buffer, which is not zeroed');
  return stream;
}

function partsOf(result: OperationResult): Parts {
  const { status, item, message } = result;
  const etag = item && Buffer.from(item.etag);
  return { etag, body: message === undefined ? bodyOf(result) : errorBody(status, message) };
}

function rowLength({ retryAfterMs }: OperationResult, { etag, body }: Parts): number {
  return (
    ROW_HEADER_BYTES +
    FIXED_BYTES +
    variableLength(etag) +
    variableLength(body) +
    (retryAfterMs === undefined ? 0 : RETRY_AFTER_BYTES) +
    CHARGE_BYTES
  );
}

/** Returns the end. */
function writeRow(
  stream: Buffer,
  start: number,
  { status, substatus, retryAfterMs, charge }: OperationResult,
  { etag, body }: Parts,
): number {
  let at = writeRowHeader(stream, start, RESULT_SCHEMA);
  stream[at] =
    RESULT_BITS.statusCode |
    (substatus ? RESULT_BITS.subStatusCode : 0) |
    (etag === undefined ? 0 : RESULT_BITS.eTag) |
    (body === undefined ? 0 : RESULT_BITS.resourceBody);
  at = stream.writeInt32LE(status, at + 1);
  at = stream.writeInt32LE(substatus ?? 0, at);
  at = writeVariable(stream, at, etag);
  at = writeVariable(stream, at, body);
  if (retryAfterMs !== undefined) {
    stream[at] = TYPE_UINT32;
    stream[at + 1] = RESULT_TOKENS.retryAfterMilliseconds;
    at = stream.writeUInt32LE(Math.ceil(retryAfterMs), at + 2);
  }
  stream[at] = TYPE_FLOAT64;
  stream[at + 1] = RESULT_TOKENS.requestCharge;
  return stream.writeDoubleLE(charge, at + 2);
}

function variableLength(bytes: Bytes | undefined): number {
  if (bytes === undefined) return 0;
  let digits = 1;
  for (let left = bytes.length; left >= 0x80; left >>>= 7) digits++;
  return digits + bytes.length;
}

/** Returns the end. */
function writeVariable(stream: Buffer, start: number, bytes: Bytes | undefined): number {
  if (bytes === undefined) return start;
  let at = start;
  let left = bytes.length;
  for (; left >= 0x80; left >>>= 7) stream[at++] = (left & 0x7f) | 0x80;
  stream[at++] = left;
  stream.set(bytes, at);
  return at + bytes.length;
}
