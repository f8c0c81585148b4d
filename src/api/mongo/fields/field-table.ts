/**
 * The fields of a command by name and type, as MongoDB checks them before a command runs: unknown fields, wrong types
 * and missing fields have codes of their own. Null counts as absent.
 */
import {
  type Bson,
  type BsonDocument,
  bsonTypeOf,
  Extended,
  isArray,
  isDocument,
} from '../../../value/index.ts';
import { doubleOf, isNumber } from '../bson/arithmetic.ts';
import { MongoError } from '../errors.ts';
import { GENERIC_FIELDS } from './generic-fields.ts';
import { wholeOf } from './numbers.ts';

/**
 * bool: true or false. flag: numbers count too. int, long: any number. int32, int64: nothing but that. count: one that is not negative. `!` behind a kind: the field is
 * required.
 */
type Kind =
  | 'any'
  | 'array'
  | 'bool'
  | 'count'
  | 'flag'
  | 'int'
  | 'int32'
  | 'int64'
  | 'long'
  | 'object'
  | 'string'
  | 'timestamp'
  | 'uuid';

export type FieldTable = Readonly<Record<string, Kind | `${Kind}!`>>;

/** Throws IDLUnknownField, TypeMismatch, IDLFailedToParse or BadValue. */
export function checkFields(
  name: string,
  body: BsonDocument,
  table: FieldTable,
  isCommand = true,
): void {
  for (const [field, value] of body) {
    if (isCommand && (GENERIC_FIELDS.has(field) || field === name)) continue;
    const kind = Object.hasOwn(table, field) ? table[field] : undefined;
    if (kind === undefined) throw unknownField(name, field);
    checkKind(`${name}.${field}`, value, kind.replace('!', '') as Kind);
  }
  for (const [field, kind] of Object.entries(table))
    if (kind.endsWith('!') && (body.get(field) ?? null) === null) throw missingField(name, field);
}

function checkKind(path: string, value: Bson, kind: Kind): void {
  if (value === null || bsonTypeOf(value) === 'undefined' || isKind(value, kind)) {
    if (kind === 'count' && isNumber(value) && wholeOf(value) < 0)
      throw new MongoError(
        'BadValue',
        `BSON field '${path.slice(path.indexOf('.') + 1)}' value must be >= 0, actual value '${doubleOf(value)}'`,
      );
    return;
  }
  throw wrongType(path, value, kind);
}

function isKind(value: Bson, kind: Kind): boolean {
  switch (kind) {
    case 'any':
      return true;
    case 'string':
      return typeof value === 'string';
    case 'object':
      return isDocument(value);
    case 'array':
      return isArray(value);
    case 'bool':
      return typeof value === 'boolean';
    case 'flag':
      return typeof value === 'boolean' || isNumber(value);
    case 'timestamp':
      return value instanceof Extended && value.payload.kind === 'timestamp';
    case 'int32':
      return typeof value === 'number';
    case 'int64':
      return typeof value === 'bigint';
    case 'uuid':
      return value instanceof Extended && value.payload.kind === 'binary';
    default:
      return isNumber(value);
  }
}

const EXPECTED: Readonly<Record<Kind, string>> = {
  any: 'any',
  array: 'array',
  bool: 'bool',
  count: '[long, int, decimal, double]',
  flag: '[bool, long, int, decimal, double]',
  int: '[long, int, decimal, double]',
  int32: 'int',
  int64: 'long',
  long: '[long, int, decimal, double]',
  object: 'object',
  string: 'string',
  timestamp: 'timestamp',
  uuid: 'binData',
};

export function wrongType(path: string, value: Bson, expected: Kind | string): MongoError {
  const kinds = EXPECTED[expected as Kind] ?? expected;
  const noun = kinds.startsWith('[') ? 'types' : 'type';
  return new MongoError(
    'TypeMismatch',
    `BSON field '${path}' is the wrong type '${bsonTypeOf(value)}', expected ${noun} '${kinds}'`,
  );
}

export function unknownField(name: string, field: string): MongoError {
  return new MongoError('IDLUnknownField', `BSON field '${name}.${field}' is an unknown field.`);
}

export function missingField(name: string, field: string): MongoError {
  return new MongoError(
    'IDLFailedToParse',
    `BSON field '${name}.${field}' is missing but a required field`,
  );
}
