/** Makes the rows of items, with their places in an order. */
import type { Bytes, MaybePromise } from '../../base/index.ts';
import type { KeyRange } from '../../engine/index.ts';
import type { Path } from '../../value/index.ts';
import type { Condition } from '../condition/condition.ts';
import type { Order, ResultRow, Streaming } from '../executable-query.ts';
import type { ExecutionStats } from '../execution-stats.ts';
import { ReadItem } from '../found-item.ts';
import { type AsyncRows, asyncRows } from '../page/async-rows.ts';
import type { Candidate, CompositeMatch, CompositeOrder, ItemReader } from '../reader.ts';
import { type ComparePlaces, isRepeated, type RowPlace } from './row-order.ts';

export interface OrderedRow extends RowPlace, ResultRow {}

export interface OrderedRequest {
  readonly reader: ItemReader;
  readonly shape: Streaming;
  readonly order: Order;
  /** Narrows an index that has the order. */
  readonly condition: Condition;
  /** The last row of the pages before. */
  readonly after: RowPlace | undefined;
  /** The most rows that the caller takes. */
  readonly wanted: number;
  readonly stats: ExecutionStats;
}

/** Index entries that have the order of a query. */
export interface OrderedEntries {
  readonly prefix: Bytes;
  readonly parts: readonly CompositeOrder[];
  readonly isReverse: boolean;
  readonly composite: CompositeMatch | undefined;
  readonly text: string;
  /** The paths whose limits the entries keep; those of all parts where it is absent. */
  readonly applied?: readonly Path[];
  /** Set where the ranges to read are known, ascending. */
  readonly ranges?: readonly KeyRange[];
  /** Set where an item may have several entries: the one that its row belongs to. */
  readonly entryOf?: ((row: RowPlace) => string) | undefined;
}

/** Entries of later reads. The first reads as many as are wanted; where that is not enough, a filter drops many. */
export const LATER_ENTRIES = 200;
/** Entries of a read where rows repeat each other: a few show it, and the next key is read instead. */
export const REPEATED_ENTRIES = 10;

/** Entries of the first read. */
export function firstEntries({ order, wanted }: OrderedRequest): number {
  return order.deduplicates ? REPEATED_ENTRIES : Math.min(100, Math.max(10, wanted));
}

/** The rows of items behind `after`, in the order of the items. */
export function orderedRowsOf(
  request: OrderedRequest,
  items: readonly Candidate[],
  compare: ComparePlaces,
): MaybePromise<readonly OrderedRow[]> {
  const pending = asyncRows(request.shape, request.reader, items);
  if (pending === undefined) return rowsOf(request, items, compare, undefined);
  return pending.then((made) => rowsOf(request, items, compare, made));
}

/** @param made - the rows, where another thread has made them. */
export function rowsOf(
  { reader, shape, order, after, stats }: OrderedRequest,
  items: readonly Candidate[],
  compare: ComparePlaces,
  made: AsyncRows | undefined,
): readonly OrderedRow[] {
  const rows: OrderedRow[] = [];
  for (let at = 0; at < items.length; at++) {
    const item = items[at] as Candidate;
    const read = made?.items[at] ?? new ReadItem(reader, item);
    const storedKeys = shape.keysOf?.(read);
    if (storedKeys !== undefined) {
      const stored = { keys: storedKeys, rid: item.rid, row: 0, item: read };
      stats.itemsMatched++;
      if (after === undefined || compare(stored, after) > 0) rows.push(stored);
      continue;
    }
    const found = made?.rows[at] ?? shape.rowsOf(read);
    if (found.length > 0) stats.itemsMatched++;
    for (let row = 0; row < found.length; row++) {
      const { keys, item: whole, value, text } = found[row] as (typeof found)[number];
      const placed: OrderedRow = { keys, rid: item.rid, row, item: whole, value, text };
      if (order.deduplicates && isRepeated(placed, after)) continue;
      if (after === undefined || compare(placed, after) > 0) rows.push(placed);
    }
  }
  return rows;
}
