/** Whether a range of an index has an entry, and the first ones. A page may have none although the range continues. */
import { andThen, isPromise, type MaybePromise } from '../../base/index.ts';
import type { KeyRange } from '../../engine/index.ts';
import type { ItemReader } from '../reader.ts';
import { yieldToEventLoop } from '../yield.ts';

/** Most ranges that are asked for have no entry, or one at their beginning. */
const FIRST = { limit: 1, bytesMax: 4096 };
/** Behind that are stored entries that were removed in memory: as many as a memtable has. */
const PAGE = { limit: 500, bytesMax: 256 * 1024 };

type IndexReader = Pick<ItemReader, 'scanIndex'>;

export function hasEntries(reader: IndexReader, range: KeyRange): MaybePromise<boolean> {
  return andThen(reader.scanIndex(range, FIRST), ({ entries, rest }) => {
    if (entries.length > 0) return true;
    if (rest === undefined) return false;
    return firstEntries(reader, rest, PAGE).then((found) => found.length > 0);
  });
}

/** The first entries of a range, some of them; none where it has none. */
export async function firstEntries(
  reader: IndexReader,
  range: KeyRange,
  page: { readonly limit: number; readonly bytesMax: number } = PAGE,
): Promise<readonly string[]> {
  for (let left: KeyRange | undefined = range; left !== undefined; ) {
    const scanned = reader.scanIndex(left, page);
    const { entries, rest } = isPromise(scanned) ? await scanned : scanned;
    if (entries.length > 0) return entries;
    left = rest;
    const pause = yieldToEventLoop();
    if (pause !== undefined) await pause;
  }
  return [];
}
