/** Arrays: elements, slices, ranges, sorts, pairs. */
import { draw, listBytes } from '../../../../base/index.ts';
import { type Bson, type BsonDocument, isArray, isDocument } from '../../../../value/index.ts';
import { doubleOf, isNumber, wholeInt32, wholeNumber } from '../../bson/arithmetic.ts';
import { MongoError } from '../../errors.ts';
import { parseSortPattern } from '../stages/sort.ts';
import {
  binary,
  compileOption,
  folded,
  isNullish,
  isTruthy,
  type OperatorTable,
  parseOptions,
  typeName,
  unary,
  variadic,
} from './define.ts';
import { valueAtPath } from './field-path.ts';
import { constantOf, type Evaluate, type Scope } from './scope.ts';

type Value = Bson | undefined;

export const ARRAYS: OperatorTable = {
  $arrayElemAt: binary(elementAt),
  $concatArrays: variadic(concatArrays),
  $first: unary((list) => end(list, '$first', 0)),
  $last: unary((list) => end(list, '$last', -1)),
  $in: (argument, scope, name) =>
    binary((value, list) => isIn(value, list, scope))(argument, scope, name),
  $indexOfArray: variadic(indexOf, 2, 4),
  $isArray: unary(isArray),
  $range: variadic(range, 2, 3),
  $reverseArray: unary(reverse),
  $size: unary(size),
  $slice: variadic(slice, 2, 3),
  $sortArray: sortArray,
  $zip: zip,
};

function elementAt(list: Value, index: Value): Value {
  if (isNullish(list) || isNullish(index)) return null;
  if (!isArray(list))
    throw new MongoError(
      'Location28689',
      `$arrayElemAt's first argument must be an array, but is ${typeName(list)}`,
    );
  if (!isNumber(index))
    throw new MongoError(
      'Location28690',
      `$arrayElemAt's second argument must be a numeric value, but is ${typeName(index)}`,
    );
  const at = wholeInt32(index);
  if (at === undefined)
    throw new MongoError(
      'Location28691',
      "$arrayElemAt's second argument must be representable as a 32-bit integer",
    );
  return list.at(at);
}

function end(list: Value, name: string, at: number): Value {
  if (isNullish(list)) return null;
  if (!isArray(list))
    throw new MongoError(
      'Location28689',
      `${name}'s argument must be an array, but is ${typeName(list)}`,
    );
  return list.at(at);
}

function concatArrays(values: readonly Value[]): Value {
  const joined: Bson[] = [];
  for (const value of values) {
    if (isNullish(value)) return null;
    if (!isArray(value))
      throw new MongoError(
        'Location28664',
        `$concatArrays only supports arrays, not ${typeName(value)}`,
      );
    draw(listBytes(value.length));
    for (const element of value) joined.push(element);
  }
  return joined;
}

function isIn(value: Value, list: Value, { context: { compare } }: Scope): Value {
  if (!isArray(list))
    throw new MongoError(
      'Location40081',
      `$in requires an array as a second argument, found: ${typeName(list)}`,
    );
  return list.some((element) => compare(element, value) === 0);
}

/** An index of `$indexOfArray`. */
function indexArgument(value: Value, what: string): number {
  const at = isNumber(value) ? wholeInt32(value) : undefined;
  if (at === undefined)
    throw new MongoError(
      'Location9711600',
      `$indexOfArray requires an integral ${what} index, found a value of type: ${typeName(value)}`,
    );
  if (at < 0)
    throw new MongoError(
      'Location9711601',
      `$indexOfArray requires a nonnegative ${what} index, found: ${at}`,
    );
  return at;
}

function indexOf(values: readonly Value[], _name: string, scope: Scope): Value {
  const [list, value, from, to] = values;
  if (isNullish(list)) return null;
  if (!isArray(list))
    throw new MongoError(
      'Location40090',
      `$indexOfArray requires an array as a first argument, found: ${typeName(list)}`,
    );
  const start = values.length > 2 ? indexArgument(from, 'starting') : 0;
  const stop = values.length > 3 ? indexArgument(to, 'ending') : list.length;
  const { compare } = scope.context;
  for (let at = start; at < Math.min(stop, list.length); at++)
    if (compare(list[at], value) === 0) return at;
  return -1;
}

