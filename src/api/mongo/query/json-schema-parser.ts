/** `$jsonSchema`: draft 4 with `bsonType`, as MongoDB has it, compiled to a test of a value. */
import {
  BSON_TYPES,
  type Bson,
  type BsonDocument,
  type BsonType,
  bsonTypeOf,
  compareBson,
  equalBson,
  isArray,
  isDocument,
} from '../../../value/index.ts';
import { doubleOf, isNumber, wholeNumber } from '../bson/arithmetic.ts';
import { MongoError } from '../errors.ts';
import { FILTER_DEPTH_MAX } from '../limits.ts';
import { compileRegex } from './regex.ts';

/** Tests a value that is there. */
type ValueTest = (value: Bson) => boolean;

/** A schema of a document. Throws TypeMismatch, FailedToParse and BadValue. */
export function parseJsonSchema(schema: Bson): (document: BsonDocument) => boolean {
  if (!isDocument(schema)) throw mismatch('$jsonSchema must be an object');
  return parseSchema(schema, 0);
}

type ParseKeyword = (value: Bson, schema: BsonDocument, depth: number) => ValueTest | undefined;

function parseSchema(schema: BsonDocument, depth: number): ValueTest {
  if (depth > FILTER_DEPTH_MAX) throw failed('$jsonSchema is nested too deeply');
  const tests: ValueTest[] = [];
  for (const [name, value] of schema) {
    if (!Object.hasOwn(KEYWORDS, name)) {
      if (UNSUPPORTED.has(name))
        throw failed(`$jsonSchema keyword '${name}' is not currently supported`);
      throw failed(`Unknown $jsonSchema keyword: ${name}`);
    }
    const test = (KEYWORDS[name] as ParseKeyword)(value, schema, depth);
    if (test !== undefined) tests.push(test);
  }
  const others = otherProperties(schema, depth);
  if (others !== undefined) tests.push(others);
  if (schema.has('type') && schema.has('bsonType'))
    throw failed("Cannot specify both $jsonSchema keywords 'type' and 'bsonType'");
  return (value) => tests.every((test) => test(value));
}

const UNSUPPORTED: ReadonlySet<string> = new Set([
  '$ref',
  '$schema',
  'default',
  'definitions',
  'format',
  'id',
]);

const KEYWORDS: Readonly<Record<string, ParseKeyword>> = {
  additionalItems: parseAdditionalItems,
  additionalProperties: (value, _, depth) => {
    schemaOrFlag(value, 'additionalProperties', depth);
    return undefined;
  },
  allOf: (value, _, depth) => {
    const schemas = schemaList(value, 'allOf', depth);
    return (each) => schemas.every((test) => test(each));
  },
  anyOf: (value, _, depth) => {
    const schemas = schemaList(value, 'anyOf', depth);
    return (each) => schemas.some((test) => test(each));
  },
  bsonType: (value) => typeTest(value, 'bsonType'),
  dependencies: parseDependencies,
  description: textOnly('description'),
  encrypt: () => {
    throw failed("$jsonSchema keyword 'encrypt' is not currently supported");
  },
  enum: parseEnum,
  exclusiveMaximum: exclusive('exclusiveMaximum', 'maximum'),
  exclusiveMinimum: exclusive('exclusiveMinimum', 'minimum'),
  items: parseItems,
  maxItems: (value) =>
    counted(value, 'maxItems', (limit) => (each) => !isArray(each) || each.length <= limit),
  maxLength: (value) =>
    counted(
      value,
      'maxLength',
      (limit) => (each) => typeof each !== 'string' || lengthOf(each) <= limit,
    ),
  maxProperties: (value) =>
    counted(value, 'maxProperties', (limit) => (each) => !isDocument(each) || each.size <= limit),
  maximum: (value, schema) => bound(value, schema, 'maximum'),
  minItems: (value) =>
    counted(value, 'minItems', (limit) => (each) => !isArray(each) || each.length >= limit),
  minLength: (value) =>
    counted(
      value,
      'minLength',
      (limit) => (each) => typeof each !== 'string' || lengthOf(each) >= limit,
    ),
  minProperties: (value) =>
    counted(value, 'minProperties', (limit) => (each) => !isDocument(each) || each.size >= limit),
  minimum: (value, schema) => bound(value, schema, 'minimum'),
  multipleOf: parseMultipleOf,
  not: (value, _, depth) => {
    if (!isDocument(value)) throw wrongType('not', 'an object', value);
    const test = parseSchema(value, depth + 1);
    return (each) => !test(each);
  },
  oneOf: (value, _, depth) => {
    const schemas = schemaList(value, 'oneOf', depth);
    return (each) => schemas.filter((test) => test(each)).length === 1;
  },
  pattern: parsePattern,
  patternProperties: (value, _, depth) => {
    parsePatternProperties(value, depth);
    return undefined;
  },
  properties: parseProperties,
  required: parseRequired,
  title: textOnly('title'),
  type: (value) => typeTest(value, 'type'),
  uniqueItems: parseUniqueItems,
};

