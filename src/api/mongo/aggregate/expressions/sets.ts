/** Arrays as sets: order and repetition do not count. Results are sorted, as MongoDB's are. */
import { draw, listBytes } from '../../../../base/index.ts';
import { type Bson, compareBson, isArray } from '../../../../value/index.ts';
import { MongoError } from '../../errors.ts';
import {
  binary,
  type CompileOperator,
  countedOperands,
  isNullish,
  isTruthy,
  type OperatorTable,
  operands,
  typeName,
  variadic,
} from './define.ts';
import { constantOf, type Scope } from './scope.ts';

type Value = Bson | undefined;
type Compare = Scope['context']['compare'];

export const SETS: OperatorTable = {
  $allElementsTrue: elementsTrue('Location17040', (list) => list.every(isTruthy)),
  $anyElementTrue: elementsTrue('Location17041', (list) => list.some(isTruthy)),
  $setDifference: withCompare(difference),
  $setEquals: setEquals,
  $setIntersection: variadic((values, _, scope) => intersection(values, scope.context.compare)),
  $setIsSubset: withCompare(isSubset),
  $setUnion: variadic((values, _, scope) => union(values, scope.context.compare)),
};

function withCompare(run: (a: Value, b: Value, compare: Compare) => Value): CompileOperator {
  return (argument, scope, name) =>
    binary((a, b) => run(a, b, scope.context.compare))(argument, scope, name);
}

function elementsTrue(
  code: `Location${number}`,
  test: (list: readonly Bson[]) => boolean,
): CompileOperator {
  return (argument, scope, name) => {
    const [sent] = countedOperands(argument, name, 1);
    const part = scope.compile(sent as Bson);
    return (frame) => {
      const list = part(frame);
      if (!isArray(list))
        throw new MongoError(code, `${name}'s argument must be an array, but is ${typeName(list)}`);
      return test(list);
    };
  };
}

/** A set as a sorted list without repetition. */
function distinct(list: readonly Bson[], compare: Compare): Bson[] {
  draw(listBytes(list.length));
  const sorted = list.toSorted(compare);
  return sorted.filter((value, at) => at === 0 || compare(sorted[at - 1], value) !== 0);
}

/** Whether a sorted set has the value. */
function has(set: readonly Bson[], value: Bson, compare: Compare): boolean {
  let low = 0;
  let high = set.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const order = compare(set[middle], value);
    if (order === 0) return true;
    if (order < 0) low = middle + 1;
    else high = middle;
  }
  return false;
}

function difference(a: Value, b: Value, compare: Compare): Value {
  if (isNullish(a) || isNullish(b)) return null;
  if (!isArray(a))
    throw new MongoError(
      'Location17048',
      `both operands of $setDifference must be arrays. First argument is of type: ${typeName(a)}`,
    );
  if (!isArray(b))
    throw new MongoError(
      'Location17049',
      `both operands of $setDifference must be arrays. Second argument is of type: ${typeName(b)}`,
    );
  const other = distinct(b, compare);
  const kept: Bson[] = [];
  const seen: Bson[] = distinct(a, compare);
  const used = new Set<number>();
  for (const value of a) {
    if (has(other, value, compare)) continue;
    const at = seen.findIndex((entry, index) => !used.has(index) && compare(entry, value) === 0);
    if (at < 0) continue;
    used.add(at);
    kept.push(value);
  }
  return kept;
}

function isSubset(a: Value, b: Value, compare: Compare): Value {
  if (!isArray(a))
    throw new MongoError(
      'Location17046',
      `both operands of $setIsSubset must be arrays. First argument is of type: ${typeName(a)}`,
    );
  if (!isArray(b))
    throw new MongoError(
      'Location17042',
      `both operands of $setIsSubset must be arrays. Second argument is of type: ${typeName(b)}`,
    );
  const other = distinct(b, compare);
  return a.every((value) => has(other, value, compare));
}

function setEquals(argument: Bson, scope: Scope, name: string): ReturnType<CompileOperator> {
  const sent = operands(argument);
  if (sent.length < 2)
    throw new MongoError(
      'Location17045',
      `$setEquals needs at least two arguments had: ${sent.length}`,
    );
  const parts = sent.map((part) => scope.compile(part));
  for (const part of parts) {
    const known = constantOf(part);
    if (known !== undefined && !isArray(known.value))
      throw new MongoError(
        'Location5887502',
        `All operands of $setEquals must be arrays. One argument is of type: ${typeName(known.value)}`,
      );
  }
  return variadic((values, _, { context: { compare } }) => {
    const sets = values.map((value) => {
      if (!isArray(value))
        throw new MongoError(
          'Location17044',
          `All operands of $setEquals must be arrays. One argument is of type: ${typeName(value)}`,
        );
      return distinct(value, compare);
    });
    const [first, ...others] = sets as [Bson[], ...Bson[][]];
    return others.every(
      (other) =>
        other.length === first.length &&
        other.every((value, at) => compare(value, first[at]) === 0),
    );
  })(argument, scope, name);
}

function intersection(values: readonly Value[], compare: Compare): Value {
  let common: readonly Bson[] | undefined;
  for (const value of values) {
    if (isNullish(value)) return null;
    if (!isArray(value))
      throw new MongoError(
        'Location17047',
        `All operands of $setIntersection must be arrays. One argument is of type: ${typeName(value)}`,
      );
    if (common === undefined) common = distinct(value, compare);
    else {
      const other = distinct(value, compare);
      common = common.filter((entry) => has(other, entry, compare));
    }
  }
  return common ?? [];
}

function union(values: readonly Value[], compare: Compare): Value {
  const all: Bson[] = [];
  for (const value of values) {
    if (isNullish(value)) return null;
    if (!isArray(value))
      throw new MongoError(
        'Location17043',
        `All operands of $setUnion must be arrays. One argument is of type: ${typeName(value)}`,
      );
    for (const element of value) all.push(element);
  }
  return distinct(all, compare ?? compareBson);
}
