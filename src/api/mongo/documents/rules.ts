/** What a collection demands of its documents: the validator, and what its indexes can hold. */
import {
  type Bson,
  type BsonDocument,
  Extended,
  isArray,
  isDocument,
} from '../../../value/index.ts';
import type { Collection } from '../collections/collection.ts';
import { encryptedPaths } from '../collections/encrypted-fields.ts';
import { MongoError } from '../errors.ts';
import { checkIndexed, type IndexCheck, indexChecks } from '../indexes/document-checks.ts';
import { declaredIndexes } from '../indexes/index-spec.ts';
import { parseFilter } from '../query/filter-parser.ts';
import { compileFilter, type DocumentTest } from '../query/filter-test.ts';
import { someAt } from '../query/path.ts';
import { queryContext } from '../query/query-context.ts';

export interface DocumentRules {
  readonly validator: BsonDocument | undefined;
  /** The validator compares texts as the collection does. */
  readonly collation: BsonDocument | undefined;
  /** Documents that were invalid before may stay so. */
  readonly isModerate: boolean;
  readonly checks: readonly IndexCheck[];
  /** Fields that hold ciphertext and nothing else. */
  readonly encrypted: readonly EncryptedPath[];
  readonly isClustered: boolean;
}

interface EncryptedPath {
  readonly path: string;
  readonly isQueryable: boolean;
}

/** Throws DocumentValidationFailure and its kind. */
export type CheckDocument = (after: BsonDocument, before?: BsonDocument) => void;

/** Rules by the container that has them; containers never change in place. */
const KNOWN = new WeakMap<object, DocumentRules>();

export function rulesOf(collection: Collection, bypassesValidation = false): DocumentRules {
  const rules = KNOWN.get(collection.container) ?? readRules(collection);
  KNOWN.set(collection.container, rules);
  return bypassesValidation ? { ...rules, validator: undefined } : rules;
}

function readRules(collection: Collection): DocumentRules {
  const options = collection.options;
  const validator = options.get('validator');
  const collation = options.get('collation');
  const level = options.get('validationLevel') ?? 'strict';
  const action = options.get('validationAction') ?? 'error';
  const isOn = isDocument(validator) && validator.size > 0 && level !== 'off' && action !== 'warn';
  return {
    validator: isOn ? validator : undefined,
    collation: isDocument(collation) ? collation : undefined,
    isModerate: level === 'moderate',
    checks: indexChecks(declaredIndexes(collection)),
    encrypted: encryptedPaths(options),
    isClustered: options.has('clusteredIndex'),
  };
}

export function printRules({
  validator,
  collation,
  isModerate,
  checks,
  encrypted,
  isClustered,
}: DocumentRules): BsonDocument {
  return new Map<string, Bson>([
    ['validator', validator ?? null],
    ['collation', collation ?? null],
    ['isModerate', isModerate],
    ['isClustered', isClustered],
    [
      'encrypted',
      encrypted.map((each) => new Map<string, Bson>(Object.entries(each)) as BsonDocument),
    ],
    ['checks', checks.map((check) => new Map(Object.entries(check)) as BsonDocument)],
  ]);
}

export function parseRules(printed: BsonDocument): DocumentRules {
  const validator = printed.get('validator');
  const checks = printed.get('checks');
  const collation = printed.get('collation');
  const encrypted = printed.get('encrypted');
  return {
    validator: isDocument(validator) ? validator : undefined,
    collation: isDocument(collation) ? collation : undefined,
    isModerate: printed.get('isModerate') === true,
    isClustered: printed.get('isClustered') === true,
    checks: isArray(checks)
      ? checks.map((check) => Object.fromEntries(check as BsonDocument) as unknown as IndexCheck)
      : [],
    encrypted: isArray(encrypted)
      ? encrypted.map(
          (each) => Object.fromEntries(each as BsonDocument) as unknown as EncryptedPath,
        )
      : [],
  };
}

/** Compiled rules, as long as the rules live. */
const COMPILED = new WeakMap<DocumentRules, CheckDocument>();

export function compileRules(rules: DocumentRules): CheckDocument {
  const known = COMPILED.get(rules);
  if (known !== undefined) return known;
  const { validator, isModerate, checks, encrypted, isClustered } = rules;
  const isValid = validator === undefined ? undefined : testOf(validator, rules);
  const check: CheckDocument = (after, before) => {
    if (checks.length > 0) checkIndexed(checks, after);
    if (isClustered) checkId(after.get('_id'));
    for (const each of encrypted) checkEncrypted(after, each);
    if (isValid === undefined || isValid(after)) return;
    if (isModerate && before !== undefined && !isValid(before)) return;
    throw validationFailure(validator as BsonDocument, after);
  };
  COMPILED.set(rules, check);
  return check;
}

function testOf(validator: BsonDocument, { collation }: DocumentRules): DocumentTest {
  const context = queryContext(0, undefined, collation);
  return compileFilter(parseFilter(validator, context), context.collation?.compare);
}

/** Bytes of the id that a clustered collection keeps its documents by, with what MongoDB adds (documented). */
const RECORD_ID_BYTES_MAX = 8 * 1024 * 1024 - 2;

function checkId(id: Bson | undefined): void {
  const bytes =
    typeof id === 'string'
      ? Buffer.byteLength(id)
      : id instanceof Extended && id.payload.kind === 'binary'
        ? id.payload.bytes.length
        : 0;
  if (bytes > RECORD_ID_BYTES_MAX)
    throw new MongoError(
      'Location5894900',
      `The size of the RecordId is above the maximum of ${RECORD_ID_BYTES_MAX}B`,
    );
}

/** Binary data of this subtype are ciphertext; their first byte says of which kind. */
const CIPHERTEXT_SUBTYPE = 6;
const UNINDEXED_KIND = 16;

/** Plain values are refused, and so are values that the server would have to make searchable. */
function checkEncrypted(document: BsonDocument, { path, isQueryable }: EncryptedPath): void {
  const isPlain = someAt(document, path.split('.'), (value) => {
    if (value === undefined) return false;
    const isCiphertext =
      value instanceof Extended &&
      value.payload.kind === 'binary' &&
      value.payload.subtype === CIPHERTEXT_SUBTYPE &&
      value.payload.bytes[0] === UNINDEXED_KIND;
    return isQueryable || !isCiphertext;
  });
  if (!isPlain) return;
  const schema = new Map<string, Bson>([
    ['operatorName', 'encryptedFields'],
    ['specifiedAs', path],
  ]);
  throw new MongoError('DocumentValidationFailure', 'Document failed validation', {
    more: new Map<string, Bson>([
      [
        'errInfo',
        new Map<string, Bson>([
          ['failingDocumentId', document.get('_id') ?? null],
          ['details', schema],
        ]),
      ],
    ]),
  });
}

function validationFailure(validator: BsonDocument, document: BsonDocument): MongoError {
  const [first = ''] = validator.keys();
  const isOperator = first.startsWith('$');
  const details = new Map<string, Bson>([
    ['operatorName', isOperator ? first : '$and'],
    ['specifiedAs', validator],
  ]);
  const errInfo = new Map<string, Bson>([
    ['failingDocumentId', document.get('_id') ?? null],
    ['details', details],
  ]);
  return new MongoError('DocumentValidationFailure', 'Document failed validation', {
    more: new Map<string, Bson>([['errInfo', errInfo]]),
  });
}
