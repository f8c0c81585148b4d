/** A filter document to its form as data. Refusals have MongoDB's codes and words. */
import {
  BSON_TYPES,
  type Bson,
  BsonCode,
  type BsonDocument,
  type BsonType,
  Extended,
  equalBson,
  isArray,
  isDocument,
} from '../../../value/index.ts';
import { compileExpression, isTruthy as isExpressionTrue } from '../aggregate/index.ts';
import { doubleOf, isNumber, wholeNumber } from '../bson/arithmetic.ts';
import { printBson } from '../bson/print.ts';
import { MongoError } from '../errors.ts';
import { FILTER_DEPTH_MAX } from '../limits.ts';
import { collectScripted } from '../scripts/script-calls.ts';
import { sentOf } from '../scripts/script-values.ts';
import {
  type BitsWanted,
  type Comparison,
  conjuncts,
  type FieldTest,
  type Filter,
  partsOf,
} from './filter.ts';
import { parseGeoIntersects, parseGeoWithin } from './geo/geo-tests.ts';
import { parseNear } from './geo/near.ts';
import { parseJsonSchema } from './json-schema-parser.ts';
import { truncatedToLong } from './numbers.ts';
import { splitPath } from './path.ts';
import { PLAIN_CONTEXT, type QueryContext } from './query-context.ts';
import { compileRegex } from './regex.ts';
import { parseText } from './text/text-query.ts';

/** @param context - time, variables and collation of the command. */
export function parseFilter(
  filter: BsonDocument,
  context: FilterContext = PLAIN_CONTEXT,
  depth = 0,
): Filter {
  if (depth > FILTER_DEPTH_MAX)
    throw new MongoError('Overflow', 'Exceeded depth limit of 100 when parsing a filter');
  const parts: Filter[] = [];
  for (const [name, value] of filter) {
    if (name.startsWith('$')) parts.push(...parseTopLevel(name, value, { context, depth }));
    else {
      const path = splitPath(name);
      for (const test of parseField(value, { context, depth }))
        parts.push({ kind: 'field', path, test });
    }
  }
  checkContents(parts, depth);
  return parts.length === 1 ? (parts[0] as Filter) : { kind: 'and', of: parts };
}

type FilterContext = Pick<QueryContext, 'expression'>;

interface Place {
  readonly context: FilterContext;
  readonly depth: number;
}

function deeper({ context, depth }: Place): Place {
  return { context, depth: depth + 1 };
}

/** One order by distance, and one text search, at the outermost conjunction only. */
function checkContents(parts: readonly Filter[], depth: number): void {
  if (depth > 0) return;
  const all = parts.flatMap((part) => [...partsOf(part)]);
  const isNear = (part: Filter): boolean => part.kind === 'field' && part.test.kind === 'near';
  const nearCount = all.filter(isNear).length;
  const textCount = all.filter(({ kind }) => kind === 'text').length;
  if (nearCount > 1) throw bad('Too many geoNear expressions');
  if (textCount > 1) throw bad('Too many text expressions');
  if (nearCount > 0 && textCount > 0) throw bad('text and geoNear not allowed in same query');
  if (nearCount > parts.flatMap(conjuncts).filter(isNear).length)
    throw bad('geoNear must be top-level expr');
  if (
    all.some(
      (part) =>
        part.kind === 'nor' &&
        part.of.some((inner) => [...partsOf(inner)].some(({ kind }) => kind === 'text')),
    )
  )
    throw bad('text expression not allowed in nor');
}

