/** Finds documents and opens a cursor on them. */
import { andThen, type MaybePromise } from '../../../../base/index.ts';
import type { Bson } from '../../../../value/index.ts';
import type { Call, Command, Reply } from '../../call.ts';
import { type Collection, findCollection } from '../../collections/collection.ts';
import { namespaceText } from '../../collections/namespace.ts';
import { namespaceOf } from '../../collections/target.ts';
import { batchReply, Cursor } from '../../cursors/cursor.ts';
import { firstBatch, originOf } from '../../cursors/open-cursor.ts';
import { addressIn } from '../../documents/address.ts';
import { asksForIdOnly, findDocuments, sortedDocuments } from '../../documents/find-documents.ts';
import { limited, matching, projected, type Rows, skipping } from '../../documents/rows.ts';
import { MongoError } from '../../errors.ts';
import { ID_INDEX_ID } from '../../indexes/chosen-index.ts';
import { hintedOrder } from '../../indexes/hinted-order.ts';
import { FIRST_BATCH_DOCUMENTS } from '../../limits.ts';
import { withFound } from '../../metadata/found-metadata.ts';
import { unavailable } from '../../metadata/metadata-scope.ts';
import { type Filter, nearOf, textOf } from '../../query/filter.ts';
import { parseFilter } from '../../query/filter-parser.ts';
import type { DocumentTest } from '../../query/filter-test.ts';
import type { QueryContext } from '../../query/query-context.ts';
import { parseSort, Sort, type SortPart } from '../../query/sort.ts';
import { parseBounds } from './index-bounds.ts';
import { checkHint, checkTextHint, contextOf } from './query-arguments.ts';
import { parseShown, type ShownDocuments, sourceOf } from './shown-documents.ts';

interface FindArguments extends ShownDocuments {
  readonly filter: Filter;
  readonly context: QueryContext;
  readonly sort: Sort;
  /** The order of the hinted index, where none is asked for. */
  readonly scanOrder: Sort | undefined;
  /** What the index that the hint names has, between `min` and `max`. */
  readonly between: DocumentTest | undefined;
  readonly hint: Bson | undefined;
  readonly skip: number;
  /** 0: all. */
  readonly limit: number;
  readonly batchSize: number;
  readonly isSingleBatch: boolean;
}

export const find: Command = {
  needs: 'read',
  fields: {
    filter: 'object',
    sort: 'object',
    projection: 'object',
    hint: 'any',
    skip: 'count',
    limit: 'count',
    batchSize: 'count',
    singleBatch: 'flag',
    allowDiskUse: 'bool',
    min: 'object',
    max: 'object',
    returnKey: 'flag',
    showRecordId: 'flag',
    tailable: 'flag',
    awaitData: 'flag',
    oplogReplay: 'flag',
    noCursorTimeout: 'flag',
    allowPartialResults: 'flag',
    mirrored: 'flag',
    collation: 'object',
    let: 'object',
    options: 'int',
    term: 'long',
    ntoreturn: 'count',
    includeQueryStatsMetrics: 'flag',
    querySettings: 'object',
    startAt: 'object',
    requestResumeToken: 'flag',
    resumeAfter: 'object',
  },
  run(call) {
    const namespace = namespaceOf(call);
    if (namespace.collection.startsWith('$'))
      throw new MongoError(
        'InvalidNamespace',
        `Invalid collection name specified '${namespaceText(namespace)}'`,
      );
    const collection = findCollection(call.context.service, namespace);
    const parsed = parseArguments(call, collection);
    const ns = namespaceText(namespace);
    if (collection === undefined)
      return batchReply({ name: 'firstBatch', id: 0n, namespace: ns, bodies: [] });
    if (isPointRead(parsed)) return pointRead(call, collection, parsed, ns);
    return openCursor(call, rowsOf(call, collection, parsed), ns, parsed);
  },
};

function parseArguments(call: Call, collection: Collection | undefined): FindArguments {
  const { args, body } = call;
  const context = contextOf(call, collection);
  const filter = parseFilter(args.optionalDocument('filter') ?? new Map(), context);
  const parts = parseSort(args.optionalDocument('sort') ?? new Map());
  checkSort(parts, filter);
  const sort = new Sort(parts, context.collation?.compare, textOf(filter));
  if (body.get('filter') === null)
    throw new MongoError(
      'TypeMismatch',
      "BSON field 'find.filter' is the wrong type 'null', expected type 'object'",
    );
  checkTailable(call, collection);
  checkTextHint(filter, body.get('hint'));
  const { shown, project, scripted } = parseShown(call, { context, filter, sort });
  return {
    filter,
    context,
    sort,
    shown,
    project,
    scripted,
    between: both(
      parseBounds(call, collection, context),
      checkHint(collection, body.get('hint'), filter),
    ),
    scanOrder: scanOrder(call, collection, filter, sort),
    hint: body.get('hint'),
    skip: args.optionalCount('skip') ?? 0,
    limit: args.optionalCount('limit') ?? 0,
    batchSize: args.optionalCount('batchSize') ?? FIRST_BATCH_DOCUMENTS,
    isSingleBatch: args.flag('singleBatch'),
  };
}

