/** Commands on views: reads become pipelines over the collection below, everything else is refused. */
import type { MaybePromise } from '../../../base/index.ts';
import {
  type Bson,
  type BsonDocument,
  isArray,
  isDocument,
  readBson,
} from '../../../value/index.ts';
import { Arguments } from '../bson/arguments.ts';
import type { Call, Command, Reply } from '../call.ts';
import { findCollection, isView } from '../collections/collection.ts';
import { namespaceText } from '../collections/namespace.ts';
import { MongoError } from '../errors.ts';
import { SIMPLE, sameCollation } from '../query/collation.ts';
import { documentOf, ok } from '../reply.ts';
import { systemView } from './system-views.ts';
import { resolveView, type View, viewCollation } from './view.ts';

/** Commands that change or describe stored documents or indexes. */
const REFUSED: ReadonlySet<string> = new Set([
  'cloneCollectionAsCapped',
  'collStats',
  'compact',
  'convertToCapped',
  'createIndexes',
  'dataSize',
  'delete',
  'deleteIndexes',
  'dropIndexes',
  'findAndModify',
  'findandmodify',
  'insert',
  'listIndexes',
  'reIndex',
  'update',
  'validate',
]);
const READS: ReadonlySet<string> = new Set(['aggregate', 'count', 'distinct', 'find']);

/** Undefined where the command is not on a view. */
export function viewOf(call: Call): View | undefined {
  const { context, name, body, database } = call;
  if (!READS.has(name) && !REFUSED.has(name)) return undefined;
  const collection = body.get(name);
  if (typeof collection !== 'string' || !database) return undefined;
  const found = findCollection(context.service, { database, collection });
  if (found !== undefined) return isView(found) ? found : undefined;
  return READS.has(name) ? systemView(call, { database, collection }) : undefined;
}

/** @param aggregate - the command that runs pipelines. */
export function runOnView(call: Call, view: View, aggregate: Command): MaybePromise<Reply> {
  const text = namespaceText(view.namespace);
  if (REFUSED.has(call.name))
    throw new MongoError(
      'CommandNotSupportedOnView',
      `Namespace ${text} is a view, not a collection`,
    );
  // Figures about a view are about its name, and are refused where it would have to store documents.
  if (isAboutName(call)) return aggregate.run(call);
  const { namespace, pipeline } = resolveView(call.context.service, view);
  const body = new Map<string, Bson>([
    ['aggregate', namespace.collection === '' ? 1 : namespace.collection],
    ['pipeline', [...pipeline, ...stagesOf(call)]],
    ['cursor', cursorOf(call)],
  ]);
  for (const name of [
    '$db',
    'lsid',
    'txnNumber',
    'autocommit',
    'let',
    'maxTimeMS',
    'allowDiskUse',
    'hint',
  ]) {
    const value = call.body.get(name);
    if (value !== undefined) body.set(name, value);
  }
  body.set('collation', collationOf(call, view));
  const inner = { ...call, name: 'aggregate', body, args: new Arguments('aggregate', body) };
  inner.cursorNamespace = text;
  const reply = Promise.resolve(aggregate.run(inner));
  if (call.name === 'count') return reply.then((done) => countReply(done));
  return call.name === 'distinct' ? reply.then((done) => distinctReply(done)) : reply;
}

/** The collation of the view, which a command may repeat and not change. */
function collationOf({ body }: Call, view: View): BsonDocument {
  const own = viewCollation(view) ?? SIMPLE;
  const sent = body.get('collation');
  if (isDocument(sent) && sent.size > 0 && !sameCollation(sent, own))
    throw new MongoError(
      'OptionNotSupportedOnView',
      `Cannot override a view's default collation${namespaceText(view.namespace)}`,
    );
  return own;
}

function isAboutName({ name, args }: Call): boolean {
  const [first] = (name === 'aggregate' ? args.optionalList('pipeline') : undefined) ?? [];
  return isDocument(first) && first.has('$collStats');
}

function stagesOf({ name, args, body }: Call): readonly Bson[] {
  if (name === 'aggregate') return args.optionalList('pipeline') ?? [];
  const stages: Bson[] = [];
  const add = (stage: string, value: Bson | undefined): void => {
    if (value !== undefined) stages.push(documentOf({ [stage]: value }));
  };
  const filter = body.get(name === 'find' ? 'filter' : 'query');
  if (isDocument(filter) && filter.size > 0) add('$match', filter);
  if (name === 'distinct') return [...stages, ...distinctStages(args.text('key'))];
  const sort = args.optionalDocument('sort');
  if (sort !== undefined && sort.size > 0) add('$sort', sort);
  const skip = args.optionalCount('skip') ?? 0;
  if (skip > 0) add('$skip', skip);
  const limit = Math.abs(Number(body.get('limit') ?? 0));
  if (limit > 0) add('$limit', limit);
  const projection = args.optionalDocument('projection');
  if (name === 'find' && projection !== undefined) checkProjection(projection);
  if (name === 'find' && projection !== undefined && projection.size > 0)
    add('$project', projection);
  if (name === 'count') add('$count', 'n');
  return stages;
}

/** A pipeline has no array projections of finds. */
function checkProjection(projection: BsonDocument): void {
  for (const value of projection.values())
    if (isDocument(value) && value.has('$elemMatch'))
      throw new MongoError(
        'InvalidPipelineOperator',
        "Invalid $project :: caused by :: Unrecognized expression '$elemMatch'",
      );
}

/** Arrays on the way to the field stand for their elements. */
function distinctStages(key: string): readonly Bson[] {
  const steps = key.split('.');
  const unwound = steps.map((_, at) =>
    documentOf({
      $unwind: documentOf({
        path: `$${steps.slice(0, at + 1).join('.')}`,
        preserveNullAndEmptyArrays: true,
      }),
    }),
  );
  return [
    ...unwound,
    documentOf({ $match: documentOf({ [key]: documentOf({ $exists: true }) }) }),
    documentOf({ $group: documentOf({ _id: `$${key}` }) }),
    documentOf({ $sort: documentOf({ _id: 1 }) }),
    documentOf({
      $group: documentOf({ _id: null, values: documentOf({ $push: '$_id' }) }),
    }),
  ];
}

function cursorOf({ name, args, body }: Call): BsonDocument {
  const own = name === 'aggregate' ? args.optionalDocument('cursor') : undefined;
  if (own !== undefined) return own;
  const size = name === 'find' ? body.get('batchSize') : undefined;
  return size === undefined ? documentOf({}) : documentOf({ batchSize: size });
}

function firstDocument(reply: Reply): BsonDocument | undefined {
  const document = reply instanceof Uint8Array ? readBson(reply) : reply;
  const cursor = document.get('cursor');
  const batch = isDocument(cursor) ? cursor.get('firstBatch') : undefined;
  const first = isArray(batch) ? batch[0] : undefined;
  return isDocument(first) ? first : undefined;
}

function countReply(reply: Reply): BsonDocument {
  return ok({ n: firstDocument(reply)?.get('n') ?? 0 });
}

/** MongoDB's router of views has an int32 here. */
function distinctReply(reply: Reply): BsonDocument {
  return documentOf({ values: firstDocument(reply)?.get('values') ?? [], ok: 1 });
}