function parseTopLevel(name: string, value: Bson, place: Place): readonly Filter[] {
  switch (name) {
    case '$and':
    case '$or':
    case '$nor':
      return [{ kind: name.slice(1) as 'and' | 'or' | 'nor', of: parseList(name, value, place) }];
    case '$comment':
      return [];
    case '$alwaysTrue':
    case '$alwaysFalse':
      if (wholeNumber(value) !== 1)
        throw new MongoError('FailedToParse', `${name} must be an integer value of 1`);
      return [{ kind: 'always', matches: name === '$alwaysTrue' }];
    case '$expr':
      return [parseExpression(value, place)];
    case '$jsonSchema':
      return [
        { kind: 'computed', test: parseJsonSchema(value) as (document: BsonDocument) => boolean },
      ];
    case '$sampleRate':
      return [parseSampleRate(value)];
    case '$text':
      return [{ kind: 'text', query: parseText(value) }];
    case '$where':
      return [parseWhere(value, place)];
    case '$ref':
    case '$id':
    case '$db':
      // The parts of a DBRef are fields, and what they are asked for is a value.
      return [{ kind: 'field', path: [name], test: { kind: 'eq', value } }];
    default:
      throw bad(
        `unknown top level operator: ${name}. If you have a field name that starts with a '$' symbol, ` +
          'consider using $getField or $setField.',
      );
  }
}

function parseSampleRate(value: Bson): Filter {
  if (!isNumber(value)) throw bad('argument to $sampleRate must be a numeric type');
  const rate = doubleOf(value);
  if (!(rate >= 0 && rate <= 1)) throw bad('numeric argument to $sampleRate must be in [0, 1]');
  return { kind: 'computed', test: () => Math.random() < rate };
}

function parseExpression(value: Bson, { context }: Place): Filter {
  const { scripts: calls } = context.expression;
  const { made, found } = collectScripted(context.expression, () =>
    compileExpression(value, context.expression),
  );
  const test = (document: BsonDocument): boolean => isExpressionTrue(made(document));
  return calls === undefined || found.length === 0
    ? { kind: 'computed', test }
    : { kind: 'scripted', test, calls, isWhere: false };
}

function parseWhere(value: Bson, { context }: Place): Filter {
  const source =
    typeof value === 'string' ? value : value instanceof BsonCode ? value.source : undefined;
  if (source === undefined) throw bad('$where got bad type');
  const { scripts: calls } = context.expression;
  if (calls === undefined) throw bad('$where is not allowed in this context');
  const scope = value instanceof BsonCode ? value.scope : undefined;
  const name = calls.define({
    kind: 'where',
    source,
    scope: scope && JSON.stringify(sentOf(scope)),
  });
  const test = (document: BsonDocument): boolean =>
    calls.valueOf(document, name, JSON.stringify(sentOf(document))) === true;
  return { kind: 'scripted', test, calls, isWhere: true };
}

function parseList(name: string, value: Bson, place: Place): readonly Filter[] {
  if (!isArray(value)) throw bad(`${name} argument must be an array`);
  if (value.length === 0) throw bad(`${name} argument must be a non-empty array`);
  return value.map((entry) => {
    if (!isDocument(entry)) throw bad(`${name} argument's entries must be objects`);
    return parseFilter(entry, place.context, place.depth + 1);
  });
}

/** What a filter asks of one field: operators, a regular expression, or a value to equal. */
function parseField(value: Bson, place: Place): readonly FieldTest[] {
  if (isOperators(value)) return parseOperators(value, place);
  if (value instanceof Extended && value.payload.kind === 'regex')
    return [parseRegex(value.payload.source, value.payload.flags)];
  return [{ kind: 'eq', value }];
}

/** A document whose first name is an operator; a DBRef is a value although its names begin so. */
function isOperators(value: Bson): value is BsonDocument {
  if (!isDocument(value) || value.size === 0) return false;
  const first = value.keys().next().value as string;
  return first.startsWith('$') && first !== '$ref' && first !== '$id' && first !== '$db';
}

