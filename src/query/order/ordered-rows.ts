/** Makes the rows of items, with their places in an order. */
import { type Bytes, bytesToText, type MaybePromise } from '../../base/index.ts';
import type { Value } from '../../value/index.ts';
import { type AsyncRows, asyncRows } from '../async-rows.ts';
import type { Condition } from '../condition/condition.ts';
import type { Order, Streaming } from '../executable-query.ts';
import type { ExecutionStats } from '../execution-stats.ts';
import type { Candidate, CompositeMatch, CompositeOrder, ItemReader } from '../reader.ts';
import { type ComparePlaces, isRepeated, type RowPlace } from './row-order.ts';

export interface OrderedRow extends RowPlace {
  /** The JSON text of the row, where it needs no printing. */
  readonly text?: string | undefined;
  readonly isItem?: boolean | undefined;
  readonly value: Value;
  readonly document: Value;
  readonly item: Candidate;
}

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
  let at = 0;
  for (const item of items) {
    const stored = shape.keysOfText && rowFromText(shape.keysOfText, item);
    if (stored !== undefined) {
      stats.itemsMatched++;
      if (after === undefined || compare(stored, after) > 0) rows.push(stored);
      continue;
    }
    const document = made === undefined ? reader.decode(item) : undefined;
    const found = made?.rows[at++] ?? shape.rowsOf(document);
    if (found.length > 0) stats.itemsMatched++;
    for (let row = 0; row < found.length; row++) {
      const { value, keys, text, isItem } = found[row] as (typeof found)[number];
      const place = { keys, rid: item.rid, row };
      if (order.deduplicates && isRepeated(place, after)) continue;
      if (after === undefined || compare(place, after) > 0)
        rows.push({ ...place, value, text, isItem, document, item });
    }
  }
  return rows;
}

/** The row of an item that is sent as it is stored; undefined where the text does not decide it. */
function rowFromText(
  keysOf: NonNullable<Streaming['keysOfText']>,
  item: Candidate,
): OrderedRow | undefined {
  const text = bytesToText(item.body);
  const keys = keysOf(text);
  return keys && { keys, rid: item.rid, row: 0, text, value: undefined, document: undefined, item };
}
