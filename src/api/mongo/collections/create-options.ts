/** The options of `create`: checked in MongoDB's words, and as they are kept and listed. */
import { type Bson, type BsonDocument, bsonTypeOf, isDocument } from '../../../value/index.ts';
import { doubleOf, isNumber } from '../bson/arithmetic.ts';
import { MongoError } from '../errors.ts';
import { checkFields, type FieldTable, missingField, wrongType } from '../fields/field-table.ts';
import { wholeOf } from '../fields/numbers.ts';
import { parseCollation } from '../query/collation.ts';
import { parseFilter } from '../query/filter-parser.ts';
import { checkEncryptedFields } from './encrypted-fields.ts';
import { checkClusteredIndex, checkIdIndex } from './index-options.ts';
import { checkStorage } from './storage-options.ts';
import { checkTimeseries } from './timeseries-options.ts';

export const CREATE_FIELDS: FieldTable = {
  capped: 'flag',
  autoIndexId: 'flag',
  idIndex: 'object',
  size: 'long',
  max: 'long',
  storageEngine: 'object',
  validator: 'object',
  validationLevel: 'string',
  validationAction: 'string',
  indexOptionDefaults: 'object',
  viewOn: 'string',
  pipeline: 'array',
  collation: 'object',
  changeStreamPreAndPostImages: 'object',
  timeseries: 'object',
  clusteredIndex: 'any',
  expireAfterSeconds: 'long',
  encryptedFields: 'object',
  temp: 'flag',
  flags: 'long',
};

const SIZE_MAX = 2 ** 50;
const INT32_MAX = 2 ** 31 - 1;
/** Kept in the order in which `listCollections` shows them. */
const KEPT = [
  'validator',
  'validationLevel',
  'validationAction',
  'viewOn',
  'pipeline',
  'collation',
  'changeStreamPreAndPostImages',
  'storageEngine',
  'indexOptionDefaults',
  'encryptedFields',
] as const;

/** What the collection keeps of the options. Throws. */
export function parseCreateOptions(body: BsonDocument, nowMs: number): BsonDocument {
  if (body.get('clusteredIndex') === null)
    throw wrongType('create.clusteredIndex', null, '[object, bool]');
  const sent = new Map([...body].filter(([, value]) => value !== null));
  checkEncryptedFields(sent);
  checkExclusions(sent);
  const kept = new Map<string, Bson>();
  parseCapped(sent, kept);
  checkValidation(sent);
  checkStorage(sent);
  checkImages(sent);
  const collation = sent.get('collation');
  if (isDocument(collation)) {
    if (collation.size === 0) throw missingField('collation', 'locale');
    parseCollation(collation);
  }
  checkIdIndex(sent.get('idIndex') as BsonDocument | undefined, collation);
  for (const name of KEPT) {
    const value = sent.get(name);
    if (value !== undefined && !isDefault(name, value)) kept.set(name, value);
  }
  const clustered = checkClusteredIndex(sent);
  if (clustered !== undefined) kept.set('clusteredIndex', clustered);
  const timeseries = sent.get('timeseries');
  if (timeseries !== undefined) kept.set('timeseries', checkTimeseries(timeseries as BsonDocument));
  const expire = sent.get('expireAfterSeconds');
  if (expire !== undefined)
    kept.set('expireAfterSeconds', checkExpiry(expire, { nowMs, isAllowed: mayExpire(kept) }));
  if (sent.has('viewOn') && !kept.has('pipeline')) kept.set('pipeline', []);
  return kept;
}

export function mayExpire(options: BsonDocument): boolean {
  return options.has('timeseries') || options.has('clusteredIndex');
}

/** Options that say what would be without them are not kept. */
function isDefault(name: string, value: Bson): boolean {
  if (!isDocument(value)) return false;
  if (name === 'collation') return value.get('locale') === 'simple';
  if (name === 'changeStreamPreAndPostImages') return value.get('enabled') !== true;
  return (name === 'storageEngine' || name === 'indexOptionDefaults') && value.size === 0;
}

function checkExclusions(sent: BsonDocument): void {
  const isTimeseries = sent.has('timeseries');
  for (const other of ['capped', 'validator', 'validationLevel', 'validationAction', 'viewOn'])
    if (isTimeseries && sent.has(other) && sent.get(other) !== false)
      throw invalid(`${other} is not supported on a time-series collection`);
  for (const other of ['idIndex', 'changeStreamPreAndPostImages', 'clusteredIndex'])
    if (isTimeseries && sent.has(other))
      throw invalid(`${other} is not supported on a time-series collection`);
  if (sent.has('pipeline') && !sent.has('viewOn'))
    throw invalid("'pipeline' requires 'viewOn' to also be specified");
  if (!sent.has('viewOn')) return;
  if (sent.get('viewOn') === '') throw new MongoError('BadValue', "'viewOn' cannot be empty");
  for (const other of ['idIndex', 'capped', 'autoIndexId'])
    if (sent.has(other) && sent.get(other) !== false)
      throw invalid(`cannot specify '${other}' and 'viewOn'`);
  const images = sent.get('changeStreamPreAndPostImages');
  if (isDocument(images) && images.get('enabled') === true)
    throw invalid('option not supported on a view: changeStreamPreAndPostImages');
}

