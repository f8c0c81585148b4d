/** Sums and products of the four kinds of numbers: the result has the wider kind, and an int32 grows to an int64. */
import { type Bson, Double, Extended, isInt32 } from '../../../value/index.ts';
import {
  addDecimals,
  decimalOfDouble,
  divideDecimals,
  isWholeDecimal,
  multiplyDecimals,
  negateDecimal,
} from './decimal.ts';

export type Sum = 'add' | 'multiply';

const INT64_LIMIT = 2n ** 63n;

export function isNumber(value: Bson | undefined): boolean {
  return (
    typeof value === 'number' ||
    typeof value === 'bigint' ||
    value instanceof Double ||
    (value instanceof Extended && value.payload.kind === 'decimal')
  );
}

export function isDecimal(value: Bson | undefined): boolean {
  return value instanceof Extended && value.payload.kind === 'decimal';
}

export function decimal(digits: string): Extended {
  return new Extended({ kind: 'decimal', digits });
}

export function fitsInt64(value: bigint): boolean {
  return value >= -INT64_LIMIT && value < INT64_LIMIT;
}

/** Undefined where two integers leave the range of an int64. Both must be numbers. */
export function combine(kind: Sum, a: Bson, b: Bson): Bson | undefined {
  if (typeof a === 'number' && typeof b === 'number') {
    const quick = kind === 'add' ? a + b : a * b;
    if (isInt32(quick)) return quick;
  }
  if (a instanceof Extended || b instanceof Extended) {
    const combined = kind === 'add' ? addDecimals : multiplyDecimals;
    return decimal(combined(digitsOf(a), digitsOf(b)));
  }
  if (a instanceof Double || b instanceof Double) {
    const [left, right] = [doubleOf(a), doubleOf(b)];
    return new Double(kind === 'add' ? left + right : left * right);
  }
  const [left, right] = [BigInt(a as number | bigint), BigInt(b as number | bigint)];
  const exact = kind === 'add' ? left + right : left * right;
  if (!fitsInt64(exact)) return undefined;
  const isNarrow = typeof a === 'number' && typeof b === 'number' && isInt32(Number(exact));
  return isNarrow ? Number(exact) : exact;
}

/** As in expressions, where integers beyond an int64 go on as doubles. */
export function combineWidening(kind: Sum, a: Bson, b: Bson): Bson {
  const exact = combine(kind, a, b);
  if (exact !== undefined) return exact;
  const [left, right] = [doubleOf(a), doubleOf(b)];
  return new Double(kind === 'add' ? left + right : left * right);
}

export function subtract(a: Bson, b: Bson): Bson {
  if (a instanceof Extended || b instanceof Extended)
    return decimal(
      addDecimals(digitsOf(a), isNaNumber(b) ? digitsOf(b) : negateDecimal(digitsOf(b))),
    );
  if (a instanceof Double || b instanceof Double) return new Double(doubleOf(a) - doubleOf(b));
  const exact = BigInt(a as number | bigint) - BigInt(b as number | bigint);
  if (!fitsInt64(exact)) return new Double(doubleOf(a) - doubleOf(b));
  const isNarrow = typeof a === 'number' && typeof b === 'number' && isInt32(Number(exact));
  return isNarrow ? Number(exact) : exact;
}

/** The divisor must not be zero. The quotient is a double or a decimal. */
export function divide(a: Bson, b: Bson): Bson {
  if (a instanceof Extended || b instanceof Extended)
    return decimal(divideDecimals(digitsOf(a), digitsOf(b)));
  return new Double(doubleOf(a) / doubleOf(b));
}

/** The nearest double. */
export function doubleOf(value: Bson): number {
  if (typeof value === 'number') return value;
  if (value instanceof Double) return value.value;
  if (value instanceof Extended && value.payload.kind === 'decimal')
    return Number(value.payload.digits);
  return Number(value);
}

/** A whole number within the safe range; undefined for every other value. */
export function wholeNumber(value: Bson | undefined): number | undefined {
  if (value === undefined || !isNumber(value)) return undefined;
  if (isDecimal(value) && !isWholeDecimal(digitsOf(value))) return undefined;
  const double = doubleOf(value);
  return Number.isSafeInteger(double) ? double : undefined;
}

/** The same within the range of an int64, for counts: those beyond exact doubles are as good as endless. */
export function wholeCount(value: Bson | undefined): number | undefined {
  if (value === undefined || !isNumber(value)) return undefined;
  if (typeof value === 'bigint') return Number(value);
  if (isDecimal(value) && digitsOf(value) === '9223372036854775807') return 2 ** 63;
  if (isDecimal(value) && !isWholeDecimal(digitsOf(value))) return undefined;
  const double = doubleOf(value);
  return Number.isInteger(double) && Math.abs(double) < 2 ** 63 ? double : undefined;
}

/** The same within the range of an int32, with zero for minus zero. */
export function wholeInt32(value: Bson | undefined): number | undefined {
  const whole = wholeNumber(value);
  if (whole === undefined || whole < -(2 ** 31) || whole >= 2 ** 31) return undefined;
  return whole + 0;
}

/** The digits of any number as a decimal. */
export function digitsOf(value: Bson): string {
  if (value instanceof Extended && value.payload.kind === 'decimal') return value.payload.digits;
  return value instanceof Double ? decimalOfDouble(value.value) : String(value);
}

export function isNaNumber(value: Bson | undefined): boolean {
  if (value instanceof Double) return Number.isNaN(value.value);
  return (
    value instanceof Extended &&
    value.payload.kind === 'decimal' &&
    value.payload.digits.endsWith('NaN')
  );
}

/** An int32 where it fits, otherwise an int64. */
export function integer(value: bigint): Bson {
  return value >= -(2n ** 31n) && value < 2n ** 31n ? Number(value) : value;
}
