/** The values of each native type: their bytes, their text in statements and their JSON. One table, in name order. */
import { type Bytes, bufferOf, bytesToText, textToBytes } from '../../../base/index.ts';
import { Extended, type Value } from '../../../value/index.ts';
import { invalid } from '../errors.ts';
import type { NativeName } from './cql-type.ts';
import { checkDuration, durationText, parseDuration } from './duration.ts';
import {
  decimalBytes,
  decimalOf,
  decimalText,
  parseDecimal,
  parseVarint,
  varintBytes,
  varintOf,
} from './number-bytes.ts';
import * as forms from './text-forms.ts';

interface NativeValues {
  /** Lengths that bytes of the type may have; undefined: any. Empty bytes are a value of most types. */
  readonly lengths?: readonly number[];
  /** From the text of a constant or of JSON; throws CqlError. */
  parse(text: string): Bytes;
  /** The documented JSON of bytes that are not empty. */
  json(bytes: Bytes): Value;
  /** The text of the value in a statement, without quotes. */
  text(bytes: Bytes): string;
  /** More than a length to check. */
  check?(bytes: Bytes): void;
}

/** Significant digits that a double holds in any case. */
const EXACT_DIGITS = 15;

export const NATIVE_VALUES: Readonly<Record<NativeName, NativeValues>> = {
  ascii: {
    parse(text) {
      const other = [...text].find((character) => character > '\x7f');
      if (other !== undefined) throw invalid(`Invalid ASCII character in string literal: ${other}`);
      return textToBytes(text);
    },
    json: bytesToText,
    text: bytesToText,
    check(bytes) {
      for (const byte of bytes) if (byte > 0x7f) throw invalid(`Invalid byte for ascii: ${byte}`);
    },
  },
  bigint: integers(8),
  blob: {
    parse(text) {
      if (!/^0x(?:[0-9a-f]{2})*$/i.test(text))
        throw invalid(`'${text.slice(0, 50)}' is no blob: write 0x and an even number of digits`);
      return Buffer.from(text.slice(2), 'hex');
    },
    json: blobText,
    text: blobText,
  },
  boolean: {
    lengths: [0, 1],
    parse(text) {
      const lower = text.toLowerCase();
      if (lower !== 'true' && lower !== 'false')
        throw invalid(`Unable to make boolean from '${text.slice(0, 50)}'`);
      return Uint8Array.of(lower === 'true' ? 1 : 0);
    },
    json: (bytes) => bytes[0] !== 0,
    text: (bytes) => String(bytes[0] !== 0),
  },
  counter: integers(8),
  date: {
    lengths: [0, 4],
    parse(text) {
      const bytes = Buffer.allocUnsafe(4);
      bytes.writeUInt32BE(forms.parseDate(text));
      return bytes;
    },
    json: dateText,
    text: dateText,
  },
  decimal: {
    parse: (text) => decimalBytes(parseDecimal(text)),
    json: (bytes) => numberOrDecimal(decimalText(decimalOf(bytes))),
    text: (bytes) => decimalText(decimalOf(bytes)),
    check(bytes) {
      if (bytes.length > 0 && bytes.length < 5)
        throw invalid(`Expected 0 or at least 4 bytes (${bytes.length})`);
    },
  },
  double: floats(8),
  duration: {
    parse: parseDuration,
    json: durationText,
    text: durationText,
    check: checkDuration,
  },
  float: floats(4),
  inet: {
    lengths: [0, 4, 16],
    parse: forms.inetBytes,
    json: forms.inetText,
    text: forms.inetText,
  },
  int: integers(4),
  smallint: integers(2),
  text: {
    parse: textToBytes,
    json: bytesToText,
    text: bytesToText,
    check(bytes) {
      if (!isUtf8(bytes)) throw invalid("String didn't validate.");
    },
  },
  time: {
    lengths: [8],
    parse: (text) => int64Bytes(forms.parseTime(text)),
    json: (bytes) => forms.timeText(int64Of(bytes)),
    text: (bytes) => forms.timeText(int64Of(bytes)),
  },
  timestamp: {
    lengths: [0, 8],
    parse: (text) => int64Bytes(forms.parseTimestamp(text)),
    json: (bytes) => forms.timestampText(int64Of(bytes)),
    text: (bytes) => forms.timestampText(int64Of(bytes)),
  },
  timeuuid: {
    lengths: [0, 16],
    parse(text) {
      const bytes = forms.uuidBytes(text);
      checkTimeuuid(bytes);
      return bytes;
    },
    json: forms.uuidText,
    text: forms.uuidText,
    check: checkTimeuuid,
  },
  tinyint: integers(1),
  uuid: {
    lengths: [0, 16],
    parse: forms.uuidBytes,
    json: forms.uuidText,
    text: forms.uuidText,
  },
  varint: {
    parse: (text) => varintBytes(parseVarint(text)),
    json: (bytes) => integerValue(varintOf(bytes)),
    text: (bytes) => varintOf(bytes).toString(),
  },
};

export function int64Bytes(value: bigint): Bytes {
  const bytes = Buffer.allocUnsafe(8);
  bytes.writeBigInt64BE(value);
  return bytes;
}

