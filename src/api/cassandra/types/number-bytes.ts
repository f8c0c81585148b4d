/** Integers and decimals of any length, on the wire and as text. */
import type { Bytes } from '../../../base/index.ts';
import { invalid } from '../errors.ts';

/** Digits of a decimal that are written out with zeros; more use an exponent. */
const PLAIN_DIGITS_MAX = 100;
/** Digits of a number in a text: some milliseconds of arithmetic. */
const NUMBER_CHARACTERS_MAX = 10_000;

/** The shortest big-endian two's complement, at least one byte. */
export function varintBytes(value: bigint): Bytes {
  let length = 1;
  while (BigInt.asIntN(length * 8, value) !== value) length = length < 8 ? length + 1 : length * 2;
  while (length > 1 && BigInt.asIntN((length - 1) * 8, value) === value) length--;
  const hex = BigInt.asUintN(length * 8, value)
    .toString(16)
    .padStart(length * 2, '0');
  return Buffer.from(hex, 'hex');
}

export function varintOf(bytes: Bytes): bigint {
  if (bytes.length === 0) return 0n;
  const hex = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('hex');
  return BigInt.asIntN(bytes.length * 8, BigInt(`0x${hex}`));
}

/** unscaled · 10^-scale */
export interface Decimal {
  readonly unscaled: bigint;
  readonly scale: number;
}

export function decimalBytes({ unscaled, scale }: Decimal): Bytes {
  const digits = varintBytes(unscaled);
  const bytes = Buffer.allocUnsafe(4 + digits.length);
  bytes.writeInt32BE(scale, 0);
  bytes.set(digits, 4);
  return bytes;
}

export function decimalOf(bytes: Bytes): Decimal {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  return { scale: buffer.readInt32BE(0), unscaled: varintOf(buffer.subarray(4)) };
}

/** Throws CqlError where the text is no number. */
export function parseDecimal(text: string): Decimal {
  const match = /^([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d{1,9}))?$/.exec(text.trim());
  const [, sign, whole = '', fraction = '', exponent = '0'] = match ?? [];
  if (match === null || whole + fraction === '' || text.length > NUMBER_CHARACTERS_MAX)
    throw invalid(`unable to coerce '${text.slice(0, 50)}' to a decimal`);
  const magnitude = BigInt(whole + fraction);
  return {
    unscaled: sign === '-' ? -magnitude : magnitude,
    scale: fraction.length - Number(exponent),
  };
}

export function decimalText({ unscaled, scale }: Decimal): string {
  if (scale === 0) return unscaled.toString();
  const sign = unscaled < 0n ? '-' : '';
  const digits = (unscaled < 0n ? -unscaled : unscaled).toString();
  if (scale < 0 || scale > PLAIN_DIGITS_MAX) {
    const exponent = digits.length - 1 - scale;
    const rest = digits.slice(1);
    return `${sign}${digits[0]}${rest === '' ? '' : `.${rest}`}E${exponent < 0 ? '' : '+'}${exponent}`;
  }
  const padded = digits.padStart(scale + 1, '0');
  return `${sign}${padded.slice(0, -scale)}.${padded.slice(-scale)}`;
}

export function parseVarint(text: string): bigint {
  const trimmed = text.trim();
  if (!/^[+-]?\d+$/.test(trimmed) || trimmed.length > NUMBER_CHARACTERS_MAX)
    throw invalid(`unable to make an integer from '${text.slice(0, 50)}'`);
  return BigInt(trimmed.replace(/^\+/, ''));
}
