/** Numbers of commands as whole numbers, the way MongoDB converts them. */
import { type Bson, Double } from '../../../value/index.ts';
import { digitsOf, doubleOf, isDecimal } from '../bson/arithmetic.ts';
import { integerOfDecimal } from '../bson/decimal.ts';

/** Doubles are cut, decimals are rounded half to even, NaN is 0; what is too large becomes infinite. */
export function wholeOf(value: Bson): number {
  if (isDecimal(value)) {
    const exact = integerOfDecimal(digitsOf(value), 'even');
    return exact === undefined ? wholeOf(new Double(doubleOf(value))) : Number(exact);
  }
  const double = doubleOf(value);
  if (Number.isNaN(double)) return 0;
  return Number.isFinite(double) ? Math.trunc(double) + 0 : double;
}

/** As an int32 where it fits, else as an int64. */
export function numberBson(value: number): Bson {
  return Number.isInteger(value) && Math.abs(value) < 2 ** 31 ? value : BigInt(value);
}
