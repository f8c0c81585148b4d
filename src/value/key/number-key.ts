/**
 * One number line for doubles, 64-bit integers and decimals. Every number is located by the greatest double that is
 * not above it (its floor). Numbers with the same floor are compared by their exact decimal form. Plain doubles, by
 * far the most frequent, need no exact form.
 *
 * NaN is the least number and equal to itself; -0 is 0.
 */
import { assert } from '../../base/index.ts';
import type { Extended } from '../value.ts';

/** A double, or an Extended of kind int64 or decimal (`isNumeric` of value.ts). */
export type NumberValue = number | Extended;

/** 0.DIGITS times ten to the EXPONENT, without zeros at either end of the digits; never zero. */
export interface Decimal {
  readonly isNegative: boolean;
  readonly exponent: number;
  readonly digits: string;
}

/** `exact` is undefined when the number is its floor. */
interface NumberLocation {
  readonly floor: number;
  readonly exact: Decimal | undefined;
}

/** Decimal exponents are clamped to this, so that they fit four bytes; no API can write a larger one. */
const EXPONENT_LIMIT = 2 ** 31 - 1;

export function locateNumber(value: NumberValue): NumberLocation {
  if (typeof value === 'number') return { floor: value === 0 ? 0 : value, exact: undefined };
  const payload = value.payload;
  if (payload.kind === 'int64') return locateInteger(payload.value);
  assert(payload.kind === 'decimal', 'not a number');
  return locateDecimal(payload.digits);
}

export function compareNumbers(a: NumberValue, b: NumberValue): number {
  if (typeof a === 'number' && typeof b === 'number') return compareDoubles(a, b);
  const left = locateNumber(a);
  const right = locateNumber(b);
  const order = compareDoubles(left.floor, right.floor);
  if (order !== 0) return order;
  if (left.exact === undefined) return right.exact === undefined ? 0 : -1;
  return right.exact === undefined ? 1 : compareDecimals(left.exact, right.exact);
}

/** The double nearest to the number. */
export function toDouble(value: NumberValue): number {
  if (typeof value === 'number') return value;
  if (value.payload.kind === 'int64') return Number(value.payload.value);
  assert(value.payload.kind === 'decimal', 'not a number');
  return Number(value.payload.digits);
}

/** A text that is equal exactly for equal numbers. */
export function canonicalNumberText(value: NumberValue): string {
  const { floor, exact } = locateNumber(value);
  return exact === undefined ? String(floor) : decimalText(exact);
}

export function decimalText({ isNegative, digits, exponent }: Decimal): string {
  return `${isNegative ? '-' : ''}0.${digits}E${exponent}`;
}

function locateInteger(value: bigint): NumberLocation {
  const nearest = Number(value);
  const difference = BigInt(nearest) - value;
  if (difference === 0n) return { floor: nearest, exact: undefined };
  return {
    floor: difference > 0n ? doubleBelow(nearest) : nearest,
    exact: parseDecimal(value.toString()),
  };
}

function locateDecimal(text: string): NumberLocation {
  const nearest = Number(text);
  if (!Number.isFinite(nearest) && !/\d/.test(text)) return { floor: nearest, exact: undefined };
  const exact = parseDecimal(text);
  if (exact === undefined) return { floor: 0, exact };
  const order = compareToDouble(exact, nearest);
  if (order === 0) return { floor: nearest, exact: undefined };
  return { floor: order < 0 ? doubleBelow(nearest) : nearest, exact };
}

/** Undefined for zero. */
function parseDecimal(text: string): Decimal | undefined {
  const match = /^([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d+))?$/.exec(text);
  assert(match !== null && /\d/.test(text), 'a decimal is digits with a point and an exponent');
  const whole = match[2] ?? '';
  const all = whole + (match[3] ?? '');
  const leading = /^0*/.exec(all)?.[0].length ?? 0;
  const digits = all.slice(leading).replace(/0+$/, '');
  if (digits === '') return undefined;
  const exponent = Number(match[4] ?? 0) + whole.length - leading;
  return {
    isNegative: match[1] === '-',
    exponent: Math.max(-EXPONENT_LIMIT, Math.min(EXPONENT_LIMIT, exponent)),
    digits,
  };
}

function compareDoubles(a: number, b: number): number {
  if (a < b) return -1;
  if (a > b) return 1;
  if (a === b) return 0;
  return (Number.isNaN(a) ? 0 : 1) - (Number.isNaN(b) ? 0 : 1);
}

function compareDecimals(a: Decimal, b: Decimal): number {
  if (a.isNegative !== b.isNegative) return a.isNegative ? -1 : 1;
  const magnitude =
    a.exponent - b.exponent || (a.digits < b.digits ? -1 : a.digits > b.digits ? 1 : 0);
  return a.isNegative ? 0 - magnitude : magnitude;
}

/** Compares a decimal exactly with the double nearest to it. */
function compareToDouble(decimal: Decimal, nearest: number): number {
  if (!Number.isFinite(nearest)) return nearest > 0 ? -1 : 1;
  if (nearest === 0) return decimal.isNegative ? -1 : 1;
  // Both as whole numbers over a common denominator. The exponents are small here, because the nearest
  // double is neither zero nor infinite.
  const scale = decimal.exponent - decimal.digits.length;
  const [mantissa, shift] = decompose(nearest);
  const signed = BigInt(decimal.digits) * (decimal.isNegative ? -1n : 1n);
  const left = signed * 10n ** BigInt(Math.max(scale, 0)) * 2n ** BigInt(Math.max(-shift, 0));
  const right = mantissa * 10n ** BigInt(Math.max(-scale, 0)) * 2n ** BigInt(Math.max(shift, 0));
  return left < right ? -1 : left > right ? 1 : 0;
}

/** A double as a whole number times a power of two. */
function decompose(value: number): readonly [mantissa: bigint, shift: number] {
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, value);
  const bits = view.getBigUint64(0);
  const biased = Number((bits >> 52n) & 0x7ffn);
  const fraction = bits & 0xfffffffffffffn;
  const mantissa = biased === 0 ? fraction : fraction | 0x10000000000000n;
  return [value < 0 ? -mantissa : mantissa, Math.max(biased, 1) - 1075];
}

/** The greatest double below. */
function doubleBelow(value: number): number {
  if (value === 0) return -Number.MIN_VALUE;
  if (value === -Number.MAX_VALUE || value === Number.NEGATIVE_INFINITY)
    return Number.NEGATIVE_INFINITY;
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, value);
  view.setBigUint64(0, view.getBigUint64(0) + (value > 0 ? -1n : 1n));
  return view.getFloat64(0);
}
