/** The options of an index beside its key: checked in MongoDB's words, and in the order `listIndexes` shows them. */
import {
  type Bson,
  type BsonDocument,
  bsonTypeOf,
  isArray,
  isDocument,
} from '../../../value/index.ts';
import { doubleOf, isNumber, wholeNumber } from '../bson/arithmetic.ts';
import { printDocument } from '../bson/print.ts';
import { MongoError } from '../errors.ts';
import { parseCollation } from '../query/collation.ts';
import { textRules } from '../query/text/languages.ts';
import { cannot, checkKey, defaultName, type IndexKind } from './index-key.ts';
import { checkPartial } from './partial-filter.ts';

/** The longest that a document lives by an index: what fits in an int32. */
const EXPIRY_MAX = 2 ** 31 - 1;

type Check = (value: Bson, name: string, spec: BsonDocument) => void;

const ALLOWED: Readonly<Record<string, Check>> = {
  v: checkVersion,
  key: (value, name) => ofType(value, name, isDocument(value), 'object'),
  name: (value, name) => ofType(value, name, typeof value === 'string', 'string'),
  unique: flag,
  background: flag,
  sparse: flag,
  hidden: (value, name) => ofType(value, name, typeof value === 'boolean', 'bool'),
  prepareUnique: flag,
  dropDups: () => {},
  safe: () => {},
  ns: () => {},
  clustered: () => {},
  originalSpec: () => {},
  expireAfterSeconds: checkExpiry,
  storageEngine: checkStorageEngine,
  weights: (value, name) => {
    if (isArray(value) || typeof value === 'string') throw cannot('weights must be an object');
    ofType(value, name, isDocument(value), 'object');
  },
  default_language: (value, name) => ofType(value, name, typeof value === 'string', 'string'),
  language_override: (value, name) => ofType(value, name, typeof value === 'string', 'string'),
  textIndexVersion: number,
  '2dsphereIndexVersion': number,
  bits: number,
  min: number,
  max: number,
  bucketSize: number,
  finestIndexedLevel: number,
  coarsestIndexedLevel: number,
  partialFilterExpression: (value, name) => ofType(value, name, isDocument(value), 'object'),
  collation: (value, name) => ofType(value, name, isDocument(value), 'object'),
  wildcardProjection: (value, name) => ofType(value, name, isDocument(value), 'object'),
};

function ofType(value: Bson, name: string, isRight: boolean, expected: string): void {
  if (!isRight)
    throw new MongoError(
      'TypeMismatch',
      `The field '${name}' must be a ${expected}, but got ${bsonTypeOf(value)}`,
    );
}

function flag(value: Bson, name: string): void {
  ofType(value, name, typeof value === 'boolean' || isNumber(value), 'bool');
}

function number(value: Bson, name: string): void {
  ofType(value, name, isNumber(value), 'number');
}

function checkVersion(value: Bson, name: string): void {
  ofType(value, name, isNumber(value), 'number');
  const version = wholeNumber(value);
  if (version === undefined)
    throw new MongoError('BadValue', 'Index version must be representable as a 32-bit integer');
  if (version !== 1 && version !== 2)
    throw cannot(`Invalid index specification; cannot create an index with v=${version}`);
}

function checkExpiry(value: Bson): void {
  if (!isNumber(value))
    throw cannot(
      `TTL index 'expireAfterSeconds' option must be numeric, but received a type of ${bsonTypeOf(value)}`,
    );
  const seconds = Math.trunc(doubleOf(value));
  if (Number.isNaN(seconds) || seconds < 0)
    throw cannot("TTL index 'expireAfterSeconds' option cannot be less than 0");
  if (seconds > EXPIRY_MAX)
    throw cannot(
      "TTL index 'expireAfterSeconds' option must be within an acceptable range, try a different number",
    );
}

function checkStorageEngine(value: Bson, name: string): void {
  ofType(value, name, isDocument(value), 'object');
  for (const [engine, options] of value as BsonDocument)
    if (!isDocument(options))
      throw new MongoError('BadValue', `storageEngine.${engine} has to be an embedded document.`);
    else if (engine !== 'wiredTiger')
      throw new MongoError(
        'InvalidOptions',
        `${engine} is not a registered storage engine for this server`,
      );
}

export interface ParsedIndex {
  readonly kind: IndexKind;
  readonly key: BsonDocument;
  /** As `listIndexes` shows it. */
  readonly spec: BsonDocument;
  readonly name: string;
}

