/** `$add`, `$divide` and their kind. Null or missing makes the result null. */
import { type Bson, Double, Extended } from '../../../../value/index.ts';
import {
  combineWidening,
  decimal,
  digitsOf,
  divide,
  doubleOf,
  fitsInt64,
  integer,
  isDecimal,
  isNaNumber,
  isNumber,
  subtract,
} from '../../bson/arithmetic.ts';
import {
  integerOfDecimal,
  isZeroDecimal,
  negateDecimal,
  remainderOfDecimals,
  rootOfDecimal,
} from '../../bson/decimal.ts';
import { decimalFunction, decimalLog, decimalPower } from '../../bson/decimal-functions.ts';
import { MongoError } from '../../errors.ts';
import {
  binary,
  folded,
  isNullish,
  type OperatorTable,
  typeName,
  unary,
  variadic,
} from './define.ts';
import { roundOperator, wholeOperator } from './rounding.ts';

type Value = Bson | undefined;

/** The last millisecond that a date holds: an int64. */
const DATE_MAX = 2 ** 63;

export const ARITHMETIC: OperatorTable = {
  $abs: numeric(abs),
  $add: variadic(add),
  $ceil: numeric((value) => wholeOperator(value, 'up')),
  $divide: (argument, scope, name) =>
    binary((a, b) => divideOperator(a, b, scope.context.isCompiledGroup === true))(
      argument,
      scope,
      name,
    ),
  $exp: numeric((value) =>
    isDecimal(value)
      ? decimal(decimalFunction('exp', digitsOf(value)))
      : new Double(Math.exp(doubleOf(value))),
  ),
  $floor: numeric((value) => wholeOperator(value, 'down')),
  $ln: numeric((value) => logarithm(value, 'ln', 'Location28766')),
  $log: binary(log),
  $log10: numeric((value) => logarithm(value, 'log10', 'Location28761')),
  $mod: (argument, scope, name) =>
    binary((a, b) => mod(a, b, scope.context.isCompiledGroup === true))(argument, scope, name),
  $multiply: variadic(multiply),
  $pow: binary(pow),
  $round: variadic((values) => roundOperator(values, 'even', '$round'), 1, 2),
  // A list is the operand itself, not a list of operands.
  $sigmoid: (argument, scope) => {
    const part = scope.compile(argument);
    return folded((frame) => sigmoid(part(frame)), [part]);
  },
  $sqrt: numeric(sqrt),
  $subtract: binary(subtractOperator),
  $trunc: variadic((values) => roundOperator(values, 'zero', '$trunc'), 1, 2),
};

/** A function of one number. */
function numeric(run: (value: Bson) => Bson): ReturnType<typeof unary> {
  return unary((value, name) => {
    if (isNullish(value)) return null;
    if (!isNumber(value))
      throw new MongoError(
        'Location28765',
        `${name} only supports numeric types, not ${typeName(value)}`,
      );
    return run(value as Bson);
  });
}

export function isDate(value: Value): value is Extended {
  return value instanceof Extended && value.payload.kind === 'date';
}

function msOf(date: Value): number {
  return ((date as Extended).payload as { readonly ms: number }).ms;
}

function add(values: readonly Value[]): Value {
  let sum: Bson = 0;
  let date: Value;
  let hasNull = false;
  for (const value of values) {
    if (isNumber(value))
      sum =
        sum === 0 && typeof value !== 'number'
          ? start(value as Bson)
          : combineWidening('add', sum, value as Bson);
    else if (isDate(value)) {
      if (date !== undefined)
        throw new MongoError('Location16612', 'only one date allowed in an $add expression');
      date = value;
    } else if (isNullish(value)) hasNull = true;
    else
      throw new MongoError(
        'TypeMismatch',
        `$add only supports numeric or date types, not ${typeName(value)}`,
      );
    if (hasNull) return null;
  }
  return date === undefined ? sum : shiftDate(date, sum, 1, '$add');
}

/** Zero plus a number is the number, but minus zero is zero. */
function start(value: Bson): Bson {
  return value instanceof Double ? new Double(value.value + 0) : value;
}

function shiftDate(date: Value, amount: Bson, sign: 1 | -1, name: string): Value {
  let by: number;
  if (isDecimal(amount)) {
    const exact = integerOfDecimal(digitsOf(amount), 'even');
    by = exact === undefined ? Number.NaN : Number(exact);
  } else by = Math.sign(doubleOf(amount)) * Math.round(Math.abs(doubleOf(amount)));
  const ms = msOf(date) + sign * by;
  if (Number.isNaN(ms) || Math.abs(by) >= DATE_MAX || Math.abs(ms) >= DATE_MAX)
    throw new MongoError('Overflow', `date overflow in ${name}`);
  return new Extended({ kind: 'date', ms });
}

