/**
 * Numbers with the types of the traversal language. The common ones are plain: an integer of 32 bits, a longer one that
 * a double holds exactly, and a fraction. Every other number is a TypedNumber, so that 1, 1L and 1.0 stay apart.
 */
import { runtimeError } from '../errors.ts';
import { calculateDecimals, compareDecimals, decimalText, parseDecimal } from './decimal.ts';

export type NumberKind =
  | 'byte'
  | 'short'
  | 'int'
  | 'long'
  | 'float'
  | 'double'
  | 'bigInteger'
  | 'bigDecimal';

export class TypedNumber {
  readonly kind: NumberKind;
  /** A bigint for `long` and `bigInteger`, decimal digits for `bigDecimal`. */
  readonly value: number | bigint | string;

  constructor(kind: NumberKind, value: number | bigint | string) {
    this.kind = kind;
    this.value = value;
  }
}

export type GremlinNumber = number | TypedNumber;

const INT_MIN = -(2 ** 31);
const INT_MAX = 2 ** 31 - 1;
const LONG_MIN = -(2n ** 63n);
const LONG_MAX = 2n ** 63n - 1n;

/** Widest last: the result of an operation has the wider kind of its operands. */
const WIDTHS: readonly NumberKind[] = [
  'byte',
  'short',
  'int',
  'long',
  'bigInteger',
  'float',
  'double',
  'bigDecimal',
];

export function isNumber(value: unknown): value is GremlinNumber {
  return typeof value === 'number' || value instanceof TypedNumber;
}

export function kindOf(value: GremlinNumber): NumberKind {
  if (typeof value !== 'number') return value.kind;
  if (!Number.isInteger(value) || Object.is(value, -0)) return 'double';
  if (value >= INT_MIN && value <= INT_MAX) return 'int';
  return Number.isSafeInteger(value) ? 'long' : 'double';
}

/** A number of this kind, plain where the plain number has the kind. */
export function numberOf(kind: NumberKind, value: number | bigint | string): GremlinNumber {
  if (kind === 'long' || kind === 'bigInteger') return new TypedNumber(kind, BigInt(value));
  if (kind === 'bigDecimal') return new TypedNumber(kind, String(value));
  const plain = kind === 'float' ? Math.fround(Number(value)) : Number(value);
  return kindOf(plain) === kind ? plain : new TypedNumber(kind, plain);
}

/** An integer of the narrowest kind of `int`, `long` and `bigInteger` that holds it. */
export function integerOf(value: bigint): GremlinNumber {
  if (value >= INT_MIN && value <= INT_MAX) return Number(value);
  return numberOf(value >= LONG_MIN && value <= LONG_MAX ? 'long' : 'bigInteger', value);
}

export function toDouble(value: GremlinNumber): number {
  return typeof value === 'number' ? value : Number(value.value);
}

export function isInteger(value: GremlinNumber): boolean {
  const kind = kindOf(value);
  return kind !== 'float' && kind !== 'double' && kind !== 'bigDecimal';
}

function toBigInt(value: GremlinNumber): bigint {
  return BigInt(typeof value === 'number' ? value : value.value);
}

/** Below, at or above zero; undefined where one is not a number. Numbers of any kind are compared exactly. */
export function compareGremlinNumbers(a: GremlinNumber, b: GremlinNumber): number | undefined {
  if (isDecimal(a) || isDecimal(b)) {
    const [left, right] = [toDouble(a), toDouble(b)];
    if (Number.isNaN(left) || Number.isNaN(right)) return undefined;
    const areFinite = Number.isFinite(left) && Number.isFinite(right);
    return areFinite ? compareDecimals(decimalOf(a), decimalOf(b)) : left - right;
  }
  const left = operand(a);
  const right = operand(b);
  if (left < right) return -1;
  if (left > right) return 1;
  return left === right || (!isNaNOf(left) && !isNaNOf(right)) ? 0 : undefined;
}

function isDecimal(value: GremlinNumber): boolean {
  return typeof value !== 'number' && value.kind === 'bigDecimal';
}

function decimalOf(value: GremlinNumber): ReturnType<typeof parseDecimal> {
  return parseDecimal(String(typeof value === 'number' ? value : value.value));
}

function operand(value: GremlinNumber): number | bigint {
  if (typeof value === 'number') return value;
  return typeof value.value === 'string' ? Number(value.value) : value.value;
}

