/** Runs a pipeline and opens a cursor on its result. */
import { StepMeter } from '../../../../base/index.ts';
import { type Bson, type BsonDocument, bsonTypeOf, isDocument } from '../../../../value/index.ts';
import { pipelineHost } from '../../aggregate/pipeline/host.ts';
import { parsePipeline } from '../../aggregate/pipeline/parse.ts';
import { STAGES } from '../../aggregate/pipeline/stages.ts';
import { splitExpressions } from '../../aggregate/stages/match.ts';
import { doubleOf, isNumber } from '../../bson/arithmetic.ts';
import type { Call, Command } from '../../call.ts';
import { type Collection, findCollection } from '../../collections/collection.ts';
import { type Namespace, parseNamespace } from '../../collections/namespace.ts';
import type { Rows } from '../../documents/rows.ts';
import { MongoError } from '../../errors.ts';
import { wrongType } from '../../fields/field-table.ts';
import { wholeOf } from '../../fields/numbers.ts';
import { FIRST_BATCH_DOCUMENTS } from '../../limits.ts';
import { parseFilter } from '../../query/filter-parser.ts';
import type { DocumentTest } from '../../query/filter-test.ts';
import { openCursor } from './find.ts';
import { checkHint, checkTextHint, contextOf } from './query-arguments.ts';

const FIELDS = {
  pipeline: 'array',
  cursor: 'object',
  explain: 'bool',
  allowDiskUse: 'bool',
  bypassDocumentValidation: 'flag',
  hint: 'any',
  collation: 'object',
  let: 'object',
  collectionUUID: 'uuid',
  needsMerge: 'flag',
  fromMongos: 'flag',
  fromRouter: 'flag',
  exchange: 'object',
  runtimeConstants: 'object',
  isMapReduceCommand: 'flag',
  requestReshardingResumeToken: 'flag',
  includeQueryStatsMetrics: 'flag',
  querySettings: 'object',
} as const;

export const aggregate: Command = {
  needs: 'read',
  fields: FIELDS,
  run(call) {
    const { args } = call;
    for (const field of ['allowDiskUse', 'cursor', 'explain', 'pipeline'] as const)
      if (call.body.get(field) === null)
        throw wrongType(`aggregate.${field}`, null, FIELDS[field].replace('!', ''));
    const namespace = namespaceOf(call);
    const options = args.optionalDocument('cursor');
    if (options === undefined)
      throw new MongoError(
        'FailedToParse',
        "The 'cursor' option is required, except for aggregate with the explain argument",
      );
    const cursorOptions = parseCursor(options);
    const rows = prepared(call, namespace)();
    const { batchSize } = cursorOptions;
    const shown =
      namespace.collection === ''
        ? `${namespace.database}.$cmd.aggregate`
        : `${namespace.database}.${namespace.collection}`;
    return openCursor(call, rows, shown, { batchSize, isSingleBatch: false });
  },
};

/** Refuses a pipeline that could not run. */
export function checkPipeline(call: Call): void {
  const cursor = call.args.optionalDocument('cursor');
  if (cursor !== undefined) parseCursor(cursor);
  if (call.body.get('apiStrict') === true)
    throw new MongoError('APIStrictError', "the option 'explain' is not in API Version 1");
  prepared(call, namespaceOf(call));
}

/** The pipeline after parsing; nothing is read yet. */
function prepared(call: Call, namespace: Namespace): () => Rows {
  const { args } = call;
  const pipeline = args.optionalList('pipeline');
  if (pipeline === undefined)
    throw new MongoError(
      'IDLFailedToParse',
      "BSON field 'aggregate.pipeline' is missing but a required field",
    );
  const collection =
    namespace.collection === '' ? undefined : findCollection(call.context.service, namespace);
  const { expression: expressions } = contextOf(call, collection);
  const host = pipelineHost(call);
  checkConcern(call.body, pipeline);
  if (call.store.isTransaction) checkInTransaction(pipeline);
  if (call.body.get('apiStrict') === true) checkStable(pipeline);
  const covered = coveredBy(call, collection, pipeline);
  const context = {
    expressions,
    namespace,
    depth: 0,
    host,
    parse: parsePipeline,
    covered,
    hint: call.body.get('hint'),
    meter: meterOf(call),
  };
  const run = host.prepare(namespace, pipeline, context);
  checkTarget(pipeline, namespace);
  return run;
}

/** Stages that read or write beside the transaction. */
const OUTSIDE: ReadonlySet<string> = new Set([
  '$changeStream',
  '$collStats',
  '$currentOp',
  '$indexStats',
  '$listLocalSessions',
  '$listSessions',
  '$merge',
  '$out',
  '$planCacheStats',
  '$unionWith',
]);

function checkInTransaction(pipeline: readonly Bson[]): void {
  for (const stage of pipeline)
    for (const name of isDocument(stage) ? stage.keys() : [])
      if (OUTSIDE.has(name))
        throw new MongoError(
          'OperationNotSupportedInTransaction',
          `Stage not supported inside of a multi-document transaction: ${name}`,
        );
}