function parseCapped(sent: BsonDocument, kept: Map<string, Bson>): void {
  const capped = sent.get('capped');
  const isCapped =
    capped === true ||
    (isNumber(capped) &&
      (doubleOf(capped as Bson) !== 0 || Number.isNaN(doubleOf(capped as Bson))));
  const [size, max] = [sent.get('size'), sent.get('max')];
  if (sent.has('clusteredIndex') && max !== undefined)
    throw new MongoError('Location6049204', "'max' is not allowed on a clustered collection");
  if (isCapped && sent.has('clusteredIndex'))
    throw new MongoError('Location6049200', "'capped' is not allowed on a clustered collection");
  if (!isCapped) {
    if (size !== undefined || max !== undefined)
      throw invalid(
        "the 'capped' field needs to be true when either the 'size' or 'max' fields are present",
      );
    return;
  }
  if (size === undefined) throw invalid("the 'size' field is required when 'capped' is true");
  kept.set('capped', true);
  const bytes = wholeOf(size);
  if (bytes < 1 || bytes > SIZE_MAX)
    throw new MongoError(
      'BadValue',
      `BSON field 'size' value must be >= 1 and <= ${SIZE_MAX}, actual value '${bytes}'`,
    );
  kept.set('size', bytes <= INT32_MAX ? bytes : BigInt(bytes));
  if (max === undefined) return;
  const count = wholeOf(max);
  if (count > INT32_MAX)
    throw new MongoError('BadValue', 'max in a capped collection has to be < 2^31 or not set');
  if (count > 0) kept.set('max', count);
}

const LEVELS = ['off', 'strict', 'moderate'];
const ACTIONS = ['error', 'warn', 'errorAndLog'];

export function checkValidation(sent: BsonDocument): void {
  checkEnum('validationLevel', sent.get('validationLevel'), LEVELS);
  checkEnum('validationAction', sent.get('validationAction'), ACTIONS);
  const validator = sent.get('validator');
  if (isDocument(validator)) checkValidator(validator);
}

/** Operators that depend on more than the document. */
const NO_VALIDATOR = [
  ['$near', 'Location5626500'],
  ['$nearSphere', 'Location5626500'],
  ['$geoNear', 'Location5626500'],
  ['$text', 'BadValue'],
  ['$where', 'BadValue'],
] as const;

function checkValidator(validator: BsonDocument): void {
  for (const [operator, code] of NO_VALIDATOR)
    if (mentions(validator, operator))
      throw new MongoError(code, `${operator} is not allowed in this context`);
  parseFilter(validator);
}

function mentions(value: Bson, operator: string): boolean {
  if (Array.isArray(value)) return value.some((each) => mentions(each, operator));
  if (!isDocument(value)) return false;
  for (const [name, inner] of value)
    if (name === operator || mentions(inner, operator)) return true;
  return false;
}

function checkEnum(name: string, value: Bson | undefined, allowed: readonly string[]): void {
  if (value === undefined || allowed.includes(value as string)) return;
  throw new MongoError(
    'BadValue',
    `Enumeration value '${String(value)}' for field 'create.${name}' is not a valid value.`,
  );
}

export function checkImages(sent: BsonDocument): void {
  const images = sent.get('changeStreamPreAndPostImages');
  if (!isDocument(images)) return;
  checkFields('create.changeStreamPreAndPostImages', images, { enabled: 'any' }, false);
  const enabled = images.get('enabled') ?? null;
  if (enabled === null) throw missingField('create.changeStreamPreAndPostImages', 'enabled');
  if (typeof enabled !== 'boolean' && !isNumber(enabled))
    throw wrongType('create.changeStreamPreAndPostImages.enabled', enabled, 'bool');
  if (typeof enabled !== 'boolean')
    throw wrongType('create.changeStreamPreAndPostImages.enabled', enabled, 'bool');
}

/** Seconds since the document's time after which it goes. */
export function checkExpiry(
  sent: Bson,
  { nowMs, isAllowed }: { readonly nowMs: number; readonly isAllowed: boolean },
): bigint {
  if (!isNumber(sent)) throw wrongType('expireAfterSeconds', sent, 'long');
  if (!isAllowed)
    throw invalid(
      "'expireAfterSeconds' is only supported on time-series collections or when the 'clusteredIndex' option is specified",
    );
  const seconds = wholeOf(sent);
  if (seconds < 0)
    throw invalid(
      `TTL index 'expireAfterSeconds' option must be numeric, but received a type of ${bsonTypeOf(sent)} or a negative number`,
    );
  if (seconds * 1000 > nowMs)
    throw invalid("TTL index 'expireAfterSeconds' option must be within an acceptable range");
  return BigInt(seconds);
}

export function invalid(message: string): MongoError {
  return new MongoError('InvalidOptions', message);
}
