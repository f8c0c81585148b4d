/** Window functions that look at the order of a partition, not only at the documents of a frame. */
import {
  type Bson,
  type BsonDocument,
  compareBson,
  Double,
  Extended,
  isDocument,
} from '../../../../value/index.ts';
import {
  combineWidening,
  divide,
  doubleOf,
  isDecimal,
  isNumber,
  subtract,
  wholeNumber,
} from '../../bson/arithmetic.ts';
import { MongoError } from '../../errors.ts';
import { compareSortKeys, type SortPart, sortKeyOf } from '../../query/sort.ts';
import { slidingBest } from '../accumulators/sliding-lists.ts';
import { RemovableSum } from '../accumulators/sliding-numbers.ts';
import { fixedMs, parseUnit } from '../dates/units.ts';
import { isNullish } from '../expressions/define.ts';
import { valueAtPath } from '../expressions/field-path.ts';
import {
  constantOf,
  type Evaluate,
  type Scope,
  type Frame as ValueFrame,
} from '../expressions/scope.ts';
import { moving } from './fold.ts';
import type { Column, PartitionFunction, Window } from './partition.ts';

type ParseFunction = (
  argument: Bson,
  scope: Scope,
  sort: readonly SortPart[],
  name: string,
) => PartitionFunction;

export const WINDOW_FUNCTIONS: Readonly<Record<string, ParseFunction>> = {
  $denseRank: rank,
  $derivative: slope,
  $documentNumber: rank,
  $expMovingAvg: movingAverage,
  $integral: slope,
  $linearFill: linearFill,
  $locf: carryForward,
  $minMaxScaler: scaler,
  $rank: rank,
  $shift: shift,
};

/** Functions that take nothing beside themselves. */
export const RANKINGS = new Set(['$rank', '$denseRank', '$documentNumber']);

/** Functions that take no window. */
export const FRAMELESS = new Set(['$shift', '$expMovingAvg', '$linearFill', '$locf']);

function valuesOf(documents: readonly BsonDocument[], evaluate: Evaluate): (Bson | undefined)[] {
  const frame: ValueFrame = [];
  return documents.map((document) => {
    frame[0] = document;
    return evaluate(frame);
  });
}

function rank(
  argument: Bson,
  { context: { compare } }: Scope,
  sort: readonly SortPart[],
  name: string,
): PartitionFunction {
  if (!isDocument(argument) || argument.size > 0)
    throw new MongoError('Location5371603', `${name} must be specified with '{}' as the value`);
  if (sort.length === 0 || (name !== '$documentNumber' && sort.length !== 1) || sort.length !== 1)
    throw new MongoError(
      'Location5371602',
      `${name} must be specified with a top level sortBy expression with exactly one element`,
    );
  return (documents) => {
    let current = 0;
    let before: ReturnType<typeof sortKeyOf> | undefined;
    return (at) => {
      const key = sortKeyOf(documents[at] as BsonDocument, sort, compare);
      const isNew = before === undefined || compareSortKeys(before, key, sort, compare) !== 0;
      before = key;
      if (name === '$documentNumber') return at + 1;
      if (isNew) current = name === '$rank' ? at + 1 : current + 1;
      return current;
    };
  };
}

function shift(argument: Bson, scope: Scope, sort: readonly SortPart[]): PartitionFunction {
  if (!isDocument(argument))
    throw new MongoError('FailedToParse', 'Argument to $shift must be an object');
  for (const name of argument.keys())
    if (name !== 'output' && name !== 'by' && name !== 'default')
      throw new MongoError('FailedToParse', `Unknown argument in $shift`);
  if (sort.length === 0) throw new MongoError('FailedToParse', '$shift requires a sortBy');
  const output = argument.get('output');
  const by = wholeNumber(argument.get('by'));
  if (output === undefined || by === undefined)
    throw new MongoError('FailedToParse', "$shift requires 'output' and an integer 'by'");
  const sentDefault = argument.get('default');
  const known =
    sentDefault === undefined ? { value: null } : constantOf(scope.compile(sentDefault));
  if (known === undefined)
    throw new MongoError(
      'FailedToParse',
      "'$shift:default' expression must yield a constant value.",
    );
  const evaluate = scope.compile(output);
  return (documents) => {
    const values = valuesOf(documents, evaluate);
    return (at) => {
      const other = at + by;
      return other < 0 || other >= values.length ? (known.value ?? null) : (values[other] ?? null);
    };
  };
}

