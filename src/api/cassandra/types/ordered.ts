/**
 * Bytes whose unsigned order is the order of Cassandra's comparators. Each form says itself where it ends, so that
 * several follow one another in a key, and inverted bytes have the reverse order. Do not change: keys on disk.
 *   10 empty value · 11 value
 *   value   integers big-endian with the sign bit flipped; floats so that -0 < 0 and NaN is last; dates as they are;
 *           texts, blobs, addresses with 00 as 00 FF and 00 00 at the end;
 *           uuids by version, version 1 by time; varints and decimals by sign, length or exponent, digits;
 *           collections: 01 before each element and 00 at the end; tuples: 00 for null, 01 before a value;
 *           types of clients: 00 01 for null, 01 before a value, 00 00 at the end
 */
import { type Bytes, bufferOf, compareBytes } from '../../../base/index.ts';
import type { CqlType, NativeName, UserType } from './cql-type.ts';
import { decimalOf, varintOf } from './number-bytes.ts';
import { componentsOf, componentTypes, elementsOf, entriesOf } from './values.ts';

const EMPTY = Uint8Array.of(0x10);
const PRESENT = Uint8Array.of(0x11);
const TEXT_END = Uint8Array.of(0, 0);
const MORE = Uint8Array.of(1);
const NO_MORE = Uint8Array.of(0);

export function orderedBytes(type: CqlType, bytes: Bytes): Bytes {
  if (bytes.length === 0) return EMPTY;
  return Buffer.concat([PRESENT, ...orderedParts(type, bytes)]);
}

/** The order of two values of one type: that of a clustering column in ascending order. */
export function compareTyped(type: CqlType, a: Bytes, b: Bytes): number {
  return compareBytes(orderedBytes(type, a), orderedBytes(type, b));
}

/** The reverse order, for clustering columns in descending order. */
export function inverted(bytes: Bytes): Bytes {
  const result = Buffer.allocUnsafe(bytes.length);
  for (let at = 0; at < bytes.length; at++) result[at] = 0xff ^ (bytes[at] as number);
  return result;
}

function orderedParts(type: CqlType, bytes: Bytes): readonly Bytes[] {
  switch (type.kind) {
    case 'native':
      return [ORDERED[type.name](bytes)];
    case 'list':
    case 'set':
      return [
        ...elementsOf(bytes).flatMap((element) => [
          MORE,
          orderedBytes(type.element, element ?? NO_MORE),
        ]),
        NO_MORE,
      ];
    case 'map':
      return [
        ...entriesOf(bytes).flatMap(([key, value]) => [
          MORE,
          orderedBytes(type.key, key ?? NO_MORE),
          orderedBytes(type.value, value ?? NO_MORE),
        ]),
        NO_MORE,
      ];
    case 'user':
      return orderedFields(type, bytes);
    default: {
      const types = componentTypes(type);
      return componentsOf(type, bytes).flatMap((part, at) =>
        part === undefined ? [NO_MORE] : [MORE, orderedBytes(types[at] as CqlType, part)],
      );
    }
  }
}

/** Null fields at the end count for nothing, because fields can be added to a type. */
function orderedFields(type: UserType, bytes: Bytes): readonly Bytes[] {
  const fields = [...componentsOf(type, bytes)];
  while (fields.length > 0 && fields.at(-1) === undefined) fields.pop();
  const parts = fields.flatMap((field, at) =>
    field === undefined
      ? [NULL_FIELD]
      : [MORE, orderedBytes((type.fields[at] as UserType['fields'][number]).type, field)],
  );
  return [...parts, TEXT_END];
}

const NULL_FIELD = Uint8Array.of(0, 1);

