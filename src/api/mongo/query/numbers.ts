/** Numbers as whole numbers of 64 bits. */
import { type Bson, Extended } from '../../../value/index.ts';
import { doubleOf } from '../bson/arithmetic.ts';

const LONG_MAX = 2n ** 63n;

/** The number without its fraction; undefined beyond the range of an int64. */
export function truncatedToLong(value: Bson): bigint | undefined {
  if (typeof value === 'bigint') return value;
  if (value instanceof Extended && value.payload.kind === 'decimal')
    return wholeDecimal(value.payload.digits);
  const double = Math.trunc(doubleOf(value));
  if (!Number.isFinite(double)) return undefined;
  return withinLong(BigInt(double));
}

function withinLong(value: bigint): bigint | undefined {
  return value >= -LONG_MAX && value < LONG_MAX ? value : undefined;
}

function wholeDecimal(digits: string): bigint | undefined {
  const match = /^(-?)(\d+)(?:\.(\d*))?(?:E([+-]?\d+))?$/i.exec(digits);
  if (match === null) return undefined;
  const [, sign, whole = '', fraction = '', exponent = '0'] = match;
  const point = whole.length + Number(exponent);
  if (point <= 0) return 0n;
  if (point > 40) return /[1-9]/.test(whole + fraction) ? undefined : 0n;
  const all = `${whole}${fraction}`.padEnd(point, '0').slice(0, point);
  return withinLong(BigInt(`${sign}${all}`));
}
