/** `$merge`: the result goes into a collection, document by document, by the fields that identify one. */
import {
  type Bson,
  type BsonDocument,
  bsonTypeOf,
  compareBson,
  isArray,
  isDocument,
} from '../../../../value/index.ts';
import { type Namespace, parseNamespace } from '../../collections/namespace.ts';
import { finishDocument } from '../../documents/new-document.ts';
import type { Rows } from '../../documents/rows.ts';
import { MongoError } from '../../errors.ts';
import type { CompareValues } from '../collated-keys.ts';
import { parseFieldPath, valueAtPath } from '../expressions/field-path.ts';
import type { Variable } from '../expressions/scope.ts';
import { compileUpdatePipeline } from '../pipeline/update-pipeline.ts';
import { letVariables } from './lookup.ts';
import type { Stage, StageContext } from './stage.ts';

type Matched = 'replace' | 'keepExisting' | 'merge' | 'fail' | readonly Bson[];
type NotMatched = 'insert' | 'discard' | 'fail';

interface Merge {
  readonly into: Namespace;
  readonly on: readonly string[];
  /** True where documents without these fields can be found by them too. */
  readonly mayLack: boolean;
  readonly compare: CompareValues;
  readonly matched: Matched;
  readonly notMatched: NotMatched;
  readonly apply: ((existing: BsonDocument, made: BsonDocument) => BsonDocument) | undefined;
}

const OPTIONS = new Set([
  'into',
  'on',
  'let',
  'whenMatched',
  'whenNotMatched',
  'targetCollectionVersion',
  'allowMergeOnNullishValues',
]);
const RESERVED = new Set(['admin', 'config', 'local']);

export function parseMerge(argument: Bson, context: StageContext): Stage {
  if (typeof argument !== 'string' && !isDocument(argument))
    throw new MongoError(
      'TypeMismatch',
      `$merge only supports a string or object argument, not ${bsonTypeOf(argument)}`,
    );
  const options: BsonDocument = isDocument(argument) ? argument : new Map([['into', argument]]);
  for (const name of options.keys())
    if (!OPTIONS.has(name))
      throw new MongoError('IDLUnknownField', `BSON field '$merge.${name}' is an unknown field.`);
  const into = intoOf(options.get('into'), context, isDocument(argument));
  if (RESERVED.has(into.database))
    throw new MongoError('Location31320', `Cannot $merge to internal database: ${into.database}`);
  if (into.collection.startsWith('system.'))
    throw new MongoError(
      'Location31319',
      `Cannot $merge to special collection: ${into.collection}`,
    );
  const on = onOf(options.get('on'));
  const matched = matchedOf(options.get('whenMatched'));
  const notMatched = notMatchedOf(options.get('whenNotMatched'));
  if ((options.get('let') ?? null) !== null && typeof matched === 'string')
    throw new MongoError(
      'Location51199',
      `Cannot use 'let' variables with 'whenMatched: ${matched}' mode`,
    );
  if (matched === 'fail' && notMatched !== 'insert')
    throw new MongoError(
      'Location51181',
      'Combination of whenMatched and whenNotMatched is not supported',
    );
  if (matched === 'keepExisting' && notMatched !== 'insert')
    throw new MongoError(
      'Location51181',
      'Combination of whenMatched and whenNotMatched is not supported',
    );
  const apply =
    typeof matched === 'string'
      ? undefined
      : pipelineOf(matched, options.get('let') ?? undefined, context);
  const { collation, compare } = context.expressions;
  const mayLack = context.host.writer.checkUnique(into, on, collation);
  const merge: Merge = { into, on, mayLack, compare, matched, notMatched, apply };
  return (rows) => merged(rows, merge, context);
}

