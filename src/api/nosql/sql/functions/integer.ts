/** Arithmetic on 64-bit integers: it wraps around, and gives undefined for any other argument. */
import type { Value } from '../../../../value/index.ts';
import { define, type SystemFunction } from './function.ts';

function binary(
  names: readonly string[],
  compute: (x: bigint, y: bigint) => bigint | undefined,
): SystemFunction[] {
  const evaluate = (x: Value, y: Value): Value => {
    const left = toInteger(x);
    const right = toInteger(y);
    if (left === undefined || right === undefined) return undefined;
    const result = compute(left, right);
    return result === undefined ? undefined : Number(BigInt.asIntN(64, result));
  };
  return names.map((name) => define(name, 2, evaluate));
}

/** Documentation and clients spell the bit functions differently. */
export const integerFunctions: readonly SystemFunction[] = [
  ...binary(['IntAdd'], (x, y) => x + y),
  ...binary(['IntSub'], (x, y) => x - y),
  ...binary(['IntMul'], (x, y) => x * y),
  ...binary(['IntDiv'], (x, y) => (y === 0n ? undefined : x / y)),
  ...binary(['IntMod'], (x, y) => (y === 0n ? undefined : x % y)),
  ...binary(['IntBitAnd', 'IntBitwiseAnd'], (x, y) => x & y),
  ...binary(['IntBitOr', 'IntBitwiseOr'], (x, y) => x | y),
  ...binary(['IntBitXor', 'IntBitwiseXor'], (x, y) => x ^ y),
  ...binary(['IntBitLeftShift', 'IntBitwiseLeftShift'], (x, y) => shift(x, y)),
  ...binary(['IntBitRightShift', 'IntBitwiseRightShift'], (x, y) => shift(x, -y)),
  ...['IntBitNot', 'IntBitwiseNot'].map((name) =>
    define(name, 1, (x) => {
      const operand = toInteger(x);
      return operand === undefined ? undefined : Number(~operand);
    }),
  ),
];

/** Left for positive counts; a shift of 64 bits or more leaves nothing, and a huge count must not make a huge number. */
function shift(x: bigint, count: bigint): bigint {
  if (count >= 64n) return 0n;
  if (count <= -64n) return x < 0n ? -1n : 0n;
  return x << count;
}

function toInteger(value: Value): bigint | undefined {
  if (typeof value !== 'number' || !Number.isInteger(value)) return undefined;
  const integer = BigInt(value);
  return BigInt.asIntN(64, integer) === integer ? integer : undefined;
}