function parseProperties(properties: Bson, _: BsonDocument, depth: number): ValueTest {
  if (!isDocument(properties)) throw wrongType('properties', 'an object', properties);
  const known = new Map<string, ValueTest>();
  for (const [name, inner] of properties) {
    if (!isDocument(inner))
      throw mismatch(`Nested schema for $jsonSchema property '${name}' must be an object`);
    known.set(name, parseSchema(inner, depth + 1));
  }
  return (value) => {
    if (!isDocument(value)) return true;
    for (const [name, test] of known) {
      const inner = value.get(name);
      if (inner !== undefined && !test(inner)) return false;
    }
    return true;
  };
}

interface PatternTest {
  readonly matches: (name: string) => boolean;
  readonly test: ValueTest;
}

function parsePatternProperties(value: Bson | undefined, depth: number): readonly PatternTest[] {
  if (value === undefined) return [];
  if (!isDocument(value)) throw wrongType('patternProperties', 'an object', value);
  return [...value].map(([pattern, inner]) => {
    if (!isDocument(inner))
      throw mismatch(`$jsonSchema keyword 'patternProperties' must have object values`);
    let regex: ReturnType<typeof compileRegex>;
    try {
      regex = compileRegex(pattern, '');
    } catch {
      throw new MongoError(
        'BadValue',
        `$jsonSchema keyword 'patternProperties' has an invalid pattern`,
      );
    }
    return { matches: (name) => regex.test(name), test: parseSchema(inner, depth + 1) };
  });
}

/** The test of names that `properties` does not have. */
function otherProperties(schema: BsonDocument, depth: number): ValueTest | undefined {
  const patterns = parsePatternProperties(schema.get('patternProperties'), depth);
  const additional = schemaOrFlag(
    schema.get('additionalProperties') ?? true,
    'additionalProperties',
    depth,
  );
  const properties = schema.get('properties');
  const known = isDocument(properties) ? properties : undefined;
  if (patterns.length === 0 && additional === true) return undefined;
  return (value) => {
    if (!isDocument(value)) return true;
    for (const [name, inner] of value) {
      const matching = patterns.filter(({ matches }) => matches(name));
      if (matching.some(({ test }) => !test(inner))) return false;
      if (matching.length > 0 || known?.has(name) === true) continue;
      if (additional === false || (typeof additional === 'function' && !additional(inner)))
        return false;
    }
    return true;
  };
}

function schemaOrFlag(value: Bson, name: string, depth: number): boolean | ValueTest {
  if (typeof value === 'boolean') return value;
  if (!isDocument(value)) throw wrongType(name, 'either an object or a boolean', value);
  return parseSchema(value, depth + 1);
}

function parseRequired(value: Bson): ValueTest {
  const names = uniqueNames(value, 'required');
  return (each) => !isDocument(each) || names.every((name) => each.has(name));
}

function uniqueNames(value: Bson, keyword: string): readonly string[] {
  if (!isArray(value)) throw wrongType(keyword, 'an array', value);
  if (value.length === 0) throw failed(`$jsonSchema keyword '${keyword}' cannot be an empty array`);
  const names = new Set<string>();
  for (const name of value) {
    if (typeof name !== 'string')
      throw mismatch(`$jsonSchema keyword '${keyword}' must be an array of strings`);
    if (names.has(name))
      throw failed(`$jsonSchema keyword '${keyword}' array cannot contain duplicate values`);
    names.add(name);
  }
  return [...names];
}