const ORDERED: Readonly<Record<NativeName, (bytes: Bytes) => Bytes>> = {
  ascii: escaped,
  bigint: flipped,
  blob: escaped,
  boolean: (bytes) => Uint8Array.of(bytes[0] === 0 ? 0 : 1),
  counter: flipped,
  date: (bytes) => bytes,
  decimal: decimalOrder,
  double: floatOrder,
  duration: escaped,
  float: floatOrder,
  inet: escaped,
  int: flipped,
  smallint: flipped,
  text: escaped,
  time: flipped,
  timestamp: flipped,
  timeuuid: timeOrder,
  tinyint: flipped,
  uuid: uuidOrder,
  varint: (bytes) => integerOrder(varintOf(bytes)),
};

function flipped(bytes: Bytes): Bytes {
  const result = Buffer.from(bytes);
  result[0] = (result[0] as number) ^ 0x80;
  return result;
}

function escaped(bytes: Bytes): Bytes {
  if (!bytes.includes(0)) return Buffer.concat([bytes, TEXT_END]);
  const result: number[] = [];
  for (const byte of bytes) {
    result.push(byte);
    if (byte === 0) result.push(0xff);
  }
  result.push(0, 0);
  return Uint8Array.from(result);
}

function floatOrder(bytes: Bytes): Bytes {
  const value =
    bytes.length === 4 ? bufferOf(bytes).readFloatBE(0) : bufferOf(bytes).readDoubleBE(0);
  if (Number.isNaN(value)) return new Uint8Array(bytes.length).fill(0xff);
  return (bytes[0] as number) >= 0x80 ? inverted(bytes) : flipped(bytes);
}

/** Version first; those with a time by it, then all bytes. */
function uuidOrder(bytes: Bytes): Bytes {
  const version = (bytes[6] as number) >> 4;
  return version === 1
    ? Buffer.concat([Uint8Array.of(version), timeOf(bytes), bytes])
    : Buffer.concat([Uint8Array.of(version), bytes]);
}

/** By time, then the other bytes as signed ones. */
function timeOrder(bytes: Bytes): Bytes {
  const rest = Buffer.from(bytes.subarray(8));
  for (let at = 0; at < rest.length; at++) rest[at] = (rest[at] as number) ^ 0x80;
  return Buffer.concat([timeOf(bytes), rest]);
}

/** The 60 bits of time of a uuid of version 1, highest first. */
function timeOf(bytes: Bytes): Bytes {
  const time = Buffer.concat([bytes.subarray(6, 8), bytes.subarray(4, 6), bytes.subarray(0, 4)]);
  time[0] = (time[0] as number) & 0x0f;
  return time;
}

/** 80 for zero; above it the count of bytes and the bytes, below it the same inverted. */
function integerOrder(value: bigint): Bytes {
  if (value === 0n) return Uint8Array.of(0x80);
  const magnitude = unsignedBytes(value < 0n ? -value : value);
  const length = Buffer.allocUnsafe(4);
  length.writeUInt32BE(magnitude.length);
  const ordered = Buffer.concat([length, magnitude]);
  return value > 0n
    ? Buffer.concat([Uint8Array.of(0x81), ordered])
    : Buffer.concat([Uint8Array.of(0x7f), inverted(ordered)]);
}

function unsignedBytes(value: bigint): Bytes {
  const hex = value.toString(16);
  return Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, 'hex');
}

/** Sign, exponent of the first digit, digits without zeros at the end: equal for 1.0 and 1.00. */
function decimalOrder(bytes: Bytes): Bytes {
  const { unscaled, scale } = decimalOf(bytes);
  if (unscaled === 0n) return Uint8Array.of(0x80);
  const digits = (unscaled < 0n ? -unscaled : unscaled).toString();
  const exponent = Buffer.allocUnsafe(6);
  exponent.writeUIntBE(digits.length - scale + 2 ** 40, 0, 6);
  const ordered = Buffer.concat([exponent, Buffer.from(digits.replace(/0+$/, '')), NO_MORE]);
  return unscaled > 0n
    ? Buffer.concat([Uint8Array.of(0x81), ordered])
    : Buffer.concat([Uint8Array.of(0x7f), inverted(ordered)]);
}
