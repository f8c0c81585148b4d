/** The access path of a query, in the words of MongoDB's plans. */
import { type Bson, type BsonDocument, compareBson, isDocument } from '../../../value/index.ts';
import type { Call } from '../call.ts';
import type { Collection } from '../collections/collection.ts';
import { addressIn } from '../documents/address.ts';
import { checkIndexes } from '../documents/find-documents.ts';
import { fieldIndex, nearIndex } from '../indexes/chosen-index.ts';
import { usedIndexes } from '../indexes/computed/computed-indexes.ts';
import type { MongoIndex } from '../indexes/index-spec.ts';
import { planOrder } from '../indexes/order-plan.ts';
import { type CompareBson, parseCollation } from '../query/collation.ts';
import { conjuncts, type Filter, nearOf } from '../query/filter.ts';
import { parseFilter } from '../query/filter-parser.ts';
import { parseSort } from '../query/sort.ts';
import { planShapeHash } from '../query-shapes/plan-shape.ts';
import { documentOf } from '../reply.ts';
import { countPlan, distinctPlan, type FoldedPlan } from './folded-plan.ts';
import { collectionSizes } from './sizes.ts';

export interface ExplainedQuery {
  readonly kind: string;
  readonly filter: BsonDocument;
  readonly sort: Bson | undefined;
  readonly projection: Bson | undefined;
  readonly limit: Bson | undefined;
  readonly skip: Bson | undefined;
  readonly hint: Bson | undefined;
  readonly collation: Bson | undefined;
  /** The field of `distinct`. */
  readonly key?: string | undefined;
  /** Set where a pipeline begins with a group: whether it does no more than count. */
  readonly group?: { readonly isCount: boolean } | undefined;
  readonly stages: readonly Bson[];
  /** The indexes that may be used, by name or key; all where it is missing. */
  readonly allowed?: readonly Bson[] | undefined;
}

interface ExplainedPlan {
  readonly winning: BsonDocument;
  readonly usesIndex: boolean;
  /** Documents of the collection. */
  readonly documents: number;
  readonly hash: string;
}

export async function explainedPlan(
  call: Call,
  collection: Collection | undefined,
  query: ExplainedQuery,
): Promise<ExplainedPlan> {
  const hash = planShapeHash(query);
  if (collection === undefined)
    return { winning: stage('EOF'), usesIndex: false, documents: 0, hash };
  const { count } = await collectionSizes(call.context.service, collection);
  const folded = await foldedPlan(call, collection, query);
  if (folded !== undefined)
    return { winning: foldedStages(folded, query), usesIndex: true, documents: count, hash };
  const ordered = orderedAccess(collection, query);
  const access =
    ordered ?? accessOf(collection, query.filter, query.allowed, compareOf(collection, query));
  let plan = access.plan;
  if (ordered === undefined && isDocument(query.sort) && query.sort.size > 0)
    plan = stage('SORT', {
      sortPattern: query.sort,
      memLimit: 104_857_600,
      type: 'simple',
      inputStage: plan,
    });
  if (isNonZero(query.skip))
    plan = stage('SKIP', { skipAmount: query.skip as Bson, inputStage: plan });
  if (isNonZero(query.limit))
    plan = stage('LIMIT', { limitAmount: query.limit as Bson, inputStage: plan });
  if (isDocument(query.projection) && query.projection.size > 0)
    plan = stage('PROJECTION_DEFAULT', { transformBy: query.projection, inputStage: plan });
  if (query.kind === 'count') plan = stage('COUNT', { inputStage: plan });
  if (query.group !== undefined) plan = stage('GROUP', { inputStage: plan });
  if (query.kind === 'update' || query.kind === 'findAndModify')
    plan = stage('UPDATE', { inputStage: plan });
  if (query.kind === 'delete') plan = stage('DELETE', { inputStage: plan });
  return { winning: plan, usesIndex: access.usesIndex, documents: count, hash };
}

/** The plan of a command that reads no documents, or one for each value. */
function foldedPlan(
  call: Call,
  collection: Collection,
  { kind, filter, hint, collation, allowed, key, group, sort }: ExplainedQuery,
): Promise<FoldedPlan | undefined> | undefined {
  const isPlain = hint === undefined && allowed === undefined && sort === undefined;
  if (!isPlain || isDocument(collation) || collection.options.has('collation')) return undefined;
  if (kind === 'distinct' && key !== undefined && filter.size === 0)
    return distinctPlan(call, collection, key);
  if (kind !== 'count' && group?.isCount !== true) return undefined;
  return countPlan(call, collection, parseFilter(filter));
}

function foldedStages(folded: FoldedPlan, { kind, key = '' }: ExplainedQuery): BsonDocument {
  if (folded.kind === 'distinctScan')
    return stage('PROJECTION_COVERED', {
      transformBy: new Map([
        ['_id', 0],
        [key, 1],
      ]),
      inputStage: indexScan(folded.index, false, 'DISTINCT_SCAN'),
    });
  const counted =
    folded.kind === 'countAll'
      ? stage('RECORD_STORE_FAST_COUNT')
      : indexScan(folded.index, false, 'COUNT_SCAN');
  if (kind !== 'count') return stage('GROUP', { inputStage: counted });
  return folded.kind === 'countAll' ? counted : stage('COUNT', { inputStage: counted });
}

