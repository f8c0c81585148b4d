/** How an encrypted field may be searched: by equality, by range, or by parts of texts. */
import {
  type Bson,
  type BsonDocument,
  bsonTypeOf,
  compareBson,
  isArray,
  isDocument,
} from '../../../value/index.ts';
import { doubleOf, isNumber } from '../bson/arithmetic.ts';
import { MongoError } from '../errors.ts';
import { checkFields, wrongType } from '../fields/field-table.ts';

const KINDS: ReadonlySet<string> = new Set([
  'equality',
  'prefixPreview',
  'range',
  'substringPreview',
  'suffixPreview',
]);
/** Kinds of which a field may have two at a time. */
const TOGETHER: ReadonlySet<string> = new Set(['prefixPreview', 'suffixPreview']);
/** The bits of the types that can be searched by range. */
const RANGE_BITS: Readonly<Record<string, number>> = {
  date: 64,
  decimal: 128,
  double: 64,
  int: 32,
  long: 64,
};

/** One kind of search, or a list of them. Throws in MongoDB's words. */
export function checkQueries(sent: Bson, type: string | undefined, path: string): void {
  if (!isArray(sent)) {
    checkQuery(sent, type, path);
    return;
  }
  if (sent.length === 0)
    throw new MongoError('Location9783412', 'The queries of an encrypted field are empty');
  if (sent.length > 2)
    throw new MongoError('Location9783413', 'An encrypted field has at most two query types');
  for (const [at, query] of sent.entries()) checkQuery(query, type, `${path}.${at}`);
  const kinds = sent.map((query) => String((query as BsonDocument).get('queryType')));
  if (sent.length === 2 && (kinds[0] === kinds[1] || kinds.some((kind) => !TOGETHER.has(kind))))
    throw new MongoError(
      'Location9783414',
      `The query types ${kinds.join(' and ')} cannot be combined`,
    );
}

function checkQuery(query: Bson, type: string | undefined, path: string): void {
  if (!isDocument(query)) throw wrongType(path, query, '[object, array]');
  checkFields(
    path,
    query,
    {
      queryType: 'string!',
      contention: 'long',
      min: 'any',
      max: 'any',
      sparsity: 'long',
      precision: 'int',
      trimFactor: 'int',
      strMaxLength: 'int',
      strMinQueryLength: 'int',
      strMaxQueryLength: 'int',
      caseSensitive: 'bool',
      diacriticSensitive: 'bool',
    },
    false,
  );
  const kind = String(query.get('queryType'));
  if (!KINDS.has(kind))
    throw new MongoError(
      'BadValue',
      `Enumeration value '${kind}' for field '${path}.queryType' is not a valid value.`,
    );
  for (const [name, least] of Object.entries(LEAST)) checkWhole(query.get(name), name, least);
  if (kind === 'range') checkRange(query, type);
  else if (kind !== 'equality') checkText(query, type);
}

/** Numbers, with the least that each may be. */
const LEAST: Readonly<Record<string, number>> = {
  contention: 0,
  precision: 0,
  sparsity: 1,
  strMaxLength: 1,
  strMaxQueryLength: 1,
  strMinQueryLength: 1,
  trimFactor: 0,
};

function checkWhole(value: Bson | undefined, name: string, least: number): void {
  if (value === undefined || !isNumber(value)) return;
  const number = doubleOf(value);
  if (!Number.isInteger(number))
    throw new MongoError('FailedToParse', `Expected an integer: ${name}: ${number}`);
  if (number < least)
    throw new MongoError(
      'BadValue',
      `BSON field '${name}' value must be >= ${least}, actual value '${number}'`,
    );
}

function checkRange(query: BsonDocument, type: string | undefined): void {
  const bits = type !== undefined && Object.hasOwn(RANGE_BITS, type) ? RANGE_BITS[type] : undefined;
  if (bits === undefined)
    throw new MongoError(
      'Location6775201',
      `Type '${type ?? ''}' is not a supported range indexed type`,
    );
  const [min, max] = [query.get('min') ?? undefined, query.get('max') ?? undefined];
  for (const bound of [min, max])
    if (bound !== undefined && bsonTypeOf(bound) !== type)
      throw new MongoError(
        'Location7018200',
        `Range bounds must have the type of the field, ${type}, found ${bsonTypeOf(bound)}`,
      );
  if (min !== undefined && max !== undefined && compareBson(min, max) >= 0)
    throw new MongoError('Location6720005', 'Min must be less than max');
  const trim = query.get('trimFactor');
  if (isNumber(trim) && doubleOf(trim as Bson) >= bits)
    throw new MongoError(
      'Location8574000',
      `The trimFactor must be less than the ${bits} bits of the type`,
    );
}

const TEXT_OPTIONS = [
  ['strMinQueryLength', 'Location9783402'],
  ['strMaxQueryLength', 'Location9783403'],
  ['caseSensitive', 'Location9783404'],
  ['diacriticSensitive', 'Location9783405'],
] as const;

function checkText(query: BsonDocument, type: string | undefined): void {
  if (type !== 'string')
    throw new MongoError('Location9783400', 'Searches of parts of texts need the type string');
  for (const [name, code] of TEXT_OPTIONS)
    if ((query.get(name) ?? null) === null)
      throw new MongoError(code, `The query of an encrypted text needs ${name}`);
  const [least, most] = [query.get('strMinQueryLength'), query.get('strMaxQueryLength')];
  if (doubleOf(least as Bson) > doubleOf(most as Bson))
    throw new MongoError('Location9783406', 'strMinQueryLength must not exceed strMaxQueryLength');
}
