/** The options of `create` that describe the index of `_id`. */
import { type Bson, type BsonDocument, equalBson, isDocument } from '../../../value/index.ts';
import { doubleOf, isNumber } from '../bson/arithmetic.ts';
import { MongoError } from '../errors.ts';
import { checkFields, wrongType } from '../fields/field-table.ts';
import { wholeOf } from '../fields/numbers.ts';

/** The option as it is kept; undefined where the collection is not clustered. */
export function checkClusteredIndex(sent: BsonDocument): BsonDocument | undefined {
  const option = sent.get('clusteredIndex');
  if (option === undefined) return undefined;
  if (!isDocument(option)) {
    if (typeof option !== 'boolean' && !isNumber(option))
      throw wrongType('create.clusteredIndex', option, 'object');
    const isSet = typeof option === 'boolean' ? option : doubleOf(option) !== 0;
    if (!isSet) return undefined;
    throw new MongoError(
      'Location5979703',
      "The 'clusteredIndex' legacy format {clusteredIndex: <bool>} is only supported for specific internal collections and vice versa",
    );
  }
  checkFields(
    'create.clusteredIndex',
    option,
    { key: 'object!', unique: 'flag!', name: 'string', v: 'int' },
    false,
  );
  if (sent.has('viewOn'))
    throw new MongoError(
      'Location6026500',
      "The 'clusteredIndex' option is not supported with views",
    );
  if (sent.has('idIndex'))
    throw new MongoError(
      'InvalidOptions',
      "The 'clusteredIndex' option is not supported with the 'idIndex' option",
    );
  const version = option.get('v');
  if (version !== undefined && version !== null && wholeOf(version) !== 2)
    throw new MongoError('Location5979704', "The 'clusteredIndex' option has an invalid version");
  const unique = option.get('unique') as Bson;
  if (unique === false || (isNumber(unique) && doubleOf(unique) === 0))
    throw new MongoError(
      'Location5979700',
      "The 'clusteredIndex' option requires unique: true to be specified",
    );
  if (!isIdKey(option.get('key') as BsonDocument))
    throw new MongoError(
      'InvalidIndexSpecificationOption',
      "The 'clusteredIndex' option supports only an index over {_id: 1}",
    );
  return new Map<string, Bson>([
    ['v', 2],
    ['key', new Map([['_id', 1]])],
    ['name', option.get('name') ?? '_id_'],
    ['unique', true],
  ]);
}

function isIdKey(key: BsonDocument): boolean {
  const direction = key.get('_id');
  return (
    key.size === 1 && direction !== undefined && isNumber(direction) && doubleOf(direction) === 1
  );
}

const ID_INDEX_FIELDS: ReadonlySet<string> = new Set(['key', 'name', 'v', 'ns', 'collation']);

export function checkIdIndex(index: BsonDocument | undefined, collation: Bson | undefined): void {
  if (index === undefined) return;
  const [key, name, version] = [index.get('key'), index.get('name'), index.get('v')];
  if (key !== undefined && !isDocument(key)) throw wrongType('idIndex.key', key, 'object');
  if (name !== undefined && typeof name !== 'string')
    throw wrongType('idIndex.name', name, 'string');
  if (version !== undefined) checkVersion(version);
  for (const field of index.keys())
    if (!ID_INDEX_FIELDS.has(field))
      throw new MongoError(
        'InvalidIndexSpecificationOption',
        `The field '${field}' is not valid for an _id index specification. Specification: idIndex`,
      );
  if (key === undefined || name === undefined)
    throw new MongoError(
      'FailedToParse',
      "The 'key' and 'name' fields are required properties of an index specification",
    );
  if (name === '') throw new MongoError('CannotCreateIndex', 'index name cannot be empty');
  if (!isIdKey(key))
    throw new MongoError('BadValue', "The field 'key' for an _id index must be {_id: 1}");
  const own = index.get('collation');
  const isBothSimple = isDocument(own) && own.get('locale') === 'simple' && collation === undefined;
  if (own !== undefined && !isBothSimple && !(collation !== undefined && equalBson(own, collation)))
    throw new MongoError(
      'BadValue',
      'The _id index must have the same collation as the collection.',
    );
}

function checkVersion(version: Bson): void {
  if (!isNumber(version)) throw wrongType('idIndex.v', version, 'int');
  const number = doubleOf(version);
  if (!Number.isInteger(number))
    throw new MongoError('BadValue', 'Index version must be representable as a 32-bit integer');
  if (number !== 1 && number !== 2)
    throw new MongoError(
      'CannotCreateIndex',
      `Invalid index specification: 'v' must be 1 or 2, but got ${number}`,
    );
}
