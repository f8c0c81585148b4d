/** Conditions of function calls: the values of an argument for which a call is true. */
import {
  ANYTHING,
  type Condition,
  equalTo,
  everyValue,
  NOTHING,
  ofType,
  startingWith,
  type ValueRange,
} from '../../../../query/index.ts';
import { ARRAY_ELEMENT, isList, isMap, type Value } from '../../../../value/index.ts';
import { phraseList } from '../functions/full-text.ts';
import type { Call, Expression } from '../language/ast.ts';
import { kindCondition, testOf } from './conditions-kinds.ts';
import { intersectionOf, termFor, unionOf, type ValueRef } from './conditions-ranges.ts';
import { touchingCondition } from './conditions-spatial.ts';
import {
  type Aliases,
  type Analysis,
  propertyOf,
  someElementOf,
  valueRefOf,
} from './value-refs.ts';

/** The ranges of values that pass a type check, by lower-case name. */
const TYPE_CHECKS: ReadonlyMap<string, readonly ValueRange[]> = new Map([
  ['is_array', [ofType([])]],
  ['is_bool', [ofType(false), ofType(true)]],
  ['is_datetime', [ofType('')]],
  ['is_defined', [everyValue()]],
  ['is_finite_number', [ofType(0)]],
  ['is_integer', [ofType(0)]],
  ['is_null', [ofType(null)]],
  ['is_number', [ofType(0)]],
  ['is_object', [ofType({})]],
  ['is_primitive', [null, false, true, 0, ''].map(ofType)],
  ['is_string', [ofType('')]],
]);

/** Checks that need more than the type. */
const FINER_CHECKS: ReadonlySet<string> = new Set([
  'is_datetime',
  'is_finite_number',
  'is_integer',
]);

export function callCondition(
  call: Call,
  wanted: boolean,
  aliases: Aliases,
  analysis: Analysis,
): Condition {
  const name = call.name.toLowerCase();
  const [first] = call.arguments;
  const valueRef = first && valueRefOf(first, aliases, analysis);
  const ranges = TYPE_CHECKS.get(name);
  if (ranges) {
    // A missing value fails the check too, and has no index entry.
    if (!wanted || !first || !valueRef) return ANYTHING;
    return termFor(
      valueRef,
      ranges,
      FINER_CHECKS.has(name) ? testOf(call, true, first, analysis) : undefined,
    );
  }
  if (wanted && valueRef) {
    const words = textCondition(name, call, valueRef, analysis);
    const kind = kindCondition(call, wanted, aliases, analysis) ?? ANYTHING;
    if (words) return intersectionOf([kind, words]);
  }
  const finer = wanted
    ? (touchingCondition(call, aliases, analysis) ??
      trueCallCondition(name, call, valueRef, aliases, analysis))
    : undefined;
  return finer ?? kindCondition(call, wanted, aliases, analysis) ?? ANYTHING;
}

/** The condition for a full text index, where there is one. */
function textCondition(
  name: string,
  { arguments: [, ...args] }: Call,
  { path }: ValueRef,
  analysis: Analysis,
): Condition | undefined {
  if (!name.startsWith('fulltextcontains') || path.includes(ARRAY_ELEMENT)) return undefined;
  const phrases = phraseList(args.map((arg) => analysis.findConstant(arg)?.value));
  if (phrases === undefined || phrases.length === 0) return undefined;
  return { kind: 'text', path, phrases, needs: name.endsWith('any') ? 'any' : 'all' };
}

function trueCallCondition(
  name: string,
  { arguments: args }: Call,
  valueRef: ValueRef | undefined,
  aliases: Aliases,
  analysis: Analysis,
): Condition | undefined {
  const [first, second, third] = args;
  switch (name) {
    case 'startswith':
    case 'stringequals': {
      const text = second && analysis.findConstant(second)?.value;
      const isCaseSensitive = !third || analysis.findConstant(third)?.value === false;
      if (!valueRef || typeof text !== 'string' || !isCaseSensitive) return undefined;
      return termFor(valueRef, [name === 'startswith' ? startingWith(text) : equalTo(text)]);
    }
    case 'array_contains':
    case '_try_array_contains': {
      const list = first && analysis.findConstant(first);
      if (list) return amongConstants(second, list.value, aliases, analysis);
      return valueRef && second && elementCondition(valueRef, second, analysis);
    }
    case 'array_contains_any': {
      const found = args
        .slice(1)
        .map((part) => valueRef && elementCondition(valueRef, part, analysis));
      return allDefined(found) && unionOf(allDefined(found) ?? []);
    }
    case 'array_contains_all': {
      const found = args
        .slice(1)
        .map((part) => valueRef && elementCondition(valueRef, part, analysis));
      const defined = found.filter((each) => each !== undefined);
      return defined.length > 0 ? intersectionOf(defined) : undefined;
    }
    default:
      return undefined;
  }
}

function allDefined<T>(values: readonly (T | undefined)[]): readonly T[] | undefined {
  const defined = values.filter((value) => value !== undefined);
  return defined.length === values.length ? defined : undefined;
}

/** The condition that the expression equals an element of the list. */
function amongConstants(
  expression: Expression | undefined,
  list: Value,
  aliases: Aliases,
  analysis: Analysis,
): Condition | undefined {
  if (!isList(list)) return NOTHING;
  const valueRef = expression && valueRefOf(expression, aliases, analysis);
  return valueRef && termFor(valueRef, list.map(equalTo));
}

/** The condition that some element of the array equals the expression, or has all its properties. */
function elementCondition(
  valueRef: ValueRef,
  expression: Expression,
  analysis: Analysis,
): Condition | undefined {
  const constant = analysis.findConstant(expression);
  return constant && equalCondition(someElementOf(valueRef, analysis), constant.value, analysis);
}

/** More parts of a constant narrow little more, and each is a range to read. */
const PARTS_MAX = 4;

/** The condition of equality with a constant; for arrays and objects, of having the same simple parts. */
export function equalCondition(valueRef: ValueRef, constant: Value, analysis: Analysis): Condition {
  if (constant === undefined) return NOTHING;
  const parts: (readonly [ValueRef, Value])[] = isList(constant)
    ? constant.map((element) => [someElementOf(valueRef, analysis), element])
    : isMap(constant)
      ? Object.keys(constant).map((name) => [propertyOf(valueRef, name), constant[name]])
      : [];
  const simple = parts.filter(([, value]) => value === null || typeof value !== 'object');
  const defined = simple.filter(([, value]) => value !== undefined).slice(0, PARTS_MAX);
  if (defined.length === 0) return termFor(valueRef, [equalTo(constant)]);
  return intersectionOf(defined.map(([part, value]) => termFor(part, [equalTo(value)])));
}
