/**
 * Decimals of 34 digits as in decimal128: exact sums, products, quotients and roots, rounded half to even. A result
 * keeps the exponent that IEEE 754 prefers, because clients see trailing zeros.
 */

const DIGITS_MAX = 34;
/** The range of the exponent of a decimal128. */
const EXPONENT_MIN = -6176;
const EXPONENT_MAX = 6111;

interface Finite {
  readonly isNegative: boolean;
  readonly digits: bigint;
  readonly exponent: number;
}

/** A NaN keeps its sign through sums and products, as in decimal128. */
type Special = 'NaN' | '-NaN' | 'Infinity' | '-Infinity';
type Decimal = Finite | Special;

/** Where a rounding goes: to the even neighbour, or towards zero, minus infinity, plus infinity. */
export type RoundingMode = 'even' | 'zero' | 'down' | 'up';

/** Reads -12.50E+3. The text must be a decimal. */
function parse(text: string): Decimal {
  if (text.length > 2 && (text.endsWith('y') || text.endsWith('N'))) return text as Special;
  const isNegative = text.startsWith('-');
  const [mantissa = '0', exponent = '0'] = (isNegative ? text.slice(1) : text).split('E');
  const point = mantissa.indexOf('.');
  const fraction = point < 0 ? 0 : mantissa.length - point - 1;
  const digits = BigInt(
    point < 0 ? mantissa : mantissa.slice(0, point) + mantissa.slice(point + 1),
  );
  return { isNegative, digits, exponent: Number(exponent) - fraction };
}

function lengthOf(digits: bigint): number {
  return digits.toString().length;
}

function power10(exponent: number): bigint {
  return 10n ** BigInt(exponent);
}

/** Rounds to 34 digits and into the range of exponents, and prints. */
function finish({ isNegative, digits, exponent }: Finite): string {
  const excess = Math.max(lengthOf(digits) - DIGITS_MAX, EXPONENT_MIN - exponent);
  if (excess > 0) {
    const kept = shiftRight(digits, excess, 'even', isNegative);
    if (lengthOf(kept) > DIGITS_MAX)
      return finish({ isNegative, digits: kept, exponent: exponent + excess });
    return clamp({ isNegative, digits: kept, exponent: exponent + excess });
  }
  return clamp({ isNegative, digits, exponent });
}

/** Exponents beyond the range become zeros where there is room, and infinity otherwise. */
function clamp({ isNegative, digits, exponent }: Finite): string {
  if (exponent <= EXPONENT_MAX) return print({ isNegative, digits, exponent });
  if (digits === 0n) return print({ isNegative, digits, exponent: EXPONENT_MAX });
  const room = DIGITS_MAX - lengthOf(digits);
  const beyond = exponent - EXPONENT_MAX;
  if (beyond > room) return isNegative ? '-Infinity' : 'Infinity';
  return print({ isNegative, digits: digits * power10(beyond), exponent: EXPONENT_MAX });
}

/** The canonical text: plain where the exponent is small, otherwise scientific. */
function print({ isNegative, digits, exponent }: Finite): string {
  const sign = isNegative ? '-' : '';
  const text = digits.toString();
  const adjusted = text.length - 1 + exponent;
  if (exponent > 0 || adjusted < -6) {
    const mantissa = text.length === 1 ? text : `${text[0]}.${text.slice(1)}`;
    return `${sign}${mantissa}E${adjusted < 0 ? '' : '+'}${adjusted}`;
  }
  if (exponent === 0) return sign + text;
  const padded = text.padStart(1 - exponent, '0');
  return `${sign}${padded.slice(0, exponent)}.${padded.slice(exponent)}`;
}

function shiftRight(
  digits: bigint,
  places: number,
  mode: RoundingMode,
  isNegative: boolean,
): bigint {
  if (places > lengthOf(digits) + 1) places = lengthOf(digits) + 1;
  const unit = power10(places);
  const kept = digits / unit;
  const rest = digits % unit;
  if (rest === 0n || mode === 'zero') return kept;
  if (mode === 'even')
    return rest * 2n > unit || (rest * 2n === unit && kept % 2n === 1n) ? kept + 1n : kept;
  return (mode === 'down') === isNegative ? kept + 1n : kept;
}

