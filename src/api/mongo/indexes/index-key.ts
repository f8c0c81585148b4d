/** The key pattern of an index: fields with a direction, or with the name of a kind of index. */
import { type Bson, type BsonDocument, bsonTypeOf } from '../../../value/index.ts';
import { doubleOf, isNumber } from '../bson/arithmetic.ts';
import { printDocument } from '../bson/print.ts';
import { MongoError } from '../errors.ts';

export type IndexKind = 'plain' | 'text' | '2dsphere' | '2d' | 'hashed' | 'wildcard';

/** MongoDB's bound. */
const FIELDS_MAX = 32;
const PLUGINS: ReadonlySet<string> = new Set(['text', '2dsphere', '2d', 'hashed']);

/** The kind of an index, after its key was checked. Throws CannotCreateIndex and its kind. */
export function checkKey(key: BsonDocument): IndexKind {
  if (key.size === 0) throw cannot('Index keys cannot be an empty object');
  let plugin: string | undefined;
  let wildcards = 0;
  for (const [name, value] of key) {
    checkValue(key, value);
    if (typeof value === 'string') {
      if (value === 'wildcard')
        throw new MongoError('Location7246202', `Unknown index plugin '${value}'`);
      if (!PLUGINS.has(value)) throw cannot(`Unknown index plugin '${value}'`);
      if (plugin !== undefined && plugin !== value)
        throw cannot(
          `Can't use more than one index plugin for a single index: ${printDocument(key)}`,
        );
      plugin = value;
    }
    if (isWildcard(name)) {
      wildcards += 1;
      checkWildcard(key, name, value);
    } else checkPath(name);
  }
  if (wildcards > 1)
    throw new MongoError(
      'Location7246201',
      `wildcard index can only have one wildcard field: ${printDocument(key)}`,
    );
  if (wildcards === 1 && plugin !== 'text') return compoundWildcard(key, plugin);
  checkPlugin(key, plugin);
  if (key.size > FIELDS_MAX)
    throw new MongoError('Location13103', `too many compound keys: ${printDocument(key)}`);
  return (plugin ?? 'plain') as IndexKind;
}

function checkValue(key: BsonDocument, value: Bson): void {
  if (typeof value === 'string') {
    if (value === '') throw cannot('Values in the index key pattern cannot be an empty string.');
    return;
  }
  if (!isNumber(value))
    throw cannot(
      `Values in v:2 index key pattern cannot be of type ${bsonTypeOf(value)}. Only numbers > 0, numbers < 0, and ` +
        `strings are allowed.`,
    );
  const number = doubleOf(value);
  if (number === 0 || Number.isNaN(number))
    throw cannot(`Values in the index key pattern cannot be 0 or NaN: ${printDocument(key)}`);
}

export function isWildcard(name: string): boolean {
  return name === '$**' || name.endsWith('.$**');
}

function checkWildcard(key: BsonDocument, name: string, value: Bson): void {
  if (typeof value === 'string' && value !== 'text')
    throw cannot(`A wildcard index key cannot be of type ${value}: ${printDocument(key)}`);
  if (isNumber(value) && doubleOf(value) < 0 && name === '$**' && key.size === 1) return;
  const prefix = name.split('.').slice(0, -1);
  if (prefix.some((step) => step === '' || step.startsWith('$')))
    throw cannot(`Index key contains an illegal field name: '${name}'`);
}

function compoundWildcard(key: BsonDocument, plugin: string | undefined): IndexKind {
  if (plugin !== undefined)
    throw cannot(
      `wildcard indexes do not allow compounding with other special indexes: ${printDocument(key)}`,
    );
  return 'wildcard';
}

function checkPath(name: string): void {
  if (name === '') throw cannot('Index keys cannot contain an empty field.');
  if (name.startsWith('.') || name.endsWith('.') || name.split('.').includes(''))
    throw cannot('Index keys cannot contain an empty field.');
  const steps = name.split('.');
  const isReference = (step: string): boolean =>
    step === '$ref' || step === '$id' || step === '$db';
  if (steps.some((step, at) => step.startsWith('$') && !(at > 0 && isReference(step))))
    throw cannot("Index key contains an illegal field name: field name starts with '$'.");
}

function checkPlugin(key: BsonDocument, plugin: string | undefined): void {
  const names = [...key.values()].filter((value) => typeof value === 'string');
  if (plugin === 'hashed' && names.length > 1)
    throw new MongoError(
      'Location31303',
      `A maximum of one index field is allowed to be hashed but found ${names.length} for 'key' ${printDocument(key)}`,
    );
  if (plugin === '2d' && names.length > 1) throw cannot('can only have 1 2d field');
  if (plugin === '2d' && [...key.values()][0] !== '2d') throw cannot('2d has to be first in index');
  if (plugin === 'text') checkTextPlaces(key);
}

/** The text fields of a text index stand together. */
function checkTextPlaces(key: BsonDocument): void {
  const flags = [...key.values()].map((value) => value === 'text');
  const first = flags.indexOf(true);
  const last = flags.lastIndexOf(true);
  if (flags.slice(first, last).includes(false))
    throw cannot("'text' fields in index must all be adjacent");
}

export function cannot(message: string): MongoError {
  return new MongoError('CannotCreateIndex', message);
}

/** The name that drivers give. */
export function defaultName(key: BsonDocument): string {
  return [...key]
    .map(([name, value]) => `${name}_${isNumber(value) ? doubleOf(value) : String(value)}`)
    .join('_');
}