/** @param collation - the default of the collection, as it was sent. */
export function parseIndexSpec(
  sent: BsonDocument,
  collation: BsonDocument | undefined,
): ParsedIndex {
  for (const [name, value] of sent) {
    const check = Object.hasOwn(ALLOWED, name) ? ALLOWED[name] : undefined;
    if (check === undefined)
      throw new MongoError(
        'InvalidIndexSpecificationOption',
        `The field '${name}' is not valid for an index specification. Specification: ${printDocument(sent)}`,
      );
    check(value, name, sent);
  }
  const key = sent.get('key');
  if (!isDocument(key)) throw missing('key', sent);
  const kind = checkKey(key);
  const name = nameIn(sent, key);
  const isId = key.size === 1 && key.has('_id') && kind === 'plain';
  if (isId) checkIdOptions(sent, key);
  else if (name === '_id_')
    throw new MongoError(
      'BadValue',
      `The index name '_id_' is reserved for the _id index, which must have key pattern {_id: 1}, found key: ${printDocument(key)}`,
    );
  const spec = new Map<string, Bson>([
    ['v', wholeNumber(sent.get('v')) ?? 2],
    ['key', key],
    ['name', isId ? '_id_' : name],
  ]);
  addFlags(sent, spec);
  checkCombinations(sent, kind, key);
  addKindOptions(sent, spec, kind, key);
  addCollation(sent, spec, kind, collation);
  return { kind, key, spec, name: isId ? '_id_' : name };
}

function missing(name: string, sent: BsonDocument): MongoError {
  return new MongoError(
    'FailedToParse',
    `The '${name}' field is a required property of an index specification. Specification: ${printDocument(sent)}`,
  );
}

function nameIn(sent: BsonDocument, key: BsonDocument): string {
  const name = sent.get('name');
  if (name === undefined) throw missing('name', sent);
  if (name === '') throw cannot('The index name cannot be empty');
  if (name === '*') throw new MongoError('BadValue', "The index name '*' is not valid.");
  if (typeof name === 'string' && name.includes('\0'))
    throw cannot('The index name cannot contain a null byte');
  return typeof name === 'string' ? name : defaultName(key);
}

const ID_OPTIONS: ReadonlySet<string> = new Set([
  'v',
  'key',
  'name',
  'ns',
  'collation',
  'background',
  'clustered',
  'unique',
]);

function checkIdOptions(sent: BsonDocument, key: BsonDocument): void {
  if (doubleOf(key.get('_id') as Bson) !== 1)
    throw new MongoError(
      'BadValue',
      `The field 'key' for an _id index must be {_id: 1}, but got ${printDocument(key)}`,
    );
  for (const [name, value] of sent)
    if (!ID_OPTIONS.has(name) || (name === 'unique' && !isTrue(value)))
      throw new MongoError(
        'InvalidIndexSpecificationOption',
        `The field '${name}' is not valid for an _id index specification. Specification: ${printDocument(sent)}`,
      );
}

function isTrue(value: Bson | undefined): boolean {
  return value === true || (isNumber(value) && doubleOf(value as Bson) !== 0);
}

function addFlags(sent: BsonDocument, spec: Map<string, Bson>): void {
  for (const name of ['unique', 'sparse', 'hidden', 'prepareUnique'])
    if (isTrue(sent.get(name))) spec.set(name, true);
  // It means nothing and is shown as it was sent.
  if (sent.has('background')) spec.set('background', isTrue(sent.get('background')));
  const partial = sent.get('partialFilterExpression');
  if (isDocument(partial)) {
    checkPartial(partial);
    spec.set('partialFilterExpression', partial);
  }
  const expiry = sent.get('expireAfterSeconds');
  if (expiry !== undefined) {
    const seconds = Math.trunc(doubleOf(expiry));
    spec.set('expireAfterSeconds', Number.isNaN(seconds) ? EXPIRY_MAX : seconds);
  }
  const storage = sent.get('storageEngine');
  if (isDocument(storage) && storage.size > 0) spec.set('storageEngine', storage);
}

