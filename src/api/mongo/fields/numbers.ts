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
  // A decimal may be nearer to the next number than its double shows.
  if (rest !== 0.5 || !/\.\d*50*$|^5E-1$/.test(digitsIn(value))) return Math.round(double) + 0;
  return (floor % 2 === 0 ? floor : floor + 1) + 0;
}

/** As an int32 where it fits, else as an int64. */
export function numberBson(value: number): Bson {
  return Number.isInteger(value) && Math.abs(value) < 2 ** 31 ? value : BigInt(value);
}

function digitsIn(value: Extended): string {
  return value.payload.kind === 'decimal' ? value.payload.digits : '';
}
