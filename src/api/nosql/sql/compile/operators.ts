/** The operators of the language on values: three-valued logic, comparison of like with like, arithmetic on numbers. */
import { draw, spend } from '../../../../base/index.ts';
import {
  compareNumbers,
  compareTexts,
  equalValues,
  isList,
  isMap,
  isNumeric,
  type Value,
} from '../../../../value/index.ts';
import type { BinaryOperator, UnaryOperator } from '../language/ast.ts';
import type { Compiled } from './block.ts';

/** Operators that evaluate both operands; AND, OR and ?? may skip one. */
type EagerOperator = Exclude<BinaryOperator, 'AND' | 'OR' | '??'>;

export const binaryOperators: Readonly<
  Record<EagerOperator, (left: Value, right: Value) => Value>
> = {
  '=': (left, right) =>
    left === undefined || right === undefined ? undefined : isEqual(left, right),
  '!=': (left, right) =>
    left === undefined || right === undefined ? undefined : !isEqual(left, right),
  '<': (left, right) => ordered(left, right, (order) => order < 0),
  '<=': (left, right) => ordered(left, right, (order) => order <= 0),
  '>': (left, right) => ordered(left, right, (order) => order > 0),
  '>=': (left, right) => ordered(left, right, (order) => order >= 0),
  '+': (left, right) => arithmetic(left, right, (x, y) => x + y),
  '-': (left, right) => arithmetic(left, right, (x, y) => x - y),
  '*': (left, right) => arithmetic(left, right, (x, y) => x * y),
  '/': (left, right) => arithmetic(left, right, (x, y) => x / y),
  '%': (left, right) => arithmetic(left, right, (x, y) => x % y),
  '&': (left, right) => arithmetic(left, right, (x, y) => x & y),
  '|': (left, right) => arithmetic(left, right, (x, y) => x | y),
  '^': (left, right) => arithmetic(left, right, (x, y) => x ^ y),
  '<<': (left, right) => arithmetic(left, right, (x, y) => x << y),
  '>>': (left, right) => arithmetic(left, right, (x, y) => x >> y),
  '>>>': (left, right) => arithmetic(left, right, (x, y) => x >>> y),
  '||': (left, right) =>
    typeof left === 'string' && typeof right === 'string' ? joined(left, right) : undefined,
};

export const unaryOperators: Readonly<Record<UnaryOperator, (operand: Value) => Value>> = {
  '-': (operand) => (typeof operand === 'number' ? -operand : undefined),
  '+': (operand) => (typeof operand === 'number' ? operand : undefined),
  '~': (operand) => (typeof operand === 'number' ? ~operand : undefined),
  NOT: (operand) => (typeof operand === 'boolean' ? !operand : undefined),
};

function joined(left: string, right: string): string {
  draw(left.length + right.length);
  return left + right;
}

function isEqual(left: Value, right: Value): boolean {
  if (typeof left === 'string') spend(left.length >> 5);
  return equalValues(left, right);
}

/** Values of different types, arrays and objects have no order. */
function ordered(left: Value, right: Value, test: (order: number) => boolean): Value {
  if (typeof left === 'number' && typeof right === 'number')
    return test(left < right ? -1 : left > right ? 1 : 0);
  if (typeof left === 'string' && typeof right === 'string') {
    spend(Math.min(left.length, right.length) >> 4);
    return test(compareTexts(left, right));
  }
  if (typeof left === 'boolean' && typeof right === 'boolean')
    return test(Number(left) - Number(right));
  if (left === null || right === null) return left === right ? test(0) : undefined;
  return isNumeric(left) && isNumeric(right) ? test(compareNumbers(left, right)) : undefined;
}

function arithmetic(left: Value, right: Value, compute: (x: number, y: number) => number): Value {
  if (typeof left !== 'number' || typeof right !== 'number') return undefined;
  const result = compute(left, right);
  return Number.isFinite(result) ? result : undefined;
}

const QUICK_LENGTH_MAX = 1000;

/** A comparison with a constant number or a constant text, by far the most common filters, without a call per row. */
export function comparisonWithConstant(
  operator: EagerOperator,
  left: Compiled,
  constant: Value,
): Compiled | undefined {
  if (typeof constant === 'number') return numberComparison(operator, left, constant);
  // The general comparison counts the cost of long texts; this one does not.
  if (typeof constant !== 'string' || constant.length > QUICK_LENGTH_MAX) return undefined;
  if (!/[\ud800-\uffff]/.test(constant)) return textComparison(operator, left, constant);
  return undefined;
}

