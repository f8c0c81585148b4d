/**
 * The `encryptedFields` of `create`: which fields hold ciphertext. They are checked and kept as MongoDB does; documents
 * may only have encrypted values there. Values that could be searched for need work of the server that is not done
 * here, so that only values which are not indexed can be stored.
 */
import {
  type Bson,
  type BsonDocument,
  Extended,
  isArray,
  isDocument,
} from '../../../value/index.ts';
import { MongoError } from '../errors.ts';
import { checkFields, wrongType } from '../fields/field-table.ts';
import { checkQueries } from './encrypted-queries.ts';

const PATH = 'create.encryptedFields';
const UUID_BYTES = 16;
const TYPES: ReadonlySet<string> = new Set([
  'array',
  'binData',
  'bool',
  'date',
  'dbPointer',
  'decimal',
  'double',
  'int',
  'javascript',
  'javascriptWithScope',
  'long',
  'object',
  'objectId',
  'regex',
  'string',
  'symbol',
  'timestamp',
]);
/** Types of one value only: their ciphertext would say what it is. */
const SINGLE: ReadonlySet<string> = new Set(['maxKey', 'minKey', 'null', 'undefined']);

/** Throws in MongoDB's words. */
export function checkEncryptedFields(sent: BsonDocument): void {
  const encrypted = sent.get('encryptedFields');
  if (!isDocument(encrypted)) return;
  checkFields(
    PATH,
    encrypted,
    {
      fields: 'array!',
      escCollection: 'string',
      ecocCollection: 'string',
      eccCollection: 'string',
      strEncodeVersion: 'int',
    },
    false,
  );
  const seen: string[] = [];
  for (const [at, field] of (encrypted.get('fields') as readonly Bson[]).entries())
    if (field !== null) seen.push(checkField(field, `${PATH}.fields.${at}`));
  checkPaths(seen);
  if (sent.has('viewOn') || sent.has('timeseries'))
    throw new MongoError(
      'Location6346401',
      'Encrypted collections are not supported on views and time-series collections',
    );
  if (sent.get('capped') === true)
    throw new MongoError('Location6367301', 'Encrypted collections cannot be capped');
}

/** Its path. */
function checkField(field: Bson, path: string): string {
  if (!isDocument(field)) throw wrongType(path, field, 'object');
  checkFields(
    path,
    field,
    { keyId: 'uuid!', path: 'string!', bsonType: 'string', queries: 'any' },
    false,
  );
  checkKey(field.get('keyId') as Bson, `${path}.keyId`);
  const name = field.get('path') as string;
  if (name.includes('\0'))
    throw new MongoError('Location9867600', 'The path of an encrypted field has a null byte');
  if (name === '')
    throw new MongoError('Location6316402', 'Cannot have an empty path in an encrypted field');
  if (name === '_id' || name.startsWith('_id.'))
    throw new MongoError('Location6316403', '_id and its fields cannot be encrypted');
  const type = field.get('bsonType') ?? undefined;
  if (type !== undefined) checkType(String(type));
  const queries = field.get('queries');
  if (queries !== undefined)
    checkQueries(queries, type === undefined ? undefined : String(type), `${path}.queries`);
  return name;
}

function checkKey(key: Bson, path: string): void {
  if (!(key instanceof Extended) || key.payload.kind !== 'binary') return;
  const { subtype, bytes } = key.payload;
  if (subtype !== 4)
    throw new MongoError(
      'TypeMismatch',
      `BSON field '${path}' is the wrong binData type '${subtype}', expected type 'UUID'`,
    );
  if (bytes.length !== UUID_BYTES)
    throw new MongoError(
      'InvalidUUID',
      'uuid must be a 16-byte binary field with UUID (4) subtype',
    );
}

function checkType(type: string): void {
  if (SINGLE.has(type))
    throw new MongoError('Location6338406', `Type '${type}' is not a supported encrypted type`);
  if (!TYPES.has(type)) throw new MongoError('BadValue', `Unknown type name alias: ${type}`);
}

/** No path is encrypted twice, or within another. */
function checkPaths(paths: readonly string[]): void {
  const sorted = paths.toSorted();
  for (const [at, path] of sorted.entries()) {
    const before = sorted[at - 1];
    if (before === path)
      throw new MongoError('Location6338402', `Duplicate paths are not allowed: ${path}`);
    if (paths.some((other) => other.startsWith(`${path}.`)))
      throw new MongoError(
        'Location6338403',
        `Conflicting index paths found as one is a prefix of another: ${path}`,
      );
  }
}

/** The fields of a collection with ciphertext, and whether their values could be searched for. */
export function encryptedPaths(
  options: BsonDocument,
): readonly { readonly path: string; readonly isQueryable: boolean }[] {
  const encrypted = options.get('encryptedFields');
  const fields = isDocument(encrypted) ? encrypted.get('fields') : undefined;
  if (!isArray(fields)) return [];
  return fields.flatMap((field) =>
    isDocument(field)
      ? [{ path: String(field.get('path')), isQueryable: field.has('queries') }]
      : [],
  );
}
