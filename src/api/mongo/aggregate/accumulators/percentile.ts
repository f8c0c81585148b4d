/** `$percentile` and `$median`: values of the sorted numbers by their rank. */
import {
  type Bson,
  type BsonDocument,
  Double,
  isArray,
  isDocument,
} from '../../../../value/index.ts';
import { doubleOf, isNumber } from '../../bson/arithmetic.ts';
import { MongoError } from '../../errors.ts';
import { typeName } from '../expressions/define.ts';
import type { Scope } from '../expressions/scope.ts';
import { constantOf, type Evaluate, type Frame } from '../expressions/scope.ts';
import type { Accumulator } from './numbers.ts';
import { SortedFrame } from './sliding-lists.ts';
import type { Sliding } from './sliding-numbers.ts';

interface PercentileOptions {
  readonly input: Evaluate;
  readonly shares: readonly number[];
  readonly isMedian: boolean;
}

export function parsePercentileOptions(
  argument: Bson,
  scope: Scope,
  name: string,
): PercentileOptions {
  const isMedian = name === '$median';
  if (!isDocument(argument))
    throw new MongoError(
      isMedian ? 'Location7436100' : 'Location7429703',
      `specification must be an object; found ${name}: ${typeName(argument)}`,
    );
  const allowed = isMedian ? ['input', 'method'] : ['input', 'p', 'method'];
  for (const option of argument.keys())
    if (!allowed.includes(option))
      throw new MongoError(
        'IDLUnknownField',
        `BSON field '${name}.${option}' is an unknown field.`,
      );
  for (const option of allowed)
    if (!argument.has(option))
      throw new MongoError(
        'IDLFailedToParse',
        `BSON field '${name}.${option}' is missing but a required field`,
      );
  checkMethod(argument, name);
  return {
    input: scope.compile(argument.get('input') as Bson),
    shares: isMedian ? [0.5] : sharesOf(argument.get('p') as Bson, scope),
    isMedian,
  };
}

function checkMethod(argument: BsonDocument, name: string): void {
  const method = argument.get('method');
  if (typeof method !== 'string')
    throw new MongoError(
      'TypeMismatch',
      `BSON field '${name}.method' is the wrong type '${typeName(method)}', expected type 'string'`,
    );
  if (method !== 'approximate' && method !== 'discrete' && method !== 'continuous')
    throw new MongoError(
      'BadValue',
      "Currently only 'approximate', 'discrete' and 'continuous' can be used as percentile 'method'.",
    );
  if (method !== 'approximate')
    throw new MongoError(
      'BadValue',
      "Currently only 'approximate' can be used as percentile 'method'.",
    );
}

function sharesOf(sent: Bson, scope: Scope): readonly number[] {
  const known = constantOf(scope.compile(sent));
  const list = known?.value;
  if (!isArray(list) || list.length === 0)
    throw new MongoError(
      'Location7750301',
      `The $percentile 'p' field must be an array of constant values, but found value: ${typeName(list)}.`,
    );
  return list.map((share) => {
    if (!isNumber(share))
      throw new MongoError(
        'Location7750302',
        `The $percentile 'p' field must be an array of numbers from [0.0, 1.0], but found: ${typeName(share)}`,
      );
    const double = doubleOf(share);
    if (!(double >= 0 && double <= 1))
      throw new MongoError(
        'Location7750303',
        `The $percentile 'p' field must be an array of numbers from [0.0, 1.0], but found: ${double}`,
      );
    return double;
  });
}

/** The value at the rank of each share; null where there is no number. */
function percentilesOf(
  count: number,
  valueAt: (rank: number) => number,
  { shares, isMedian }: PercentileOptions,
): Bson {
  const found = shares.map(
    (share): Bson =>
      count === 0 ? null : new Double(valueAt(Math.max(0, Math.ceil(share * count) - 1))),
  );
  return isMedian ? (found[0] as Bson) : found;
}

export function newPercentiles(options: PercentileOptions): Accumulator {
  const values: number[] = [];
  return {
    add(value) {
      if (!isNumber(value)) return;
      const double = doubleOf(value as Bson);
      if (!Number.isNaN(double)) values.push(double);
    },
    result() {
      const sorted = Float64Array.from(values).sort();
      return percentilesOf(sorted.length, (at) => sorted[at] as number, options);
    },
  };
}

/** The same over frames that move: the numbers stay in order. */
function slidingPercentiles(options: PercentileOptions): Sliding {
  const sorted = new SortedFrame((a, b) => doubleOf(a) - doubleOf(b));
  const counts = (value: Bson | undefined): boolean =>
    isNumber(value) && !Number.isNaN(doubleOf(value as Bson));
  return {
    add(value) {
      if (counts(value)) sorted.add(value as Bson);
    },
    remove(value) {
      if (counts(value)) sorted.remove(value as Bson);
    },
    result: () => percentilesOf(sorted.length, (at) => doubleOf(sorted.at(at)), options),
  };
}

export function parsePercentile(
  argument: Bson,
  scope: Scope,
  name: string,
): { readonly argument: Evaluate; start(frame: Frame): Accumulator; slide(): Sliding } {
  const options = parsePercentileOptions(argument, scope, name);
  return {
    argument: options.input,
    start: () => newPercentiles(options),
    slide: () => slidingPercentiles(options),
  };
}