export function int64Of(bytes: Bytes): bigint {
  return bufferOf(bytes).readBigInt64BE(0);
}

export function int32Bytes(value: number): Bytes {
  const bytes = Buffer.allocUnsafe(4);
  bytes.writeInt32BE(value);
  return bytes;
}

const JAVA_NAMES: Readonly<Record<number, string>> = { 1: 'byte', 2: 'short', 4: 'int', 8: 'long' };

function javaInteger(text: string, name: string): bigint {
  if (!/^\s*[+-]?\d{1,100}\s*$/.test(text))
    throw invalid(`Unable to make ${name} from '${text.slice(0, 50)}'`);
  return BigInt(text.trim().replace(/^\+/, ''));
}

function integers(length: 1 | 2 | 4 | 8): NativeValues {
  const bits = length * 8;
  const integerOf = (bytes: Bytes): bigint => BigInt.asIntN(bits, varintOf(bytes));
  return {
    lengths: length === 4 || length === 8 ? [0, length] : [length],
    parse(text) {
      const value = javaInteger(text, JAVA_NAMES[length] as string);
      if (BigInt.asIntN(bits, value) !== value)
        throw invalid(`Unable to make ${JAVA_NAMES[length]} from '${text.slice(0, 50)}'`);
      const hex = BigInt.asUintN(bits, value).toString(16);
      return Buffer.from(hex.padStart(length * 2, '0'), 'hex');
    },
    json: (bytes) => integerValue(integerOf(bytes)),
    text: (bytes) => integerOf(bytes).toString(),
  };
}

function floats(length: 4 | 8): NativeValues {
  const numberOf = (bytes: Bytes): number =>
    length === 4 ? bufferOf(bytes).readFloatBE(0) : bufferOf(bytes).readDoubleBE(0);
  return {
    lengths: [0, length],
    parse(text) {
      const value = parseFloating(text);
      const bytes = Buffer.allocUnsafe(length);
      if (length === 4) bytes.writeFloatBE(value);
      else bytes.writeDoubleBE(value);
      return bytes;
    },
    json(bytes) {
      const value = numberOf(bytes);
      return Number.isFinite(value) ? shortest(value, length) : String(value);
    },
    text: (bytes) => floatText(shortest(numberOf(bytes), length)),
  };
}

/** As Java prints it: with a point, and beyond seven digits with an exponent. */
function floatText(value: number): string {
  if (!Number.isFinite(value)) return String(value);
  if (Object.is(value, -0)) return '-0.0';
  const size = Math.abs(value);
  if (value === 0 || (size >= 1e-3 && size < 1e7))
    return Number.isInteger(value) ? value.toFixed(1) : String(value);
  const [digits = '', exponent = '0'] = value.toExponential().split('e');
  return `${digits.includes('.') ? digits : `${digits}.0`}E${Number(exponent)}`;
}

/** The text of a value that is not empty. */
export function javaText(name: NativeName, bytes: Bytes): string {
  return NATIVE_VALUES[name].text(bytes);
}

/** A float is printed with the fewest digits that make the same float. */
function shortest(value: number, length: 4 | 8): number {
  if (length === 8 || !Number.isFinite(value)) return value;
  for (let digits = 1; digits <= 9; digits++) {
    const rounded = Number(value.toPrecision(digits));
    if (Math.fround(rounded) === value) return rounded;
  }
  return value;
}

function parseFloating(text: string): number {
  const lower = text.trim().toLowerCase();
  if (lower === 'nan' || lower === '-nan') return Number.NaN;
  if (lower === 'infinity') return Number.POSITIVE_INFINITY;
  if (lower === '-infinity') return Number.NEGATIVE_INFINITY;
  if (!/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/.test(lower))
    throw invalid(`Unable to make double from '${text.slice(0, 50)}'`);
  return Number(lower);
}

/** A JSON number where it is exact, else an extended one. */
function integerValue(value: bigint): Value {
  const number = Number(value);
  if (Number.isSafeInteger(number)) return number;
  return BigInt.asIntN(64, value) === value
    ? new Extended({ kind: 'int64', value })
    : new Extended({ kind: 'decimal', digits: value.toString() });
}

function numberOrDecimal(text: string): Value {
  const digits = text.replace(/E.*$/, '').replace(/[-.]/g, '').replace(/^0+/, '');
  const number = Number(text);
  const isExact =
    digits.length <= EXACT_DIGITS && Number.isFinite(number) && (number !== 0 || digits === '');
  return isExact ? number : new Extended({ kind: 'decimal', digits: text });
}

function blobText(bytes: Bytes): string {
  return `0x${bufferOf(bytes).toString('hex')}`;
}

function dateText(bytes: Bytes): string {
  return forms.dateText(bufferOf(bytes).readUInt32BE(0));
}

function checkTimeuuid(bytes: Bytes): void {
  if (bytes.length > 0 && (bytes[6] as number) >> 4 !== 1)
    throw invalid('Invalid version for TimeUUID type.');
}

function isUtf8(bytes: Bytes): boolean {
  try {
    UTF8.decode(bytes);
    return true;
  } catch {
    return false;
  }
}

const UTF8 = new TextDecoder('utf-8', { fatal: true });
