/** Truth, comparisons, conditions and bits. */
import { type Bson, type BsonDocument, isArray, isDocument } from '../../../../value/index.ts';
import { MongoError } from '../../errors.ts';
import {
  type CompileOperator,
  countedOperands,
  folded,
  isNullish,
  isTruthy,
  type OperatorTable,
  operands,
  typeName,
  unary,
  variadic,
} from './define.ts';
import { constant, constantOf, type Evaluate, refuseFailing, type Scope } from './scope.ts';

export const LOGIC: OperatorTable = {
  $and: and,
  $or: or,
  $not: unary((value) => !isTruthy(value)),
  $cmp: comparison((order) => Math.sign(order)),
  $eq: comparison((order) => order === 0),
  $gt: comparison((order) => order > 0),
  $gte: comparison((order) => order >= 0),
  $lt: comparison((order) => order < 0),
  $lte: comparison((order) => order <= 0),
  $ne: comparison((order) => order !== 0),
  $cond: cond,
  $ifNull: ifNull,
  $switch: switchOperator,
  $bitAnd: bits('$bitAnd', -1n, (a, b) => a & b),
  $bitOr: bits('$bitOr', 0n, (a, b) => a | b),
  $bitXor: bits('$bitXor', 0n, (a, b) => a ^ b),
  $bitNot: unary(bitNot),
};

function and(argument: Bson, scope: Scope): Evaluate {
  const parts = operands(argument).map((sent) => scope.compile(sent));
  if (parts.some((part) => isKnown(part, false))) return constant(false);
  return folded((frame) => parts.every((part) => isTruthy(part(frame))), parts);
}

function or(argument: Bson, scope: Scope): Evaluate {
  const parts = operands(argument).map((sent) => scope.compile(sent));
  if (parts.some((part) => isKnown(part, true))) return constant(true);
  return folded((frame) => parts.some((part) => isTruthy(part(frame))), parts);
}

/** True for a constant of this truth: it decides, whatever the other operands are or throw. */
function isKnown(part: Evaluate, truth: boolean): boolean {
  const known = constantOf(part);
  return known !== undefined && isTruthy(known.value) === truth;
}

function comparison(result: (order: number) => Bson): CompileOperator {
  return (argument, scope, name) => {
    const parts = countedOperands(argument, name, 2).map((sent) => scope.compile(sent));
    const [left, right] = parts as [Evaluate, Evaluate];
    const { compare } = scope.context;
    return folded((frame) => result(compare(left(frame), right(frame))), parts);
  };
}

function cond(argument: Bson, scope: Scope): Evaluate {
  const [test, yes, no] = (
    isDocument(argument) ? namedCond(argument) : countedOperands(argument, '$cond', 3)
  ).map((sent) => scope.compile(sent)) as [Evaluate, Evaluate, Evaluate];
  const known = constantOf(test);
  if (known !== undefined) return isTruthy(known.value) ? yes : no;
  return (frame) => (isTruthy(test(frame)) ? yes(frame) : no(frame));
}

function namedCond(argument: BsonDocument): readonly Bson[] {
  for (const name of argument.keys())
    if (name !== 'if' && name !== 'then' && name !== 'else')
      throw new MongoError('Location17083', `Unrecognized parameter to $cond: ${name}`);
  const required = [
    ['if', 'Location17080'],
    ['then', 'Location17081'],
    ['else', 'Location17082'],
  ] as const;
  return required.map(([name, code]) => {
    const sent = argument.get(name);
    if (sent === undefined) throw new MongoError(code, `Missing '${name}' parameter to $cond`);
    return sent;
  });
}