function accessOf(
  collection: Collection,
  sent: BsonDocument,
  allowed: readonly Bson[] | undefined,
  compare: CompareBson,
): { readonly plan: BsonDocument; readonly usesIndex: boolean } {
  const filter = parseFilter(sent);
  if (addressIn(collection, filter) !== undefined) {
    const plan = stage('IDHACK', { keyPattern: documentOf({ _id: 1 }), indexName: '_id_' });
    return {
      plan: collection.options.has('clusteredIndex') ? stage('CLUSTERED_IXSCAN') : plan,
      usesIndex: true,
    };
  }
  const special = specialAccess(collection, filter, sent, allowed, compare);
  if (special !== undefined) return { plan: special, usesIndex: true };
  const index = fieldIndex(collection, filter, (each) => isAllowed(each, allowed));
  if (index === undefined)
    return { plan: stage('COLLSCAN', { filter: sent, direction: 'forward' }), usesIndex: false };
  return { plan: fetched(indexScan(index, false), sent), usesIndex: true };
}

function isAllowed({ name, key }: MongoIndex, allowed: readonly Bson[] | undefined): boolean {
  return (
    allowed === undefined || allowed.some((one) => one === name || compareBson(one, key) === 0)
  );
}

/** A search of texts, an order by distance, or an index that knows where the documents of the filter are. */
function specialAccess(
  collection: Collection,
  filter: Filter,
  sent: BsonDocument,
  allowed: readonly Bson[] | undefined,
  compare: CompareBson,
): BsonDocument | undefined {
  const near = nearOf(filter);
  if (near !== undefined) {
    const index = nearIndex(collection, filter);
    if (index === undefined) return undefined;
    const kind = index.key.get(near.path.join('.'));
    const name = kind === '2d' ? 'GEO_NEAR_2D' : 'GEO_NEAR_2DSPHERE';
    const { key, name: indexName } = index;
    return stage(name, { keyPattern: key, indexName, indexVersion: 2, inputStages: [] });
  }
  checkIndexes(collection, filter);
  const [used] = usedIndexes(collection, conjuncts(filter), compare).filter(({ index }) =>
    isAllowed(index, allowed),
  );
  if (used === undefined) return undefined;
  const plan = fetched(indexScan(used.index, false), sent);
  const { name, key } = used.index;
  return key.has('_fts')
    ? stage('TEXT_MATCH', {
        indexPrefix: new Map(),
        indexName: name,
        textIndexVersion: 3,
        inputStage: plan,
      })
    : plan;
}

/** The index that the sort is read from; undefined where rows are sorted in memory. */
function orderedAccess(
  collection: Collection,
  { filter: sent, sort, hint, collation, allowed }: ExplainedQuery,
): ReturnType<typeof accessOf> | undefined {
  if (!isDocument(sort) || sort.size === 0 || allowed !== undefined) return undefined;
  if (isDocument(collation) || collection.options.has('collation')) return undefined;
  const filter = parseFilter(sent);
  if (addressIn(collection, filter) !== undefined) return undefined;
  const plan = planOrder(collection, filter, { parts: parseSort(sort) }, hint);
  if (plan === undefined) return undefined;
  const scan =
    plan.kind === 'index'
      ? indexScan(plan.index, plan.isBackwards)
      : stage('IXSCAN', {
          keyPattern: documentOf({ _id: 1 }),
          indexName: '_id_',
          isUnique: true,
          direction: plan.isReversed ? 'backward' : 'forward',
        });
  return { plan: fetched(scan, sent), usesIndex: true };
}

function fetched(scan: BsonDocument, filter: BsonDocument): BsonDocument {
  return stage('FETCH', { filter, inputStage: scan });
}

function indexScan(
  { key, name: indexName, spec, definition }: MongoIndex,
  isBackwards: boolean,
  name = 'IXSCAN',
): BsonDocument {
  return stage(name, {
    keyPattern: key,
    indexName,
    isMultiKey: definition.isMultikey === true,
    isUnique: definition.unique !== undefined,
    isSparse: definition.isSparse === true,
    isPartial: spec.has('partialFilterExpression'),
    indexVersion: 2,
    direction: isBackwards ? 'backward' : 'forward',
  });
}

function stage(name: string, fields: Readonly<Record<string, Bson>> = {}): BsonDocument {
  return documentOf({ stage: name, ...fields });
}

function compareOf(collection: Collection, { collation }: ExplainedQuery): CompareBson {
  const sent = isDocument(collation) ? collation : collection.options.get('collation');
  return (isDocument(sent) ? parseCollation(sent)?.compare : undefined) ?? compareBson;
}

function isNonZero(value: Bson | undefined): boolean {
  return (
    value !== undefined &&
    value !== null &&
    Number((value as { value?: number }).value ?? value) !== 0
  );
}
