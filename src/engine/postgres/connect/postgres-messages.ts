/**
 * Messages of PostgreSQL's extended protocol, version 3, as far as a session sends them, and parameters in binary form.
 * Everything is binary in both directions: bytes as text would be twice as long and cost twice the CPU.
 */
import type { Bytes } from '../../../base/index.ts';

/** A parameter in binary form; null is SQL's NULL. */
export type Parameter = Bytes | null;

const BYTEA_OID = 17;
const ARRAY_HEAD_BYTES = 20;

/** Parse: names a statement, types left to the server. */
export function parseMessage(name: string, text: string): Buffer {
  const body = Buffer.from(`${name}\0${text}\0\0\0`);
  return framed('P', body);
}

/** Close of a named statement. */
export function closeMessage(name: string): Buffer {
  return framed('C', Buffer.from(`S${name}\0`));
}

/** Bind to the unnamed portal, all parameters and results binary, and Execute without a limit of rows. */
export function bindAndExecute(name: string, parameters: readonly Parameter[]): Buffer {
  const nameBytes = Buffer.byteLength(name);
  let bytes = 1 + nameBytes + 1 + 4 + 2 + 4;
  for (const parameter of parameters) bytes += 4 + (parameter?.length ?? 0);
  const buffer = Buffer.allocUnsafe(1 + 4 + bytes + EXECUTE.length);
  let at = 0;
  buffer[at++] = 0x42; // B
  at = buffer.writeInt32BE(4 + bytes, at);
  buffer[at++] = 0; // The unnamed portal.
  at += buffer.write(name, at, 'latin1');
  buffer[at++] = 0;
  at = buffer.writeInt16BE(1, at);
  at = buffer.writeInt16BE(1, at);
  at = buffer.writeInt16BE(parameters.length, at);
  for (const parameter of parameters) {
    at = buffer.writeInt32BE(parameter === null ? -1 : parameter.length, at);
    if (parameter === null) continue;
    buffer.set(parameter, at);
    at += parameter.length;
  }
  at = buffer.writeInt16BE(1, at);
  at = buffer.writeInt16BE(1, at);
  EXECUTE.copy(buffer, at);
  return buffer;
}

const EXECUTE = framed('E', Buffer.from([0, 0, 0, 0, 0]));
export const SYNC = framed('S', Buffer.alloc(0));

function framed(code: string, body: Buffer): Buffer {
  const buffer = Buffer.allocUnsafe(5 + body.length);
  buffer.write(code, 0, 'latin1');
  buffer.writeInt32BE(4 + body.length, 1);
  body.copy(buffer, 5);
  return buffer;
}

export function int8(value: number): Buffer {
  const buffer = Buffer.allocUnsafe(8);
  buffer.writeBigInt64BE(BigInt(value));
  return buffer;
}

export function readInt8(bytes: Bytes | null | undefined): number {
  if (bytes === null || bytes === undefined) return 0;
  return Number(Buffer.from(bytes.buffer, bytes.byteOffset, 8).readBigInt64BE());
}

export function text(value: string): Buffer {
  return Buffer.from(value);
}

export function readText(bytes: Bytes | null | undefined): string {
  return bytes === null || bytes === undefined
    ? ''
    : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString();
}

/** A `bytea[]` of one dimension. */
export function byteaArray(items: readonly (Bytes | undefined)[]): Buffer {
  let bytes = ARRAY_HEAD_BYTES;
  let hasNull = 0;
  for (const item of items) {
    bytes += 4 + (item?.length ?? 0);
    if (item === undefined) hasNull = 1;
  }
  if (items.length === 0) return EMPTY_ARRAY;
  const buffer = Buffer.allocUnsafe(bytes);
  buffer.writeInt32BE(1, 0);
  buffer.writeInt32BE(hasNull, 4);
  buffer.writeInt32BE(BYTEA_OID, 8);
  buffer.writeInt32BE(items.length, 12);
  buffer.writeInt32BE(1, 16);
  let at = ARRAY_HEAD_BYTES;
  for (const item of items) {
    at = buffer.writeInt32BE(item === undefined ? -1 : item.length, at);
    if (item === undefined) continue;
    buffer.set(item, at);
    at += item.length;
  }
  return buffer;
}

const EMPTY_ARRAY = Buffer.from([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, BYTEA_OID]);

/** The items of a `bytea[]`, one character per byte. */
export function readLatin1Array(bytes: Bytes): string[] {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  const count = bytes.length < ARRAY_HEAD_BYTES ? 0 : buffer.readInt32BE(12);
  const items = new Array<string>(count);
  let at = ARRAY_HEAD_BYTES;
  for (let item = 0; item < count; item++) {
    const length = buffer.readInt32BE(at);
    at += 4;
    items[item] = buffer.toString('latin1', at, at + length);
    at += length;
  }
  return items;
}
