/** Rows that need answers from another thread. They are made for many items at once, so that a row costs little. */
import type { Row, Streaming } from '../executable-query.ts';
import { type PendingItem, ReadItem } from '../found-item.ts';
import type { Candidate, ItemReader } from '../reader.ts';
import type { Part } from './position.ts';

export interface AsyncRows {
  readonly items: readonly PendingItem[];
  /** One list per item, in order; the last lists may be missing where the page may end before them. */
  readonly rows: readonly (readonly Row[])[];
}

/**
 * The rows of the items; undefined, without a promise, for queries that make rows themselves, as most do.
 * @param part - where the items are, if the page may end before the last of them.
 */
export function asyncRows(
  { rowsOfMany }: Streaming,
  reader: ItemReader,
  items: readonly Candidate[],
  part?: Part,
): Promise<AsyncRows> | undefined {
  if (rowsOfMany === undefined) return undefined;
  const pending = pendingItems(reader, items, part);
  return rowsOfMany(pending, part !== undefined).then((rows) => ({ items: pending, rows }));
}

export function pendingItems(
  reader: ItemReader,
  items: readonly Candidate[],
  part?: Part,
): readonly PendingItem[] {
  return items.map((item) => new ReadItem(reader, item, item.rid === part?.from ? part.rows : 0));
}