function parseDependencies(value: Bson, _: BsonDocument, depth: number): ValueTest {
  if (!isDocument(value)) throw wrongType('dependencies', 'an object', value);
  const tests = [...value].map(([name, dependency]) => {
    if (isDocument(dependency)) return [name, parseSchema(dependency, depth + 1)] as const;
    if (!isArray(dependency))
      throw mismatch(
        `Property '${name}' in $jsonSchema keyword 'dependencies' must be either an object or an array`,
      );
    const needed = uniqueNames(dependency, `dependencies.${name}`);
    return [
      name,
      (each: Bson) => isDocument(each) && needed.every((other) => each.has(other)),
    ] as const;
  });
  return (each) =>
    !isDocument(each) || tests.every(([name, test]) => !each.has(name) || test(each));
}

function parseEnum(value: Bson): ValueTest {
  if (!isArray(value)) throw wrongType('enum', 'an array', value);
  if (value.length === 0) throw failed("$jsonSchema keyword 'enum' cannot be an empty array");
  for (const [at, each] of value.entries())
    if (value.slice(0, at).some((other) => equalBson(each, other)))
      throw failed("$jsonSchema keyword 'enum' array cannot contain duplicate values");
  return (each) => value.some((allowed) => isSameUnordered(each, allowed));
}

/** Objects are the same in any order of their fields. */
function isSameUnordered(a: Bson, b: Bson): boolean {
  if (isDocument(a) && isDocument(b)) {
    if (a.size !== b.size) return false;
    for (const [name, value] of a) {
      const other = b.get(name);
      if (other === undefined || !isSameUnordered(value, other)) return false;
    }
    return true;
  }
  if (isArray(a) && isArray(b))
    return a.length === b.length && a.every((value, at) => isSameUnordered(value, b[at] as Bson));
  return equalBson(a, b);
}

/** JSON's names of types; numbers of any kind are one. */
const JSON_TYPES: Readonly<Record<string, readonly BsonType[]>> = {
  array: ['array'],
  boolean: ['bool'],
  null: ['null'],
  number: ['int', 'long', 'double', 'decimal'],
  object: ['object'],
  string: ['string'],
};

function typeTest(value: Bson, keyword: 'type' | 'bsonType'): ValueTest {
  if (typeof value !== 'string' && !isArray(value))
    throw wrongType(keyword, 'either a string or an array of strings', value);
  const names = isArray(value) ? value : [value];
  if (names.length === 0)
    throw failed(`$jsonSchema keyword '${keyword}' must name at least one type`);
  const types = new Set<BsonType>();
  const seen = new Set<string>();
  for (const name of names) {
    if (typeof name !== 'string')
      throw mismatch(`$jsonSchema keyword '${keyword}' array elements must be strings`);
    if (seen.has(name))
      throw failed(`$jsonSchema keyword '${keyword}' has duplicate value: ${name}`);
    seen.add(name);
    for (const type of typesNamed(name, keyword)) types.add(type);
  }
  return (each) => types.has(bsonTypeOf(each));
}

function typesNamed(name: string, keyword: 'type' | 'bsonType'): readonly BsonType[] {
  if (name === 'integer') throw failed(`$jsonSchema type '${name}' is not currently supported.`);
  if (keyword === 'type') {
    const types = Object.hasOwn(JSON_TYPES, name) ? JSON_TYPES[name] : undefined;
    if (types === undefined) throw new MongoError('BadValue', `Unknown type name alias: ${name}`);
    return types;
  }
  if (name === 'number') return JSON_TYPES.number as readonly BsonType[];
  if (!Object.hasOwn(BSON_TYPES, name))
    throw new MongoError('BadValue', `Unknown type name alias: ${name}`);
  return [name as BsonType];
}

function textOnly(keyword: string): ParseKeyword {
  return (value) => {
    if (typeof value !== 'string') throw wrongType(keyword, 'a string', value);
    return undefined;
  };
}

function exclusive(keyword: string, other: 'minimum' | 'maximum'): ParseKeyword {
  return (value, schema) => {
    if (typeof value !== 'boolean') throw wrongType(keyword, 'a boolean', value);
    if (!schema.has(other))
      throw failed(`$jsonSchema keyword '${other}' must be a present if ${keyword} is present`);
    return undefined;
  };
}