function asNumber(decimal: Decimal): number {
  if (typeof decimal === 'string') return Number(decimal);
  const magnitude = decimal.digits === 0n ? 0 : 1;
  return decimal.isNegative ? -magnitude : magnitude;
}

function isNaNText(decimal: Decimal): boolean {
  return decimal === 'NaN' || decimal === '-NaN';
}

/** The first operand that is no number is the result, with its sign. */
function nanOf(left: Decimal, right: Decimal): string | undefined {
  if (isNaNText(left)) return left as Special;
  return isNaNText(right) ? (right as Special) : undefined;
}

function printSpecial(value: number): string {
  if (Number.isNaN(value)) return 'NaN';
  return value > 0 ? 'Infinity' : '-Infinity';
}

export function addDecimals(a: string, b: string): string {
  const left = parse(a);
  const right = parse(b);
  if (typeof left === 'string' || typeof right === 'string')
    return nanOf(left, right) ?? printSpecial(asNumber(left) + asNumber(right));
  if (left.digits === 0n || right.digits === 0n) return addZero(left, right);
  // Beyond this distance the smaller one cannot change a digit that is kept.
  const [high, low] = left.exponent >= right.exponent ? [left, right] : [right, left];
  const gap = high.exponent - low.exponent;
  const reach = DIGITS_MAX + 3 + Math.max(0, lengthOf(low.digits));
  const shift = Math.min(gap, reach);
  const lowered = gap > reach ? 1n : low.digits;
  const exponent = high.exponent - shift;
  const sum = signed(high) * power10(shift) + (low.isNegative ? -lowered : lowered);
  return finish({
    isNegative: sum < 0n || (sum === 0n && left.isNegative && right.isNegative),
    digits: sum < 0n ? -sum : sum,
    exponent,
  });
}

/** A zero only brings its exponent. */
function addZero(left: Finite, right: Finite): string {
  const other = left.digits === 0n ? right : left;
  const exponent = Math.min(left.exponent, right.exponent);
  if (other.digits === 0n)
    return finish({
      isNegative: left.isNegative && right.isNegative,
      digits: 0n,
      exponent,
    });
  const shift = Math.min(other.exponent - exponent, DIGITS_MAX - lengthOf(other.digits));
  return finish({
    isNegative: other.isNegative,
    digits: other.digits * power10(Math.max(0, shift)),
    exponent: other.exponent - Math.max(0, shift),
  });
}

function signed({ isNegative, digits }: Finite): bigint {
  return isNegative ? -digits : digits;
}

export function negateDecimal(text: string): string {
  return text.startsWith('-') ? text.slice(1) : `-${text}`;
}

export function multiplyDecimals(a: string, b: string): string {
  const left = parse(a);
  const right = parse(b);
  if (typeof left === 'string' || typeof right === 'string')
    return nanOf(left, right) ?? printSpecial(asNumber(left) * asNumber(right));
  return finish({
    isNegative: left.isNegative !== right.isNegative,
    digits: left.digits * right.digits,
    exponent: left.exponent + right.exponent,
  });
}

/** The divisor must not be zero. */
export function divideDecimals(a: string, b: string): string {
  const left = parse(a);
  const right = parse(b);
  if (typeof left === 'string' || typeof right === 'string') return divideSpecial(left, right);
  const isNegative = left.isNegative !== right.isNegative;
  const ideal = left.exponent - right.exponent;
  if (left.digits === 0n) return finish({ isNegative, digits: 0n, exponent: ideal });
  const shift = Math.max(0, DIGITS_MAX + 2 + lengthOf(right.digits) - lengthOf(left.digits));
  const scaled = left.digits * power10(shift);
  return exactOrSticky({
    isNegative,
    digits: scaled / right.digits,
    exponent: ideal - shift,
    isExact: scaled % right.digits === 0n,
    ideal,
  });
}

