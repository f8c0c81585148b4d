/** The documents of a collection that a filter matches, as a stream. */

import { ANYTHING, NotInOrder } from '../../../query/index.ts';
import type { ItemAddress } from '../../../service/index.ts';
import { type Bson, compareBson } from '../../../value/index.ts';
import type { Collection } from '../collections/collection.ts';
import { namespaceText } from '../collections/namespace.ts';
import { MongoError } from '../errors.ts';
import { chosenIndex } from '../indexes/chosen-index.ts';
import { computedCondition, usedIndexes } from '../indexes/computed/computed-indexes.ts';
import { exactLimits } from '../indexes/exact-limits.ts';
import { filterCondition } from '../indexes/filter-condition.ts';
import { idBounds, idsIn, isClustered, isIndexed, isInIdOrder } from '../indexes/id-access.ts';
import { hasGeoIndex, hasTextIndex, textFields } from '../indexes/index-spec.ts';
import { planOrder } from '../indexes/order-plan.ts';
import { sortKey } from '../indexes/sort-keys.ts';
import { isTextPlanned } from '../indexes/text-plan.ts';
import type { CompareBson } from '../query/collation.ts';
import {
  conjuncts,
  type Filter,
  fieldsOf,
  nearOf,
  type ScriptedFilter,
  scriptedParts,
  textOf,
} from '../query/filter.ts';
import { compileFilter, withinLimits } from '../query/filter-test.ts';
import type { FieldPath } from '../query/path.ts';
import { Sort } from '../query/sort.ts';
import { addressIn, idKey, partitionKeyIn } from './address.ts';
import type { DocumentFold } from './folds.ts';
import { nearRows } from './near-rows.ts';
import type { Holding } from './pieces.ts';
import { matching, newSortFold, Row, type Rows, readerOf, sorted } from './rows.ts';
import type { DocumentStore, FindRequest, FoldRequest } from './store.ts';

export interface FindOptions {
  /** The order of the collation; the simple one where it is missing. */
  readonly compare?: CompareBson | undefined;
  readonly hint?: Bson | undefined;
  /** True where the use of the index is counted already. */
  readonly isCounted?: boolean;
}

export interface SortOptions extends FindOptions {
  readonly sort: Sort;
  /** How many of the first rows are needed. */
  readonly wanted: number;
  readonly memory?: Holding;
  /** True where it must be known which documents they are. */
  readonly keepsRows?: boolean | undefined;
  /** True where rows may come in any order if memory does not suffice to sort them. */
  readonly isOptional?: boolean | undefined;
}

/** The same in the order of a sort: read from an index that has it, or sorted in memory. */
export function sortedDocuments(
  store: DocumentStore,
  collection: Collection,
  filter: Filter,
  options: SortOptions,
): Rows {
  const { sort, wanted, compare = compareBson, hint, isOptional } = options;
  noteIndex(store, collection, filter, options);
  const counted = { ...options, isCounted: true };
  const inMemory = (): Rows => {
    const rows = sortedInMemory(store, collection, filter, counted);
    if (isOptional !== true) return rows;
    return orElse(rows, () => findDocuments(store, collection, filter, counted), isTooMuch);
  };
  const plan = compare === compareBson ? planOrder(collection, filter, sort, hint) : undefined;
  if (plan === undefined || store.isTransaction) return inMemory();
  const isEverything = filter.kind === 'and' && filter.of.length === 0;
  const test = isEverything ? undefined : withinLimits(compileFilter(filter, compare));
  const names = fieldsOf(filter);
  if (plan.kind === 'id') {
    const rows = store.scan(collection, { ...plan, wanted });
    const read = readerOf(names);
    return test === undefined ? rows : matching(rows, test, read);
  }
  const keys = new Sort(plan.parts);
  const request: FindRequest = {
    partitionKey: collection.shardKey && partitionKeyIn(collection, filter),
    condition: filterCondition(filter),
    test,
    read: readerOf(names && new Set([...names, ...(keys.fields as ReadonlySet<string>)])),
    order: {
      order: plan.order,
      keysOf: (document) => keys.keyOf(document).map(sortKey),
      take: wanted,
    },
  };
  return orElse(store.find(collection, request), inMemory, (error) => error instanceof NotInOrder);
}

function sortedInMemory(
  store: DocumentStore,
  collection: Collection,
  filter: Filter,
  { sort, wanted, memory, keepsRows, ...found }: SortOptions,
): Rows {
  const options = { wanted, memory, keepsRows, pause: () => store.pause() };
  const start = () => newSortFold(sort, options);
  const folded = foldDocuments(store, collection, filter, start, found);
  return folded === undefined
    ? sorted(findDocuments(store, collection, filter, found), sort, options)
    : rowsOfFold(folded);
}

