/** The rows of one partition in an order: from an index that has the order, or sorted in memory. */
import {
  andThen,
  concatBytes,
  DomainError,
  isPromise,
  type MaybePromise,
  QUERY_ROWS_MAX,
} from '../../base/index.ts';
import type { Path } from '../../value/index.ts';
import type { AccessPath } from '../candidates/access-path.ts';
import { type Batches, candidates } from '../candidates/candidates.ts';
import type { Condition } from '../condition/condition.ts';
import { limitsOf } from '../condition/limits.ts';
import { coversPaths } from '../condition/narrow.ts';
import { ofType } from '../condition/value-ranges.ts';
import type { Order } from '../executable-query.ts';
import { type AsyncRows, asyncRows } from '../page/async-rows.ts';
import type { Candidate, CompositeOrder, ItemReader } from '../reader.ts';
import { yieldToEventLoop } from '../yield.ts';
import { declaredEntries } from './declared-order.ts';
import {
  type OrderedEntries,
  type OrderedRequest,
  type OrderedRow,
  rowsOf,
} from './ordered-rows.ts';
import { isRepeated, placeComparison } from './row-order.ts';
import { indexRows } from './segments.ts';
import { TopRows } from './top-rows.ts';

/** The sorted rows behind `after`, in batches. */
export function orderedRows(
  request: OrderedRequest,
  access: AccessPath,
  entries: OrderedEntries | undefined,
): Batches<OrderedRow> {
  if (entries !== undefined && !isSortCheaper(request, access)) {
    request.stats.accessPaths.push(
      `${entries.text} in order${entries.isReverse ? ', backwards' : ''}`,
    );
    return indexRows(request, entries);
  }
  request.stats.accessPaths.push(
    `${access.kind === 'rids' ? access.text : access.kind}, then sort`,
  );
  return bySort(request, access);
}

/** True where the index that has the order applies the whole condition: then no other access path is better. */
export function findsAll({ parts, applied }: OrderedEntries, condition: Condition): boolean {
  return coversPaths(condition, applied ?? parts.map(({ path }) => path));
}

/** The index entries that have an order; undefined where no index has it. */
export function entriesInOrder(
  reader: ItemReader,
  order: Order,
  condition: Condition,
): MaybePromise<OrderedEntries | undefined> {
  if (order.index !== undefined) return declaredEntries(reader, order, order.index, condition);
  if (order.compare !== undefined) return undefined;
  if (order.collation !== 'bson') return entriesOf(reader, order, condition);
  const [part, ...others] = order.parts;
  if (part?.path === undefined || others.length > 0) return undefined;
  return andThen(hasArrays(reader, part.path), (isAmbiguous) =>
    isAmbiguous ? undefined : entriesOf(reader, order, condition),
  );
}

/**
 * True where some item may have an array at the path or above it. What such an item is sorted by only the dialect can
 * say, MongoDB by one of the elements, and the index of the path does not have it.
 */
function hasArrays(reader: ItemReader, path: Path, length = 1): MaybePromise<boolean> {
  if (length > path.length) return false;
  const terms = reader.termsOf(path.slice(0, length));
  if (terms === undefined) return true;
  const range = { start: concatBytes(terms, ARRAYS.start), end: concatBytes(terms, ARRAYS.end) };
  return andThen(
    reader.scanIndex(range, ONE_ENTRY),
    ({ entries }) => entries.length > 0 || hasArrays(reader, path, length + 1),
  );
}

const ARRAYS = ofType([]);
const ONE_ENTRY = { limit: 1, bytesMax: 4096 };

function entriesOf(
  reader: ItemReader,
  { parts }: Order,
  condition: Condition,
): OrderedEntries | undefined {
  if (parts.some(({ path }) => path === undefined)) return undefined;
  const prefix = parts.length === 1 ? reader.termsOf((parts[0] as CompositeOrder).path) : undefined;
  if (prefix !== undefined) {
    const { path, isDescending } = parts[0] as CompositeOrder;
    return (
      prefix && {
        prefix,
        parts: [{ path, isDescending: false }],
        isReverse: isDescending,
        composite: undefined,
        text: 'index',
      }
    );
  }
  const composite = reader.compositeOf(parts as readonly CompositeOrder[], limitsOf(condition));
  return (
    composite && {
      prefix: composite.prefix,
      parts: parts.map(({ path }, at) => ({
        path: path as Path,
        isDescending: composite.isDescending[at] === true,
      })),
      isReverse: composite.isReversed,
      composite,
      text: 'composite index',
    }
  );
}

/** True for few candidates: an index in order would read many entries before it finds them. */
export function isSortCheaper(
  { reader, wanted }: Pick<OrderedRequest, 'reader' | 'wanted'>,
  access: AccessPath,
): boolean {
  if (access.kind === 'none') return true;
  if (access.kind !== 'rids') return false;
  const entriesRead = (wanted * reader.itemCount) / Math.max(1, access.rids.length);
  return access.rids.length < Math.min(entriesRead, reader.itemCount);
}

function bySort(request: OrderedRequest, access: AccessPath): Batches<OrderedRow> {
  let isGiven = false;
  return {
    next() {
      if (isGiven) return undefined;
      isGiven = true;
      return sortedRows(request, access);
    },
  };
}

function sortedRows(
  request: OrderedRequest,
  access: AccessPath,
): MaybePromise<readonly OrderedRow[]> {
  const { reader, shape } = request;
  const compare = placeComparison(request.order);
  // One more row shows that there is a next page.
  const rows = new TopRows<OrderedRow>(
    request.wanted + 1,
    compare,
    request.order.deduplicates ? isRepeated : undefined,
  );
  const batches = candidates(reader, access, 0, request.stats);
  let isBegun = false;
  const add = (items: readonly Candidate[], made: AsyncRows | undefined): void => {
    for (const row of rowsOf(request, items, compare, made)) rows.add(row);
    if (rows.size > QUERY_ROWS_MAX)
      throw new DomainError(
        'invalidInput',
        `The query would have to sort more than ${QUERY_ROWS_MAX} rows. Add a filter, or index the path it is ordered by.`,
      );
  };
  const take = (items: readonly Candidate[]): Promise<void> | undefined => {
    const pending = asyncRows(shape, reader, items);
    if (pending !== undefined) return pending.then((made) => add(items, made));
    add(items, undefined);
    // The first batch never waits, so that small queries do not yield.
    const rest = isBegun ? yieldToEventLoop() : undefined;
    isBegun = true;
    return rest;
  };
  const collect = (): MaybePromise<readonly OrderedRow[]> => {
    for (;;) {
      const found = batches.next();
      if (isPromise(found))
        return found.then((items) => {
          if (items === undefined) return rows.sorted();
          const wait = take(items);
          return wait === undefined ? collect() : wait.then(collect);
        });
      if (found === undefined) return rows.sorted();
      const wait = take(found);
      if (wait !== undefined) return wait.then(collect);
    }
  };
  return collect();
}
