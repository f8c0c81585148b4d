/** Rows of one partition in the order asked for, from the index where one has that order, else sorted here. */
import { DomainError, isPromise, type MaybePromise, QUERY_ROWS_MAX } from '../../base/index.ts';
import type { Path } from '../../value/index.ts';
import type { AccessPath } from '../access-path.ts';
import { type AsyncRows, asyncRows } from '../async-rows.ts';
import { type Batches, candidates } from '../candidates.ts';
import type { Condition } from '../condition/condition.ts';
import { coversPaths } from '../condition/narrow.ts';
import type { Order } from '../executable-query.ts';
import type { Candidate, CompositeOrder, ItemReader } from '../reader.ts';
import { yieldToEventLoop } from '../yield.ts';
import { indexRows } from './index-rows.ts';
import {
  type OrderedEntries,
  type OrderedRequest,
  type OrderedRow,
  rowsOf,
} from './ordered-rows.ts';
import { isRepeated, placeComparison } from './row-order.ts';
import { TopRows } from './top-rows.ts';

/** Sorted rows in batches; only those behind `after`. */
export function orderedRows(
  request: OrderedRequest,
  access: AccessPath,
  entries: OrderedEntries | undefined,
): Batches<OrderedRow> {
  if (entries !== undefined && !isSortCheaper(request, access)) {
    request.work.accessPaths.push(
      `${entries.text} in order${entries.isReverse ? ', backwards' : ''}`,
    );
    return indexRows(request, entries);
  }
  request.work.accessPaths.push(`${access.kind === 'rids' ? access.text : access.kind}, then sort`);
  return bySort(request, access);
}

/** True where the index that has the order finds all that the condition is about: no other way can be better. */
export function findsAll({ parts }: OrderedEntries, condition: Condition): boolean {
  return coversPaths(
    condition,
    parts.map(({ path }) => path),
  );
}

/** Undefined where no index has the order. */
export function entriesInOrder(reader: ItemReader, { parts }: Order): OrderedEntries | undefined {
  if (parts.some(({ path }) => path === undefined)) return undefined;
  if (parts.length === 1) {
    const { path, isDescending } = parts[0] as CompositeOrder;
    const prefix = reader.termsOf(path);
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
  const composite = reader.compositeOf(parts as readonly CompositeOrder[]);
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

/** Few candidates are sorted; many are met on the way through the order soon enough. */
function isSortCheaper({ reader, wanted }: OrderedRequest, access: AccessPath): boolean {
  if (access.kind === 'none') return true;
  if (access.kind !== 'rids') return false;
  const metOnTheWay = (wanted * reader.itemCount) / Math.max(1, access.rids.length);
  return access.rids.length < Math.min(metOnTheWay, reader.itemCount);
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
  // One more tells that there is a next page.
  const rows = new TopRows<OrderedRow>(
    request.wanted + 1,
    compare,
    request.order.deduplicates ? isRepeated : undefined,
  );
  const batches = candidates(reader, access, 0, request.work);
  let isBegun = false;
  const add = (items: readonly Candidate[], later: AsyncRows | undefined): void => {
    for (const row of rowsOf(request, items, compare, later)) rows.add(row);
    if (rows.size > QUERY_ROWS_MAX)
      throw new DomainError(
        'invalidInput',
        `The query would have to sort more than ${QUERY_ROWS_MAX} rows. Add a filter, or index the path it is ordered by.`,
      );
  };
  const take = (items: readonly Candidate[]): Promise<void> | undefined => {
    const later = asyncRows(shape, reader, items);
    if (later !== undefined) return later.then((settled) => add(items, settled));
    add(items, undefined);
    // The first batch is what the request is about.
    const rest = isBegun ? yieldToEventLoop() : undefined;
    isBegun = true;
    return rest;
  };
  const gather = (): MaybePromise<readonly OrderedRow[]> => {
    for (;;) {
      const found = batches.next();
      if (isPromise(found))
        return found.then((items) => {
          if (items === undefined) return rows.sorted();
          const wait = take(items);
          return wait === undefined ? gather() : wait.then(gather);
        });
      if (found === undefined) return rows.sorted();
      const wait = take(found);
      if (wait !== undefined) return wait.then(gather);
    }
  };
  return gather();
}