function divideSpecial(left: Decimal, right: Decimal): string {
  const nan = nanOf(left, right);
  if (nan !== undefined) return nan;
  if (typeof left === 'string') {
    if (typeof right === 'string') return 'NaN';
    return (left === '-Infinity') !== right.isNegative ? '-Infinity' : 'Infinity';
  }
  const isNegative = (left as Finite).isNegative !== (right === '-Infinity');
  return print({ isNegative, digits: 0n, exponent: EXPONENT_MIN });
}

interface Quotient extends Finite {
  readonly isExact: boolean;
  /** The exponent that an exact result should have. */
  readonly ideal: number;
}

function exactOrSticky({ isNegative, digits, exponent, isExact, ideal }: Quotient): string {
  if (!isExact) return finish({ isNegative, digits: digits * 10n + 1n, exponent: exponent - 1 });
  let stripped = digits;
  let at = exponent;
  while (at < ideal && stripped % 10n === 0n) {
    stripped /= 10n;
    at += 1;
  }
  return finish({ isNegative, digits: stripped, exponent: at });
}

/** The remainder of a truncated quotient; the divisor must not be zero. */
export function remainderOfDecimals(a: string, b: string): string {
  const left = parse(a);
  const right = parse(b);
  if (typeof left === 'string' || isNaNText(right)) return nanOf(left, right) ?? 'NaN';
  if (typeof right === 'string') return a;
  const gap = left.exponent - right.exponent;
  const exponent = Math.min(left.exponent, right.exponent);
  let digits: bigint;
  if (gap >= 0) digits = (left.digits * powerModulo(gap, right.digits)) % right.digits;
  else if (-gap > DIGITS_MAX + 1) digits = left.digits;
  else digits = left.digits % (right.digits * power10(-gap));
  return finish({ isNegative: left.isNegative, digits, exponent });
}

function powerModulo(exponent: number, modulus: bigint): bigint {
  let result = 1n % modulus;
  let base = 10n % modulus;
  for (let left = exponent; left > 0; left = Math.floor(left / 2)) {
    if (left % 2 === 1) result = (result * base) % modulus;
    base = (base * base) % modulus;
  }
  return result;
}

/** The decimal must not be negative. */
export function rootOfDecimal(text: string): string {
  const value = parse(text);
  if (typeof value === 'string') return value;
  const ideal = Math.floor(value.exponent / 2);
  if (value.digits === 0n) return finish({ ...value, exponent: ideal });
  const odd = value.exponent - 2 * ideal;
  const shift = Math.max(0, DIGITS_MAX + 2 - Math.floor(lengthOf(value.digits) / 2));
  const scaled = value.digits * power10(odd + 2 * shift);
  const digits = integerRoot(scaled);
  return exactOrSticky({
    isNegative: false,
    digits,
    exponent: ideal - shift,
    isExact: digits * digits === scaled,
    ideal,
  });
}

function integerRoot(value: bigint): bigint {
  let guess = power10(Math.ceil(lengthOf(value) / 2));
  for (;;) {
    const next = (guess + value / guess) / 2n;
    if (next >= guess) return guess;
    guess = next;
  }
}

/** Rounds to so many places behind the point, or before it where negative. */
export function roundDecimal(text: string, places: number, mode: RoundingMode): string {
  const value = parse(text);
  if (typeof value === 'string') return value;
  const excess = -places - value.exponent;
  if (excess <= 0) {
    const padding = -excess;
    if (places > 0 && padding > 0 && lengthOf(value.digits) + padding <= DIGITS_MAX)
      return finish({
        isNegative: value.isNegative,
        digits: value.digits * power10(padding),
        exponent: -places,
      });
    return text;
  }
  const digits = shiftRight(value.digits, excess, mode, value.isNegative);
  return finish({ isNegative: value.isNegative, digits, exponent: -places });
}

