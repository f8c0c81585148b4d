/** Field paths and variables: `$a.b`, `$$name.b`. Documents within an array give the list of what they have. */
import { type Bson, Extended, isArray, isDocument } from '../../../../value/index.ts';
import { MongoError } from '../../errors.ts';
import { constant, type Evaluate, type Scope } from './scope.ts';

/** MongoDB's bound of the steps of a path. */
const STEPS_MAX = 200;

/** Splits a path and checks its names, in MongoDB's words. */
export function parseFieldPath(text: string): readonly string[] {
  if (text === '')
    throw new MongoError('Location40352', 'FieldPath cannot be constructed with empty string');
  if (text.endsWith('.'))
    throw new MongoError('Location40353', "FieldPath must not end with a '.'.");
  const steps = text.split('.');
  for (const step of steps) checkFieldName(step);
  if (steps.length > STEPS_MAX) throw new MongoError('Overflow', 'FieldPath is too long');
  return steps;
}

/** The names that references to documents have. */
const REFERENCE_NAMES: ReadonlySet<string> = new Set(['$id', '$ref', '$db']);

export function checkFieldName(name: string): void {
  if (name === '')
    throw new MongoError('Location15998', 'FieldPath field names may not be empty strings.');
  if (name.startsWith('$') && !REFERENCE_NAMES.has(name))
    throw new MongoError(
      'Location16410',
      "FieldPath field names may not start with '$'. Consider using $getField or $setField.",
    );
  if (name.includes('\0'))
    throw new MongoError('Location16411', 'FieldPath field names may not contain null bytes.');
  if (name.includes('.'))
    throw new MongoError(
      'Location16412',
      "FieldPath field names may not contain '.'. Consider using $getField or $setField.",
    );
}

/** Compiles a text that starts with `$`. */
export function compilePath(text: string, scope: Scope): Evaluate {
  if (!text.startsWith('$$')) {
    if (text === '$')
      throw new MongoError('Location16872', "'$' by itself is not a valid FieldPath");
    const steps = parseFieldPath(text.slice(1));
    return pathFrom(scope.currentSlot, steps);
  }
  const dot = text.indexOf('.');
  const name = dot < 0 ? text.slice(2) : text.slice(2, dot);
  checkReadName(name);
  if (text.endsWith('.'))
    throw new MongoError('Location40353', "FieldPath must not end with a '.'.");
  const steps = dot < 0 ? [] : parseFieldPath(text.slice(dot + 1));
  const slot = scope.slotOf(name);
  if (slot !== undefined) return pathFrom(slot, steps);
  const variable = scope.context.variables.get(name);
  if (variable !== undefined)
    return steps.length === 0 ? () => variable.value : () => valueAtPath(variable.value, steps, 0);
  return systemVariable(name, steps, scope);
}

function systemVariable(name: string, steps: readonly string[], scope: Scope): Evaluate {
  const { context } = scope;
  switch (name) {
    case 'ROOT':
      return pathFrom(0, steps);
    case 'CURRENT':
      return pathFrom(scope.currentSlot, steps);
    case 'REMOVE':
      return constant(undefined);
    case 'NOW':
      if (context.nowMs === undefined)
        throw new MongoError('Location51144', "Builtin variable '$$NOW' is not available");
      return constant(
        steps.length > 0 ? undefined : new Extended({ kind: 'date', ms: context.nowMs }),
      );
    case 'CLUSTER_TIME':
      if (context.clusterTime === undefined)
        throw new MongoError('Location51144', "Builtin variable '$$CLUSTER_TIME' is not available");
      return constant(steps.length > 0 ? undefined : context.clusterTime);
    case 'USER_ROLES':
      return constant(valueAtPath(context.userRoles ?? [], steps, 0));
    default:
      throw new MongoError('Location17276', `Use of undefined variable: ${name}`);
  }
}

function pathFrom(slot: number, steps: readonly string[]): Evaluate {
  const [first, second] = steps;
  if (first === undefined) return (frame) => frame[slot];
  if (second === undefined)
    return (frame) => {
      const from = frame[slot];
      return isDocument(from) ? from.get(first) : valueAtPath(from, steps, 0);
    };
  return (frame) => valueAtPath(frame[slot], steps, 0);
}

export function valueAtPath(
  value: Bson | undefined,
  steps: readonly string[],
  at: number,
): Bson | undefined {
  if (at === steps.length) return value;
  if (isDocument(value)) return valueAtPath(value.get(steps[at] as string), steps, at + 1);
  if (!isArray(value)) return undefined;
  const found: Bson[] = [];
  for (const element of value) {
    if (!isDocument(element)) continue;
    const inner = valueAtPath(element, steps, at);
    if (inner !== undefined) found.push(inner);
  }
  return found;
}

function checkReadName(name: string): void {
  if (name === '') throw new MongoError('FailedToParse', 'empty variable names are not allowed');
  const first = name.charCodeAt(0);
  if (!/[A-Za-z]/.test(name[0] as string) && first < 0x80)
    throw new MongoError(
      'FailedToParse',
      `'${name}' starts with an invalid character for a user variable name`,
    );
  checkNameCharacters(name);
}

/** The name of a variable that `$let` and its kind define. */
export function checkVariableName(name: string): void {
  if (name === 'CURRENT') return;
  if (name === '') throw new MongoError('FailedToParse', 'empty variable names are not allowed');
  if (!/[a-z]/.test(name[0] as string) && name.charCodeAt(0) < 0x80)
    throw new MongoError(
      'FailedToParse',
      `'${name}' starts with an invalid character for a user variable name`,
    );
  checkNameCharacters(name);
}

function checkNameCharacters(name: string): void {
  const wrong = /[^\w\u0080-\uffff]/.exec(name);
  if (wrong !== null)
    throw new MongoError(
      'FailedToParse',
      `'${name}' contains an invalid character for a variable name: '${wrong[0]}'`,
    );
}
