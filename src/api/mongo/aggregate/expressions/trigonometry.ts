/** Functions of angles and hyperbolas. Decimals keep their 34 digits. */
import { type Bson, Double } from '../../../../value/index.ts';
import {
  decimal,
  digitsOf,
  doubleOf,
  isDecimal,
  isNaNumber,
  isNumber,
} from '../../bson/arithmetic.ts';
import {
  type DecimalFunction,
  decimalAtan2,
  decimalFunction,
} from '../../bson/decimal-functions.ts';
import { MongoError } from '../../errors.ts';
import {
  binary,
  type CompileOperator,
  isNullish,
  type OperatorTable,
  typeName,
  unary,
} from './define.ts';

interface Bounds {
  readonly min: number;
  readonly max: number;
  readonly isOpen?: boolean;
}

const ALL: Bounds = { min: Number.NEGATIVE_INFINITY, max: Number.POSITIVE_INFINITY };
const FINITE: Bounds = { ...ALL, isOpen: true };
const UNIT: Bounds = { min: -1, max: 1 };

export const TRIGONOMETRY: OperatorTable = {
  $acos: angle('acos', Math.acos, UNIT),
  $acosh: angle('acosh', Math.acosh, { min: 1, max: Number.POSITIVE_INFINITY }),
  $asin: angle('asin', Math.asin, UNIT),
  $asinh: angle('asinh', Math.asinh, ALL),
  $atan: angle('atan', Math.atan, ALL),
  $atan2: binary(atan2),
  $atanh: angle('atanh', Math.atanh, UNIT),
  $cos: angle('cos', Math.cos, FINITE),
  $cosh: angle('cosh', Math.cosh, ALL),
  $degreesToRadians: angle('degreesToRadians', (value) => value * (Math.PI / 180), ALL),
  $radiansToDegrees: angle('radiansToDegrees', (value) => value * (180 / Math.PI), ALL),
  $sin: angle('sin', Math.sin, FINITE),
  $sinh: angle('sinh', Math.sinh, ALL),
  $tan: angle('tan', Math.tan, FINITE),
  $tanh: angle('tanh', Math.tanh, ALL),
};

function angle(
  kind: DecimalFunction,
  run: (value: number) => number,
  { min, max, isOpen }: Bounds,
): CompileOperator {
  return unary((value, name) => {
    if (isNullish(value)) return null;
    if (!isNumber(value))
      throw new MongoError(
        'Location28765',
        `${name} only supports numeric types, not ${typeName(value)}`,
      );
    const sent = value as Bson;
    if (isNaNumber(sent)) return sent;
    const double = doubleOf(sent);
    const isWithin =
      isOpen === true ? double > min && double < max : double >= min && double <= max;
    if (!isWithin)
      throw new MongoError(
        'Location50989',
        `cannot apply ${name} to ${double}, value must be in ${isOpen === true ? `(${min},${max})` : `[${min},${max}]`}`,
      );
    if (isDecimal(sent)) return decimal(decimalFunction(kind, digitsOf(sent)));
    return new Double(run(double));
  });
}

function atan2(y: Bson | undefined, x: Bson | undefined): Bson {
  if (isNullish(y) || isNullish(x)) return null;
  for (const value of [y, x])
    if (!isNumber(value))
      throw new MongoError(
        'Location51044',
        `$atan2 only supports numeric types, not ${typeName(value)}`,
      );
  const [a, b] = [y as Bson, x as Bson];
  if (isDecimal(a) || isDecimal(b)) {
    if (isNaNumber(a) || isNaNumber(b)) return decimal('NaN');
    return decimal(decimalAtan2(digitsOf(a), digitsOf(b)));
  }
  return new Double(Math.atan2(doubleOf(a), doubleOf(b)));
}