function checkCombinations(sent: BsonDocument, kind: IndexKind, key: BsonDocument): void {
  if (sent.has('weights') && kind !== 'text')
    throw cannot("the 'weights' option is only for text indexes");
  const isUnique = isTrue(sent.get('unique'));
  if (isTrue(sent.get('sparse')) && sent.has('partialFilterExpression'))
    throw cannot('cannot mix "partialFilterExpression" and "sparse" options');
  if (isUnique && kind === 'hashed')
    throw new MongoError(
      'Location16764',
      'Currently hashed indexes cannot guarantee uniqueness. Use a regular index.',
    );
  if (sent.has('expireAfterSeconds')) {
    if (key.size > 1)
      throw cannot('TTL indexes are single-field indexes, compound indexes do not support TTL.');
    if (kind === 'wildcard')
      throw cannot("Index type 'wildcard' does not support the 'expireAfterSeconds' option");
  }
  if (kind === 'wildcard')
    for (const name of ['unique', 'prepareUnique', 'sparse'])
      if (isTrue(sent.get(name)))
        throw cannot(`Index type 'wildcard' does not support the ${name} option`);
  if (kind === 'wildcard' && sent.get('v') !== undefined && wholeNumber(sent.get('v')) !== 2)
    throw cannot('Wildcard indexes need an index version of 2');
  checkWildcardProjection(sent, kind, key);
}

function checkWildcardProjection(sent: BsonDocument, kind: IndexKind, key: BsonDocument): void {
  const projection = sent.get('wildcardProjection');
  const isCompound = kind === 'wildcard' && key.size > 1;
  if (projection === undefined) {
    if (isCompound && key.has('$**'))
      throw cannot(
        "Compound wildcard indexes on '$**' must have a wildcardProjection that leaves out the other fields",
      );
    return;
  }
  if (kind !== 'wildcard')
    throw new MongoError(
      'BadValue',
      `The field 'wildcardProjection' is only allowed in a wildcard index`,
    );
  if (!key.has('$**'))
    throw new MongoError(
      'FailedToParse',
      "The field 'wildcardProjection' is only allowed when 'key' is {'$**': ±1}",
    );
  const document = projection as BsonDocument;
  if (document.size === 0)
    throw new MongoError(
      'FailedToParse',
      "The 'wildcardProjection' field can't be an empty object",
    );
  checkProjectionModes(document);
  if (isCompound) checkOthersExcluded(document, key);
}

/** A field has one place in a key: its own, or under the wildcard. */
function checkOthersExcluded(projection: BsonDocument, key: BsonDocument): void {
  const isExclusion = [...projection].some(([name, value]) => name !== '_id' && !isTrue(value));
  for (const field of key.keys()) {
    if (field === '$**') continue;
    const isNamed = [...projection.keys()].some(
      (name) => name === field || field.startsWith(`${name}.`),
    );
    if (isNamed !== isExclusion)
      throw new MongoError(
        'Location7246209',
        `wildcardProjection must exclude all regular index fields: ${field}`,
      );
  }
}

function checkProjectionModes(projection: BsonDocument): void {
  let mode: boolean | undefined;
  const names = [...projection.keys()];
  for (const [at, name] of names.entries())
    if (names.slice(0, at).some((other) => name.startsWith(`${other}.`)))
      throw new MongoError('Location31249', `Path collision at ${name}`);
  for (const [name, value] of projection) {
    const isIncluded = isTrue(value);
    if (typeof value !== 'boolean' && !isNumber(value)) {
      if (isDocument(value)) {
        checkProjectionModes(value);
        continue;
      }
      throw new MongoError(
        'Location51271',
        `Bad projection specification, cannot use computed fields when parsing a spec in kBanComputedFields mode: ${name}`,
      );
    }
    if (name === '_id') continue;
    if (mode !== undefined && mode !== isIncluded)
      throw new MongoError(
        mode ? 'Location31254' : 'Location31253',
        `Cannot do ${isIncluded ? 'inclusion' : 'exclusion'} on field ${name} in ${mode ? 'inclusion' : 'exclusion'} projection`,
      );
    mode = isIncluded;
  }
}

function addKindOptions(
  sent: BsonDocument,
  spec: Map<string, Bson>,
  kind: IndexKind,
  key: BsonDocument,
): void {
  if (kind === 'text') addTextOptions(sent, spec, key);
  if (kind === '2dsphere') {
    const version = sent.get('2dsphereIndexVersion');
    const number = version === undefined ? 3 : wholeNumber(version);
    if (number === undefined || number < 1 || number > 3)
      throw cannot(
        `unsupported geo index version { 2dsphereIndexVersion : ${String(number)} }, only support versions: [1,2,3]`,
      );
    spec.set('2dsphereIndexVersion', number);
    for (const name of ['finestIndexedLevel', 'coarsestIndexedLevel'])
      if (sent.has(name)) spec.set(name, sent.get(name) as Bson);
  }
  if (kind === '2d') addPlaneOptions(sent, spec);
  const projection = sent.get('wildcardProjection');
  if (projection !== undefined) spec.set('wildcardProjection', projection);
}

