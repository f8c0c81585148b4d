/**
 * The first item of each value under a path: a declared index is read from value to value, past the other entries of
 * each. Where there are so many values that a scan is as fast, there is no such path.
 */
import type { KeyRange } from '../../engine/index.ts';
import type { Path } from '../../value/index.ts';
import type { ExecutionStats } from '../execution-stats.ts';
import type { ItemReader, ValuesInIndex } from '../reader.ts';
import { yieldToEventLoop } from '../yield.ts';
import type { AccessPath } from './access-path.ts';
import { ascending, collectRanges } from './collect-rids.ts';
import { hasEntries } from './has-entries.ts';

/** Entries of one read: enough for values that few items have, few where they are left out. */
const PAGE = { limit: 16, bytesMax: 256 * 1024 };
/** A scan takes as long as a read of the index for each of so many items. */
const ITEMS_PER_READ = 30;
/** Below so many items of a value an index is not faster. */
const ITEMS_PER_VALUE = 10;
const LEAST = 20;

/** The access path of such a query. */
export const FIRST_OF_VALUES = 'first items of the values of an index';

/** Items without a value are all named: what they have instead is for the query to see. */
export async function firstOfValues(
  reader: ItemReader,
  path: Path,
  stats: ExecutionStats,
): Promise<AccessPath | undefined> {
  const found = reader.valuesIn?.(path);
  if (found === undefined || (await hasEntries(reader, found.unordered))) return undefined;
  const most = LEAST + Math.floor(reader.itemCount / ITEMS_PER_VALUE);
  const absent = await collectRanges(reader, [found.absent], most, stats);
  if (absent === undefined) return undefined;
  const rids = new Set(absent);
  let reads = LEAST + Math.floor(reader.itemCount / ITEMS_PER_READ);
  for (const values of found.values) {
    let range: KeyRange | undefined = values;
    while (range !== undefined) {
      if (reads-- === 0 || rids.size > most) return undefined;
      const { entries, rest } = await reader.scanIndex(range, PAGE);
      stats.indexEntries += entries.length;
      const last = addFirst(reader, entries, found, rids);
      range = rest && last !== undefined ? { start: behind(last), end: values.end } : rest;
      const slice = yieldToEventLoop();
      if (slice !== undefined) await slice;
    }
  }
  if (rids.size === 0) return { kind: 'none' };
  return { kind: 'rids', rids: ascending(rids), text: FIRST_OF_VALUES };
}

/** Adds the rid of the first entry of each value; returns the last value, with what is before it. */
function addFirst(
  reader: ItemReader,
  entries: readonly string[],
  { valueEnd }: ValuesInIndex,
  rids: Set<number>,
): string | undefined {
  let last: string | undefined;
  for (const entry of entries) {
    // No value is the beginning of another.
    if (last !== undefined && entry.startsWith(last)) continue;
    last = entry.slice(0, valueEnd(entry));
    rids.add(reader.ridOf(entry));
  }
  return last;
}

/** Behind all entries of a value: what follows a value begins with less. */
function behind(value: string): Uint8Array {
  return Buffer.from(`${value}\u00ff`, 'latin1');
}