/** What a fold has made, once it is asked for. */
export async function* rowsOfFold(folded: () => Promise<{ rows(): Rows }>): Rows {
  yield* (await folded()).rows();
}

/** Rows, or others where the first of them cannot be made. */
async function* orElse(
  rows: Rows,
  otherwise: () => Rows,
  isExpected: (error: unknown) => boolean,
): Rows {
  let first: Awaited<ReturnType<Rows['next']>>;
  try {
    first = await rows.next();
  } catch (error) {
    if (!isExpected(error)) throw error;
    yield* otherwise();
    return;
  }
  if (first.done === true) return;
  try {
    yield first.value;
    yield* rows;
  } finally {
    await rows.return();
  }
}

function isTooMuch(error: unknown): boolean {
  return (
    error instanceof MongoError && error.mongoCode === 'QueryExceededMemoryLimitNoDiskUseAllowed'
  );
}

export function findDocuments(
  store: DocumentStore,
  collection: Collection,
  filter: Filter,
  options: FindOptions = {},
): Rows {
  noteIndex(store, collection, filter, options);
  const access = accessOf(store, collection, filter, options);
  return access.kind === 'rows' ? access.rows : store.find(collection, access.request);
}

/**
 * A run that gives the documents of a filter to a fold where they are stored. Undefined where they have to come as a stream: in
 * transactions, where documents are named by `_id`, where functions of clients are called, and in an order of distance
 * or of a text search.
 * @param valuesOf - set where only the first document of each value under the path matters.
 */
export function foldDocuments<Fold extends DocumentFold>(
  store: DocumentStore,
  collection: Collection,
  filter: Filter,
  start: () => Fold,
  options: FindOptions & { readonly valuesOf?: FieldPath | undefined } = {},
): (() => Promise<Fold>) | undefined {
  const { fold } = store;
  if (fold === undefined || textOf(filter) !== undefined) return undefined;
  const access = accessOf(store, collection, filter, options);
  if (access.kind === 'rows') return undefined;
  noteIndex(store, collection, filter, options);
  const { request } = access;
  const isCollated = options.compare !== undefined && options.compare !== compareBson;
  const isFiltered = request.test !== undefined;
  const whole: FoldRequest = {
    ...request,
    exactLimits: isFiltered && !isCollated ? exactLimits(filter) : undefined,
    valuesOf: isFiltered || isCollated ? undefined : options.valuesOf,
  };
  return () => fold.call(store, collection, whole, start) as Promise<Fold>;
}

/** Counts the operation for the index that it finds its documents by. */
function noteIndex(
  store: DocumentStore,
  collection: Collection,
  filter: Filter,
  options: FindOptions & { readonly sort?: Sort },
): void {
  if (store.noteIndex === undefined || options.isCounted === true) return;
  const index = chosenIndex(collection, filter, options);
  if (index !== undefined) store.noteIndex(collection, index.id);
}

type Access =
  | { readonly kind: 'rows'; readonly rows: Rows }
  | { readonly kind: 'find'; readonly request: Omit<FindRequest, 'order'> };

/** How the documents of a filter are found; nothing is read yet. */
function accessOf(
  store: DocumentStore,
  collection: Collection,
  filter: Filter,
  { compare = compareBson }: FindOptions,
): Access {
  checkIndexes(collection, filter);
  const asRows = (rows: Rows): Access => ({ kind: 'rows', rows });
  const isEverything = filter.kind === 'and' && filter.of.length === 0;
  const test = isEverything ? undefined : withinLimits(compileFilter(filter, compare));
  const isCollated = compare !== compareBson;
  const address = isCollated ? undefined : addressIn(collection, filter);
  if (test !== undefined && scriptedParts(filter).length > 0)
    return asRows(matching(scripted(store, collection, filter, compare), test));
  if (address !== undefined && test !== undefined)
    return asRows(matching(readOne(store, collection, address), test));
  const byId = isCollated || test === undefined ? undefined : rowsById(store, collection, filter);
  if (byId !== undefined)
    return asRows(matching(byId, test as NonNullable<typeof test>, readerOf(fieldsOf(filter))));
  if (isClustered(collection) && !store.isTransaction && !isIndexed(collection, filter)) {
    const rows = store.scan(collection, EVERYTHING);
    const inOrder = test === undefined ? rows : matching(rows, test, readerOf(fieldsOf(filter)));
    if (nearOf(filter) === undefined) return asRows(inOrder);
  }
  const isSharded = collection.shardKey !== undefined && !isCollated;
  const partitionKey = isSharded ? partitionKeyIn(collection, filter) : undefined;
  const requestOf = (own: Filter): FindRequest => ({
    partitionKey,
    condition: filterCondition(own, isCollated, (parts) =>
      computedCondition(collection, parts, compare),
    ),
    test: own === filter ? test : compileFilter(own, compare),
    read: readerOf(fieldsOf(own)),
  });
  const near = nearOf(filter);
  if (near === undefined) return { kind: 'find', request: requestOf(filter) };
  const isRead = (part: Filter): boolean =>
    usedIndexes(collection, conjuncts(part), compare).length > 0;
  const find = (own: Filter): Rows => store.find(collection, requestOf(own));
  return asRows(nearRows(filter, near, { find, isRead }));
}

