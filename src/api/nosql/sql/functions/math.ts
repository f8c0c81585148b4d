/** Mathematical functions on doubles. */
import type { Random } from '../../../../base/index.ts';
import type { Value } from '../../../../value/index.ts';
import { define, defineVolatile, finite, type SystemFunction } from './function.ts';

const DEGREES_PER_RADIAN = 180 / Math.PI;

function unary(name: string, compute: (x: number) => number): SystemFunction {
  return define(name, 1, (x) => (typeof x === 'number' ? finite(compute(x)) : undefined));
}

function binary(name: string, compute: (x: number, y: number) => number): SystemFunction {
  return define(name, 2, (x, y) =>
    typeof x === 'number' && typeof y === 'number' ? finite(compute(x, y)) : undefined,
  );
}

export const mathFunctions: readonly SystemFunction[] = [
  unary('ABS', Math.abs),
  unary('ACOS', Math.acos),
  unary('ASIN', Math.asin),
  unary('ATAN', Math.atan),
  binary('ATN2', Math.atan2),
  unary('CEILING', Math.ceil),
  unary('COS', Math.cos),
  unary('COT', (x) => 1 / Math.tan(x)),
  unary('DEGREES', (x) => x * DEGREES_PER_RADIAN),
  unary('EXP', Math.exp),
  unary('FLOOR', Math.floor),
  define('LOG', [1, 2], logarithm),
  unary('LOG10', Math.log10),
  define('NumberBin', [1, 2], numberBin),
  define('PI', 0, () => Math.PI),
  binary('POWER', (x, y) => x ** y),
  unary('RADIANS', (x) => x / DEGREES_PER_RADIAN),
  define('ROUND', [1, 2], round),
  unary('SIGN', Math.sign),
  unary('SIN', Math.sin),
  unary('SQRT', Math.sqrt),
  unary('SQUARE', (x) => x * x),
  unary('TAN', Math.tan),
  unary('TRUNC', Math.trunc),
];

/** RAND() is in [0, 1). */
export function randomFunctions(random: Random): readonly SystemFunction[] {
  return [defineVolatile('RAND', 0, () => random.below(2 ** 32) / 2 ** 32)];
}

function logarithm(x: Value, base?: Value): Value {
  if (typeof x !== 'number') return undefined;
  if (base === undefined) return finite(Math.log(x));
  if (typeof base !== 'number') return undefined;
  // A quotient of logarithms may be wrong in the last digit; a function for the base is exact.
  if (base === 10) return finite(Math.log10(x));
  return finite(base === 2 ? Math.log2(x) : Math.log(x) / Math.log(base));
}

/** The multiple of the bin size at or below the number; at or above it where the size is negative. */
function numberBin(x: Value, size: Value = 1): Value {
  if (typeof x !== 'number' || typeof size !== 'number' || size === 0) return undefined;
  return finite(Math.floor(x / size) * size);
}

/** Rounds halves away from zero; the optional second argument is the number of decimals. */
function round(x: Value, decimals: Value = 0): Value {
  if (typeof x !== 'number' || typeof decimals !== 'number' || !Number.isInteger(decimals))
    return undefined;
  const scale = 10 ** decimals;
  const rounded = (Math.sign(x) * Math.round(Math.abs(x) * scale)) / scale;
  return finite(rounded === 0 ? 0 : rounded);
}
