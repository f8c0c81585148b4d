/** Documents: their fields by computed names, as pairs, and joined. */
import { type Bson, type BsonDocument, isArray, isDocument } from '../../../../value/index.ts';
import { MongoError } from '../../errors.ts';
import {
  compileOption,
  folded,
  isNullish,
  type OperatorTable,
  parseOptions,
  typeName,
  unary,
  variadic,
} from './define.ts';
import { constantOf, type Evaluate, type Scope } from './scope.ts';

type Value = Bson | undefined;

export const OBJECTS: OperatorTable = {
  $arrayToObject: unary(arrayToObject),
  $getField: getField,
  $mergeObjects: variadic((values) => {
    const [only] = values;
    return mergeObjects(values.length === 1 && isArray(only) ? only : values);
  }),
  $objectToArray: unary(objectToArray),
  $setField: (argument, scope) => setField(argument, scope, '$setField'),
  $unsetField: (argument, scope) => setField(argument, scope, '$unsetField'),
};

function objectToArray(value: Value): Value {
  if (isNullish(value)) return null;
  if (!isDocument(value))
    throw new MongoError(
      'Location40390',
      `$objectToArray requires a document input, found: ${typeName(value)}`,
    );
  return [...value].map(
    ([name, part]) =>
      new Map<string, Bson>([
        ['k', name],
        ['v', part],
      ]),
  );
}

function arrayToObject(value: Value): Value {
  if (isNullish(value)) return null;
  if (!isArray(value))
    throw new MongoError(
      'Location40386',
      `$arrayToObject requires an array input, found: ${typeName(value)}`,
    );
  const made = new Map<string, Bson>();
  const [first] = value;
  if (first === undefined) return made;
  if (isArray(first)) for (const pair of value) addPair(made, pair);
  else if (isDocument(first)) for (const pair of value) addNamed(made, pair);
  else
    throw new MongoError(
      'Location40398',
      `Unrecognised input type format for $arrayToObject: ${typeName(first)}`,
    );
  return made;
}

function addPair(made: Map<string, Bson>, pair: Bson): void {
  if (!isArray(pair))
    throw new MongoError(
      'Location40396',
      `$arrayToObject requires a consistent input format. Found: ${typeName(pair)}`,
    );
  if (pair.length !== 2)
    throw new MongoError(
      'Location40397',
      `$arrayToObject requires an array of size 2 arrays, found array of size: ${pair.length}`,
    );
  const [name, value] = pair as [Bson, Bson];
  if (typeof name !== 'string')
    throw new MongoError(
      'Location40395',
      `$arrayToObject requires an array of key-value pairs, where the key must be of type string. Found key type: ${typeName(name)}`,
    );
  if (name.includes('\0'))
    throw new MongoError('Location4940400', 'Key field cannot contain an embedded null byte');
  made.set(name, value);
}

function addNamed(made: Map<string, Bson>, pair: Bson): void {
  if (!isDocument(pair))
    throw new MongoError(
      'Location40391',
      `$arrayToObject requires a consistent input format. Found: ${typeName(pair)}`,
    );
  if (pair.size !== 2)
    throw new MongoError(
      'Location40392',
      `$arrayToObject requires an object keys of 'k' and 'v'. Found incorrect number of keys: ${pair.size}`,
    );
  const name = pair.get('k');
  const value = pair.get('v');
  if (name === undefined || value === undefined)
    throw new MongoError(
      'Location40393',
      "$arrayToObject requires an object with keys 'k' and 'v'. Missing either or both keys.",
    );
  if (typeof name !== 'string')
    throw new MongoError(
      'Location40394',
      `$arrayToObject requires an object with keys 'k' and 'v', where the value of 'k' must be of type string. Found type: ${typeName(name)}`,
    );
  if (name.includes('\0'))
    throw new MongoError('Location4940401', 'Key field cannot contain an embedded null byte');
  made.set(name, value);
}