/** Undefined where nobody asked what the stages cost. */
function meterOf({ context, meter }: Call): StepMeter | undefined {
  const { trace } = context.service;
  if (!trace.isOn) return undefined;
  const steps = new StepMeter(() => meter.charge);
  trace.noteSteps(() => steps.steps());
  return steps;
}

/** A pipeline of a database names the number 1 instead of a collection. */
function namespaceOf({ args, body, name, database }: Call): Namespace {
  const target = body.get(name);
  if (typeof target === 'string') return parseNamespace(database, args.text(name));
  if (!isNumber(target))
    throw new MongoError('InvalidNamespace', 'collection name has invalid type');
  if (doubleOf(target as Bson) !== 1)
    throw new MongoError(
      'BadValue',
      "Invalid command format: the 'aggregate' field must specify a collection name or 1",
    );
  return { database, collection: '' };
}

/** The options of the cursor: how many documents the first batch has. */
function parseCursor(options: BsonDocument): { readonly batchSize: number } {
  for (const name of options.keys())
    if (name !== 'batchSize')
      throw new MongoError('IDLUnknownField', `BSON field 'cursor.${name}' is an unknown field.`);
  const sent = options.get('batchSize') ?? null;
  if (sent === null) return { batchSize: FIRST_BATCH_DOCUMENTS };
  if (!isNumber(sent))
    throw new MongoError(
      'TypeMismatch',
      `BSON field 'cursor.batchSize' is the wrong type '${bsonTypeOf(sent)}', expected types '[long, int, decimal, double]'`,
    );
  const batchSize = wholeOf(sent);
  if (batchSize < 0)
    throw new MongoError(
      'BadValue',
      `BSON field 'batchSize' value must be >= 0, actual value '${batchSize}'`,
    );
  return { batchSize };
}

/** Stages that read a collection are refused without one. */
function checkTarget(pipeline: readonly Bson[], { collection }: Namespace): void {
  if (collection !== '') return;
  const [first] = pipeline;
  const name = isDocument(first) ? [...first.keys()][0] : undefined;
  const scope = name === undefined ? undefined : STAGES.get(name)?.scope;
  if (scope !== undefined || name === '$changeStream') return;
  throw new MongoError(
    'InvalidNamespace',
    '{aggregate: 1} is not valid for an empty pipeline, or for a pipeline that begins with a stage that reads a collection.',
  );
}

/** What the documents of a hinted index have in common. */
function coveredBy(
  { body }: Call,
  collection: Collection | undefined,
  pipeline: readonly Bson[],
): DocumentTest | undefined {
  const hint = body.get('hint');
  if (hint === undefined) return undefined;
  const first = isDocument(pipeline[0]) ? pipeline[0].get('$match') : undefined;
  const filter = parseFilter(isDocument(first) ? splitExpressions(first).filter : new Map());
  checkTextHint(filter, hint);
  if (
    isDocument(pipeline[0]) &&
    pipeline[0].has('$geoNear') &&
    isDocument(hint) &&
    hint.has('$natural')
  )
    throw new MongoError('BadValue', '$geoNear cannot be combined with a hint of $natural');
  return checkHint(collection, hint, filter, true);
}

/** Stages about the server itself read what is, and not what a majority has. */
const LOCAL_STAGES = ['$currentOp', '$listLocalSessions', '$planCacheStats', '$listClusterCatalog'];

function checkConcern(body: BsonDocument, pipeline: readonly Bson[]): void {
  const concern = body.get('readConcern');
  const level = isDocument(concern) ? (concern.get('level') ?? 'local') : 'local';
  if (level === 'local') return;
  const has = (name: string): boolean =>
    pipeline.some((stage) => isDocument(stage) && stage.has(name));
  const local = LOCAL_STAGES.find(has);
  const writes = level === 'linearizable' ? ['$out', '$merge'].find(has) : undefined;
  if (local !== undefined || writes !== undefined)
    throw new MongoError(
      'InvalidOptions',
      `Aggregation stage ${local ?? writes} cannot run with a readConcern other than 'local', or in a multi-document transaction. Current readConcern: ${String(level)}`,
    );
}

const UNSTABLE_STAGES = [
  '$currentOp',
  '$indexStats',
  '$listLocalSessions',
  '$listSessions',
  '$planCacheStats',
  '$search',
];

/** Stages that version 1 of the Stable API lacks. */
function checkStable(pipeline: readonly Bson[]): void {
  for (const stage of pipeline) {
    if (!isDocument(stage)) continue;
    const [name = ''] = stage.keys();
    const options = stage.get('$collStats');
    const isPartly = isDocument(options) && [...options.keys()].some((each) => each !== 'count');
    if (isPartly || UNSTABLE_STAGES.includes(name))
      throw new MongoError('APIStrictError', `stage ${name} is not allowed with 'apiStrict: true'`);
  }
}
