/**
 * Whether the condition read from a filter names exactly the items that pass it, so that an index can count
 * them. True only for plain filters: comparisons of a property with constants that fit in an index entry, with AND and OR.
 */
import { isWholeInKey } from '../../../../query/index.ts';
import type { Path, Value } from '../../../../value/index.ts';
import { type BinaryOperator, chainOperands, type Expression } from '../language/ast.ts';
import type { FindConstant } from './key-ranges.ts';

interface FilterContext {
  /** The path of a property of the item; undefined for any other expression. */
  pathOf(expression: Expression): Path | undefined;
  readonly findConstant: FindConstant;
  /** Whether the property is computed; the index may lack its values. */
  isComputed(name: unknown): boolean;
}

const RANGES: ReadonlySet<BinaryOperator> = new Set<BinaryOperator>(['<', '<=', '>', '>=']);

export function isExactFilter(filter: Expression | undefined, context: FilterContext): boolean {
  if (filter === undefined) return true;
  const { findConstant, isComputed } = context;
  const isStored = (expression: Expression): boolean => {
    const path = context.pathOf(expression);
    return path !== undefined && !isComputed(path[0]);
  };
  const isConstant = (expression: Expression, isHeld: (value: Value) => boolean): boolean => {
    const constant = findConstant(expression);
    return constant !== undefined && isHeld(constant.value);
  };
  switch (filter.kind) {
    case 'binary': {
      const { operator, left, right } = filter;
      if (operator === 'AND' || operator === 'OR')
        return areExact(chainOperands(filter, operator), context);
      const isHeld = operator === '=' ? isWholeInKey : RANGES.has(operator) ? isOrdered : undefined;
      if (isHeld === undefined) return false;
      return isStored(left)
        ? isConstant(right, isHeld)
        : isStored(right) && isConstant(left, isHeld);
    }
    case 'in':
      return (
        !filter.isNegated &&
        isStored(filter.value) &&
        filter.items.every((item) => isConstant(item, isWholeInKey))
      );
    case 'between':
      return (
        !filter.isNegated &&
        isStored(filter.value) &&
        isConstant(filter.low, isOrdered) &&
        isConstant(filter.high, isOrdered)
      );
    default:
      return false;
  }
}

/** Conditions with more operands may be simplified, and are then not exact. */
const OPERANDS_MAX = 100;

function areExact(operands: readonly Expression[], context: FilterContext): boolean {
  if (operands.length > OPERANDS_MAX) return false;
  return operands.every((operand) => isExactFilter(operand, context));
}

function isOrdered(value: Value): boolean {
  return (typeof value === 'number' || typeof value === 'string') && isWholeInKey(value);
}