function movingAverage(argument: Bson, scope: Scope, sort: readonly SortPart[]): PartitionFunction {
  if (!isDocument(argument))
    throw new MongoError('FailedToParse', '$expMovingAvg must have an object argument');
  if (sort.length === 0)
    throw new MongoError('FailedToParse', '$expMovingAvg requires an explicit sortBy');
  const input = argument.get('input');
  const n = argument.get('N');
  const sentAlpha = argument.get('alpha');
  if (input === undefined || (n === undefined) === (sentAlpha === undefined))
    throw new MongoError(
      'FailedToParse',
      "$expMovingAvg must have 'input' and exactly one of 'N' and 'alpha'",
    );
  let alpha: number;
  if (n !== undefined) {
    const whole = wholeNumber(n);
    if (whole === undefined || whole <= 0)
      throw new MongoError('FailedToParse', "'N' must be a positive integer");
    alpha = 2 / (whole + 1);
  } else {
    alpha = isNumber(sentAlpha) ? doubleOf(sentAlpha as Bson) : Number.NaN;
    if (!(alpha > 0 && alpha < 1))
      throw new MongoError('FailedToParse', "'alpha' must be between 0 and 1 (exclusive)");
  }
  const evaluate = scope.compile(input);
  return (documents) => {
    let average: Bson | undefined;
    const values = valuesOf(documents, evaluate);
    return (at) => {
      const value = values[at];
      if (!isNumber(value)) return average ?? null;
      const own = value as Bson;
      if (average === undefined) average = isDecimal(own) ? own : new Double(doubleOf(own));
      else if (isDecimal(own) || isDecimal(average))
        average = combineWidening(
          'add',
          combineWidening('multiply', own, new Double(alpha)),
          combineWidening('multiply', average, new Double(1 - alpha)),
        );
      else average = new Double(doubleOf(own) * alpha + doubleOf(average) * (1 - alpha));
      return average;
    };
  };
}

/** A number or a time on the axis of the sort. */
function axisOf(document: BsonDocument, part: SortPart, unitMs: number | undefined): Bson {
  const value = valueAtPath(document, part.path, 0);
  if (value instanceof Extended && value.payload.kind === 'date') {
    if (unitMs === undefined)
      throw new MongoError('Location5429512', 'sortBy is a Date, but no unit was specified');
    return new Double(value.payload.ms / unitMs);
  }
  if (!isNumber(value)) throw new MongoError('Location5624900', 'sortBy must be numeric or a Date');
  return value as Bson;
}

function slope(
  argument: Bson,
  scope: Scope,
  sort: readonly SortPart[],
  name: string,
): PartitionFunction {
  if (!isDocument(argument)) throw new MongoError('FailedToParse', `${name} expects an object`);
  for (const option of argument.keys())
    if (option !== 'input' && option !== 'unit')
      throw new MongoError('FailedToParse', `${name} got unexpected argument: ${option}`);
  const input = argument.get('input');
  const unit = argument.get('unit');
  if (input === undefined)
    throw new MongoError('FailedToParse', `${name} requires an 'input' expression`);
  if (unit !== undefined && typeof unit !== 'string')
    throw new MongoError('FailedToParse', `${name} 'unit' must be a string`);
  if (sort.length !== 1)
    throw new MongoError('FailedToParse', `${name} requires a non-compound sortBy`);
  const unitMs = unit === undefined ? undefined : fixedMs(parseUnit(unit));
  if (unit !== undefined && unitMs === undefined)
    throw new MongoError('Location5490704', "unit must be 'week' or smaller");
  const evaluate = scope.compile(input);
  const part = sort[0] as SortPart;
  return (documents, window) => {
    const values = valuesOf(documents, evaluate);
    const axis = documents.map((document) => axisOf(document, part, unitMs));
    if (name === '$integral') return integrals(values, axis, window);
    return (at) => derivative(values, axis, ...window(at));
  };
}

function derivative(
  values: readonly (Bson | undefined)[],
  axis: readonly Bson[],
  start: number,
  stop: number,
): Bson {
  if (stop - start < 2) return null;
  const [from, to] = [values[start], values[stop - 1]];
  if (isNullish(from) || isNullish(to)) return null;
  if (!isNumber(from) || !isNumber(to))
    throw new MongoError('Location5624900', '$derivative input must be a number');
  const run = subtract(axis[stop - 1] as Bson, axis[start] as Bson);
  if (doubleOf(run) === 0) return null;
  return divide(subtract(to as Bson, from as Bson), run);
}