function parseOperators(operators: BsonDocument, place: Place): readonly FieldTest[] {
  const tests: FieldTest[] = [];
  const near = NEAR_OPERATORS.find((name) => operators.has(name));
  for (const [name, value] of operators) {
    if (name === '$options') {
      if (!operators.has('$regex')) throw bad('$options needs a $regex');
      continue;
    }
    if (name === '$regex') tests.push(parseRegexOperator(value, operators));
    else if (name === '$minDistance' || name === '$maxDistance') {
      if (near === undefined) throw bad(`${name} can only be used with $near and its kind`);
    } else if (name === '$uniqueDocs') continue;
    else if (name === near) tests.push({ kind: 'near', near: parseNear(near, value, operators) });
    else for (const test of parseOperator(name, value, place)) tests.push(test);
  }
  if (tests.length > 1) {
    if (near !== undefined && !tests.some(({ kind }) => kind === 'geo'))
      throw new MongoError('Location34413', `can't mix ${near} with other operators on one field`);
    if (tests.some(({ kind }) => kind === 'geo'))
      throw bad("can't mix geometries with other operators on one field");
  }
  return tests;
}

const NEAR_OPERATORS = ['$near', '$nearSphere', '$geoNear'] as const;

const COMPARISONS: Readonly<Record<string, Comparison>> = {
  $eq: 'eq',
  $gt: 'gt',
  $gte: 'gte',
  $lt: 'lt',
  $lte: 'lte',
};

const BITS: Readonly<Record<string, BitsWanted>> = {
  $bitsAllSet: 'allSet',
  $bitsAllClear: 'allClear',
  $bitsAnySet: 'anySet',
  $bitsAnyClear: 'anyClear',
};

function parseOperator(name: string, value: Bson, place: Place): readonly FieldTest[] {
  const comparison = COMPARISONS[name];
  if (comparison !== undefined) return [parseComparison(comparison, value)];
  const bits = BITS[name];
  if (bits !== undefined) return [{ kind: 'bits', positions: parseMask(name, value), wants: bits }];
  switch (name) {
    case '$ne':
      if (isRegex(value)) throw bad("Can't have regex as arg to $ne.");
      return [{ kind: 'not', of: [{ kind: 'eq', value }] }];
    case '$in':
      return [parseIn(name, value)];
    case '$nin':
      return [{ kind: 'not', of: [parseIn(name, value)] }];
    case '$not':
      return [parseNot(value, place)];
    case '$exists':
      return [{ kind: 'exists', wants: isTruthy(value) }];
    case '$type':
      return [parseType(value)];
    case '$mod':
      return [parseMod(value)];
    case '$size':
      return [parseSize(value)];
    case '$all':
      return parseAll(value, place);
    case '$elemMatch':
      return [parseElemMatch(value, place)];
    case '$comment':
      return [];
    case '$geoWithin':
    case '$within':
      return [{ kind: 'geo', ...parseGeoWithin(name, value) }];
    case '$geoIntersects':
      return [{ kind: 'geo', ...parseGeoIntersects(value) }];
    default:
      throw bad(`unknown operator: ${name}`);
  }
}

function parseComparison(kind: Comparison, value: Bson): FieldTest {
  if (kind !== 'eq' && isRegex(value)) throw bad(`Can't have RegEx as arg to predicate over field`);
  return { kind, value };
}

function isRegex(value: Bson): boolean {
  return value instanceof Extended && value.payload.kind === 'regex';
}

function parseIn(name: string, value: Bson): FieldTest {
  if (!isArray(value)) throw bad(`${name} needs an array`);
  for (const entry of value) if (isOperators(entry)) throw bad(`cannot nest $ under ${name}`);
  return {
    kind: 'in',
    values: value.filter((entry) => !isRegex(entry)),
    regexes: value.filter(isRegex),
  };
}

function parseNot(value: Bson, place: Place): FieldTest {
  if (value instanceof Extended && value.payload.kind === 'regex')
    return { kind: 'not', of: [parseRegex(value.payload.source, value.payload.flags)] };
  if (!isDocument(value)) throw bad('$not needs a regex or a document');
  if (value.size === 0) throw bad('$not cannot be empty');
  const [first = ''] = value.keys();
  if (!isOperators(value)) throw bad(`unknown operator: ${first}`);
  const tests = parseOperators(value, deeper(place));
  if (tests.some(({ kind }) => kind === 'near')) throw bad('geoNear must be top-level expr');
  return { kind: 'not', of: tests };
}