function checkSort(parts: readonly SortPart[], filter: Filter): void {
  for (const { meta } of parts) {
    if (meta === 'natural' && parts.length > 1)
      throw new MongoError('BadValue', "Cannot include '$natural' in compound sort");
    if (meta === 'natural' && textOf(filter) !== undefined)
      throw new MongoError('BadValue', 'text expression not allowed with a $natural sort order');
    if (meta === 'textScore' && textOf(filter) === undefined) throw unavailable(meta);
    if (meta === 'geoNearDistance' && nearOf(filter) === undefined) throw unavailable(meta);
  }
}

/** An order by distance is the order of its index. */
function scanOrder(
  { body }: Call,
  collection: Collection | undefined,
  filter: Filter,
  sort: Sort,
): Sort | undefined {
  if (collection === undefined || !sort.isEmpty || nearOf(filter) !== undefined) return undefined;
  return hintedOrder(collection, body.get('hint'));
}

/** Only capped collections have cursors that wait at their end. */
function checkTailable({ args }: Call, collection: Collection | undefined): void {
  const isTailable = args.flag('tailable');
  if (args.flag('awaitData') && !isTailable)
    throw new MongoError('FailedToParse', "Cannot set 'awaitData' without also setting 'tailable'");
  if (isTailable && collection !== undefined && collection.options.get('capped') !== true)
    throw new MongoError(
      'BadValue',
      `error processing query: ns=${namespaceText(collection.namespace)} tailable cursor requested on non capped collection`,
    );
}

/** Documents that pass both tests, where there are any. */
function both(a: DocumentTest | undefined, b: DocumentTest | undefined): DocumentTest | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return (document) => a(document) && b(document);
}

function isPointRead({
  filter,
  project,
  skip,
  batchSize,
  context,
  between,
}: FindArguments): boolean {
  const isPlain = project === undefined && context.collation === undefined && between === undefined;
  return isPlain && skip === 0 && batchSize > 0 && asksForIdOnly(filter);
}

/** One document by `_id`: its stored bytes are the reply, and nothing is decoded. */
function pointRead(
  { store, meter }: Call,
  collection: Collection,
  { filter }: FindArguments,
  namespace: string,
): MaybePromise<Reply> {
  const address = addressIn(collection, filter);
  if (address !== undefined) {
    store.noteIndex?.(collection, ID_INDEX_ID);
    return andThen(store.read(collection, address), (item) => {
      const bodies = item === undefined ? [] : [item.body];
      return batchReply({ name: 'firstBatch', id: 0n, namespace, bodies });
    });
  }
  const rows = findDocuments(store, collection, filter);
  const cursor = new Cursor(rows, { namespace, origin: 'find', meter });
  return cursor
    .next(Number.POSITIVE_INFINITY)
    .then((bodies) => batchReply({ name: 'firstBatch', id: 0n, namespace, bodies }));
}

function rowsOf({ store, meter }: Call, collection: Collection, parsed: FindArguments): Rows {
  const { filter, skip, limit, project, between, hint, scanOrder, shown } = parsed;
  const sort = scanOrder ?? parsed.sort;
  const { compare } = parsed.context.expression;
  // What a hint leaves out is dropped behind the order, so that nobody knows how many rows are needed.
  const isWhole = limit === 0 || between !== undefined;
  const wanted = isWhole ? Number.POSITIVE_INFINITY : skip + limit;
  let rows = sort.isEmpty
    ? findDocuments(store, collection, filter, { compare, hint })
    : sortedDocuments(store, collection, filter, {
        ...{ compare, sort, wanted, hint, memory: meter },
        ...{ keepsRows: shown?.wants(), isOptional: scanOrder !== undefined },
      });
  if (between !== undefined) rows = matching(rows, between);
  if (skip > 0) rows = skipping(rows, skip);
  if (limit > 0) rows = limited(rows, limit);
  if (project === undefined) return rows;
  if (shown?.wants() === true) rows = withFound(rows, sourceOf(collection, parsed, shown));
  const { scripts } = parsed.context.expression;
  const { scripted } = parsed;
  if (scripts !== undefined && scripted.length > 0) rows = scripts.prepared(rows, scripted);
  return projected(rows, project);
}

/** The first batch, and a cursor where there may be more. */
export function openCursor(
  call: Call,
  rows: Rows,
  namespace: string,
  batch: Pick<FindArguments, 'batchSize' | 'isSingleBatch'>,
): Promise<Reply> {
  return firstBatch(call, new Cursor(rows, originOf(call, namespace)), batch);
}