/** All documents in the order of their `_id`, which is the natural one of a clustered collection. */
const EVERYTHING = { rows: {}, isReversed: false, wanted: Number.POSITIVE_INFINITY };

/** The documents that the filter names by `_id`, or a range of them; undefined where it does neither. */
function rowsById(store: DocumentStore, collection: Collection, filter: Filter): Rows | undefined {
  if (!isInIdOrder(collection) || nearOf(filter) !== undefined) return undefined;
  const ids = idsIn(filter);
  if (ids !== undefined)
    return store.readMany(
      collection,
      ids.map((id) => [idKey(id)]),
    );
  const rows = idBounds(filter);
  const isBounded = rows.from !== undefined || rows.to !== undefined;
  if (!isBounded || store.isTransaction || isIndexed(collection, filter)) return undefined;
  return store.scan(collection, { rows, isReversed: false, wanted: Number.POSITIVE_INFINITY });
}

/** Text searches and orders by distance need an index of their kind. A text search learns what its index is about. */
export function checkIndexes(collection: Collection, filter: Filter): void {
  const text = textOf(filter);
  if (text !== undefined) {
    const fields = textFields(collection);
    if (fields === undefined)
      throw hasTextIndex(collection)
        ? new MongoError('NoQueryExecutionPlans', 'the text index of the collection is hidden')
        : new MongoError('IndexNotFound', 'text index required for $text query');
    text.bind(fields);
    if (!isTextPlanned(collection, filter, fields.leading))
      throw new MongoError(
        'NoQueryExecutionPlans',
        `error processing query: ns=${namespaceText(collection.namespace)}: failed to use text index to satisfy $text ` +
          'query (if text index is compound, are equality predicates given for all prefix fields?)',
      );
  }
  const near = nearOf(filter);
  if (near === undefined) return;
  const kinds =
    near.near.unit === 'plane' ? ['2d'] : near.near.isGeoJson ? ['2dsphere'] : ['2dsphere', '2d'];
  if (!hasGeoIndex(collection, near.path.join('.'), kinds))
    throw new MongoError(
      'NoQueryExecutionPlans',
      `error processing query: ns=${namespaceText(collection.namespace)}: unable to find index for $geoNear query`,
    );
}

/** The documents that pass what needs no function, prepared for the functions. */
function scripted(
  store: DocumentStore,
  collection: Collection,
  filter: Filter,
  compare: CompareBson,
): Rows {
  const parts = scriptedParts(filter);
  const plain: Filter = {
    kind: 'and',
    of: conjuncts(filter).filter((part) => scriptedParts(part).length === 0),
  };
  const rows =
    plain.of.length === 0
      ? store.find(collection, { partitionKey: undefined, condition: ANYTHING, test: undefined })
      : findDocuments(store, collection, plain, { compare, isCounted: true });
  const [{ calls }] = parts as readonly [ScriptedFilter];
  return calls.prepared(
    rows,
    parts.map(({ test }) => test),
  );
}

async function* readOne(store: DocumentStore, collection: Collection, address: ItemAddress): Rows {
  const item = await store.read(collection, address);
  if (item !== undefined) yield [Row.ofBody(item.body, item.rid)];
}

/** True where the filter asks for nothing but one `_id`: then a stored document need not be decoded. */
export function asksForIdOnly(filter: Filter): boolean {
  const parts = conjuncts(filter);
  const [only] = parts;
  return (
    parts.length === 1 &&
    only?.kind === 'field' &&
    only.test.kind === 'eq' &&
    only.path.length === 1 &&
    only.path[0] === '_id'
  );
}
