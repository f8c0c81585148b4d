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
  if (double - floor !== 0.5) return Math.round(double) + 0;
  // A decimal may be nearer to one of its neighbours than its double shows.
  const side = compareHalf(digitsIn(value));
  if (side === 0) return (floor % 2 === 0 ? floor : floor + 1) + 0;
  return (
    Math.sign(double) * (side < 0 ? Math.floor(Math.abs(double)) : Math.ceil(Math.abs(double))) + 0
  );
}

/** Whether the part behind the point is less or more than a half; 0 where it is one. */
function compareHalf(digits: string): number {
  const [, part = '5'] = /\.(\d+)$/.exec(digits) ?? [];
  if (!part.startsWith('5')) return part < '5' ? -1 : 1;
  return /^50*$/.test(part) ? 0 : 1;
}

/** As an int32 where it fits, else as an int64. */
export function numberBson(value: number): Bson {
  return Number.isInteger(value) && Math.abs(value) < 2 ** 31 ? value : BigInt(value);
}

function digitsIn(value: Extended): string {
  return value.payload.kind === 'decimal' ? value.payload.digits : '';
}
