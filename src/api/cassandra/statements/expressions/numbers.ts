/** Numbers of all native types, with the arithmetic of Java: integers wrap, decimals are exact. */
import { type Bytes, bufferOf } from '../../../../base/index.ts';
import type { CqlType, NativeName } from '../../types/cql-type.ts';
import {
  type Decimal,
  decimalBytes,
  decimalOf,
  parseDecimal,
  varintBytes,
  varintOf,
} from '../../types/number-bytes.ts';

/** An integer of any length, a float or double, or a decimal. */
export type NumberValue = bigint | number | Decimal;

const BITS: Readonly<Partial<Record<NativeName, number>>> = {
  tinyint: 8,
  smallint: 16,
  int: 32,
  bigint: 64,
  counter: 64,
};

const NUMERIC: ReadonlySet<string> = new Set([
  ...Object.keys(BITS),
  'varint',
  'float',
  'double',
  'decimal',
]);

export function isNumeric(type: CqlType): boolean {
  return type.kind === 'native' && NUMERIC.has(type.name);
}

export function numberOf(name: NativeName, bytes: Bytes): NumberValue {
  if (name === 'float') return bufferOf(bytes).readFloatBE(0);
  if (name === 'double') return bufferOf(bytes).readDoubleBE(0);
  if (name === 'decimal') return decimalOf(bytes);
  return varintOf(bytes);
}

/** Bytes of a type from any number: narrower integers keep the low bits, as Java's casts do. */
export function numberBytes(name: NativeName, value: NumberValue): Bytes {
  if (name === 'float' || name === 'double') {
    const bytes = Buffer.allocUnsafe(name === 'float' ? 4 : 8);
    if (name === 'float') bytes.writeFloatBE(toDouble(value));
    else bytes.writeDoubleBE(toDouble(value));
    return bytes;
  }
  if (name === 'decimal') return decimalBytes(toDecimal(value));
  if (name === 'varint') return varintBytes(toInteger(value, undefined));
  const bits = BITS[name] ?? 64;
  const integer = BigInt.asUintN(bits, toInteger(value, bits));
  return Buffer.from(integer.toString(16).padStart(bits / 4, '0'), 'hex');
}

export function toDouble(value: NumberValue): number {
  if (typeof value === 'number') return value;
  if (typeof value === 'bigint') return Number(value);
  return Number(`${value.unscaled}e${-value.scale}`);
}

/** Exact, from the shortest text of a double. Throws RangeError for what is no number. */
export function toDecimal(value: NumberValue): Decimal {
  if (typeof value === 'bigint') return { unscaled: value, scale: 0 };
  if (typeof value !== 'number') return value;
  if (Number.isNaN(value)) throw new RangeError('A NaN cannot be converted into a decimal');
  if (!Number.isFinite(value))
    throw new RangeError('An infinite number cannot be converted into a decimal');
  return parseDecimal(String(value));
}

/** @param bits - of the target: doubles beyond it become its greatest or least number. */
function toInteger(value: NumberValue, bits: number | undefined): bigint {
  if (typeof value === 'bigint') return value;
  if (typeof value !== 'number') return rescaled(value, 0, truncated).unscaled;
  if (Number.isNaN(value)) return 0n;
  // Java goes by way of int or long, whichever is as wide.
  const wide = bits === undefined || bits > 32 ? 64 : 32;
  const greatest = (1n << BigInt(wide - 1)) - 1n;
  if (value >= Number(greatest)) return greatest;
  return value <= -Number(greatest) - 1 ? -greatest - 1n : BigInt(Math.trunc(value));
}

type Rounding = (quotient: bigint, remainder: bigint, divisor: bigint) => bigint;

const truncated: Rounding = (quotient) => quotient;

const halfUp: Rounding = (quotient, remainder, divisor) =>
  2n * magnitude(remainder) >= magnitude(divisor)
    ? quotient + (remainder < 0n !== divisor < 0n ? -1n : 1n)
    : quotient;

export const halfEven: Rounding = (quotient, remainder, divisor) => {
  const twice = 2n * magnitude(remainder);
  const size = magnitude(divisor);
  const isUp = twice > size || (twice === size && quotient % 2n !== 0n);
  return isUp ? quotient + (remainder < 0n !== divisor < 0n ? -1n : 1n) : quotient;
};

