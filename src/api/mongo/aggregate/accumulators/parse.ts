/** Accumulators by name, with their arguments compiled. */
import { type Bson, type BsonDocument, isArray, isDocument } from '../../../../value/index.ts';
import { doubleOf, isNumber, wholeNumber } from '../../bson/arithmetic.ts';
import { MongoError } from '../../errors.ts';
import { compareSortKeys, sortKeyOf } from '../../query/sort.ts';
import { typeName } from '../expressions/define.ts';
import {
  constant,
  constantOf,
  type Evaluate,
  type Frame,
  type Scope,
} from '../expressions/scope.ts';
import { parseSortPattern } from '../stages/sort.ts';
import {
  newAddToSet,
  newBest,
  newBestN,
  newConcatArrays,
  newEnds,
  newFirst,
  newLast,
  newMergeObjects,
  newPush,
  newSetUnion,
  newTop,
} from './lists.ts';
import { type Accumulator, newAverage, newDeviation, newSum } from './numbers.ts';
import { parsePercentile } from './percentile.ts';
import { parseScriptAccumulator } from './scripted.ts';
import {
  slidingAddToSet,
  slidingBest,
  slidingBestN,
  slidingConcatArrays,
  slidingEnds,
  slidingFirst,
  slidingLast,
  slidingPush,
  slidingSetUnion,
  slidingTop,
} from './sliding-lists.ts';
import { type Sliding, slidingAverage, slidingSum } from './sliding-numbers.ts';

/** Makes accumulators for one field of the groups. */
export interface AccumulatorSpec {
  /** What a document gives to the accumulator. */
  readonly argument: Evaluate;
  /** @param frame - holds the `_id` of the group, for the number of values that `$firstN` and its kind keep. */
  start(frame: Frame): Accumulator;
  /** The same for frames that move; undefined where nothing can be taken away again. */
  slide?(frame: Frame): Sliding;
  /** Set where functions of clients accumulate: called after each batch of documents, and before the results. */
  runScripts?(isLast: boolean): Promise<void>;
}

type ParseAccumulator = (argument: Bson, scope: Scope, name: string) => AccumulatorSpec;

const ACCUMULATORS: Readonly<Record<string, ParseAccumulator>> = {
  $addToSet: simple(
    (scope) => newAddToSet(scope.context.compare),
    (scope) => slidingAddToSet(scope.context.compare),
  ),
  $avg: simple(() => newAverage(true), slidingAverage),
  $bottom: top,
  $bottomN: top,
  $concatArrays: simple(newConcatArrays, slidingConcatArrays),
  $count: count,
  $first: simple(newFirst, slidingFirst),
  $firstN: ends,
  $last: simple(newLast, slidingLast),
  $lastN: ends,
  $max: simple(
    (scope) => newBest(1, scope.context.compare),
    (scope) => slidingBest(1, scope.context.compare),
  ),
  $maxN: best,
  $median: parsePercentile,
  $mergeObjects: simple(newMergeObjects),
  $min: simple(
    (scope) => newBest(-1, scope.context.compare),
    (scope) => slidingBest(-1, scope.context.compare),
  ),
  $minN: best,
  $percentile: parsePercentile,
  $push: simple(newPush, slidingPush),
  $setUnion: simple(
    (scope) => newSetUnion(scope.context.compare),
    (scope) => slidingSetUnion(scope.context.compare),
  ),
  $stdDevPop: simple(() => newDeviation(false)),
  $stdDevSamp: simple(() => newDeviation(true)),
  $sum: simple(newSum, slidingSum),
  $top: top,
  $topN: top,
};

export function isAccumulator(name: string): boolean {
  return Object.hasOwn(ACCUMULATORS, name);
}

/** One field of `$group`, `$bucket` and their kind: `{ $operator: argument }`. */
export function parseAccumulatorField(name: string, sent: Bson, scope: Scope): AccumulatorSpec {
  if (name.includes('.'))
    throw new MongoError('Location40235', `The field name '${name}' cannot contain '.'`);
  if (name.startsWith('$'))
    throw new MongoError('Location40236', `The field name '${name}' cannot be an operator name`);
  if (!isDocument(sent) || sent.size === 0)
    throw new MongoError('Location40234', `The field '${name}' must be an accumulator object`);
  const [operator, argument] = [...sent][0] as [string, Bson];
  if (sent.size > 1)
    throw new MongoError('Location40238', `The field '${name}' must specify one accumulator`);
  if (!operator.startsWith('$'))
    throw new MongoError('Location40234', `The field '${name}' must be an accumulator object`);
  if (operator === '$accumulator') return parseScriptAccumulator(argument, scope);
  if (isArray(argument))
    throw new MongoError('Location40237', `The ${operator} accumulator is a unary operator`);
  return parseAccumulator(operator, argument, scope);
}

export function parseAccumulator(operator: string, argument: Bson, scope: Scope): AccumulatorSpec {
  const parse = isAccumulator(operator) ? ACCUMULATORS[operator] : undefined;
  if (parse === undefined)
    throw new MongoError('Location15952', `unknown group operator '${operator}'`);
  return parse(argument, scope, operator);
}