/** A comparison with a parameter, which is constant within a run; rows of different runs may alternate. */
export function comparisonWithParameter(
  operator: EagerOperator,
  left: Compiled,
  right: Compiled,
): Compiled {
  const operate = binaryOperators[operator];
  const general: Compiled = (row) => operate(left(row), right(row));
  let last: Value;
  let quick = general;
  return (row) => {
    const constant = right(row);
    if (constant !== last) {
      last = constant;
      quick = comparisonWithConstant(operator, left, constant) ?? general;
    }
    return quick(row);
  };
}

function numberComparison(
  operator: EagerOperator,
  left: Compiled,
  constant: number,
): Compiled | undefined {
  switch (operator) {
    case '=':
      return (row) => {
        const value = left(row);
        if (typeof value !== 'object') return value === undefined ? undefined : value === constant;
        return equalValues(value, constant);
      };
    case '<':
      return (row) => {
        const value = left(row);
        return typeof value === 'number'
          ? value < constant
          : otherNumber(operator, value, constant);
      };
    case '<=':
      return (row) => {
        const value = left(row);
        return typeof value === 'number'
          ? value <= constant
          : otherNumber(operator, value, constant);
      };
    case '>':
      return (row) => {
        const value = left(row);
        return typeof value === 'number'
          ? value > constant
          : otherNumber(operator, value, constant);
      };
    case '>=':
      return (row) => {
        const value = left(row);
        return typeof value === 'number'
          ? value >= constant
          : otherNumber(operator, value, constant);
      };
    default:
      return undefined;
  }
}

/** Numbers that are no doubles, such as integers of 64 bits from other APIs. */
function otherNumber(operator: EagerOperator, value: Value, constant: number): Value {
  return typeof value === 'object' ? binaryOperators[operator](value, constant) : undefined;
}

/** Below the surrogates the order of UTF-16 units is that of code points, whatever the other text holds. */
function textComparison(
  operator: EagerOperator,
  left: Compiled,
  constant: string,
): Compiled | undefined {
  switch (operator) {
    case '=':
      return (row) => {
        const value = left(row);
        return value === undefined ? undefined : value === constant;
      };
    case '<':
      return (row) => {
        const value = left(row);
        return typeof value === 'string' ? value < constant : undefined;
      };
    case '<=':
      return (row) => {
        const value = left(row);
        return typeof value === 'string' ? value <= constant : undefined;
      };
    case '>':
      return (row) => {
        const value = left(row);
        return typeof value === 'string' ? value > constant : undefined;
      };
    case '>=':
      return (row) => {
        const value = left(row);
        return typeof value === 'string' ? value >= constant : undefined;
      };
    default:
      return undefined;
  }
}

/** False if any operand is, else true if all are, else undefined. */
export function conjunction(operands: readonly Compiled[]): Compiled {
  return (row) => {
    let result: Value = true;
    for (const operand of operands) {
      const value = operand(row);
      if (value === false) return false;
      if (value !== true) result = undefined;
    }
    return result;
  };
}

/** True if any operand is, else false if all are, else undefined. */
export function disjunction(operands: readonly Compiled[]): Compiled {
  return (row) => {
    let result: Value = false;
    for (const operand of operands) {
      const value = operand(row);
      if (value === true) return true;
      if (value !== false) result = undefined;
    }
    return result;
  };
}

/** `base.name`; the test for inherited names is made once, because nearly no property is named like one. */
export function propertyAccess(base: Compiled, name: string): Compiled {
  if (name in Object.prototype || name === 'payload')
    return (row) => {
      const value = base(row);
      return isMap(value) && Object.hasOwn(value, name) ? value[name] : undefined;
    };
  return (row) => {
    const value = base(row);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Readonly<Record<string, Value>>)[name]
      : undefined;
  };
}

export function memberOf(base: Value, index: Value): Value {
  if (typeof index === 'number') return isList(base) ? base[index] : undefined;
  if (typeof index !== 'string' || !isMap(base)) return undefined;
  return Object.hasOwn(base, index) ? base[index] : undefined;
}
