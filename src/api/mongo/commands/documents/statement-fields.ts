/** The statements of `update` and `delete`, with MongoDB's checks of their fields. */
import {
  type Bson,
  type BsonDocument,
  bsonTypeOf,
  isArray,
  isDocument,
} from '../../../../value/index.ts';
import { doubleOf, isNumber } from '../../bson/arithmetic.ts';
import { MongoError } from '../../errors.ts';

type Kind = 'object' | 'array' | 'bool' | 'strictBool' | 'number' | 'any' | 'hint' | 'update';

/** Throws IDLUnknownField, TypeMismatch or IDLFailedToParse. */
export function checkStatement(
  name: string,
  document: BsonDocument,
  kinds: Readonly<Record<string, Kind>>,
  required: readonly string[],
): void {
  for (const [field, value] of document) {
    const kind = Object.hasOwn(kinds, field) ? kinds[field] : undefined;
    if (kind === undefined)
      throw new MongoError('IDLUnknownField', `BSON field '${name}.${field}' is an unknown field.`);
    if (value !== null || kind === 'hint') checkKind(`${name}.${field}`, value, kind);
  }
  for (const field of required)
    if ((document.get(field) ?? null) === null)
      throw new MongoError(
        'IDLFailedToParse',
        `BSON field '${name}.${field}' is missing but a required field`,
      );
}

const EXPECTED: Readonly<Record<Kind, string>> = {
  object: "type 'object'",
  array: "type 'array'",
  bool: "types '[bool, long, int, decimal, double]'",
  number: "types '[long, int, decimal, double]'",
  strictBool: "type 'bool'",
  update: '',
  any: '',
  hint: "types '[string, object]'",
};

function checkKind(path: string, value: Bson, kind: Kind): void {
  if (isKind(value, kind)) return;
  if (kind === 'hint') throw new MongoError('FailedToParse', 'Hint must be a string or an object');
  if (kind === 'update')
    throw new MongoError('FailedToParse', 'Update argument must be either an object or an array');
  throw new MongoError(
    'TypeMismatch',
    `BSON field '${path}' is the wrong type '${bsonTypeOf(value)}', expected ${EXPECTED[kind]}`,
  );
}

function isKind(value: Bson, kind: Kind): boolean {
  switch (kind) {
    case 'object':
      return isDocument(value);
    case 'array':
      return isArray(value);
    case 'strictBool':
      return typeof value === 'boolean';
    case 'update':
      return isDocument(value) || isArray(value);
    case 'bool':
      return typeof value === 'boolean' || isNumber(value);
    case 'number':
      return isNumber(value);
    case 'hint':
      return typeof value === 'string' || isDocument(value);
    default:
      return true;
  }
}

export function isTrue(value: Bson | undefined): boolean {
  return value === true || (value !== undefined && isNumber(value) && doubleOf(value) !== 0);
}
