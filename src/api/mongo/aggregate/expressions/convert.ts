/** One value as another type, by the rules of `$convert`. Undefined is a pair of types without a conversion. */
import {
  type Bson,
  BsonSymbol,
  type BsonType,
  bsonTypeOf,
  Double,
  Extended,
} from '../../../../value/index.ts';
import {
  decimal,
  digitsOf,
  doubleOf,
  fitsInt64,
  isDecimal,
  isNaNumber,
  isNumber,
} from '../../bson/arithmetic.ts';
import { decimalOfText, integerOfDecimal, isZeroDecimal } from '../../bson/decimal.ts';
import { MongoError } from '../../errors.ts';
import { parseDate } from '../dates/parser.ts';
import { bytesOfNumber, numberOfBytes } from './convert-bytes.ts';
import { bytesOfText, textOfBytes } from './convert-text.ts';
import { dateOf, timeOf } from './date-functions.ts';
import { isTruthy } from './define.ts';
import { dateText, doubleText } from './text.ts';

export interface ConvertOptions {
  readonly format: string | undefined;
  readonly isBigEndian: boolean;
  readonly subtype: number;
}

export const PLAIN: ConvertOptions = { format: undefined, isBigEndian: false, subtype: 0 };

export function failure(message: string): MongoError {
  return new MongoError('ConversionFailure', message);
}

/** Throws ConversionFailure. The value must not be null. */
export function convert(value: Bson, to: BsonType, options: ConvertOptions): Bson {
  const made = TARGETS[to]?.(value, options);
  if (made === undefined)
    throw failure(
      `Unsupported conversion from ${bsonTypeOf(value)} to ${to} in $convert with no onError value`,
    );
  return made;
}

type Target = (value: Bson, options: ConvertOptions) => Bson | undefined;

const TARGETS: Readonly<Partial<Record<BsonType, Target>>> = {
  double: toDouble,
  string: toText,
  objectId: toObjectId,
  bool: (value) => isTruthy(value),
  date: toDate,
  int: toInt,
  long: toLong,
  decimal: toDecimal,
  binData: toBinary,
};

function kindOf(value: Bson): string | undefined {
  return value instanceof Extended ? value.payload.kind : undefined;
}

interface BytesPayload {
  readonly bytes: Uint8Array;
  readonly subtype?: number;
}

function binaryOf(value: Bson): BytesPayload | undefined {
  const kind = kindOf(value);
  return kind === 'binary' || kind === 'uuid'
    ? ((value as Extended).payload as BytesPayload)
    : undefined;
}

function toDouble(value: Bson, options: ConvertOptions): Bson | undefined {
  if (value instanceof Double) return value;
  if (typeof value === 'boolean') return new Double(value ? 1 : 0);
  if (isDecimal(value)) {
    const double = doubleOf(value);
    if (!Number.isFinite(double) && !/Infinity|NaN/.test(digitsOf(value)))
      throw failure('Conversion would overflow target type in $convert with no onError value');
    return new Double(double);
  }
  if (isNumber(value)) return new Double(doubleOf(value));
  if (kindOf(value) === 'date') return new Double(timeOf(value) as number);
  if (typeof value === 'string') return new Double(parseDouble(value));
  const binary = binaryOf(value);
  return binary === undefined
    ? undefined
    : numberOfBytes(binary.bytes, 'double', options.isBigEndian);
}

function parseDouble(text: string): number {
  const special = /^([+-]?)(inf|infinity|nan)$/i.exec(text);
  if (special !== null) {
    if (special[2]?.toLowerCase() === 'nan') return Number.NaN;
    return special[1] === '-' ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
  }
  if (/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text)) {
    const double = Number(text);
    const isLost = double === 0 && /[1-9]/.test(text.replace(/e.*$/i, ''));
    if (isLost || !Number.isFinite(double))
      throw failure(`Failed to parse number '${text}' in $convert: out of range`);
    return double;
  }
  const hex = /^([+-]?)0x([0-9a-f]*)\.?([0-9a-f]*)(?:p([+-]?\d+))?$/i.exec(text);
  if (hex !== null && `${hex[2]}${hex[3]}` !== '') {
    const [, sign, whole = '', fraction = '', power = '0'] = hex;
    const digits = Number(BigInt(`0x${whole}${fraction}`));
    const value = digits * 2 ** (Number(power) - 4 * fraction.length);
    return sign === '-' ? -value : value;
  }
  throw failure(`Failed to parse number '${text}' in $convert with no onError value`);
}

function toInt(value: Bson, options: ConvertOptions): Bson | undefined {
  if (typeof value === 'number') return value;
  const exact = wholeFrom(value, options, 'int');
  if (typeof exact !== 'bigint') return exact;
  if (exact < -(2n ** 31n) || exact >= 2n ** 31n) throw overflow();
  return Number(exact);
}

