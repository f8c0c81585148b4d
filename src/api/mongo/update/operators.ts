/** The update operators that change one value: fields. Those of arrays are in `array-operators.ts`. */
import {
  type Bson,
  type BsonDocument,
  bsonTypeOf,
  Extended,
  isDocument,
} from '../../../value/index.ts';
import { combine, digitsOf, doubleOf, isDecimal, isNumber, type Sum } from '../bson/arithmetic.ts';
import { isZeroDecimal } from '../bson/decimal.ts';
import { printBson } from '../bson/print.ts';
import { MongoError } from '../errors.ts';
import type { CompareBson } from '../query/collation.ts';
import type { QueryContext } from '../query/query-context.ts';
import { ARRAY_OPERATORS } from './array-operators.ts';
import type { Place } from './mutable.ts';

export interface OperatorContext {
  readonly nowMs: number;
  readonly isInsert: boolean;
  readonly compare: CompareBson;
  /** Another place of the same document. */
  at(path: string): Place;
}

/** Changes the document through the place. */
export type UpdateOperator = (place: Place, argument: Bson, context: OperatorContext) => void;

type CheckArgument = (path: string, argument: Bson, context: QueryContext) => void;

export interface OperatorDefinition {
  /** Refuses arguments that are wrong whatever the document is. */
  readonly check?: CheckArgument;
  readonly apply: UpdateOperator;
}

export const OPERATORS: Readonly<Record<string, OperatorDefinition>> = {
  $set: { apply: (place, argument) => place.set(argument) },
  $setOnInsert: {
    apply: (place, argument, { isInsert }) => {
      if (isInsert) place.set(argument);
    },
  },
  $unset: { apply: (place) => place.remove() },
  $inc: {
    check: checkNumber('increment'),
    apply: (place, argument) => arithmetic(place, argument, '$inc'),
  },
  $mul: {
    check: checkNumber('multiply'),
    apply: (place, argument) => arithmetic(place, argument, '$mul'),
  },
  $min: { apply: (place, argument, { compare }) => keepBest(place, argument, -1, compare) },
  $max: { apply: (place, argument, { compare }) => keepBest(place, argument, 1, compare) },
  $rename: { check: checkRename, apply: rename },
  $currentDate: { check: checkCurrentDate, apply: currentDate },
  $bit: { check: checkBit, apply: bit },
  ...ARRAY_OPERATORS,
};

function checkNumber(verb: string): CheckArgument {
  return (path, argument) => {
    if (!isNumber(argument))
      throw new MongoError(
        'TypeMismatch',
        `Cannot ${verb} with non-numeric argument: {${path}: ${printBson(argument)}}`,
      );
  };
}

function arithmetic(place: Place, argument: Bson, operator: '$inc' | '$mul'): void {
  const current = place.get();
  if (current === undefined) {
    place.set(operator === '$inc' ? argument : (combine('multiply', argument, 0) as Bson));
    return;
  }
  if (!isNumber(current))
    throw new MongoError(
      'TypeMismatch',
      `Cannot apply ${operator} to a value of non-numeric type. {_id: ${printBson(place.rootId)}} has the field ` +
        `'${place.path.at(-1)}' of non-numeric type ${bsonTypeOf(current)}`,
    );
  const kind: Sum = operator === '$inc' ? 'add' : 'multiply';
  const result = combine(kind, current, argument);
  if (result === undefined)
    throw new MongoError(
      'BadValue',
      `Failed to apply ${operator} operations to current value ((NumberLong)${printBson(current)}) for document ` +
        `{_id: ${printBson(place.rootId)}}`,
    );
  // A zero that becomes a zero of another sign has not changed.
  if (!isSameZero(current, result)) place.set(result);
}

function isSameZero(current: Bson, result: Bson): boolean {
  return isZero(current) && isZero(result) && bsonTypeOf(current) === bsonTypeOf(result);
}

function isZero(value: Bson): boolean {
  return isDecimal(value) ? isZeroDecimal(digitsOf(value)) : doubleOf(value) === 0;
}

function keepBest(place: Place, argument: Bson, direction: 1 | -1, compare: CompareBson): void {
  const current = place.get();
  if (current === undefined || compare(argument, current) * direction > 0) place.set(argument);
}

