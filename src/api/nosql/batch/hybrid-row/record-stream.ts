/** A stream of records: a segment header, then rows, each after a header with its length and checksum. */
import { crc32 } from 'node:zlib';
import { malformedBatch } from '../malformed-batch.ts';
import { RowCursor } from './row-cursor.ts';
import { RECORD_SCHEMA, ROW_HEADER_BYTES, ROW_VERSION, SEGMENT_SCHEMA } from './schemas.ts';

/** One presence byte and the length of the header itself; a comment and a schema may follow and are skipped. */
export const SEGMENT_HEADER_BYTES = ROW_HEADER_BYTES + 1 + 4;
/** Length and checksum, which are mandatory and so have no presence bits. */
export const RECORD_HEADER_BYTES = ROW_HEADER_BYTES + 4 + 4;

const HAS_LENGTH = 1;

/** The rows as views into the stream, at most `countMax` of them. */
export function readRecords(stream: Buffer, countMax: number): Buffer[] {
  const cursor = new RowCursor(stream);
  const rows: Buffer[] = [];
  if (readRowHeader(cursor) !== SEGMENT_SCHEMA)
    throw malformedBatch('it does not begin with the header of a segment');
  skipSegment(cursor);
  while (!cursor.isAtEnd && rows.length < countMax) {
    const schema = readRowHeader(cursor);
    if (schema === RECORD_SCHEMA) rows.push(readRecord(cursor));
    else if (schema === SEGMENT_SCHEMA) skipSegment(cursor);
    else throw malformedBatch('a record is expected');
  }
  return rows;
}

/** The schema of the row that begins here. */
export function readRowHeader(cursor: RowCursor): number {
  if (cursor.byte() !== ROW_VERSION) throw malformedBatch('a row has an unknown version');
  return cursor.int32();
}

function skipSegment(cursor: RowCursor): void {
  const start = cursor.at - ROW_HEADER_BYTES;
  const hasLength = (cursor.byte() & HAS_LENGTH) !== 0;
  const length = cursor.int32();
  if (!hasLength || length < SEGMENT_HEADER_BYTES)
    throw malformedBatch('the header of a segment does not tell its length');
  cursor.bytes(start + length - cursor.at);
}

function readRecord(cursor: RowCursor): Buffer {
  const length = cursor.int32();
  const checksum = cursor.uint32();
  const row = cursor.bytes(length);
  if (crc32(row) !== checksum) throw malformedBatch('the checksum of a record does not match');
  return row;
}

/** Returns the end. */
export function writeSegmentHeader(stream: Buffer, at: number): number {
  const end = writeRowHeader(stream, at, SEGMENT_SCHEMA);
  stream[end] = HAS_LENGTH;
  return stream.writeInt32LE(SEGMENT_HEADER_BYTES, end + 1);
}

/** Writes the header of a row that is already in the stream, from `start` to `end`. */
export function writeRecordHeader(stream: Buffer, start: number, end: number): void {
  let at = writeRowHeader(stream, start - RECORD_HEADER_BYTES, RECORD_SCHEMA);
  at = stream.writeInt32LE(end - start, at);
  stream.writeUInt32LE(crc32(stream.subarray(start, end)), at);
}

/** Returns the end. */
export function writeRowHeader(stream: Buffer, at: number, schema: number): number {
  stream[at] = ROW_VERSION;
  return stream.writeInt32LE(schema, at + 1);
}