function intoOf(sent: Bson | undefined, { namespace }: StageContext, isNamed: boolean): Namespace {
  if (sent === undefined)
    throw new MongoError(
      'IDLFailedToParse',
      "BSON field '$merge.into' is missing but a required field",
    );
  if (typeof sent === 'string') {
    if (sent === '' && isNamed)
      throw new MongoError('Location5786800', "Invalid 'into' field: the collection name is empty");
    return parseNamespace(namespace.database, sent);
  }
  if (!isDocument(sent))
    throw new MongoError(
      'Location51178',
      `$merge 'into' field must be either a string or an object, but found ${bsonTypeOf(sent)}`,
    );
  for (const name of sent.keys())
    if (name !== 'db' && name !== 'coll')
      throw new MongoError('IDLUnknownField', `BSON field 'into.${name}' is an unknown field.`);
  const collection = sent.get('coll');
  const database = sent.get('db') ?? namespace.database;
  if (collection === undefined || collection === null)
    throw new MongoError('Location5786801', "$merge 'into' field must specify a 'coll'");
  for (const [name, value] of [
    ['coll', collection],
    ['db', database],
  ] as const)
    if (typeof value !== 'string')
      throw new MongoError(
        'TypeMismatch',
        `BSON field 'into.${name}' is the wrong type '${bsonTypeOf(value)}', expected type 'string'`,
      );
  return parseNamespace((database as string) || namespace.database, collection as string);
}

function onOf(sent: Bson | undefined): readonly string[] {
  if (sent === undefined) return ['_id'];
  if (typeof sent === 'string') {
    parseFieldPath(sent);
    return [sent];
  }
  if (!isArray(sent))
    throw new MongoError(
      'Location51186',
      `$merge 'on' field must be either a string or an array of strings, but found ${bsonTypeOf(sent)}`,
    );
  if (sent.length === 0)
    throw new MongoError(
      'Location51187',
      "If explicitly specifying $merge 'on', must include at least one field",
    );
  const seen = new Set<string>();
  return sent.map((name) => {
    if (typeof name !== 'string')
      throw new MongoError(
        'Location51134',
        `$merge 'on' array elements must be strings, but found ${bsonTypeOf(name)}`,
      );
    parseFieldPath(name);
    if (seen.has(name)) throw new MongoError('Location31465', `Found a duplicate field '${name}'`);
    seen.add(name);
    return name;
  });
}

function matchedOf(sent: Bson | undefined): Matched {
  if (sent === undefined) return 'merge';
  if (isArray(sent)) {
    for (const stage of sent)
      if (!isDocument(stage))
        throw new MongoError(
          'TypeMismatch',
          "Each element of the 'pipeline' array must be an object",
        );
    return sent;
  }
  if (typeof sent !== 'string')
    throw new MongoError(
      'Location51191',
      `$merge 'whenMatched' field must be either a string or an array, but found ${bsonTypeOf(sent)}`,
    );
  if (sent === 'replace' || sent === 'keepExisting' || sent === 'merge' || sent === 'fail')
    return sent;
  throw new MongoError(
    'BadValue',
    `Enumeration value '${sent}' for field 'whenMatched' is not a valid value.`,
  );
}

function notMatchedOf(sent: Bson | undefined): NotMatched {
  if (sent === undefined || sent === null) return 'insert';
  if (typeof sent !== 'string')
    throw new MongoError(
      'TypeMismatch',
      `BSON field '$merge.whenNotMatched' is the wrong type '${bsonTypeOf(sent)}', expected type 'string'`,
    );
  if (sent === 'insert' || sent === 'discard' || sent === 'fail') return sent;
  throw new MongoError(
    'BadValue',
    `Enumeration value '${sent}' for field 'whenNotMatched' is not a valid value.`,
  );
}

function pipelineOf(
  stages: readonly Bson[],
  sent: Bson | undefined,
  context: StageContext,
): Merge['apply'] {
  if (isDocument(sent) && sent.has('new')) {
    const value = sent.get('new');
    if (value !== '$$ROOT')
      throw new MongoError(
        'Location51273',
        "'let' may not define a value for the reserved 'new' variable other than '$$ROOT'",
      );
  }
  const { variables, inner } = letVariables(sent, context);
  const made: Variable = { value: undefined };
  const cells = new Map(inner.expressions.variables);
  if (sent === undefined || !cells.has('new')) cells.set('new', made);
  // Stages that no update may have are refused with the first document that matches.
  let apply: ReturnType<typeof compileUpdatePipeline> | undefined;
  return (existing, document) => {
    apply ??= compileUpdatePipeline(stages, { ...inner.expressions, variables: cells });
    made.value = document;
    for (const [variable, value] of variables) variable.value = value([document]);
    return apply(existing);
  };
}

