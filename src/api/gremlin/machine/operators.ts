/** Operators of sacks, side effects and fold(): from two values to one. */
import { compileError, runtimeError } from '../errors.ts';
import { GremlinMap, GremlinSet } from '../model/collections.ts';
import { calculate, type GremlinNumber, isNumber, numberOf } from '../model/number.ts';
import { compareOrder } from '../model/order.ts';
import { EnumValue } from '../model/terms.ts';
import type { GremlinValue } from '../model/value.ts';

export type BinaryOperator = (a: GremlinValue, b: GremlinValue) => GremlinValue;

const OPERATORS: Readonly<Record<string, BinaryOperator>> = {
  sum: (a, b) => arithmetic('add', a, b),
  sumLong: (a, b) =>
    calculate('add', numberOf('long', 0), arithmetic('add', a, b) as GremlinNumber),
  minus: (a, b) => arithmetic('subtract', a, b),
  mult: (a, b) => arithmetic('multiply', a, b),
  div: (a, b) => arithmetic('divide', a, b),
  min: (a, b) => (a === null || (b !== null && compareOrder(b, a) < 0) ? b : a),
  max: (a, b) => (a === null || (b !== null && compareOrder(b, a) > 0) ? b : a),
  assign: (_, b) => b,
  and: (a, b) => a === true && b === true,
  or: (a, b) => a === true || b === true,
  addAll,
};

/** Null is left out, as in sums of the language. */
function arithmetic(
  operation: Parameters<typeof calculate>[0],
  a: GremlinValue,
  b: GremlinValue,
): GremlinValue {
  if (b === null) return a;
  if (a === null) return b;
  if (!isNumber(a) || !isNumber(b)) throw runtimeError('The operator can only be used on numbers.');
  return calculate(operation, a, b);
}

function addAll(a: GremlinValue, b: GremlinValue): GremlinValue {
  if (a === null || b === null) return a ?? b;
  if (a instanceof GremlinMap && b instanceof GremlinMap) return new GremlinMap([...a, ...b]);
  const right =
    Array.isArray(b) || b instanceof GremlinSet ? [...(b as Iterable<GremlinValue>)] : [b];
  if (a instanceof GremlinSet) return new GremlinSet([...a, ...right]);
  if (Array.isArray(a)) return [...a, ...right];
  throw runtimeError('addAll can only be used on collections.');
}

export function operatorOf(value: GremlinValue | undefined): BinaryOperator {
  const operator =
    value instanceof EnumValue && value.type === 'Operator' ? OPERATORS[value.name] : undefined;
  if (operator === undefined)
    throw compileError('Only the operators of the language are supported.');
  return operator;
}