function checkRename(path: string, argument: Bson): void {
  if (typeof argument !== 'string')
    throw new MongoError(
      'BadValue',
      `The 'to' field for $rename must be a string: ${path}: ${printBson(argument)}`,
    );
  if (argument.includes('\0'))
    throw new MongoError(
      'Location9867600',
      "The 'to' field for $rename cannot contain an embedded null byte",
    );
  if (argument === '') throw new MongoError('EmptyFieldName', 'An empty update path is not valid.');
  if (argument.split('.').includes(''))
    throw new MongoError(
      'EmptyFieldName',
      `The update path '${argument}' contains an empty field name, which is not allowed.`,
    );
  for (const [each, role] of [
    [path, 'source'],
    [argument, 'destination'],
  ] as const)
    if (each.split('.').some((step) => step === '$' || step.startsWith('$[')))
      throw new MongoError('BadValue', `The ${role} field for $rename may not be dynamic: ${each}`);
  if (argument === path)
    throw new MongoError(
      'BadValue',
      `The source and target field for $rename must differ: ${path}: ${printBson(argument)}`,
    );
}

function rename(place: Place, argument: Bson, { at }: OperatorContext): void {
  const target = at(argument as string);
  place.refuseArrays('source');
  place.refuseUnviable();
  const value = place.get();
  if (value === undefined) return;
  if (argument === '_id')
    throw new MongoError(
      'ImmutableField',
      "Performing an update on the path '_id' would modify the immutable field '_id'",
    );
  target.refuseArrays('destination');
  place.remove();
  target.remove();
  target.set(value);
}

function checkCurrentDate(path: string, argument: Bson): void {
  if (typeof argument === 'boolean') return;
  if (!isDocument(argument))
    throw new MongoError(
      'BadValue',
      `${bsonTypeOf(argument)} is not valid type for $currentDate. Please use a boolean ('true') or a $type expression ` +
        "({$type: 'timestamp/date'}).",
    );
  for (const name of argument.keys())
    if (name !== '$type')
      throw new MongoError('BadValue', `Unrecognized $currentDate option: ${name}`);
  const type = argument.get('$type');
  if (type !== 'timestamp' && type !== 'date')
    throw new MongoError(
      'BadValue',
      `The '$type' string field is required to be 'date' or 'timestamp': {$currentDate: {${path}: {$type: 'date'}}}`,
    );
}

function currentDate(place: Place, argument: Bson, { nowMs }: OperatorContext): void {
  const type = isDocument(argument) ? argument.get('$type') : 'date';
  place.set(
    type === 'timestamp'
      ? new Extended({ kind: 'timestamp', high: Math.floor(nowMs / 1000), low: 1 })
      : new Extended({ kind: 'date', ms: nowMs }),
  );
}

const BIT_OPERATIONS: Readonly<Record<string, (a: bigint, b: bigint) => bigint>> = {
  and: (a, b) => a & b,
  or: (a, b) => a | b,
  xor: (a, b) => a ^ b,
};

function checkBit(path: string, argument: Bson): void {
  if (!isDocument(argument))
    throw new MongoError(
      'BadValue',
      `The $bit modifier is not compatible with a ${bsonTypeOf(argument)}. You must pass in an embedded document: ` +
        '{$bit: {field: {and/or/xor: #}}',
    );
  if (argument.size === 0)
    throw new MongoError(
      'BadValue',
      `You must pass in at least one bitwise operation. The format is: {$bit: {${path}: {and/or/xor: #}}`,
    );
  for (const [name, operand] of argument) {
    if (!Object.hasOwn(BIT_OPERATIONS, name))
      throw new MongoError(
        'BadValue',
        `The $bit modifier only supports 'and', 'or', and 'xor', not '${name}' which is an unknown operator: {${name}: ${printBson(operand)}}`,
      );
    if (typeof operand !== 'number' && typeof operand !== 'bigint')
      throw new MongoError(
        'BadValue',
        `The $bit modifier field must be an Integer(32/64 bit); a '${bsonTypeOf(operand)}' is not supported here: {${name}: ${printBson(operand)}}`,
      );
  }
}

function bit(place: Place, argument: Bson): void {
  const before = place.get();
  let current = before === undefined ? 0 : before;
  for (const [name, operand] of argument as BsonDocument) {
    const operation = BIT_OPERATIONS[name] as (a: bigint, b: bigint) => bigint;
    if (typeof current !== 'number' && typeof current !== 'bigint')
      throw new MongoError(
        'BadValue',
        `Cannot apply $bit to a value of non-integral type.{_id: ${printBson(place.rootId)}} has the field ` +
          `${place.path.at(-1)} of non-integer type ${bsonTypeOf(current)}`,
      );
    const result = operation(BigInt(current), BigInt(operand as number | bigint));
    current =
      typeof current === 'number' && typeof operand === 'number'
        ? Number(BigInt.asIntN(32, result))
        : result;
  }
  place.set(current);
}
