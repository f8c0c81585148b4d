/** Numbers as bytes and back, for `$convert`. */
import type { Bytes } from '../../../../base/index.ts';
import { type Bson, Double } from '../../../../value/index.ts';
import { MongoError } from '../../errors.ts';

/** Undefined where the value is no int32, int64 or double. */
export function bytesOfNumber(value: Bson, isBig: boolean): Bytes | undefined {
  const bytes = new Uint8Array(typeof value === 'number' ? 4 : 8);
  const view = new DataView(bytes.buffer);
  if (typeof value === 'number') view.setInt32(0, value, !isBig);
  else if (typeof value === 'bigint') view.setBigInt64(0, value, !isBig);
  else if (value instanceof Double) view.setFloat64(0, value.value, !isBig);
  else return undefined;
  return bytes;
}

/** Integers of one, two, four or eight bytes; doubles of four or eight. */
export function numberOfBytes(bytes: Bytes, to: 'int' | 'long' | 'double', isBig: boolean): Bson {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const { length } = bytes;
  if (to === 'double') {
    if (length === 4) return new Double(view.getFloat32(0, !isBig));
    if (length === 8) return new Double(view.getFloat64(0, !isBig));
    throw wrongLength(length, to);
  }
  if (length === 1) return BigInt(view.getInt8(0));
  if (length === 2) return BigInt(view.getInt16(0, !isBig));
  if (length === 4) return BigInt(view.getInt32(0, !isBig));
  if (length === 8 && to === 'long') return view.getBigInt64(0, !isBig);
  throw wrongLength(length, to);
}

function wrongLength(length: number, to: string): MongoError {
  return new MongoError(
    'ConversionFailure',
    `Failed to convert BinData to ${to}: a binary of ${length} bytes has a wrong length`,
  );
}