function range(values: readonly Value[]): Value {
  const [start, stop, step] = values;
  const whole = (value: Value, kind: number, what: string): number => {
    if (!isNumber(value))
      throw new MongoError(
        `Location${kind}`,
        `$range requires a numeric ${what} value, found value of type: ${typeName(value)}`,
      );
    const exact = wholeInt32(value);
    if (exact === undefined)
      throw new MongoError(
        `Location${kind + 1}`,
        `$range requires a ${what} value that can be represented as a 32-bit integer, found value: ${doubleOf(value as Bson)}`,
      );
    return exact;
  };
  const from = whole(start, 34443, 'starting');
  const to = whole(stop, 34445, 'ending');
  const by = values.length > 2 ? whole(step, 34447, 'step') : 1;
  if (by === 0) throw new MongoError('Location34449', '$range requires a non-zero step value');
  const count = Math.max(0, Math.ceil((to - from) / by));
  if (count * 8 > RANGE_BYTES_MAX)
    throw new MongoError(
      'ExceededMemoryLimit',
      `$range would use too much memory (${count * 8} bytes) and cannot spill to disk. Memory limit: ${RANGE_BYTES_MAX} bytes`,
    );
  draw(listBytes(count));
  return Array.from({ length: count }, (_, at) => from + at * by);
}

/** MongoDB's bound of a list that an expression makes. */
const RANGE_BYTES_MAX = 100 * 1024 * 1024;

function reverse(list: Value): Value {
  if (isNullish(list)) return null;
  if (!isArray(list))
    throw new MongoError(
      'Location34435',
      `The argument to $reverseArray must be an array, but was of type: ${typeName(list)}`,
    );
  return list.toReversed();
}

function size(list: Value): Value {
  if (!isArray(list))
    throw new MongoError(
      'Location17124',
      `The argument to $size must be an array, but was of type: ${typeName(list)}`,
    );
  return list.length;
}

function slice(values: readonly Value[]): Value {
  const [list, second, third] = values;
  if (isNullish(list) || isNullish(second) || (values.length > 2 && isNullish(third))) return null;
  if (!isArray(list))
    throw new MongoError(
      'Location28724',
      `First argument to $slice must be an array, but is of type: ${typeName(list)}`,
    );
  const whole = (value: Value, what: string): number => {
    if (!isNumber(value))
      throw new MongoError(
        'Location28725',
        `${what} argument to $slice must be numeric, but is of type: ${typeName(value)}`,
      );
    const exact = wholeInt32(value);
    if (exact === undefined)
      throw new MongoError(
        'Location28726',
        `${what} argument to $slice can't be represented as a 32-bit integer`,
      );
    return exact;
  };
  const position = whole(second, 'Second');
  if (values.length === 2) return position < 0 ? list.slice(position) : list.slice(0, position);
  const count = whole(third, 'Third');
  if (count <= 0)
    throw new MongoError('Location28729', `Third argument to $slice must be positive: ${count}`);
  const from = position < 0 ? Math.max(0, list.length + position) : position;
  return list.slice(from, from + count);
}

type Order = (a: Bson, b: Bson) => number;

function sortArray(argument: Bson, scope: Scope): Evaluate {
  const options = parseOptions(argument, '$sortArray', {
    notObject: 'Location2942500',
    unknown: 'Location2942501',
    required: { input: 'Location2942502', sortBy: 'Location2942503' },
  });
  const input = scope.compile(options.get('input') as Bson);
  const order = sortOrder(options.get('sortBy') as Bson, scope);
  return folded(
    (frame) => {
      const list = input(frame);
      if (isNullish(list)) return null;
      if (!isArray(list))
        throw new MongoError(
          'Location2942504',
          `The input argument to $sortArray must be an array, but was of type: ${typeName(list)}`,
        );
      draw(listBytes(list.length));
      return list.toSorted(order);
    },
    [input],
  );
}

