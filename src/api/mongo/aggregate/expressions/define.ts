/** Ways to define an operator: by its number of arguments, or by the names of its options. */
import {
  type Bson,
  type BsonDocument,
  bsonTypeOf,
  isArray,
  isDocument,
} from '../../../../value/index.ts';
import { MongoError } from '../../errors.ts';
import { constant, constantOf, type Evaluate, failing, type Scope } from './scope.ts';

/** Compiles the argument of an operator. */
export type CompileOperator = (argument: Bson, scope: Scope, name: string) => Evaluate;

export type OperatorTable = Readonly<Record<string, CompileOperator>>;

type Value = Bson | undefined;

/** The arguments of an operator: the elements of a list, or the one value. */
export function operands(argument: Bson): readonly Bson[] {
  return isArray(argument) ? argument : [argument];
}

/** Operands in number between the bounds; refuses with the codes that MongoDB has for each case. */
export function countedOperands(
  argument: Bson,
  name: string,
  min: number,
  max = min,
): readonly Bson[] {
  const sent = operands(argument);
  if (sent.length >= min && sent.length <= max) return sent;
  if (min === max)
    throw new MongoError(
      'Location16020',
      `Expression ${name} takes exactly ${min} arguments. ${sent.length} were passed in.`,
    );
  throw new MongoError(
    'Location28667',
    `Expression ${name} takes at least ${min} arguments, and at most ${max}, but ${sent.length} were passed in.`,
  );
}

/** Evaluates at once where all parts are constants. An error is left to the evaluation of a document. */
export function folded(evaluate: Evaluate, parts: readonly (Evaluate | undefined)[]): Evaluate {
  for (const part of parts)
    if (part !== undefined && constantOf(part) === undefined) return evaluate;
  try {
    return constant(evaluate([]));
  } catch (error) {
    if (!(error instanceof MongoError)) throw error;
    return failing(evaluate, error);
  }
}

export function unary(run: (value: Value, name: string) => Value): CompileOperator {
  return (argument, scope, name) => {
    const [sent] = countedOperands(argument, name, 1);
    const part = scope.compile(sent as Bson);
    return folded((frame) => run(part(frame), name), [part]);
  };
}

export function binary(run: (a: Value, b: Value, name: string) => Value): CompileOperator {
  return (argument, scope, name) => {
    const [left, right] = countedOperands(argument, name, 2).map((sent) => scope.compile(sent));
    const [a, b] = [left as Evaluate, right as Evaluate];
    return folded((frame) => run(a(frame), b(frame), name), [a, b]);
  };
}

/** Any number of operands between the bounds, all evaluated. */
export function variadic(
  run: (values: readonly Value[], name: string, scope: Scope) => Value,
  min = 0,
  max = Number.POSITIVE_INFINITY,
): CompileOperator {
  return (argument, scope, name) => {
    const sent =
      max === Number.POSITIVE_INFINITY && min === 0
        ? operands(argument)
        : countedOperands(argument, name, min, max);
    const parts = sent.map((part) => scope.compile(part));
    return folded(
      (frame) =>
        run(
          parts.map((part) => part(frame)),
          name,
          scope,
        ),
      parts,
    );
  };
}

interface OptionRules {
  /** The code of an argument that is no document. */
  readonly notObject: `Location${number}` | 'FailedToParse' | 'TypeMismatch';
  readonly unknown: `Location${number}` | 'FailedToParse';
  /** The code of each option that must be there. */
  readonly required?: Readonly<Record<string, `Location${number}` | 'FailedToParse'>>;
  readonly optional?: readonly string[];
}

/** The options of an operator, as they were sent, after their names were checked. */
export function parseOptions(argument: Bson, name: string, rules: OptionRules): BsonDocument {
  if (!isDocument(argument))
    throw new MongoError(
      rules.notObject,
      `${name} only supports an object as its argument, found ${bsonTypeOf(argument)}`,
    );
  const required = rules.required ?? {};
  for (const option of argument.keys())
    if (!Object.hasOwn(required, option) && rules.optional?.includes(option) !== true)
      throw new MongoError(rules.unknown, `Unrecognized argument to ${name}: ${option}`);
  for (const [option, code] of Object.entries(required))
    if (!argument.has(option))
      throw new MongoError(code, `Missing '${option}' parameter to ${name}`);
  return argument;
}

/** An option as an expression; undefined where it was not sent. */
export function compileOption(
  options: BsonDocument,
  name: string,
  scope: Scope,
): Evaluate | undefined {
  const sent = options.get(name);
  return sent === undefined ? undefined : scope.compile(sent);
}

/** Null, missing and the old type undefined count as no value. */
export function isNullish(value: Value): boolean {
  return value === undefined || value === null || bsonTypeOf(value) === 'undefined';
}

/** The type in messages, `missing` included. */
export function typeName(value: Value): string {
  return value === undefined ? 'missing' : bsonTypeOf(value);
}

/** The truth of a value: everything but false, zeros, null, undefined and missing. */
export function isTruthy(value: Value): boolean {
  if (typeof value === 'boolean') return value;
  if (value === undefined || value === null) return false;
  if (typeof value === 'number') return value !== 0;
  if (typeof value === 'bigint') return value !== 0n;
  return isTruthyObject(value);
}

function isTruthyObject(value: Bson): boolean {
  switch (bsonTypeOf(value)) {
    case 'double':
      return (value as { readonly value: number }).value !== 0;
    case 'decimal': {
      const { digits } = (value as { readonly payload: { readonly digits: string } }).payload;
      return !/^-?0*\.?0*(E[+-]?\d+)?$/.test(digits);
    }
    case 'undefined':
      return false;
    default:
      return true;
  }
}
