/** Derives the condition under which an expression is true, or false. */
import {
  ANYTHING,
  type Comparison,
  type Condition,
  equalTo,
  NOTHING,
  startingWith,
} from '../../../../query/index.ts';
import { likeStart } from '../compile/like.ts';
import {
  type Binary,
  type BinaryOperator,
  chainOperands,
  type Expression,
  type In,
  type Like,
  type Subquery,
} from '../language/ast.ts';
import { callCondition, equalCondition } from './conditions-calls.ts';
import { kindCondition, testOf } from './conditions-kinds.ts';
import { comparisonRange, intersectionOf, termFor, unionOf } from './conditions-ranges.ts';
import { distanceCondition } from './conditions-spatial.ts';
import { type Derived, derivedValue, rowCondition } from './conditions-subqueries.ts';
import { type Aliases, type Analysis, valueRefOf } from './value-refs.ts';

/** The condition that must hold for the expression to be `wanted`. */
export function conditionFor(
  wanted: boolean,
  expression: Expression,
  aliases: Aliases,
  analysis: Analysis,
): Condition {
  if (!analysis.takeStep()) return ANYTHING;
  const constant = analysis.findConstant(expression);
  if (constant) return constant.value === wanted ? ANYTHING : NOTHING;
  const inner = (part: Expression, isWanted = wanted) =>
    conditionFor(isWanted, part, aliases, analysis);
  switch (expression.kind) {
    case 'identifier': {
      const binding = aliases.get(expression.name);
      if (binding?.kind === 'derived')
        return conditionFor(wanted, binding.expression, binding.aliases, analysis);
      return pathCondition(wanted, expression, aliases, analysis);
    }
    case 'property':
    case 'index':
      return pathCondition(wanted, expression, aliases, analysis);
    case 'array':
    case 'object':
    case 'literal':
      return NOTHING;
    case 'unary':
      return expression.operator === 'NOT' ? inner(expression.operand, !wanted) : NOTHING;
    case 'binary':
      return binaryCondition(wanted, expression, aliases, analysis);
    case 'conditional':
      return unionOf([
        intersectionOf([inner(expression.condition, true), inner(expression.consequent)]),
        inner(expression.alternative),
      ]);
    case 'between': {
      const { value, low, high, span, isNegated } = expression;
      const parts: readonly Binary[] = [
        { kind: 'binary', operator: '>=', left: value, right: low, span },
        { kind: 'binary', operator: '<=', left: value, right: high, span },
      ];
      const isWithin = wanted !== isNegated;
      const found = parts.map((part) => inner(part, isWithin));
      return isWithin ? intersectionOf(found) : unionOf(found);
    }
    case 'in':
      return inCondition(wanted, expression, aliases, analysis);
    case 'like':
      return likeCondition(wanted, expression, aliases, analysis);
    case 'call':
      return callCondition(expression, wanted, aliases, analysis);
    case 'subquery':
      return subqueryCondition(wanted, expression, aliases, analysis);
    case 'parameter':
    case 'udfCall':
    case 'placeholder':
      return ANYTHING;
  }
}

function pathCondition(
  wanted: boolean,
  expression: Expression,
  aliases: Aliases,
  analysis: Analysis,
): Condition {
  const valueRef = valueRefOf(expression, aliases, analysis);
  return valueRef ? termFor(valueRef, [equalTo(wanted)]) : ANYTHING;
}

/** Comparisons of different types are undefined, so a comparison is false exactly where its opposite is true. */
const OPPOSITES = {
  '=': '!=',
  '!=': '=',
  '<': '>=',
  '<=': '>',
  '>': '<=',
  '>=': '<',
} as const;

const MIRRORED = { '=': '=', '!=': '!=', '<': '>', '<=': '>=', '>': '<', '>=': '<=' } as const;

type ComparisonOperator = keyof typeof OPPOSITES;

function isComparison(operator: BinaryOperator): operator is ComparisonOperator {
  return operator in OPPOSITES;
}