/** Areas below the lines between neighbours: one comes with the number that enters, one goes with the one that leaves. */
function integrals(
  values: readonly (Bson | undefined)[],
  axis: readonly Bson[],
  window: Window,
): Column {
  const points = [...values.keys()].filter((at) => isNumber(values[at]));
  const area = (point: number): Bson => {
    const [from, to] = [points[point - 1] as number, points[point] as number];
    const width = subtract(axis[to] as Bson, axis[from] as Bson);
    const heights = combineWidening('add', values[from] as Bson, values[to] as Bson);
    return divide(combineWidening('multiply', heights, width), 2);
  };
  let sum = new RemovableSum();
  let first = 0;
  let end = 0;
  return (at) => {
    const [start, stop] = window(at);
    for (; end < points.length && (points[end] as number) < stop; end++)
      if (end > first) sum.add(area(end));
    for (; first < end && (points[first] as number) < start; first++)
      if (first + 1 < end) sum.remove(area(first + 1));
    if (first === end) {
      sum = new RemovableSum();
      return null;
    }
    return combineWidening('add', new Double(0), sum.total());
  };
}

function carryForward(argument: Bson, scope: Scope, _sort: readonly SortPart[]): PartitionFunction {
  const evaluate = scope.compile(argument);
  return (documents) => {
    let last: Bson = null;
    const values = valuesOf(documents, evaluate);
    return (at) => {
      const value = values[at];
      if (!isNullish(value)) last = value as Bson;
      return last;
    };
  };
}

function linearFill(argument: Bson, scope: Scope, sort: readonly SortPart[]): PartitionFunction {
  if (sort.length !== 1)
    throw new MongoError(
      'Location605001',
      '$linearFill must be specified with a top level sortBy expression with exactly one element',
    );
  const evaluate = scope.compile(argument);
  const part = sort[0] as SortPart;
  return (documents) => {
    const values = valuesOf(documents, evaluate);
    const axis = documents.map((document) => axisOf(document, part, 1));
    const made = values.map((value) => (isNullish(value) ? null : value));
    let before: number | undefined;
    for (const [at, value] of values.entries()) {
      if (isNullish(value)) continue;
      if (!isNumber(value))
        throw new MongoError('TypeMismatch', 'Value to be filled must be numeric or nullish');
      if (before !== undefined) fillBetween(made, axis, before, at);
      before = at;
    }
    return (at) => made[at];
  };
}

function fillBetween(
  made: (Bson | undefined)[],
  axis: readonly Bson[],
  from: number,
  to: number,
): void {
  if (to - from < 2) return;
  const low = made[from] as Bson;
  const run = subtract(axis[to] as Bson, axis[from] as Bson);
  if (doubleOf(run) === 0)
    throw new MongoError('Location6050106', 'There can be no repeated values in the sort field');
  const rise = subtract(made[to] as Bson, low);
  for (let at = from + 1; at < to; at++) {
    const share = subtract(axis[at] as Bson, axis[from] as Bson);
    made[at] = combineWidening('add', low, divide(combineWidening('multiply', rise, share), run));
  }
}

function scaler(argument: Bson, scope: Scope): PartitionFunction {
  if (!isDocument(argument) || !argument.has('input'))
    throw new MongoError(
      'IDLFailedToParse',
      "BSON field '$minMaxScaler.input' is missing but a required field",
    );
  const evaluate = scope.compile(argument.get('input') as Bson);
  const min = doubleOf(argument.get('min') ?? 0);
  const max = doubleOf(argument.get('max') ?? 1);
  return (documents, window) => {
    const values = valuesOf(documents, evaluate);
    const numbers = values.map((value) => (isNumber(value) ? value : undefined));
    const lows = moving(slidingBest(-1, compareBson), numbers, window);
    const highs = moving(slidingBest(1, compareBson), numbers, window);
    return (at) => {
      const own = doubleOf(values[at] as Bson);
      const [low, high] = [doubleOf(lows(at) as Bson), doubleOf(highs(at) as Bson)];
      return new Double(high === low ? min : ((own - low) / (high - low)) * (max - min) + min);
    };
  };
}
