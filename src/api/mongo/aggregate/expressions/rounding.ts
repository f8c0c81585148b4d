/** `$round`, `$trunc`, `$ceil` and `$floor` of the four kinds of numbers. */
import { type Bson, Double } from '../../../../value/index.ts';
import {
  decimal,
  digitsOf,
  doubleOf,
  fitsInt64,
  integer,
  isDecimal,
  isNumber,
} from '../../bson/arithmetic.ts';
import {
  exactDecimalOfDouble,
  integerOfDecimal,
  type RoundingMode,
  roundDecimal,
  wholeDecimal,
} from '../../bson/decimal.ts';
import { MongoError } from '../../errors.ts';
import { isNullish, typeName } from './define.ts';

type Value = Bson | undefined;

const PLACES_MIN = -20;
const PLACES_MAX = 100;

export function roundOperator(values: readonly Value[], mode: RoundingMode, name: string): Value {
  const [value, places] = values;
  if (isNullish(value)) return null;
  if (values.length > 1 && isNullish(places)) return null;
  if (!isNumber(value))
    throw new MongoError(
      'Location51081',
      `${name} only supports numeric types, not ${typeName(value)}`,
    );
  return rounded(value as Bson, places === undefined ? 0 : placesOf(places), mode);
}

function placesOf(sent: Bson): number {
  if (!isNumber(sent))
    throw new MongoError('Location16004', `can't convert from BSON type ${typeName(sent)} to long`);
  const double = doubleOf(sent);
  if (isDecimal(sent) && Number.isNaN(double))
    throw new MongoError('Location51082', 'precision argument must be an integral value');
  if (!Number.isFinite(double) || Math.abs(double) >= 2 ** 63)
    throw new MongoError('Location31109', "Can't coerce out of range value to long");
  if (!Number.isInteger(double))
    throw new MongoError('Location51082', 'precision argument must be an integral value');
  if (double < PLACES_MIN || double > PLACES_MAX)
    throw new MongoError(
      'Location51083',
      `cannot apply $round/$trunc with precision value ${double} value must be in [${PLACES_MIN}, ${PLACES_MAX}]`,
    );
  return double;
}

export function rounded(value: Bson, places: number, mode: RoundingMode): Bson {
  if (typeof value === 'number' || typeof value === 'bigint') {
    if (places >= 0) return value;
    const exact = integerOfDecimal(roundDecimal(String(value), places, mode), 'zero') as bigint;
    if (typeof value === 'number') return integer(exact);
    if (!fitsInt64(exact))
      throw new MongoError(
        'Location51080',
        'invalid conversion from Decimal128 result in rounding',
      );
    return exact;
  }
  if (isDecimal(value)) return decimal(roundDecimal(digitsOf(value), places, mode));
  return new Double(roundDouble(doubleOf(value), places, mode));
}

function roundDouble(value: number, places: number, mode: RoundingMode): number {
  if (!Number.isFinite(value)) return value;
  if (places === 0) {
    if (mode === 'up') return Math.ceil(value);
    if (mode === 'down') return Math.floor(value);
    if (mode === 'zero') return Math.trunc(value);
    const floor = Math.floor(value);
    const gap = value - floor;
    if (gap !== 0.5) return Object.is(Math.round(value), -0) ? -0 : Math.round(value);
    return floor % 2 === 0
      ? floor === 0 && value < 0
        ? -0
        : floor
      : value < 0 && floor === -1
        ? -0
        : floor + 1;
  }
  return Number(roundDecimal(exactDecimalOfDouble(value), places, mode));
}

/** `$ceil` and `$floor`: a decimal that has no room for its digits without an exponent is NaN. */
export function wholeOperator(value: Bson, mode: 'up' | 'down'): Bson {
  return isDecimal(value) ? decimal(wholeDecimal(digitsOf(value), mode)) : rounded(value, 0, mode);
}
