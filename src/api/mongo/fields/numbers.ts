/** Numbers of commands as whole numbers, the way MongoDB converts them. */
import { type Bson, Extended } from '../../../value/index.ts';
import { doubleOf } from '../bson/arithmetic.ts';

/** Doubles are cut, decimals are rounded half to even, NaN is 0; what is too large becomes infinite. */
export function wholeOf(value: Bson): number {
  const double = doubleOf(value);
  if (Number.isNaN(double)) return 0;
  if (!Number.isFinite(double)) return double;
  if (!(value instanceof Extended)) return Math.trunc(double) + 0;
  const floor = Math.floor(double);
  const rest = double - floor;
  if (rest !== 0.5) return Math.round(double) + 0;
  return (floor % 2 === 0 ? floor : floor + 1) + 0;
}

/** As an int32 where it fits, else as an int64. */
export function numberBson(value: number): Bson {
  return Number.isInteger(value) && Math.abs(value) < 2 ** 31 ? value : BigInt(value);
}