function isNaNOf(value: number | bigint): boolean {
  return typeof value === 'number' && Number.isNaN(value);
}

/** The same text for numbers of one kind that are equal. */
export function numberKey(value: GremlinNumber): string {
  const exact = typeof value === 'number' ? value : value.value;
  return `${kindOf(value)}${Object.is(exact, -0) ? 0 : exact}`;
}

type Operation = 'add' | 'subtract' | 'multiply' | 'divide';

/** The result in the wider kind of both; an integer that outgrows its kind takes the next wider one. */
export function calculate(operation: Operation, a: GremlinNumber, b: GremlinNumber): GremlinNumber {
  const kind = widerOf(a, b);
  if (isInteger(a) && isInteger(b)) {
    const [left, right] = [toBigInt(a), toBigInt(b)];
    return fitting(kind, wholeResult(operation, left, right));
  }
  if (kind === 'bigDecimal' && Number.isFinite(toDouble(a)) && Number.isFinite(toDouble(b))) {
    const [left, right] = [decimalOf(a), decimalOf(b)];
    if (operation === 'divide' && right.unscaled === 0n) throw runtimeError('Division by zero');
    return numberOf(kind, decimalText(calculateDecimals(operation, left, right)));
  }
  const result = fractionResult(operation, toDouble(a), toDouble(b));
  // A float that outgrows its kind becomes a double.
  const isBeyond =
    kind === 'float' && Number.isFinite(result) && !Number.isFinite(Math.fround(result));
  return numberOf(isBeyond ? 'double' : kind, result);
}

function wholeResult(operation: Operation, left: bigint, right: bigint): bigint {
  switch (operation) {
    case 'add':
      return left + right;
    case 'subtract':
      return left - right;
    case 'multiply':
      return left * right;
    case 'divide':
      if (right === 0n) throw runtimeError('/ by zero');
      return left / right;
  }
}

function fractionResult(operation: Operation, left: number, right: number): number {
  switch (operation) {
    case 'add':
      return left + right;
    case 'subtract':
      return left - right;
    case 'multiply':
      return left * right;
    case 'divide':
      return left / right;
  }
}

const BIT_SIZES: Readonly<Record<NumberKind, number>> = {
  byte: 8,
  short: 16,
  int: 32,
  long: 64,
  bigInteger: 128,
  float: 32,
  double: 64,
  bigDecimal: 128,
};

/** A fraction with an operand makes a fraction of as many bits as the wider of both. */
function widerOf(a: GremlinNumber, b: GremlinNumber): NumberKind {
  const [left, right] = [kindOf(a), kindOf(b)];
  const bits = Math.max(BIT_SIZES[left], BIT_SIZES[right]);
  if (isInteger(a) && isInteger(b)) return BIT_SIZES[left] >= BIT_SIZES[right] ? left : right;
  // A float does not hold all integers of 32 bits.
  const isExact = bits <= 32 && left !== 'int' && right !== 'int';
  return isExact ? 'float' : bits <= 64 ? 'double' : 'bigDecimal';
}

function fitting(kind: NumberKind, value: bigint): GremlinNumber {
  const bits = { byte: 8n, short: 16n, int: 32n, long: 64n }[kind as 'byte'] as bigint | undefined;
  if (bits === undefined) return numberOf(kind, value);
  const end = 2n ** (bits - 1n);
  if (value >= -end && value < end) return numberOf(kind, value);
  if (kind === 'long') throw runtimeError('long overflow');
  return fitting(WIDTHS[WIDTHS.indexOf(kind) + 1] as NumberKind, value);
}

/** The number that a text says, of the narrowest usual kind that holds it; undefined for other texts. */
export function parsedNumber(text: string): GremlinNumber | undefined {
  const trimmed = text.trim();
  if (/^[+-]?0[xX][0-9a-fA-F]+$/.test(trimmed)) {
    const size = BigInt(trimmed.replace(/^[+-]/, ''));
    return integerOf(trimmed.startsWith('-') ? -size : size);
  }
  if (/^[+-]?\d+$/.test(trimmed)) return integerOf(BigInt(trimmed.replace('+', '')));
  if (/^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/.test(trimmed)) {
    const number = Number(trimmed);
    return Number.isFinite(number) ? numberOf('double', number) : numberOf('bigDecimal', trimmed);
  }
  if (/^[+-]?Infinity$/.test(trimmed) || trimmed === 'NaN')
    return numberOf('double', Number(trimmed));
  return undefined;
}
