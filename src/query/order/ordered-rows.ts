/** The rows of items with their places in an order. */
import { type Bytes, bytesToText, type MaybePromise } from '../../base/index.ts';
import type { Value } from '../../value/index.ts';
import { type AsyncRows, asyncRows } from '../async-rows.ts';
import type { Condition } from '../condition/condition.ts';
import type { Order, Streaming } from '../executable-query.ts';
import type { ExecutionStats } from '../execution-stats.ts';
import type { Candidate, CompositeMatch, CompositeOrder, ItemReader } from '../reader.ts';
import { type ComparePlaces, isRepeated, type RowPlace } from './row-order.ts';

export interface OrderedRow extends RowPlace {
  /** Of the row, where it is the item as it is stored. */
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
  /** Which items can match, at most: narrows an index that has the order. */
  readonly condition: Condition;
  /** Rows up to and with this one were given before. */
  readonly after: RowPlace | undefined;
  /** Rows the caller will take at most. */
  readonly wanted: number;
  readonly work: ExecutionStats;
}

/** Entries that have an order. */
export interface OrderedEntries {
  readonly prefix: Bytes;
  readonly parts: readonly CompositeOrder[];
  readonly isReverse: boolean;
  readonly composite: CompositeMatch | undefined;
  readonly text: string;
}

/** Of items as they come, in their order; only those behind `after`. */
export function orderedRowsOf(
  request: OrderedRequest,
  items: readonly Candidate[],
  compare: ComparePlaces,
): MaybePromise<readonly OrderedRow[]> {
  const later = asyncRows(request.shape, request.reader, items);
  if (later === undefined) return rowsOf(request, items, compare, undefined);
  return later.then((settled) => rowsOf(request, items, compare, settled));
}

export function rowsOf(
  { reader, shape, order, after, work }: OrderedRequest,
  items: readonly Candidate[],
  compare: ComparePlaces,
  later: AsyncRows | undefined,
): readonly OrderedRow[] {
  const rows: OrderedRow[] = [];
  let at = 0;
  for (const item of items) {
    const told = shape.keysOfText && toldRow(shape.keysOfText, item);
    if (told !== undefined) {
      work.itemsMatched++;
      if (after === undefined || compare(told, after) > 0) rows.push(told);
      continue;
    }
    const document = later === undefined ? reader.decode(item) : undefined;
    const found = later?.rows[at++] ?? shape.rowsOf(document);
    if (found.length > 0) work.itemsMatched++;
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

function toldRow(
  keysOf: NonNullable<Streaming['keysOfText']>,
  item: Candidate,
): OrderedRow | undefined {
  const text = bytesToText(item.body);
  const keys = keysOf(text);
  return keys && { keys, rid: item.rid, row: 0, text, value: undefined, document: undefined, item };
}
