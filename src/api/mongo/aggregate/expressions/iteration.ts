/** `$map`, `$filter`, `$reduce` and `$let`: expressions with variables of their own. */
import { draw, listBytes, spend } from '../../../../base/index.ts';
import { type Bson, type BsonDocument, isArray, isDocument } from '../../../../value/index.ts';
import { isNumber, wholeInt32 } from '../../bson/arithmetic.ts';
import { MongoError } from '../../errors.ts';
import { isNullish, isTruthy, type OperatorTable, parseOptions, typeName } from './define.ts';
import { checkVariableName } from './field-path.ts';
import type { Evaluate, Frame, Scope } from './scope.ts';

export const ITERATION: OperatorTable = {
  $map: map,
  $filter: filter,
  $reduce: reduce,
  $let: letOperator,
};

/** The name of the element, and of its index where one is asked for. */
function elementNames(options: BsonDocument): readonly string[] {
  const names: string[] = [];
  for (const option of ['as', 'arrayIndexAs']) {
    const sent = options.get(option);
    if (sent === undefined) {
      if (option === 'as') names.push('this');
      continue;
    }
    if (typeof sent !== 'string')
      throw new MongoError(
        'FailedToParse',
        `'${option}' must be a string, found ${typeName(sent)}`,
      );
    checkVariableName(sent);
    names.push(sent);
  }
  return names;
}

function map(argument: Bson, scope: Scope): Evaluate {
  const options = parseOptions(argument, '$map', {
    notObject: 'Location16878',
    unknown: 'Location16879',
    required: { input: 'Location16880', in: 'Location16882' },
    optional: ['as', 'arrayIndexAs'],
  });
  const input = scope.compile(options.get('input') as Bson);
  const { scope: inner, slots } = scope.with(elementNames(options));
  const each = inner.compile(options.get('in') as Bson);
  const [slot, indexSlot] = slots as [number, number | undefined];
  return (frame) => {
    const list = input(frame);
    if (isNullish(list)) return null;
    if (!isArray(list))
      throw new MongoError('Location16883', `input to $map must be an array not ${typeName(list)}`);
    draw(listBytes(list.length));
    const made: Bson[] = [];
    for (let at = 0; at < list.length; at++) {
      frame[slot] = list[at];
      if (indexSlot !== undefined) frame[indexSlot] = at;
      spend(4);
      made.push(each(frame) ?? null);
    }
    return made;
  };
}

function filter(argument: Bson, scope: Scope): Evaluate {
  const options = parseOptions(argument, '$filter', {
    notObject: 'Location28646',
    unknown: 'Location28647',
    required: { input: 'Location28648', cond: 'Location28650' },
    optional: ['as', 'limit', 'arrayIndexAs'],
  });
  const input = scope.compile(options.get('input') as Bson);
  const { scope: inner, slots } = scope.with(elementNames(options));
  const test = inner.compile(options.get('cond') as Bson);
  const sentLimit = options.get('limit');
  const limit = sentLimit === undefined ? undefined : scope.compile(sentLimit);
  const [slot, indexSlot] = slots as [number, number | undefined];
  return (frame) => {
    const list = input(frame);
    if (isNullish(list)) return null;
    if (!isArray(list))
      throw new MongoError(
        'Location28651',
        `input to $filter must be an array not ${typeName(list)}`,
      );
    const most = limit === undefined ? Number.POSITIVE_INFINITY : limitOf(limit(frame));
    const kept: Bson[] = [];
    for (let at = 0; at < list.length && kept.length < most; at++) {
      frame[slot] = list[at];
      if (indexSlot !== undefined) frame[indexSlot] = at;
      spend(4);
      if (isTruthy(test(frame))) kept.push(list[at] as Bson);
    }
    return kept;
  };
}

function limitOf(sent: Bson | undefined): number {
  if (isNullish(sent)) return Number.POSITIVE_INFINITY;
  const limit = isNumber(sent) ? wholeInt32(sent) : undefined;
  if (limit === undefined)
    throw new MongoError(
      'Location327391',
      `$filter: limit must be represented as a 32-bit integral value: ${typeName(sent)}`,
    );
  if (limit < 1)
    throw new MongoError('Location327392', `$filter: limit must be greater than 0: ${limit}`);
  return limit;
}

function reduce(argument: Bson, scope: Scope): Evaluate {
  const options = parseOptions(argument, '$reduce', {
    notObject: 'Location40075',
    unknown: 'Location40076',
    required: { input: 'Location40077', initialValue: 'Location40078', in: 'Location40079' },
    optional: ['as', 'valueAs', 'arrayIndexAs'],
  });
  const input = scope.compile(options.get('input') as Bson);
  const initial = scope.compile(options.get('initialValue') as Bson);
  const { scope: inner, slots } = scope.with(['this', 'value']);
  const each = inner.compile(options.get('in') as Bson);
  const [thisSlot, valueSlot] = slots as [number, number];
  return (frame) => {
    const list = input(frame);
    if (isNullish(list)) return null;
    if (!isArray(list))
      throw new MongoError(
        'Location40080',
        `$reduce requires that 'input' be an array, found: ${typeName(list)}`,
      );
    let value = initial(frame);
    for (const element of list) {
      frame[thisSlot] = element;
      frame[valueSlot] = value;
      spend(4);
      value = each(frame);
    }
    return value;
  };
}

function letOperator(argument: Bson, scope: Scope): Evaluate {
  const options = parseOptions(argument, '$let', {
    notObject: 'Location16874',
    unknown: 'Location16875',
    required: { vars: 'Location16876', in: 'Location16877' },
  });
  const sent = options.get('vars') as Bson;
  // A list counts as the document of its indexes, which are no names of variables.
  const vars = isArray(sent) ? new Map(sent.map((each, at) => [String(at), each])) : sent;
  if (!isDocument(vars))
    throw new MongoError('Location10065', 'invalid parameter: expected an object (vars)');
  const values = [...vars].map(([name, sent]) => {
    checkVariableName(name);
    return [name, scope.compile(sent)] as const;
  });
  const { scope: inner, slots } = scope.with(values.map(([name]) => name));
  const result = inner.compile(options.get('in') as Bson);
  return (frame: Frame) => {
    // All values are computed before any is set: they see the variables outside.
    const computed = values.map(([, value]) => value(frame));
    for (const [at, slot] of slots.entries()) frame[slot] = computed[at];
    return result(frame);
  };
}