/** A document that is refused does not keep the others of its batch from being merged. */
async function* merged(rows: Rows, merge: Merge, { host: { writer } }: StageContext): Rows {
  for await (const batch of rows) {
    let failure: unknown;
    for (const row of batch)
      try {
        await mergeOne(row.document, merge, writer);
      } catch (error) {
        failure ??= error;
      }
    if (failure !== undefined) throw failure;
  }
  yield* [] as never[];
}

function keyOf(document: BsonDocument, { on, mayLack }: Merge): BsonDocument {
  const key = new Map<string, Bson>();
  for (const name of on) {
    const value = valueAtPath(document, name.split('.'), 0) ?? null;
    if (value === null && !mayLack)
      throw new MongoError(
        'Location51132',
        `$merge write error: 'on' field '${name}' cannot be missing, null or undefined`,
      );
    if (isArray(value))
      throw new MongoError(
        'Location51185',
        `$merge write error: 'on' field '${name}' cannot be an array`,
      );
    key.set(name, value);
  }
  return key;
}

/** Times that a document is merged again because others have changed what was found. */
const ATTEMPTS_MAX = 100;

async function mergeOne(made: BsonDocument, merge: Merge, writer: Writer): Promise<void> {
  const { into, matched, notMatched, compare } = merge;
  const { document } = finishDocument(made);
  const key = keyOf(document, merge);
  if (matched === 'fail') return await writer.insert(into, document);
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
    const existing = await writer.find(into, key, compare);
    if (existing !== undefined) {
      if (await mergeInto(existing, { made, document }, merge, writer)) return;
    } else if (notMatched === 'fail')
      throw new MongoError(
        'Location13113',
        '$merge could not find a matching document in the target collection for at least one document in the source collection',
      );
    else if (notMatched === 'discard') return;
    else if (await insertNew(document, key, merge, writer)) return;
  }
  throw new MongoError('WriteConflict', 'The document changed each time it was found.');
}

type Writer = StageContext['host']['writer'];

/** False where somebody else has inserted a document of this key meanwhile. */
async function insertNew(
  document: BsonDocument,
  key: BsonDocument,
  { into, matched, compare }: Merge,
  writer: Writer,
): Promise<boolean> {
  // An upsert that sets fields has them by name.
  const isSet = matched === 'merge' || matched === 'keepExisting';
  try {
    await writer.insert(into, isSet ? byName(document) : document);
    return true;
  } catch (error) {
    const isDuplicate = error instanceof MongoError && error.mongoCode === 'DuplicateKey';
    if (isDuplicate && (await writer.find(into, key, compare)) !== undefined) return false;
    throw error;
  }
}

interface Merged {
  /** As the pipeline made it, and with an `_id`. */
  readonly made: BsonDocument;
  readonly document: BsonDocument;
}

/** False where the document is no longer what was found. */
async function mergeInto(
  existing: BsonDocument,
  { made, document }: Merged,
  { into, on, matched, apply }: Merge,
  writer: Writer,
): Promise<boolean> {
  if (matched === 'keepExisting') return true;
  // The values may differ from the ones that were looked for where a collation calls them equal.
  const key = new Map(on.map((name) => [name, valueAtPath(existing, name.split('.'), 0) ?? null]));
  if (apply !== undefined) return writer.update(into, key, apply(existing, document), existing);
  checkSameId(made, existing);
  const fields = new Map(document);
  fields.delete('_id');
  if (matched === 'replace') return writer.update(into, key, fields);
  if (fields.size === 0) return true;
  return writer.update(into, key, new Map<string, Bson>([['$set', fields]]));
}

function byName(document: BsonDocument): BsonDocument {
  return new Map(
    [...document].sort(([a], [b]) => (a === '_id' ? -1 : b === '_id' ? 1 : a < b ? -1 : 1)),
  );
}

function checkSameId(made: BsonDocument, existing: BsonDocument): void {
  const id = made.get('_id');
  if (id !== undefined && compareBson(id, existing.get('_id')) !== 0)
    throw new MongoError(
      'ImmutableField',
      "$merge failed to update the matching document, did you attempt to modify the _id or the shard key? :: caused by :: Performing an update on the path '_id' would modify the immutable field '_id'",
    );
}