/** A whole number without an exponent; NaN where 34 digits are too few, and for infinities. */
export function wholeDecimal(text: string, mode: RoundingMode): string {
  const value = parse(text);
  if (isNaNText(value)) return text;
  if (typeof value === 'string' || (value.exponent > DIGITS_MAX && value.digits !== 0n))
    return 'NaN';
  const { isNegative } = value;
  const digits =
    value.digits === 0n
      ? 0n
      : value.exponent >= 0
        ? value.digits * power10(value.exponent)
        : shiftRight(value.digits, -value.exponent, mode, isNegative);
  if (lengthOf(digits) > DIGITS_MAX) return 'NaN';
  return print({ isNegative, digits, exponent: 0 });
}

/** True for finite decimals without a fraction. */
export function isWholeDecimal(text: string): boolean {
  const value = parse(text);
  if (typeof value === 'string') return false;
  if (value.exponent >= 0 || value.digits === 0n) return true;
  return -value.exponent < lengthOf(value.digits) && value.digits % power10(-value.exponent) === 0n;
}

/** The whole number nearest by the mode; undefined for NaN and infinities. */
export function integerOfDecimal(text: string, mode: RoundingMode): bigint | undefined {
  const value = parse(text);
  if (typeof value === 'string') return undefined;
  if (value.exponent > 40) return value.digits === 0n ? 0n : signed(value) * power10(40);
  const digits =
    value.exponent >= 0
      ? value.digits * power10(value.exponent)
      : shiftRight(value.digits, -value.exponent, mode, value.isNegative);
  return value.isNegative ? -digits : digits;
}

/** A double as a decimal of 15 digits, as MongoDB converts it. */
export function decimalOfDouble(value: number): string {
  if (!Number.isFinite(value)) return printSpecial(value);
  if (value === 0) return Object.is(value, -0) ? '-0' : '0';
  const [mantissa = '0', exponent = '0'] = Math.abs(value).toExponential(14).split('e');
  return print({
    isNegative: value < 0,
    digits: BigInt(mantissa.replace('.', '')),
    exponent: Number(exponent) - 14,
  });
}

/** A double as the decimal of 34 digits that is nearest: doubles are fractions of powers of two. */
export function exactDecimalOfDouble(value: number): string {
  if (!Number.isFinite(value)) return printSpecial(value);
  if (value === 0) return '0';
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, value);
  const bits = view.getBigUint64(0);
  const power = Number((bits >> 52n) & 0x7ffn);
  const mantissa = (bits & 0xfffffffffffffn) | (power === 0 ? 0n : 1n << 52n);
  const shift = (power === 0 ? 1 : power) - 1075;
  const isNegative = value < 0;
  if (shift >= 0) return finish({ isNegative, digits: mantissa << BigInt(shift), exponent: 0 });
  let digits = mantissa * 5n ** BigInt(-shift);
  let exponent = shift;
  while (exponent < 0 && digits % 10n === 0n) {
    digits /= 10n;
    exponent += 1;
  }
  return finish({ isNegative, digits, exponent });
}

/** Text of any number of digits as a decimal of 34; the text must be a number. */
export function decimalOfText(text: string): string {
  const value = parse(text.toUpperCase().replace(/^\+/, '').replace('E+', 'E'));
  return typeof value === 'string' ? value : finish(value);
}

/** Exactly so many digits where the number is not zero: what a function that is not exact returns. */
export function paddedDecimal(text: string): string {
  const value = parse(text.toUpperCase().replace('E+', 'E'));
  if (typeof value === 'string' || value.digits === 0n) return decimalOfText(text);
  const room = DIGITS_MAX - lengthOf(value.digits);
  if (room <= 0) return finish(value);
  return finish({
    isNegative: value.isNegative,
    digits: value.digits * power10(room),
    exponent: value.exponent - room,
  });
}

export function isZeroDecimal(text: string): boolean {
  const value = parse(text);
  return typeof value !== 'string' && value.digits === 0n;
}