function subtractOperator(a: Value, b: Value): Value {
  if (isNullish(a) || isNullish(b)) return null;
  if (isNumber(a) && isNumber(b)) return subtract(a as Bson, b as Bson);
  if (isDate(a)) {
    if (isDate(b)) {
      const ms = BigInt(msOf(a)) - BigInt(msOf(b));
      if (!fitsInt64(ms)) throw new MongoError('Overflow', 'overflow in $subtract');
      return ms;
    }
    if (isNumber(b)) return shiftDate(a, b as Bson, -1, '$subtract');
    throw new MongoError('TypeMismatch', `can't $subtract ${typeName(b)} from Date`);
  }
  throw new MongoError('TypeMismatch', `can't $subtract ${typeName(b)} from ${typeName(a)}`);
}

function multiply(values: readonly Value[]): Value {
  let product: Bson = 1;
  for (const value of values) {
    if (isNullish(value)) return null;
    if (!isNumber(value))
      throw new MongoError(
        'TypeMismatch',
        `$multiply only supports numeric types, not ${typeName(value)}`,
      );
    product = combineWidening('multiply', product, value as Bson);
  }
  return product;
}

function divideOperator(a: Value, b: Value, isGroup: boolean): Value {
  if (isNullish(a) || isNullish(b)) return null;
  if (!isNumber(a) || !isNumber(b))
    throw new MongoError(
      'TypeMismatch',
      `$divide only supports numeric types, not ${typeName(a)} and ${typeName(b)}`,
    );
  if (isZero(b as Bson))
    throw new MongoError(isGroup ? 'Location4848401' : 'BadValue', "can't $divide by zero");
  return divide(a as Bson, b as Bson);
}

function isZero(value: Bson): boolean {
  return isDecimal(value) ? isZeroDecimal(digitsOf(value)) : doubleOf(value) === 0;
}

function mod(a: Value, b: Value, isGroup: boolean): Value {
  if (isNullish(a) || isNullish(b)) return null;
  if (!isNumber(a) || !isNumber(b))
    throw new MongoError(
      'Location16611',
      `$mod only supports numeric types, not ${typeName(a)} and ${typeName(b)}`,
    );
  const [left, right] = [a as Bson, b as Bson];
  if (isZero(right))
    throw new MongoError(
      isGroup
        ? 'Location4848403'
        : isDecimal(a) || isDecimal(b)
          ? 'Location5733415'
          : 'Location16610',
      "can't $mod by zero",
    );
  if (isDecimal(a) || isDecimal(b))
    return decimal(remainderOfDecimals(digitsOf(left), digitsOf(right)));
  if (a instanceof Double || b instanceof Double) return modDoubles(left, right);
  const remainder = BigInt(left as number) % BigInt(right as number);
  return typeof a === 'number' && typeof b === 'number' ? Number(remainder) : remainder;
}

/** A whole double is taken as an integer beside an integer. */
function modDoubles(left: Bson, right: Bson): Value {
  return new Double(doubleOf(left) % doubleOf(right));
}

function abs(value: Bson): Bson {
  if (typeof value === 'number') return value < 0 ? integer(-BigInt(value)) : value;
  if (typeof value === 'bigint') {
    if (value === -(2n ** 63n))
      throw new MongoError('Location28680', "can't take $abs of long long min");
    return value < 0n ? -value : value;
  }
  if (value instanceof Double) return new Double(Math.abs(value.value));
  const digits = digitsOf(value);
  return decimal(digits.startsWith('-') ? negateDecimal(digits) : digits);
}

function sqrt(value: Bson): Bson {
  if (isDecimal(value)) {
    const digits = digitsOf(value);
    if (isNaNumber(value)) return value;
    if (digits.startsWith('-') && !isZeroDecimal(digits)) throw negativeRoot();
    return decimal(rootOfDecimal(digits));
  }
  const double = doubleOf(value);
  if (double < 0) throw negativeRoot();
  return new Double(Math.sqrt(double));
}

function negativeRoot(): MongoError {
  return new MongoError('Location28714', "$sqrt's argument must be greater than or equal to 0");
}

function logarithm(
  value: Bson,
  kind: 'ln' | 'log10',
  code: 'Location28766' | 'Location28761',
): Bson {
  if (isNaNumber(value)) return new Double(Number.NaN);
  if (!(doubleOf(value) > 0) && !isTinyPositive(value))
    throw new MongoError(code, `$${kind}'s argument must be a positive number`);
  if (isDecimal(value)) return decimal(decimalFunction(kind, digitsOf(value)));
  return new Double(kind === 'ln' ? Math.log(doubleOf(value)) : Math.log10(doubleOf(value)));
}

