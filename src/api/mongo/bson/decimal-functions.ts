/** Functions of decimals whose results are not exact: computed with some digits more, then rounded to 34. */
import { Decimal as Library } from 'decimal.js';
import { decimalOfText, divideDecimals, paddedDecimal } from './decimal.ts';

/** Digits beyond the 34 that are kept. */
const PRECISION = 50;
/** Angles are reduced with all their digits: a decimal has up to 6,145 before its point. */
const ANGLE_DIGITS_MAX = 400;

const Wide = Library.clone({ precision: PRECISION, rounding: Library.ROUND_HALF_EVEN });

type Unary = (value: Library) => Library;

const FUNCTIONS = {
  exp: (value) => value.exp(),
  ln: (value) => value.ln(),
  log10: (value) => value.log(10),
  sin: (value) => value.sin(),
  cos: (value) => value.cos(),
  tan: (value) => value.tan(),
  asin: (value) => value.asin(),
  acos: (value) => value.acos(),
  atan: (value) => value.atan(),
  sinh: (value) => value.sinh(),
  cosh: (value) => value.cosh(),
  tanh: (value) => value.tanh(),
  asinh: (value) => value.asinh(),
  acosh: (value) => value.acosh(),
  atanh: (value) => value.atanh(),
  degreesToRadians: (value) => value.times(PI).div(180),
  radiansToDegrees: (value) => value.times(180).div(PI),
} as const satisfies Readonly<Record<string, Unary>>;

export type DecimalFunction = keyof typeof FUNCTIONS;

const PI = new Wide('3.14159265358979323846264338327950288419716939937510582097494459');

/** A magnitude whose exponential is beyond every decimal. */
const EXPONENT_MAX = 15_000;

export function decimalFunction(name: DecimalFunction, digits: string): string {
  const value = new Wide(digits);
  if (name === 'exp' || name === 'sinh' || name === 'cosh') {
    if (value.isFinite() && value.abs().gt(EXPONENT_MAX)) return beyond(name, value.isNegative());
  }
  if (isAngle(name) && value.isFinite() && value.e > ANGLE_DIGITS_MAX) return 'NaN';
  return printed(FUNCTIONS[name](value));
}

function isAngle(name: DecimalFunction): boolean {
  return name === 'sin' || name === 'cos' || name === 'tan';
}

function beyond(name: 'exp' | 'sinh' | 'cosh', isNegative: boolean): string {
  if (name === 'exp') return isNegative ? '0E-6176' : 'Infinity';
  return isNegative && name === 'sinh' ? '-Infinity' : 'Infinity';
}

function printed(value: Library): string {
  if (!value.isFinite())
    return value.isNaN() ? 'NaN' : value.isNegative() ? '-Infinity' : 'Infinity';
  const text = value.toString();
  // A whole result that is short is exact, such as exp(0).
  return value.isInteger() && value.sd(true) < 34
    ? decimalOfText(value.toFixed())
    : paddedDecimal(text);
}

export function decimalAtan2(y: string, x: string): string {
  return printed(Wide.atan2(y, x));
}

export function decimalPower(base: string, exponent: string): string {
  const power = new Wide(exponent);
  const value = new Wide(base);
  if (value.isFinite() && power.isFinite() && !value.isZero()) {
    // The size of the result, before a power of thousands of digits is computed.
    const magnitude = power.times(value.abs().log(10)).toNumber();
    if (magnitude > 6200)
      return value.isNegative() && !power.mod(2).isZero() ? '-Infinity' : 'Infinity';
    if (magnitude < -6200) return '0E-6176';
  }
  const result = Wide.pow(value, power);
  return result.isFinite() ? paddedDecimal(result.toString()) : printed(result);
}

/** The quotient of two logarithms of 34 digits each, whose last digit is MongoDB's. */
export function decimalLog(value: string, base: string): string {
  return divideDecimals(decimalFunction('ln', value), decimalFunction('ln', base));
}