/** By the values themselves, or by fields of documents: an array in a field is compared as a whole. */
function sortOrder(sent: Bson, { context: { compare } }: Scope): Order {
  if (isDocument(sent)) {
    if (sent.size === 0)
      throw new MongoError('Location2942505', 'the $sort key specification must not be empty');
    for (const value of sent.values())
      if (isNumber(value) && ![1, -1].includes(doubleOf(value)))
        throw new MongoError(
          'Location2942505',
          '$sort key ordering must be 1 (for ascending) or -1 (for descending)',
        );
      else if (!isNumber(value))
        throw new MongoError('Location2942505', 'Illegal key in $sort specification');
    parseSortPattern(new Map([...sent].filter(([text]) => !text.startsWith('$'))));
    const parts = [...sent].map(([text, value]) => ({
      path: text.split('.'),
      direction: doubleOf(value),
    }));
    return (a, b) => {
      for (const { path, direction } of parts) {
        const order = compare(fieldOf(a, path), fieldOf(b, path));
        if (order !== 0) return order * direction;
      }
      return 0;
    };
  }
  if (!isNumber(sent))
    throw new MongoError(
      'Location2942507',
      '$sortArray sortBy argument must be 1, -1 or an object',
    );
  const direction = wholeNumber(sent);
  if (direction !== 1 && direction !== -1)
    throw new MongoError(
      'Location2942506',
      '$sort key ordering must be 1 (for ascending) or -1 (for descending)',
    );
  return (a, b) => compare(a, b) * direction;
}

function fieldOf(value: Bson, path: readonly string[]): Bson {
  return (isDocument(value) ? valueAtPath(value, path, 0) : undefined) ?? null;
}

function zip(argument: Bson, scope: Scope): Evaluate {
  const options = zipOptions(argument);
  const inputs = (options.get('inputs') as readonly Bson[]).map((sent) => scope.compile(sent));
  const sentDefaults = options.get('defaults');
  const defaults = isArray(sentDefaults)
    ? sentDefaults.map((sent) => scope.compile(sent))
    : undefined;
  const longest = compileOption(options, 'useLongestLength', scope);
  const usesLongest = isTruthy(longest === undefined ? false : constantOf(longest)?.value);
  return folded(
    (frame) => {
      const lists: (readonly Bson[])[] = [];
      for (const input of inputs) {
        const list = input(frame);
        if (isNullish(list)) return null;
        if (!isArray(list))
          throw new MongoError(
            'Location34468',
            `$zip found a non-array expression in input: ${typeName(list)}`,
          );
        lists.push(list);
      }
      const lengths = lists.map((list) => list.length);
      const pick = usesLongest ? Math.max : Math.min;
      const count = lengths.reduce((chosen, length) => pick(chosen, length));
      const fill = defaults?.map((part) => part(frame) ?? null);
      draw(listBytes(count * lists.length));
      return Array.from({ length: count }, (_, at) =>
        lists.map((list, which) => (at < list.length ? list[at] : (fill?.[which] ?? null)) as Bson),
      );
    },
    [...inputs, ...(defaults ?? [])],
  );
}

function zipOptions(argument: Bson): BsonDocument {
  if (!isDocument(argument))
    throw new MongoError(
      'Location34460',
      `$zip only supports an object as an argument, found ${typeName(argument)}`,
    );
  for (const [name, value] of argument)
    if (name === 'inputs') {
      if (!isArray(value))
        throw new MongoError(
          'Location34461',
          `inputs must be an array of expressions, found ${typeName(value)}`,
        );
    } else if (name === 'defaults') {
      if (!isArray(value))
        throw new MongoError(
          'Location34462',
          `defaults must be an array of expressions, found ${typeName(value)}`,
        );
    } else if (name === 'useLongestLength') {
      if (typeof value !== 'boolean')
        throw new MongoError(
          'Location34463',
          `useLongestLength must be a bool, found ${typeName(value)}`,
        );
    } else throw new MongoError('Location34464', `$zip found an unknown argument: ${name}`);
  const inputs = argument.get('inputs');
  if (!isArray(inputs) || inputs.length === 0)
    throw new MongoError('Location34465', '$zip requires at least one input array');
  const defaults = argument.get('defaults');
  if (isArray(defaults) && defaults.length > 0) {
    if (argument.get('useLongestLength') !== true)
      throw new MongoError(
        'Location34466',
        'cannot specify defaults unless useLongestLength is true',
      );
    if (defaults.length !== inputs.length)
      throw new MongoError('Location34467', 'defaults and inputs must have the same length');
  }
  return argument;
}