function magnitude(value: bigint): bigint {
  return value < 0n ? -value : value;
}

function divided(dividend: bigint, divisor: bigint, rounding: Rounding): bigint {
  return rounding(dividend / divisor, dividend % divisor, divisor);
}

/** Scales beyond this make numbers of megabytes. */
const SCALE_MAX = 10_000;

function powerOfTen(exponent: number): bigint {
  if (exponent > SCALE_MAX) throw new RangeError('The decimal has too many digits');
  return 10n ** BigInt(exponent);
}

function rescaled({ unscaled, scale }: Decimal, to: number, rounding: Rounding): Decimal {
  if (to >= scale) return { unscaled: unscaled * powerOfTen(to - scale), scale: to };
  return { unscaled: divided(unscaled, powerOfTen(scale - to), rounding), scale: to };
}

function aligned(a: Decimal, b: Decimal): readonly [bigint, bigint, number] {
  const scale = Math.max(a.scale, b.scale);
  return [rescaled(a, scale, truncated).unscaled, rescaled(b, scale, truncated).unscaled, scale];
}

function precision({ unscaled }: Decimal): number {
  return magnitude(unscaled).toString().length;
}

function strippedZeros({ unscaled, scale }: Decimal): Decimal {
  if (unscaled === 0n) return { unscaled: 0n, scale: 0 };
  let [digits, left] = [unscaled, scale];
  while (digits % 10n === 0n) {
    digits /= 10n;
    left--;
  }
  return { unscaled: digits, scale: left };
}

/** The quotient with the scale of the dividend, as Java's BigDecimal.divide with a rounding alone. */
export function dividedBy(a: Decimal, count: bigint, rounding: Rounding): Decimal {
  return { unscaled: divided(a.unscaled, count, rounding), scale: a.scale };
}

const SIGNIFICANT_DIGITS_MIN = 32;
const DIVISION_SCALE_MIN = 32;
const DIVISION_SCALE_MAX = 1000;

export function decimalArithmetic(operator: string, a: Decimal, b: Decimal): Decimal {
  switch (operator) {
    case '+': {
      const [left, right, scale] = aligned(a, b);
      return { unscaled: left + right, scale };
    }
    case '-': {
      const [left, right, scale] = aligned(a, b);
      return { unscaled: left - right, scale };
    }
    case '*':
      return { unscaled: a.unscaled * b.unscaled, scale: a.scale + b.scale };
    case '/': {
      if (b.unscaled === 0n) throw new RangeError('BigInteger divide by zero');
      const firstDigit = precision(a) - a.scale - (precision(b) - b.scale);
      const wanted = Math.max(
        SIGNIFICANT_DIGITS_MIN - firstDigit,
        a.scale,
        b.scale,
        DIVISION_SCALE_MIN,
      );
      const scale = Math.min(wanted, DIVISION_SCALE_MAX);
      const shift = scale - a.scale + b.scale;
      const dividend = shift >= 0 ? a.unscaled * powerOfTen(shift) : a.unscaled;
      const divisor = shift >= 0 ? b.unscaled : b.unscaled * powerOfTen(-shift);
      return strippedZeros({ unscaled: divided(dividend, divisor, halfUp), scale });
    }
    default: {
      if (b.unscaled === 0n) throw new RangeError('BigInteger divide by zero');
      const [left, right, scale] = aligned(a, b);
      return { unscaled: left % right, scale };
    }
  }
}

export function integerArithmetic(operator: string, a: bigint, b: bigint): bigint {
  switch (operator) {
    case '+':
      return a + b;
    case '-':
      return a - b;
    case '*':
      return a * b;
    case '/':
      if (b === 0n) throw new RangeError('/ by zero');
      return a / b;
    default:
      if (b === 0n) throw new RangeError('/ by zero');
      return a % b;
  }
}

export function doubleArithmetic(operator: string, a: number, b: number): number {
  switch (operator) {
    case '+':
      return a + b;
    case '-':
      return a - b;
    case '*':
      return a * b;
    case '/':
      return a / b;
    default:
      return a % b;
  }
}
