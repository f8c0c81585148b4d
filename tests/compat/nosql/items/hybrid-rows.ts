/**
 * Batches in the binary form of the .NET client, from the client's side: written from the public format, and sharing
 * nothing with the server's reader and printer, not even the checksum.
 */
import { expect } from 'vitest';

export interface OperationFields {
  readonly operationType: keyof typeof OPERATION_TYPES;
  readonly partitionKey?: string;
  readonly id?: string;
  readonly resourceBody?: string | Buffer;
  readonly indexingDirective?: string;
  readonly ifMatch?: string;
  readonly ifNoneMatch?: string;
  readonly minimalReturnPreference?: boolean;
}

export interface ResultFields {
  readonly statusCode: number;
  readonly subStatusCode?: number;
  readonly eTag?: string;
  readonly resourceBody?: string;
  readonly retryAfterMilliseconds?: number;
  readonly requestCharge?: number;
}

const OPERATION_TYPES = { Create: 0, Patch: 1, Read: 2, Delete: 4, Replace: 5, Upsert: 20 };

const SEGMENT = Buffer.from([0x81, 0xf0, 0xd8, 0xff, 0x7f, 1, 10, 0, 0, 0]);
const RECORD = Buffer.from([0x81, 0xf1, 0xd8, 0xff, 0x7f]);
const OPERATION = Buffer.from([0x81, 0x70, 0x54, 0xe1, 0x7f]);
const RESULT = Buffer.from([0x81, 0x71, 0x54, 0xe1, 0x7f]);

export function toStream(rows: readonly Buffer[]): Buffer {
  const parts: Buffer[] = [SEGMENT];
  for (const row of rows) parts.push(RECORD, int32(row.length), int32(checksum(row)), row);
  return Buffer.concat(parts);
}

export function operationRow(fields: OperationFields): Buffer {
  const { partitionKey, id, resourceBody } = fields;
  const variable = [partitionKey, undefined, id, undefined, resourceBody];
  const presence = variable.reduce<number>(
    (bits, value, at) => (value === undefined ? bits : bits | (4 << at)),
    3,
  );
  const parts = [
    OPERATION,
    Buffer.from([presence]),
    int32(OPERATION_TYPES[fields.operationType]),
    int32(2),
    ...variable.map((value) => (value === undefined ? Buffer.alloc(0) : sized(value))),
  ];
  const texts = [fields.indexingDirective, fields.ifMatch, fields.ifNoneMatch];
  texts.forEach((text, at) => {
    if (text !== undefined) parts.push(Buffer.from([20, 8 + at]), sized(text));
  });
  if (fields.minimalReturnPreference !== undefined)
    parts.push(Buffer.from([fields.minimalReturnPreference ? 3 : 2, 12]));
  return Buffer.concat(parts);
}

export function toBatch(operations: readonly OperationFields[]): Buffer {
  return toStream(operations.map(operationRow));
}

/** Fails the test where a byte is not where the format has it. */
export function toResults(stream: Buffer): ResultFields[] {
  expect(stream.subarray(0, SEGMENT.length)).toEqual(SEGMENT);
  const results: ResultFields[] = [];
  for (let at = SEGMENT.length; at < stream.length; ) {
    expect(stream.subarray(at, at + 5)).toEqual(RECORD);
    const end = at + 13 + stream.readInt32LE(at + 5);
    const row = stream.subarray(at + 13, end);
    expect(checksum(row)).toBe(stream.readUInt32LE(at + 9));
    results.push(toResult(row));
    at = end;
  }
  return results;
}

function toResult(row: Buffer): ResultFields {
  expect(row.subarray(0, 5)).toEqual(RESULT);
  const presence = row[5] as number;
  const result: Record<string, number | string> = {};
  if (presence & 1) result.statusCode = row.readInt32LE(6);
  if (presence & 2) result.subStatusCode = row.readInt32LE(10);
  let at = 14;
  ['eTag', 'resourceBody'].forEach((name, column) => {
    if (!(presence & (4 << column))) return;
    let length = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = row[at++] as number;
      length |= (byte & 0x7f) << shift;
      if (byte < 0x80) break;
    }
    result[name] = row.toString('utf8', at, at + length);
    at += length;
  });
  while (at < row.length) {
    const kind = row.readUInt16BE(at);
    expect([0x0b05, 0x1006]).toContain(kind);
    if (kind === 0x0b05) result.retryAfterMilliseconds = row.readUInt32LE(at + 2);
    else result.requestCharge = row.readDoubleLE(at + 2);
    at += kind === 0x0b05 ? 6 : 10;
  }
  expect(at).toBe(row.length);
  return result as unknown as ResultFields;
}

function sized(value: string | Buffer): Buffer {
  const bytes = Buffer.from(value as string);
  const length: number[] = [];
  let left = bytes.length;
  for (; left > 127; left = Math.floor(left / 128)) length.push((left % 128) + 128);
  return Buffer.concat([Buffer.from([...length, left]), bytes]);
}

function int32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value >>> 0);
  return bytes;
}

/** CRC-32 of ISO 3309, bit by bit. */
function checksum(bytes: Buffer): number {
  let rest = 0xffffffff;
  for (const byte of bytes) {
    rest ^= byte;
    for (let bit = 0; bit < 8; bit++) rest = rest & 1 ? (rest >>> 1) ^ 0xedb88320 : rest >>> 1;
  }
  return ~rest >>> 0;
}