/** MongoDB's bounds of the bits of a cell, and of the plane. */
const BITS_MAX = 32;

function addPlaneOptions(sent: BsonDocument, spec: Map<string, Bson>): void {
  const bits = sent.get('bits');
  if (bits !== undefined) {
    const whole = Math.trunc(doubleOf(bits));
    if (!(whole >= 1 && whole <= BITS_MAX))
      throw new MongoError(
        'InvalidOptions',
        `bits for hash must be > 0 and <= 32, but ${whole} bits were specified`,
      );
    spec.set('bits', bits);
  }
  const [min, max] = [sent.get('min'), sent.get('max')];
  const [low, high] = [
    min === undefined ? -180 : doubleOf(min),
    max === undefined ? 180 : doubleOf(max),
  ];
  if (!(low < high))
    throw new MongoError(
      'InvalidOptions',
      `region for hash must be valid and have positive area, but [${low}, ${high}] was specified`,
    );
  if (min !== undefined) spec.set('min', min);
  if (max !== undefined) spec.set('max', max);
}

function addTextOptions(sent: BsonDocument, spec: Map<string, Bson>, key: BsonDocument): void {
  const weights = weightsOf(sent.get('weights'), key);
  const shown = new Map<string, Bson>();
  for (const [name, value] of key)
    if (value !== 'text') shown.set(name, value);
    else if (!shown.has('_fts')) {
      shown.set('_fts', 'text');
      shown.set('_ftsx', 1);
    }
  spec.set('key', shown);
  spec.set('weights', weights);
  const language = sent.get('default_language') ?? 'english';
  if (textRules(String(language)) === undefined)
    throw cannot(`default_language is not valid: ${String(language)}`);
  spec.set('default_language', language);
  const override = sent.get('language_override') ?? 'language';
  if (override === '' || String(override).startsWith('$'))
    throw cannot('language_override is not valid');
  spec.set('language_override', override);
  const version = sent.get('textIndexVersion');
  const number = version === undefined ? 3 : wholeNumber(version);
  if (number === undefined || number < 1 || number > 3)
    throw cannot(`bad textIndexVersion: ${String(number)}`);
  spec.set('textIndexVersion', number);
}

const WEIGHT_MAX = 99_999;

function weightsOf(sent: Bson | undefined, key: BsonDocument): BsonDocument {
  const weights = new Map<string, Bson>();
  // A key that tools have read from `listIndexes` has no names of fields: these are in the weights.
  for (const [name, value] of key)
    if (value === 'text' && (name !== '_fts' || sent === undefined)) weights.set(name, 1);
  if (typeof sent === 'string') weights.set(sent, 1);
  if (isDocument(sent))
    for (const [name, weight] of sent) {
      if (!isNumber(weight)) throw cannot(`weight for text index needs numeric type: ${name}`);
      const value = Math.trunc(doubleOf(weight));
      if (!(value >= 1 && value <= WEIGHT_MAX))
        throw cannot(
          `text index weight must be in the exclusive interval (0,100000) but found: ${value}`,
        );
      if (name === '' || (name.startsWith('$') && name !== '$**'))
        throw cannot('weight for text index has an illegal field name');
      weights.set(name, value);
    }
  return new Map([...weights].sort(([a], [b]) => (a < b ? -1 : 1)));
}

function addCollation(
  sent: BsonDocument,
  spec: Map<string, Bson>,
  kind: IndexKind,
  inherited: BsonDocument | undefined,
): void {
  const own = sent.get('collation');
  if (isDocument(own) && own.size === 0)
    throw new MongoError('BadValue', "The field 'collation' cannot be empty");
  const document = isDocument(own) ? own : inherited;
  const collation = parseCollation(document);
  if (collation === undefined) return;
  if (kind === 'text' || kind === '2d') {
    if (isDocument(own))
      throw cannot(
        `Index type '${kind}' does not support collation: ${printDocument(collation.described)}`,
      );
    throw cannot(
      `Index type '${kind}' does not support collation: ${printDocument(collation.described)}`,
    );
  }
  spec.set('collation', collation.described);
}