function ifNull(argument: Bson, scope: Scope): Evaluate {
  const sent = operands(argument);
  if (sent.length < 2)
    throw new MongoError(
      'Location1257300',
      `$ifNull needs at least two arguments, had: ${sent.length}`,
    );
  const parts = sent.map((part) => scope.compile(part));
  for (const part of parts) refuseFailing(part);
  const last = parts[parts.length - 1] as Evaluate;
  const before = parts.slice(0, -1);
  return folded((frame) => {
    for (const part of before) {
      const value = part(frame);
      if (!isNullish(value)) return value;
    }
    return last(frame);
  }, parts);
}

interface Branch {
  readonly test: Evaluate;
  readonly result: Evaluate;
}

function switchOperator(argument: Bson, scope: Scope): Evaluate {
  if (!isDocument(argument))
    throw new MongoError(
      'Location40060',
      `$switch requires an object as an argument, found: ${typeName(argument)}`,
    );
  let branches: readonly Branch[] = [];
  let otherwise: Evaluate | undefined;
  for (const [name, value] of argument)
    if (name === 'branches') {
      if (!isArray(value))
        throw new MongoError(
          'Location40061',
          `$switch expected an array for 'branches', found: ${typeName(value)}`,
        );
      branches = value.map((branch) => compileBranch(branch, scope));
    } else if (name === 'default') {
      otherwise = scope.compile(value);
      refuseFailing(otherwise);
    } else throw new MongoError('Location40067', `$switch found an unknown argument: ${name}`);
  if (branches.length === 0)
    throw new MongoError('Location40068', '$switch requires at least one branch.');
  return chosen(branches, otherwise);
}

/** Branches that never or always hold are decided at once. */
function chosen(branches: readonly Branch[], otherwise: Evaluate | undefined): Evaluate {
  const possible: Branch[] = [];
  for (const branch of branches) {
    const known = constantOf(branch.test);
    if (known === undefined) possible.push(branch);
    else if (isTruthy(known.value)) {
      if (possible.length === 0) return branch.result;
      possible.push(branch);
      break;
    }
  }
  if (possible.length === 0 && otherwise !== undefined) return otherwise;
  return (frame) => {
    for (const { test, result } of possible) if (isTruthy(test(frame))) return result(frame);
    if (otherwise !== undefined) return otherwise(frame);
    throw new MongoError(
      'Location40069',
      '$switch could not find a matching branch for an input, and no default was specified.',
    );
  };
}

function compileBranch(sent: Bson, scope: Scope): Branch {
  if (!isDocument(sent))
    throw new MongoError(
      'Location40062',
      `$switch expected each branch to be an object, found: ${typeName(sent)}`,
    );
  for (const name of sent.keys())
    if (name !== 'case' && name !== 'then')
      throw new MongoError(
        'Location40063',
        `$switch found an unknown argument to a branch: ${name}`,
      );
  const test = sent.get('case');
  const then = sent.get('then');
  if (test === undefined)
    throw new MongoError('Location40064', "$switch requires each branch have a 'case' expression");
  if (then === undefined)
    throw new MongoError('Location40065', "$switch requires each branch have a 'then' expression.");
  return { test: scope.compile(test), result: scope.compile(then) };
}

function bits(name: string, empty: bigint, run: (a: bigint, b: bigint) => bigint): CompileOperator {
  return variadic((values) => {
    let result = empty;
    let isLong = false;
    let hasNull = false;
    for (const value of values) {
      if (isNullish(value)) hasNull = true;
      else if (typeof value !== 'number' && typeof value !== 'bigint')
        throw new MongoError(
          'TypeMismatch',
          `${name} only supports int and long operands, not ${typeName(value)}`,
        );
      else {
        isLong ||= typeof value === 'bigint';
        result = run(result, BigInt(value));
      }
    }
    if (hasNull) return null;
    return isLong ? result : Number(result);
  });
}

function bitNot(value: Bson | undefined): Bson {
  if (isNullish(value)) return null;
  if (typeof value === 'number') return ~value;
  if (typeof value === 'bigint') return ~value;
  throw new MongoError(
    'Location28765',
    `$bitNot only supports int and long, not ${typeName(value)}`,
  );
}