function bound(value: Bson, schema: BsonDocument, keyword: 'minimum' | 'maximum'): ValueTest {
  if (!isNumber(value)) throw wrongType(keyword, 'a number', value);
  const isOpen =
    schema.get(keyword === 'minimum' ? 'exclusiveMinimum' : 'exclusiveMaximum') === true;
  const direction = keyword === 'minimum' ? 1 : -1;
  return (each) => {
    if (!isNumber(each)) return true;
    if (Number.isNaN(doubleOf(each)) !== Number.isNaN(doubleOf(value))) return false;
    const order = compareBson(each, value) * direction;
    return isOpen ? order > 0 : order >= 0;
  };
}

function counted(value: Bson, keyword: string, make: (limit: number) => ValueTest): ValueTest {
  const limit = typeof value === 'bigint' ? Number(value) : wholeNumber(value);
  if (limit === undefined) throw failed(`Expected an integer: ${keyword}`);
  if (limit < 0) throw failed(`Expected a non-negative number in: ${keyword}: ${limit}`);
  return make(limit);
}

/** Characters, not units of UTF-16. */
function lengthOf(text: string): number {
  return [...text].length;
}

function parseMultipleOf(value: Bson): ValueTest {
  if (!isNumber(value)) throw wrongType('multipleOf', 'a number', value);
  const divisor = doubleOf(value);
  if (!(divisor > 0)) throw failed("$jsonSchema keyword 'multipleOf' must have a positive value");
  return (each) => {
    if (!isNumber(each)) return true;
    const number = doubleOf(each);
    if (!Number.isFinite(number)) return false;
    const whole = wholeNumber(each);
    if (whole !== undefined && Number.isSafeInteger(divisor)) return whole % divisor === 0;
    const ratio = number / divisor;
    return Math.abs(ratio - Math.round(ratio)) < 1e-9 * Math.max(1, Math.abs(ratio));
  };
}

function parsePattern(value: Bson): ValueTest {
  if (typeof value !== 'string') throw wrongType('pattern', 'a string', value);
  const regex = compileRegex(value, '');
  return (each) => typeof each !== 'string' || regex.test(each);
}

function parseUniqueItems(value: Bson): ValueTest | undefined {
  if (typeof value !== 'boolean') throw wrongType('uniqueItems', 'a boolean', value);
  if (!value) return undefined;
  return (each) => {
    if (!isArray(each)) return true;
    const sorted = [...each].sort(compareBson);
    return sorted.every((item, at) => at === 0 || !equalBson(item, sorted[at - 1]));
  };
}

function parseItems(value: Bson, _: BsonDocument, depth: number): ValueTest {
  if (isDocument(value)) {
    const test = parseSchema(value, depth + 1);
    return (each) => !isArray(each) || each.every(test);
  }
  if (!isArray(value)) throw wrongType('items', 'an array or an object', value);
  const tests = value.map((item) => {
    if (!isDocument(item))
      throw mismatch(
        "$jsonSchema keyword 'items' requires that each element of the array is an object",
      );
    return parseSchema(item, depth + 1);
  });
  return (each) =>
    !isArray(each) || tests.every((test, at) => at >= each.length || test(each[at] as Bson));
}

function parseAdditionalItems(
  value: Bson,
  schema: BsonDocument,
  depth: number,
): ValueTest | undefined {
  const additional = schemaOrFlag(value, 'additionalItems', depth);
  const items = schema.get('items');
  if (additional === true || !isArray(items)) return undefined;
  return (each) => {
    if (!isArray(each) || each.length <= items.length) return true;
    return (
      additional !== false &&
      each.slice(items.length).every((item) => (additional as ValueTest)(item))
    );
  };
}

function schemaList(value: Bson, keyword: string, depth: number): readonly ValueTest[] {
  if (!isArray(value)) throw wrongType(keyword, 'an array', value);
  if (value.length === 0)
    throw new MongoError('BadValue', `$jsonSchema keyword '${keyword}' must be a non-empty array`);
  return value.map((each) => {
    if (!isDocument(each))
      throw mismatch(`$jsonSchema keyword '${keyword}' must be an array of objects`);
    return parseSchema(each, depth + 1);
  });
}

function wrongType(keyword: string, expected: string, value: Bson): MongoError {
  return mismatch(
    `$jsonSchema keyword '${keyword}' must be ${expected}, but got ${bsonTypeOf(value)}`,
  );
}

function mismatch(message: string): MongoError {
  return new MongoError('TypeMismatch', message);
}

function failed(message: string): MongoError {
  return new MongoError('FailedToParse', message);
}
