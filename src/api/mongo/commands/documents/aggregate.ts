/** Runs a pipeline and opens a cursor on its result. */
import { StepMeter } from '../../../../base/index.ts';
import {
  type Bson,
  type BsonDocument,
  bsonTypeOf,
  Extended,
  isDocument,
} from '../../../../value/index.ts';
import { pipelineHost } from '../../aggregate/pipeline/host.ts';
import { parsePipeline } from '../../aggregate/pipeline/parse.ts';
import { STAGES } from '../../aggregate/pipeline/stages.ts';
import { doubleOf, isNumber, wholeNumber } from '../../bson/arithmetic.ts';
import type { Call, Command } from '../../call.ts';
import { findCollection } from '../../collections/collection.ts';
import { type Namespace, parseNamespace } from '../../collections/namespace.ts';
import { MongoError } from '../../errors.ts';
import { FIRST_BATCH_DOCUMENTS } from '../../limits.ts';
import { openCursor } from './find.ts';
import { contextOf } from './query-arguments.ts';

export const aggregate: Command = {
  needs: 'read',
  fields: {
    pipeline: 'array!',
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
  },
  run(call) {
    const { args } = call;
    const namespace = namespaceOf(call);
    const options = args.optionalDocument('cursor');
    if (options === undefined)
      throw new MongoError(
        'FailedToParse',
        "The 'cursor' option is required, except for aggregate with the explain argument",
      );
    const cursorOptions = parseCursor(options);
    const pipeline = args.optionalList('pipeline');
    if (pipeline === undefined)
      throw new MongoError(
        'IDLFailedToParse',
        "BSON field 'aggregate.pipeline' is missing but a required field",
      );
    const collection =
      namespace.collection === '' ? undefined : findCollection(call.context.service, namespace);
    const { expression } = contextOf(call, collection);
    const { high, low } = call.context.clusterClock.time;
    const hasTime = call.context.topology !== 'standalone';
    const expressions = {
      ...expression,
      clusterTime: hasTime ? new Extended({ kind: 'timestamp', high, low }) : undefined,
    };
    const host = pipelineHost(call);
    const context = {
      expressions,
      namespace,
      depth: 0,
      host,
      parse: parsePipeline,
      meter: meterOf(call),
    };
    checkTarget(pipeline, namespace);
    const rows = host.open(namespace, pipeline, context);
    const { batchSize } = cursorOptions;
    const shown =
      namespace.collection === ''
        ? `${namespace.database}.$cmd.aggregate`
        : `${namespace.database}.${namespace.collection}`;
    return openCursor(call, rows, shown, { batchSize, isSingleBatch: false });
  },
};

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
  if (isDocument(target) || wholeNumber(target) !== 1)
    throw new MongoError(
      'FailedToParse',
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
  const batchSize = doubleOf(sent);
  if (batchSize < 0)
    throw new MongoError(
      'BadValue',
      `BSON field 'batchSize' value must be >= 0, actual value '${batchSize}'`,
    );
  return { batchSize: Math.trunc(batchSize) || 0 };
}

/** Stages that need no collection are refused on one, and all others without one. */
function checkTarget(pipeline: readonly Bson[], { collection }: Namespace): void {
  const [first] = pipeline;
  const name = isDocument(first) ? [...first.keys()][0] : undefined;
  const needsNone = name !== undefined && STAGES.get(name)?.needsNoCollection === true;
  if (
    collection === '' &&
    !needsNone &&
    name !== '$changeStream' &&
    (name === undefined || STAGES.has(name))
  )
    throw new MongoError(
      'InvalidNamespace',
      '{aggregate: 1} is not valid for an empty pipeline, or for a pipeline that begins with a stage that reads a collection.',
    );
  if (collection !== '' && needsNone && name !== '$listClusterCatalog')
    throw new MongoError(
      'InvalidNamespace',
      `${name} must be run against the database with {aggregate: 1}, not a collection`,
    );
}