function isTruthy(value: Bson): boolean {
  if (isNumber(value)) return doubleOf(value) !== 0;
  return value !== null && value !== false;
}

const NUMBER_TYPES: readonly BsonType[] = ['int', 'long', 'double', 'decimal'];
const TYPES_BY_NUMBER: ReadonlyMap<number, BsonType> = new Map(
  Object.entries(BSON_TYPES).map(([name, number]) => [number, name as BsonType]),
);

function parseType(value: Bson): FieldTest {
  const types = new Set<BsonType>();
  const named = isArray(value) ? value : [value];
  if (named.length === 0) throw new MongoError('FailedToParse', 'x must match at least one type');
  for (const name of named) {
    if (name === 'number') for (const type of NUMBER_TYPES) types.add(type);
    else types.add(typeNamed(name));
  }
  return { kind: 'type', types };
}

function typeNamed(name: Bson): BsonType {
  if (typeof name === 'string') {
    if (Object.hasOwn(BSON_TYPES, name)) return name as BsonType;
    throw bad(`Unknown type name alias: ${name}`);
  }
  const number = wholeNumber(name);
  const type = number === -1 ? 'minKey' : TYPES_BY_NUMBER.get(number as number);
  if (type === undefined)
    throw number === undefined && !isNumber(name)
      ? new MongoError('TypeMismatch', 'type must be represented as a number or a string')
      : bad(`Invalid numerical type code: ${printBson(name)}`);
  return type;
}

function parseMod(value: Bson): FieldTest {
  if (!isArray(value)) throw bad('malformed mod, needs to be an array');
  if (value.length < 2) throw bad('malformed mod, not enough elements');
  if (value.length > 2) throw bad('malformed mod, too many elements');
  const [divisor, remainder] = value as readonly [Bson, Bson];
  if (!isNumber(divisor)) throw bad('malformed mod, divisor not a number');
  if (!isNumber(remainder)) throw bad('malformed mod, remainder not a number');
  const by = truncated(divisor, 'divisor');
  if (by === 0n) throw bad('divisor cannot be 0');
  return { kind: 'mod', divisor: by, remainder: truncated(remainder, 'remainder') };
}

function truncated(value: Bson, what: string): bigint {
  const whole = truncatedToLong(value);
  if (whole === undefined)
    throw bad(
      `malformed mod, ${what} value is invalid :: caused by :: Unable to coerce value to integral type`,
    );
  return whole;
}

function parseSize(value: Bson): FieldTest {
  const length = wholeNumber(value);
  if (length === undefined)
    throw bad(
      isNumber(value)
        ? `Failed to parse $size. Expected an integer: $size: ${doubleOf(value)}`
        : 'Failed to parse $size. Expected a number in: $size',
    );
  if (length < 0)
    throw bad(`Failed to parse $size. Expected a non-negative number in: $size: ${length}`);
  return { kind: 'size', length };
}

function parseAll(value: Bson, place: Place): readonly FieldTest[] {
  if (!isArray(value)) throw bad('$all needs an array');
  if (value.length === 0) return [{ kind: 'never' }];
  const isElement = (entry: Bson): boolean => isDocument(entry) && entry.has('$elemMatch');
  if (value.some(isElement) && !value.every(isElement)) throw bad('no $ expressions in $all');
  return value.map((entry) => {
    if (isDocument(entry) && entry.has('$elemMatch'))
      return parseElemMatch(entry.get('$elemMatch') as Bson, place);
    if (isOperators(entry)) throw bad('no $ expressions in $all');
    if (entry instanceof Extended && entry.payload.kind === 'regex')
      return parseRegex(entry.payload.source, entry.payload.flags);
    return { kind: 'eq', value: entry };
  });
}

const LOGICAL: ReadonlySet<string> = new Set(['$and', '$or', '$nor', '$where', '$expr']);

