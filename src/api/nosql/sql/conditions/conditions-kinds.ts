/**
 * Conditions on types: operators and most functions are undefined unless a value has a certain type. Where only this
 * value varies, the expression can even be tested on the values in the index.
 */
import {
  EvaluationBudget,
  EvaluationTooLong,
  INDEX_TEST_EVALUATION,
} from '../../../../base/index.ts';
import { type Condition, ofType } from '../../../../query/index.ts';
import type { Value } from '../../../../value/index.ts';
import type { Expression } from '../language/ast.ts';
import { childrenOf } from '../language/ast-walk.ts';
import { printExpression } from '../language/printer.ts';
import { termFor, type ValueRef } from './conditions-ranges.ts';
import { type Aliases, type Analysis, valueRefOf } from './value-refs.ts';

type Kind = 'text' | 'number' | 'array';

const EXAMPLES: Readonly<Record<Kind, Value>> = { text: '', number: 0, array: [] };

/** Functions that are undefined unless their first argument has the type. */
const FIRST_ARGUMENTS: Readonly<Record<Kind, string>> = {
  text: `CONTAINS STARTSWITH ENDSWITH STRINGEQUALS REGEXMATCH _REGEX_MATCH RegexExtract CONCAT INDEX_OF LastIndexOf
    LEFT RIGHT LENGTH LOWER UPPER REVERSE LTRIM RTRIM TRIM REPLACE REPLICATE SUBSTRING SubstringAfter SubstringBefore
    LastSubstringAfter LastSubstringBefore StringSplit StringToArray StringToBoolean StringToNull StringToNumber
    StringToObject CONTAINS_ALL_CI ContainsAllCi CONTAINS_ALL_CS ContainsAllCs CONTAINS_ANY_CI ContainsAnyCi
    CONTAINS_ANY_CS ContainsAnyCs`,
  number: `ABS ACOS ASIN ATAN ATN2 CEILING COS COT DEGREES EXP FLOOR LOG LOG10 NumberBin POWER RADIANS ROUND SIGN SIN
    SQRT SQUARE TAN TRUNC`,
  array: `ARRAY_CONTAINS _TRY_ARRAY_CONTAINS ARRAY_CONTAINS_ALL ARRAY_CONTAINS_ANY ARRAY_CONCAT ARRAY_LENGTH ARRAY_AVG
    ARRAY_MAX ARRAY_MEDIAN ARRAY_MIN ARRAY_SLICE ARRAY_SUM SetDifference SetEqual SetIntersect SetUnion StringJoin`,
};

const KIND_BY_FUNCTION: ReadonlyMap<string, Kind> = new Map(
  Object.entries(FIRST_ARGUMENTS).flatMap(([kind, names]) =>
    names.split(/\s+/).map((name) => [name.toLowerCase(), kind as Kind]),
  ),
);

/** The value that must have a type, and its expression. */
interface Subject {
  readonly valueRef: ValueRef;
  readonly expression: Expression;
  readonly kind: Kind;
}

/** The condition for the expression to be `wanted`, from the type of one value in it. */
export function kindCondition(
  expression: Expression,
  wanted: boolean,
  aliases: Aliases,
  analysis: Analysis,
): Condition | undefined {
  const toValueRef = (part: Expression) => valueRefOf(part, aliases, analysis);
  const subject = subjectOf(expression, toValueRef);
  if (!subject) return undefined;
  const ranges = [ofType(EXAMPLES[subject.kind])];
  // The index has no entry for a whole array, so there is nothing to test.
  const test =
    subject.kind === 'array' ? undefined : testOf(expression, wanted, subject.expression, analysis);
  return termFor(subject.valueRef, ranges, test);
}

/** A test of the expression by the value of its part. */
export function testOf(
  expression: Expression,
  wanted: boolean,
  part: Expression,
  { compileOver, findConstant }: Analysis,
): ((value: Value) => boolean) | undefined {
  const text = printExpression(part);
  const run = compileOver(
    expression,
    (candidate) => candidate.kind === part.kind && printExpression(candidate) === text,
  );
  if (run === undefined) return undefined;
  // Index values are short, so counting the steps of a cheap test would cost more than the test.
  return isCheap(expression, findConstant)
    ? (value) => run(value) === wanted
    : (value) => passesOrIsSlow(run, value, wanted);
}

/** Functions whose cost is linear in the length of their arguments. */
const CHEAP = new Set(
  `contains startswith endswith stringequals index_of length lower upper left right substring trim ltrim rtrim abs ceiling
  floor round sign trunc is_string is_number`.split(/\s+/),
);
const CHEAP_LENGTH_MAX = 1000;

function isCheap(expression: Expression, findConstant: Analysis['findConstant']): boolean {
  switch (expression.kind) {
    case 'literal':
    case 'parameter': {
      const value = findConstant(expression)?.value;
      if (typeof value === 'string') return value.length <= CHEAP_LENGTH_MAX;
      return typeof value !== 'object' || value === null;
    }
    case 'call':
      if (!CHEAP.has(expression.name.toLowerCase())) return false;
      break;
    case 'array':
    case 'object':
    case 'subquery':
    case 'udfCall':
      return false;
    case 'binary':
      if (expression.operator === '||') return false;
  }
  return childrenOf(expression).every((child) => isCheap(child, findConstant));
}

const testBudget = new EvaluationBudget(INDEX_TEST_EVALUATION);

/** Also true where the test takes too long: then the query decides on the item. */
function passesOrIsSlow(run: (value: Value) => Value, value: Value, wanted: boolean): boolean {
  const outer = testBudget.enter();
  try {
    return run(value) === wanted;
  } catch (error) {
    if (error instanceof EvaluationTooLong) return true;
    throw error;
  } finally {
    testBudget.leave(outer);
  }
}

function subjectOf(
  expression: Expression,
  toValueRef: (part: Expression) => ValueRef | undefined,
): Subject | undefined {
  const inner = (part: Expression | undefined) => part && subjectOf(part, toValueRef);
  const ofKind = (kind: Kind, part: Expression | undefined): Subject | undefined => {
    const valueRef = part && toValueRef(part);
    return part && valueRef ? { valueRef, expression: part, kind } : inner(part);
  };
  switch (expression.kind) {
    case 'binary':
      switch (expression.operator) {
        case 'AND':
        case 'OR':
        case '??':
          return undefined;
        case '=':
        case '!=':
        case '<':
        case '<=':
        case '>':
        case '>=':
          return inner(expression.left) ?? inner(expression.right);
        case '||':
          return ofKind('text', expression.left) ?? ofKind('text', expression.right);
        default:
          return ofKind('number', expression.left) ?? ofKind('number', expression.right);
      }
    case 'unary':
      return expression.operator === 'NOT' ? undefined : ofKind('number', expression.operand);
    case 'like':
      return ofKind('text', expression.value);
    case 'in':
    case 'between':
      return inner(expression.value);
    case 'call': {
      const kind = KIND_BY_FUNCTION.get(expression.name.toLowerCase());
      return kind && ofKind(kind, expression.arguments[0]);
    }
    default:
      return undefined;
  }
}