/** Decimals below the least double. */
function isTinyPositive(value: Bson): boolean {
  if (!isDecimal(value)) return false;
  const digits = digitsOf(value);
  return !digits.startsWith('-') && !isZeroDecimal(digits);
}

function log(a: Value, b: Value): Value {
  if (isNullish(a) || isNullish(b)) return null;
  if (!isNumber(a))
    throw new MongoError('Location28756', `$log's argument must be numeric, not ${typeName(a)}`);
  if (!isNumber(b))
    throw new MongoError('Location28757', `$log's base must be numeric, not ${typeName(b)}`);
  const [value, base] = [a as Bson, b as Bson];
  const isWide = isDecimal(value) || isDecimal(base);
  if (isNaNumber(value) || isNaNumber(base)) return new Double(Number.NaN);
  if (!(doubleOf(value) > 0) && !isTinyPositive(value))
    throw new MongoError('Location28758', "$log's argument must be a positive number");
  const double = doubleOf(base);
  if ((!(double > 0) && !isTinyPositive(base)) || isOne(base))
    throw new MongoError('Location28759', "$log's base must be a positive number not equal to 1");
  if (isWide) return decimal(decimalLog(digitsOf(value), digitsOf(base)));
  return new Double(Math.log(doubleOf(value)) / Math.log(double));
}

function isOne(value: Bson): boolean {
  return isDecimal(value) ? /^1(\.0+)?$/.test(digitsOf(value)) : doubleOf(value) === 1;
}

function pow(a: Value, b: Value): Value {
  if (isNullish(a) || isNullish(b)) return null;
  if (!isNumber(a))
    throw new MongoError('Location28762', `$pow's base must be numeric, not ${typeName(a)}`);
  if (!isNumber(b))
    throw new MongoError('Location28763', `$pow's exponent must be numeric, not ${typeName(b)}`);
  const [base, exponent] = [a as Bson, b as Bson];
  const isNegative = doubleOf(exponent) < 0;
  if (isZero(base) && isNegative)
    throw new MongoError('Location28764', '$pow cannot take a base of 0 and a negative exponent');
  if (isDecimal(a) || isDecimal(b)) return decimalPow(base, exponent);
  if (a instanceof Double || b instanceof Double)
    return new Double(doublePow(doubleOf(base), doubleOf(exponent)));
  return integerPow(base as number | bigint, exponent as number | bigint);
}

/** As in C: one to any power is one, and minus one to an infinite one too. */
function doublePow(base: number, exponent: number): number {
  if (base === 1 || (base === -1 && Math.abs(exponent) === Number.POSITIVE_INFINITY)) return 1;
  return base ** exponent;
}

function decimalPow(base: Bson, exponent: Bson): Bson {
  const power = digitsOf(exponent);
  if (isZeroDecimal(power)) return decimal('1');
  if (isNaNumber(base) || isNaNumber(exponent)) return decimal('NaN');
  const isVanishing =
    digitsOf(base) === '-Infinity' ? power.startsWith('-') : isNegativeZero(digitsOf(base));
  if (isVanishing) return decimal('0E-6176');
  return decimal(decimalPower(digitsOf(base), power));
}

function isNegativeZero(digits: string): boolean {
  return digits.startsWith('-') && isZeroDecimal(digits);
}

/** Integers where the result is one that fits, otherwise a double. */
function integerPow(base: number | bigint, exponent: number | bigint): Bson {
  const isNarrow = typeof base === 'number' && typeof exponent === 'number';
  const big = BigInt(base);
  const power = BigInt(exponent);
  if (power < 0n) {
    if (big === 1n || big === -1n) {
      const unit = big === -1n && power % 2n !== 0n ? -1 : 1;
      return isNarrow ? unit : BigInt(unit);
    }
    return new Double(Number(base) ** Number(exponent));
  }
  const isSmall = big >= -1n && big <= 1n;
  if (!isSmall && power > 64n) return new Double(Number(base) ** Number(exponent));
  const exact = isSmall
    ? power === 0n
      ? 1n
      : big === -1n && power % 2n === 0n
        ? 1n
        : big
    : big ** power;
  if (!fitsInt64(exact)) return new Double(Number(base) ** Number(exponent));
  return isNarrow ? integer(exact) : exact;
}

function sigmoid(value: Value): Value {
  if (isNullish(value)) return null;
  if (!isNumber(value))
    throw new MongoError(
      'TypeMismatch',
      `$sigmoid only supports numeric types, not ${typeName(value)}`,
    );
  if (isDecimal(value)) {
    const power = decimalFunction('exp', negateDecimal(digitsOf(value as Bson)));
    return divide(decimal('1'), combineWidening('add', decimal('1'), decimal(power)));
  }
  return new Double(1 / (1 + Math.exp(-doubleOf(value as Bson))));
}
