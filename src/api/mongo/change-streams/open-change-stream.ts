/** Opens a change stream: an `aggregate` whose first stage is `$changeStream`. */
import { type Bson, type BsonDocument, isDocument } from '../../../value/index.ts';
import { expressionContext } from '../aggregate/index.ts';
import { pipelineHost } from '../aggregate/pipeline/host.ts';
import { parsePipeline } from '../aggregate/pipeline/parse.ts';
import { wholeNumber } from '../bson/arithmetic.ts';
import type { Call, Reply } from '../call.ts';
import { timestampOf } from '../cluster-clock.ts';
import { watchDatabase } from '../collections/collection.ts';
import { LiveCursor } from '../cursors/live-cursor.ts';
import { firstBatch, originOf } from '../cursors/open-cursor.ts';
import { MongoError } from '../errors.ts';
import { FIRST_BATCH_DOCUMENTS } from '../limits.ts';
import { ChangeStream } from './change-stream.ts';
import { parseStreamOptions, SPLIT, type StreamOptions } from './options.ts';

const ADMIN = 'admin';

/** Stages that keep one event one event (documented). */
const ALLOWED: ReadonlySet<string> = new Set([
  '$addFields',
  '$match',
  '$project',
  '$redact',
  '$replaceRoot',
  '$replaceWith',
  '$set',
  '$unset',
]);

export async function openChangeStream(call: Call, argument: Bson): Promise<Reply> {
  const { args, context, body, name } = call;
  if (body.get('autocommit') === false)
    throw new MongoError(
      'OperationNotSupportedInTransaction',
      '$changeStream cannot be used in a transaction',
    );
  const options = parseStreamOptions(call, argument);
  const sent = args.optionalDocument('cursor');
  if (sent === undefined)
    throw new MongoError(
      'FailedToParse',
      "The 'cursor' option is required, except for aggregate with the explain argument",
    );
  const stages = ((body.get('pipeline') as readonly Bson[]) ?? []).slice(1);
  for (const stage of stages) checkStage(stage);
  const namespace = { database: options.database ?? ADMIN, collection: options.collection ?? '' };
  const run = parsePipeline(
    stages.filter((stage) => !(isDocument(stage) && stage.has(SPLIT))),
    {
      expressions: {
        ...expressionContext(context.service.clock.nowMs(), new Map()),
        clusterTime: timestampOf(context.clusterClock.time),
      },
      namespace,
      depth: 0,
      host: pipelineHost(call),
      parse: parsePipeline,
    },
  );
  const stream = new ChangeStream(call, options, run);
  await stream.noteStart();
  await watch(call, options);
  await stream.open();
  const target = body.get(name);
  const shown = `${namespace.database}.${typeof target === 'string' ? target : '$cmd.aggregate'}`;
  const cursor = new LiveCursor(stream, { ...originOf(call, shown), activity: context.activity });
  const batchSize = wholeNumber(sent.get('batchSize')) ?? FIRST_BATCH_DOCUMENTS;
  return firstBatch(call, cursor, { batchSize, isSingleBatch: false });
}

/** Collections that are made later must keep versions from their first write on. */
async function watch({ context }: Call, { database, collection }: StreamOptions): Promise<void> {
  if (collection === undefined || database === undefined)
    await watchDatabase(context.service, database ?? ADMIN);
  else {
    const record = context.service.databases.find(database);
    const exists = record && context.service.containers.find(record, collection) !== undefined;
    if (exists !== true) await watchDatabase(context.service, database);
  }
}

function checkStage(stage: Bson): void {
  const [name = ''] = isDocument(stage) ? stage.keys() : [];
  if (ALLOWED.has(name) || name === SPLIT || !KNOWN_STAGE.test(name)) {
    if (name !== '$fill' || isPlainFill((stage as BsonDocument).get(name))) return;
  }
  throw new MongoError('IllegalOperation', `${name} is not permitted in a $changeStream pipeline`);
}

/** Values that are filled in need the document alone; methods need those around it. */
function isPlainFill(argument: Bson | undefined): boolean {
  const output = isDocument(argument) ? argument.get('output') : undefined;
  const fields = isDocument(output) ? [...output.values()] : [];
  return fields.every((field) => !isDocument(field) || !field.has('method'));
}

const KNOWN_STAGE =
  /^\$(?:group|sort|limit|skip|lookup|graphLookup|facet|bucket|bucketAuto|count|out|merge|unwind|unionWith|sample|sortByCount|geoNear|densify|setWindowFields|collStats|indexStats|documents|changeStream)$/;