function parseElemMatch(value: Bson, place: Place): FieldTest {
  if (!isDocument(value)) throw bad('$elemMatch needs an Object');
  const first = value.keys().next().value ?? '';
  if (isOperators(value) && !LOGICAL.has(first)) {
    const tests = parseOperators(value, deeper(place));
    if (tests.some(({ kind }) => kind === 'near')) throw bad('geoNear must be top-level expr');
    return { kind: 'elementPasses', tests };
  }
  const filter = parseFilter(value, place.context, place.depth + 1);
  for (const part of partsOf(filter))
    if (part.kind === 'scripted' || part.kind === 'text' || value.has('$expr'))
      throw bad(`${first} can only be applied to the top-level document`);
    else if (part.kind === 'field' && part.test.kind === 'near')
      throw bad('geoNear must be top-level expr');
  return { kind: 'elementMatches', filter };
}

function parseRegexOperator(value: Bson, operators: BsonDocument): FieldTest {
  const options = operators.get('$options');
  if (options !== undefined && typeof options !== 'string')
    throw bad('$options has to be a string');
  if (typeof value === 'string') return parseRegex(value, options ?? '');
  if (value instanceof Extended && value.payload.kind === 'regex') {
    const { source, flags } = value.payload;
    if (flags !== '' && options !== undefined) {
      const names = [...operators.keys()];
      const isFirst = names.indexOf('$options') < names.indexOf('$regex');
      throw new MongoError(
        isFirst ? 'Location51074' : 'Location51075',
        'options set in both $regex and $options',
      );
    }
    return parseRegex(source, options ?? flags);
  }
  throw bad('$regex has to be a string');
}

/** Compiled once here, so that refusals come before any document is read. */
function parseRegex(source: string, flags: string): FieldTest {
  compileRegex(source, flags);
  return { kind: 'regex', source, flags };
}

const BIT_POSITION_MAX = 2 ** 31 - 1;

/** The bits of a mask by their positions. */
function parseMask(name: string, value: Bson): readonly number[] {
  if (isArray(value)) return value.map((entry) => bitPosition(name, entry));
  if (value instanceof Extended && value.payload.kind === 'binary')
    return setBits(value.payload.bytes);
  if (!isNumber(value))
    throw bad(
      `${name} takes an Array, a number, or a BinData but received: ${name}: ${printBson(value)}`,
    );
  const whole = truncatedToLong(value);
  const mask = whole !== undefined && equalBson(whole, value) ? whole : undefined;
  if (mask === undefined)
    throw new MongoError('FailedToParse', `Expected an integer: ${name}: ${printBson(value)}`);
  if (mask < 0n)
    throw new MongoError(
      'FailedToParse',
      `Expected a non-negative number in: ${name}: ${printBson(value)}`,
    );
  const positions: number[] = [];
  for (let at = 0; at < 63; at++) if ((mask >> BigInt(at)) & 1n) positions.push(at);
  return positions;
}

function bitPosition(name: string, entry: Bson): number {
  if (!isNumber(entry))
    throw bad(`bit positions must be an integer but got: ${name}: ${printBson(entry)}`);
  const position = wholeNumber(entry);
  if (position === undefined)
    throw bad(`bit positions must be an integer but got: ${printBson(entry)}`);
  if (position < 0) throw bad(`bit positions must be >= 0 but got: ${printBson(entry)}`);
  if (position > BIT_POSITION_MAX)
    throw bad(
      `bit positions cannot be represented as a 32-bit signed integer: ${printBson(entry)}`,
    );
  return position;
}

function setBits(bytes: Uint8Array): readonly number[] {
  const positions: number[] = [];
  for (const [at, byte] of bytes.entries())
    for (let bit = 0; bit < 8; bit++) if ((byte >> bit) & 1) positions.push(8 * at + bit);
  return positions;
}

function bad(message: string): MongoError {
  return new MongoError('BadValue', message);
}