function mergeObjects(values: readonly Value[]): Value {
  const merged = new Map<string, Bson>();
  for (const value of values) {
    if (isNullish(value)) continue;
    if (!isDocument(value))
      throw new MongoError(
        'Location40400',
        `$mergeObjects requires object inputs, but input is of type ${typeName(value)}`,
      );
    for (const [name, part] of value) merged.set(name, part);
  }
  return merged;
}

function getField(argument: Bson, scope: Scope): Evaluate {
  let sentField: Bson = argument;
  let input: Evaluate | undefined;
  const isNamed = isDocument(argument) && ![...argument.keys()][0]?.startsWith('$');
  if (isNamed) {
    const options = parseOptions(argument, '$getField', {
      notObject: 'Location3041701',
      unknown: 'Location3041701',
      required: { field: 'Location3041702', input: 'Location3041703' },
    });
    sentField = options.get('field') as Bson;
    input = compileOption(options, 'input', scope);
  }
  const field = fieldName(sentField, scope);
  const known = constantOf(field);
  if (known !== undefined) checkText(known.value);
  return folded(
    (frame) => {
      const name = checkText(field(frame));
      const from = input === undefined ? frame[scope.currentSlot] : input(frame);
      if (isDocument(from)) return from.get(name);
      return from === undefined || from === null ? (from as Value) : undefined;
    },
    [field, input ?? NOT_CONSTANT],
  );
}

const NOT_CONSTANT: Evaluate = () => undefined;

function checkText(value: Value): string {
  if (typeof value === 'string') return value;
  throw new MongoError(
    'Location3041704',
    `$getField requires 'field' to evaluate to type String, but got ${typeName(value)}`,
  );
}

/** A text without a dollar is the name itself. */
function fieldName(sent: Bson, scope: Scope): Evaluate {
  return scope.compile(sent);
}

function setField(argument: Bson, scope: Scope, name: '$setField' | '$unsetField'): Evaluate {
  const isSet = name === '$setField';
  const options = parseOptions(argument, name, {
    notObject: 'Location4161100',
    unknown: 'Location4161101',
    required: {
      field: 'Location4161102',
      ...(isSet ? { value: 'Location4161103' as const } : {}),
      input: 'Location4161109',
    },
  });
  const first = isSet ? constantName(options, scope, name) : undefined;
  const input = scope.compile(options.get('input') as Bson);
  const field = first ?? constantName(options, scope, name);
  const value = isSet ? scope.compile(options.get('value') as Bson) : undefined;
  return (frame) => {
    const from = input(frame);
    if (isNullish(from)) return null;
    if (!isDocument(from))
      throw new MongoError(
        'Location4161105',
        `${name} requires 'input' to evaluate to type Object`,
      );
    const copy = new Map(from);
    const part = value?.(frame);
    if (part === undefined) copy.delete(field);
    else copy.set(field, part);
    return copy;
  };
}

/** What has parts is computed, even where the parts are constants; only `$literal` and its old name are not. */
function isComputed(sent: Bson): boolean {
  if (isArray(sent)) return sent.length > 0;
  return isDocument(sent) && sent.size > 0 && !sent.has('$literal') && !sent.has('$const');
}

function constantName(options: BsonDocument, scope: Scope, name: string): string {
  const sent = options.get('field') as Bson;
  if (typeof sent === 'string' && sent.startsWith('$'))
    throw new MongoError(
      'Location4161108',
      `'${sent}' is a field path reference which is not allowed in this context. Did you mean {$literal: '${sent}'}?`,
    );
  const compiled = constantOf(scope.compile(sent));
  const known = isComputed(sent) ? undefined : compiled;
  if (known === undefined)
    throw new MongoError('Location4161106', `${name} requires 'field' to evaluate to a constant`);
  if (typeof known.value !== 'string')
    throw new MongoError(
      'Location4161107',
      `${name} requires 'field' to evaluate to type String, but got ${typeName(known.value)}`,
    );
  if (known.value.includes('\0'))
    throw new MongoError('Location9534700', `${name} requires 'field' to have no null bytes`);
  return known.value;
}