function binaryCondition(
  wanted: boolean,
  expression: Binary,
  aliases: Aliases,
  analysis: Analysis,
): Condition {
  const { operator, left, right } = expression;
  const inner = (part: Expression) => conditionFor(wanted, part, aliases, analysis);
  if (operator === 'AND' || operator === 'OR') {
    const operands = chainOperands(expression, operator).map(inner);
    return (operator === 'AND') === wanted ? intersectionOf(operands) : unionOf(operands);
  }
  if (operator === '??') return unionOf([inner(left), inner(right)]);
  // The other operators give numbers and strings, never booleans.
  if (!isComparison(operator)) return NOTHING;
  const constant = analysis.findConstant(right);
  if (constant) {
    const wantedOperator = wanted ? operator : OPPOSITES[operator];
    if (constant.value === undefined) return NOTHING;
    const alternatives = alternativesOf(left, aliases, analysis);
    if (alternatives)
      return unionOf(
        alternatives.map(({ condition, ...each }) =>
          intersectionOf([
            condition,
            conditionFor(wanted, { ...expression, left: each.expression }, each.aliases, analysis),
          ]),
        ),
      );
    const valueRef = valueRefOf(left, aliases, analysis);
    if (!valueRef) {
      const isAtMost = wantedOperator === '<' || wantedOperator === '<=' || wantedOperator === '=';
      const isDistance = isAtMost && typeof constant.value === 'number';
      const near =
        isDistance && distanceCondition(left, constant.value as number, aliases, analysis);
      return near || (kindCondition(expression, wanted, aliases, analysis) ?? ANYTHING);
    }
    if (wantedOperator === '!=') return ANYTHING;
    if (wantedOperator === '=') return equalCondition(valueRef, constant.value, analysis);
    return termFor(valueRef, comparisonRange(wantedOperator satisfies Comparison, constant.value));
  }
  if (analysis.findConstant(left))
    return inner({ ...expression, operator: MIRRORED[operator], left: right, right: left });
  return kindCondition(expression, wanted, aliases, analysis) ?? ANYTHING;
}

/** The expressions that the value may come from, each with the condition for that. */
function alternativesOf(
  expression: Expression,
  aliases: Aliases,
  analysis: Analysis,
): readonly (Derived & { readonly condition: Condition })[] | undefined {
  const here = (part: Expression) => ({ expression: part, aliases, condition: ANYTHING });
  switch (expression.kind) {
    case 'identifier': {
      const binding = aliases.get(expression.name);
      return binding?.kind === 'derived' ? [binding] : undefined;
    }
    case 'binary':
      return expression.operator === '??'
        ? [here(expression.left), here(expression.right)]
        : undefined;
    case 'conditional':
      return [here(expression.consequent), here(expression.alternative)];
    case 'subquery': {
      if (!isOneResult(expression)) return undefined;
      const rows = analysis.rowsOf(expression.query, aliases);
      const value = derivedValue(expression.query, rows.aliases);
      return value && [{ ...value, condition: rows.condition }];
    }
    default:
      return undefined;
  }
}

function isOneResult({ form }: Subquery): boolean {
  return form === 'scalar' || form === 'first' || form === 'last';
}

function inCondition(
  wanted: boolean,
  expression: In,
  aliases: Aliases,
  analysis: Analysis,
): Condition {
  if (wanted === expression.isNegated)
    return kindCondition(expression, wanted, aliases, analysis) ?? ANYTHING;
  const { value, items, span } = expression;
  const valueRef = valueRefOf(value, aliases, analysis);
  const constants = items.map(analysis.findConstant);
  if (valueRef && constants.every((constant) => constant !== undefined)) {
    const values = constants.map((constant) => constant.value);
    return termFor(valueRef, values.filter((each) => each !== undefined).map(equalTo));
  }
  if (!valueRef && !analysis.findConstant(value))
    return kindCondition(expression, wanted, aliases, analysis) ?? ANYTHING;
  const found = items.map((item) =>
    conditionFor(
      true,
      { kind: 'binary', operator: '=', left: item, right: value, span },
      aliases,
      analysis,
    ),
  );
  return unionOf(found);
}

function likeCondition(
  wanted: boolean,
  expression: Like,
  aliases: Aliases,
  analysis: Analysis,
): Condition {
  const pattern = analysis.findConstant(expression.pattern);
  if (pattern && typeof pattern.value !== 'string') return NOTHING;
  const valueRef = valueRefOf(expression.value, aliases, analysis);
  if (!pattern || !valueRef || wanted === expression.isNegated)
    return kindCondition(expression, wanted, aliases, analysis) ?? ANYTHING;
  const { plain, next } = likeStart(pattern.value as string, expression.escape);
  if (next === 'end') return termFor(valueRef, [equalTo(plain)]);
  const test = next === 'more' ? testOf(expression, wanted, expression.value, analysis) : undefined;
  return termFor(valueRef, [startingWith(plain)], test);
}

function subqueryCondition(
  wanted: boolean,
  expression: Subquery,
  aliases: Aliases,
  analysis: Analysis,
): Condition {
  const { form, query } = expression;
  if (form === 'array') return NOTHING;
  const rows = analysis.rowsOf(query, aliases);
  const condition = rowCondition(query, rows);
  if (form === 'exists') return wanted ? condition : ANYTHING;
  if (form === 'all') return wanted ? ANYTHING : condition;
  const value = derivedValue(query, rows.aliases);
  if (!value) return condition;
  return intersectionOf([
    condition,
    conditionFor(wanted, value.expression, value.aliases, analysis),
  ]);
}
