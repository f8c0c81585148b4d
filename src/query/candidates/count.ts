/** Counts the items of a condition from index entries alone: no item is loaded. */
import { concatBytes, isPromise } from '../../base/index.ts';
import type { KeyRange } from '../../engine/index.ts';
import type { Condition, TermCondition } from '../condition/condition.ts';
import type { ExecutionStats } from '../execution-stats.ts';
import type { IndexEntries, ItemReader } from '../reader.ts';
import { yieldToEventLoop } from '../yield.ts';

/** Rids kept in memory at most, to count the intersection or union of several conditions. */
const RIDS_MAX = 500_000;
const PAGE = { limit: 4000, bytesMax: 1024 * 1024 };

/**
 * The number of items that satisfy a condition; undefined where no index serves it, or it names too many rids.
 * The condition must be exact and allow no item that the reader excludes.
 */
export async function countItems(
  reader: ItemReader,
  condition: Condition,
  stats: ExecutionStats,
): Promise<number | undefined> {
  if (!isServed(reader, condition)) return undefined;
  if (condition.kind === 'anything') return reader.itemCount;
  if (condition.kind !== 'term') return (await ridsOf(reader, condition, stats))?.size;
  // An item has one value under a path, and so one entry at most in ranges that do not overlap.
  let count = 0;
  for await (const entries of entriesOf(reader, condition, stats)) count += entries.length;
  return count;
}

function isServed(reader: ItemReader, condition: Condition): boolean {
  switch (condition.kind) {
    case 'term':
      return condition.test === undefined && reader.termsOf(condition.path) !== undefined;
    case 'all':
    case 'any':
      return condition.of.every((part) => part.kind !== 'anything' && isServed(reader, part));
    case 'text':
      return false;
    default:
      return true;
  }
}

async function ridsOf(
  reader: ItemReader,
  condition: Condition,
  stats: ExecutionStats,
): Promise<ReadonlySet<number> | undefined> {
  if (condition.kind === 'term') {
    const rids = new Set<number>();
    for await (const entries of entriesOf(reader, condition, stats)) {
      for (const entry of entries) rids.add(reader.ridOf(entry));
      if (rids.size > RIDS_MAX) return undefined;
    }
    return rids;
  }
  if (condition.kind !== 'all' && condition.kind !== 'any') return new Set();
  let result: ReadonlySet<number> | undefined;
  for (const part of condition.of) {
    const rids = await ridsOf(reader, part, stats);
    if (rids === undefined) return undefined;
    if (result === undefined) result = rids;
    else result = condition.kind === 'all' ? result.intersection(rids) : result.union(rids);
  }
  return result;
}

async function* entriesOf(
  reader: ItemReader,
  { path, ranges }: TermCondition,
  stats: ExecutionStats,
): AsyncGenerator<readonly string[]> {
  const terms = reader.termsOf(path) as Uint8Array;
  for (const { start, end } of ranges) {
    let range: KeyRange | undefined = {
      start: concatBytes(terms, start),
      end: concatBytes(terms, end),
    };
    while (range !== undefined) {
      const found = reader.scanIndex(range, PAGE);
      const page: IndexEntries = isPromise(found) ? await found : found;
      stats.indexEntries += page.entries.length;
      yield page.entries;
      range = page.rest;
      const rest = range && yieldToEventLoop();
      if (rest !== undefined) await rest;
    }
  }
}