function simple(
  start: (scope: Scope) => Accumulator,
  slide?: (scope: Scope) => Sliding,
): ParseAccumulator {
  return (argument, scope) => ({
    argument: scope.compile(argument),
    start: () => start(scope),
    ...(slide === undefined ? {} : { slide: () => slide(scope) }),
  });
}

const ONE = constant(1);

function count(argument: Bson): AccumulatorSpec {
  if (!isDocument(argument) || argument.size > 0)
    throw new MongoError('TypeMismatch', '$count takes no arguments, i.e. $count:{}');
  return { argument: ONE, start: newSum, slide: slidingSum };
}

const N_CODE = 'Location7548606';

/** How many values to keep, from the expression that was sent. */
export function numberOfValues(value: Bson | undefined, name: string): number {
  if (!isNumber(value))
    throw new MongoError(
      N_CODE,
      `Value for 'n' must be of integral type, but found ${typeName(value)}`,
    );
  const n = wholeNumber(value);
  if (n === undefined)
    throw new MongoError(
      N_CODE,
      `Value for 'n' must be of integral type, but found ${doubleOf(value as Bson)}`,
    );
  if (n <= 0) throw new MongoError(N_CODE, `'n' must be greater than 0, found ${n} for ${name}`);
  return n;
}

/** The `input` and `n` of `$firstN` and its kind. */
export function inputAndN(
  argument: Bson,
  scope: Scope,
  name: string,
): { readonly input: Evaluate; readonly n: Evaluate } {
  if (!isDocument(argument))
    throw new MongoError(
      'Location5787801',
      `specification must be an object; found ${name}: ${typeName(argument)}`,
    );
  for (const option of argument.keys())
    if (option !== 'input' && option !== 'n')
      throw new MongoError('Location5787901', `Unknown argument to ${name}: ${option}`);
  const input = argument.get('input');
  const n = argument.get('n');
  if (n === undefined) throw new MongoError('Location5787906', `Missing value for 'n' of ${name}`);
  if (input === undefined)
    throw new MongoError('Location5787907', `Missing value for 'input' of ${name}`);
  return { input: scope.compile(input), n: scope.compile(n) };
}

/** Checks a constant number of values when it is parsed. */
function checkKnown(n: Evaluate, name: string): void {
  const known = constantOf(n);
  if (known !== undefined) numberOfValues(known.value, name);
}

function ends(argument: Bson, scope: Scope, name: string): AccumulatorSpec {
  const { input, n } = inputAndN(argument, scope, name);
  checkKnown(n, name);
  return {
    argument: input,
    start: (frame) => newEnds(numberOfValues(n(frame), name), name === '$lastN'),
    slide: (frame) => slidingEnds(numberOfValues(n(frame), name), name === '$lastN'),
  };
}

function best(argument: Bson, scope: Scope, name: string): AccumulatorSpec {
  const { input, n } = inputAndN(argument, scope, name);
  checkKnown(n, name);
  const direction = name === '$maxN' ? 1 : -1;
  return {
    argument: input,
    start: (frame) => newBestN(numberOfValues(n(frame), name), direction, scope.context.compare),
    slide: (frame) =>
      slidingBestN(numberOfValues(n(frame), name), direction, scope.context.compare),
  };
}

function top(argument: Bson, scope: Scope, name: string): AccumulatorSpec {
  const isMany = name.endsWith('N');
  const options = topOptions(argument, name, isMany);
  const pattern = options.get('sortBy');
  if (!isDocument(pattern))
    throw new MongoError('Location10065', `invalid parameter: expected an object (sortBy)`);
  const { compare, metadata } = scope.context;
  const parts = parseSortPattern(pattern, metadata);
  const output = scope.compile(options.get('output') as Bson);
  const n = isMany ? scope.compile(options.get('n') as Bson) : undefined;
  if (n !== undefined) checkKnown(n, name);
  const isBottom = name.startsWith('$bottom');
  const kept = (frame: Frame): number | undefined =>
    n === undefined ? undefined : numberOfValues(n(frame), name);
  const order = (a: Bson, b: Bson): number =>
    compareSortKeys(a as readonly Bson[], b as readonly Bson[], parts, compare);
  return {
    argument: (frame) => [
      sortKeyOf(frame[0] as BsonDocument, parts, compare) as readonly Bson[],
      output(frame) ?? null,
    ],
    start: (frame) => newTop(kept(frame), isBottom, order),
    slide: (frame) => slidingTop(kept(frame), isBottom, order),
  };
}

function topOptions(argument: Bson, name: string, isMany: boolean): BsonDocument {
  if (!isDocument(argument))
    throw new MongoError(
      'Location5788001',
      `specification must be an object; found ${name}: ${typeName(argument)}`,
    );
  for (const option of argument.keys())
    if (option !== 'output' && option !== 'sortBy' && !(isMany && option === 'n'))
      throw new MongoError('Location5788002', `Unknown argument to ${name} '${option}'`);
  if (isMany && !argument.has('n'))
    throw new MongoError('Location5788003', `Missing value for 'n' of ${name}`);
  if (!argument.has('output'))
    throw new MongoError('Location5788004', `Missing value for 'output' of ${name}`);
  if (!argument.has('sortBy'))
    throw new MongoError('Location5788005', `Missing value for 'sortBy' of ${name}`);
  return argument;
}