function toLong(value: Bson, options: ConvertOptions): Bson | undefined {
  if (typeof value === 'bigint') return value;
  if (kindOf(value) === 'date') return BigInt(timeOf(value) as number);
  const exact = wholeFrom(value, options, 'long');
  if (typeof exact !== 'bigint') return exact;
  if (!fitsInt64(exact)) throw overflow();
  return exact;
}

function overflow(): MongoError {
  return failure('Conversion would overflow target type in $convert with no onError value');
}

function wholeFrom(value: Bson, options: ConvertOptions, to: 'int' | 'long'): Bson | undefined {
  if (typeof value === 'number' || typeof value === 'bigint') return BigInt(value);
  if (typeof value === 'boolean') return value ? 1n : 0n;
  if (value instanceof Double) {
    if (!Number.isFinite(value.value))
      throw failure(
        'Attempt to convert NaN or infinite value to integer type in $convert with no onError value',
      );
    return BigInt(Math.trunc(value.value));
  }
  if (isDecimal(value)) {
    const exact = integerOfDecimal(digitsOf(value), 'zero');
    if (exact === undefined)
      throw failure(
        'Attempt to convert NaN or infinite value to integer type in $convert with no onError value',
      );
    return exact;
  }
  if (typeof value === 'string') {
    if (!/^[+-]?\d+$/.test(value))
      throw failure(`Failed to parse number '${value}' in $convert with no onError value`);
    return BigInt(value.replace('+', ''));
  }
  const binary = binaryOf(value);
  return binary === undefined ? undefined : numberOfBytes(binary.bytes, to, options.isBigEndian);
}

function toDecimal(value: Bson): Bson | undefined {
  if (isNumber(value)) return decimal(digitsOf(value));
  if (typeof value === 'boolean') return decimal(value ? '1' : '0');
  if (kindOf(value) === 'date') return decimal(String(timeOf(value)));
  if (typeof value !== 'string') return undefined;
  const special = /^([+-]?)(inf|infinity|nan)$/i.exec(value);
  if (special !== null) {
    if (special[2]?.toLowerCase() === 'nan') return decimal(special[1] === '-' ? '-NaN' : 'NaN');
    return decimal(special[1] === '-' ? '-Infinity' : 'Infinity');
  }
  if (!/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d{1,9})?$/i.test(value))
    throw failure(`Failed to parse number '${value}' in $convert with no onError value`);
  const digits = decimalOfText(value);
  const isLost = isZeroDecimal(digits) && /[1-9]/.test(value.replace(/e.*$/i, ''));
  if (isLost || digits.endsWith('Infinity'))
    throw failure(`Conversion from string to decimal would overflow: ${value}`);
  return decimal(digits);
}

function toText(value: Bson, options: ConvertOptions): Bson | undefined {
  if (typeof value === 'string') return value;
  if (typeof value === 'boolean') return value ? 'true' : 'false';
  if (value instanceof Double) return doubleText(value.value);
  if (isDecimal(value)) return isNaNumber(value) ? 'NaN' : digitsOf(value);
  if (isNumber(value)) return String(value);
  if (value instanceof BsonSymbol) return undefined;
  if (kindOf(value) === 'date') return dateText(timeOf(value) as number);
  if (kindOf(value) === 'objectId')
    return Buffer.from(((value as Extended).payload as BytesPayload).bytes).toString('hex');
  const binary = binaryOf(value);
  return binary === undefined
    ? undefined
    : textOfBytes(binary.bytes, binary.subtype ?? 4, options.format);
}

function toObjectId(value: Bson): Bson | undefined {
  if (kindOf(value) === 'objectId') return value;
  if (typeof value !== 'string') return undefined;
  if (!/^[0-9a-fA-F]{24}$/.test(value))
    throw failure(`Failed to parse objectId '${value}' in $convert with no onError value`);
  return new Extended({ kind: 'objectId', bytes: new Uint8Array(Buffer.from(value, 'hex')) });
}

function toDate(value: Bson): Bson | undefined {
  if (typeof value === 'string') {
    const ms = parseDate(value, undefined);
    if (ms === undefined) throw failure(`Error parsing date string '${value}'`);
    return dateOf(ms);
  }
  if (typeof value === 'number') return undefined;
  if (isNumber(value)) {
    const exact = wholeFrom(value, PLAIN, 'long') as bigint;
    if (!fitsInt64(exact)) throw overflow();
    return dateOf(Number(exact));
  }
  const ms = timeOf(value);
  return ms === undefined ? undefined : dateOf(ms);
}

function toBinary(value: Bson, options: ConvertOptions): Bson | undefined {
  const { subtype } = options;
  if (typeof value === 'string') {
    const bytes = bytesOfText(value, options.format, subtype);
    return new Extended({ kind: 'binary', bytes, subtype });
  }
  const binary = binaryOf(value);
  if (binary !== undefined) {
    if ((binary.subtype ?? 4) !== subtype)
      throw failure('Conversions between different binData subtypes are not supported');
    return value;
  }
  const bytes = bytesOfNumber(value, options.isBigEndian);
  return bytes === undefined ? undefined : new Extended({ kind: 'binary', bytes, subtype });
}
