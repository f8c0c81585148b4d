/** Counts the items of a condition from index entries alone: no item is loaded. */
import { concatBytes, isPromise } from '../../base/index.ts';
import type { KeyRange } from '../../engine/index.ts';
import type { Condition, TermCondition } from '../condition/condition.ts';
import type { ValueRange } from '../condition/value-ranges.ts';
import type { ExecutionStats } from '../execution-stats.ts';
import type { IndexLimit, ItemReader } from '../reader.ts';
import { yieldToEventLoop } from '../yield.ts';
import { hasEntries } from './has-entries.ts';
import {
  CollectedCursor,
  CommonCursor,
  ListCursor,
  type RidCursor,
  UnionCursor,
} from './rid-cursor.ts';

/** The access path of a count that loads no item. */
export const COUNTED = 'index, counted';

const PAGE = { limit: 4000, bytesMax: 1024 * 1024 };
/** Rids between two looks at the time. */
const STEPS = 1024;

/** What the lists of one condition may take together. */
interface Budget {
  /** Lists read in pages: each has a page in memory, and every step looks at all. */
  lists: number;
  /** Rids of values in a range: they are not in rid order, and so kept in memory, eight bytes each. */
  rids: number;
}

/**
 * The number of items that satisfy a condition; undefined where no index serves it, or where ranges of values name too
 * many rids. The condition must be exact and allow no item that the reader excludes.
 */
export async function countItems(
  reader: ItemReader,
  condition: Condition,
  stats: ExecutionStats,
): Promise<number | undefined> {
  if (!isServed(reader, condition)) return undefined;
  if (condition.kind === 'anything') return reader.itemCount;
  if (condition.kind === 'nothing') return 0;
  if (condition.kind !== 'term') {
    const cursor = await cursorOf(reader, condition, { lists: 64, rids: 1_000_000 }, stats);
    return cursor && countRids(cursor);
  }
  // An item has one value under a path, and so one entry at most in ranges that do not overlap.
  let count = 0;
  for await (const rids of ridsOf(reader, condition, stats)) count += rids.length;
  return count;
}

/**
 * The number of items within limits, from the entries of a declared index; undefined where none can tell.
 * @param limits - as `exactLimits` of a query.
 */
export async function countDeclared(
  reader: ItemReader,
  limits: readonly IndexLimit[],
  stats: ExecutionStats,
): Promise<number | undefined> {
  const found = reader.countableWithin?.(limits);
  if (found === undefined || (await hasEntries(reader, found.marks))) return undefined;
  const { ranges, termPrefixes } = found;
  let count = 0;
  for (const part of termPrefixes ?? ranges) {
    const pages = 'start' in part ? ridsWithin(reader, part) : ridsOfValue(reader, part);
    for await (const rids of pages) {
      stats.indexEntries += rids.length;
      count += rids.length;
      const rest = yieldToEventLoop();
      if (rest !== undefined) await rest;
    }
  }
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
    case 'declared':
      return false;
    default:
      return true;
  }
}

async function countRids(cursor: RidCursor): Promise<number> {
  let count = 0;
  for (let from = 0; ; count++) {
    const moving = cursor.seek(from);
    if (moving !== undefined) await moving;
    if (cursor.head === undefined) return count;
    from = cursor.head + 1;
    const rest = count % STEPS === 0 ? yieldToEventLoop() : undefined;
    if (rest !== undefined) await rest;
  }
}

/** The rids of a condition; undefined where they take more than the budget. */
async function cursorOf(
  reader: ItemReader,
  condition: Condition,
  budget: Budget,
  stats: ExecutionStats,
): Promise<RidCursor | undefined> {
  if (condition.kind === 'term') {
    const lists = postingsOf(reader, condition, budget, stats);
    return lists === undefined ? collected(reader, condition, budget, stats) : union(lists);
  }
  if (condition.kind !== 'all' && condition.kind !== 'any') return union([]);
  const parts: RidCursor[] = [];
  for (const part of condition.of) {
    const cursor = await cursorOf(reader, part, budget, stats);
    if (cursor === undefined) return undefined;
    parts.push(cursor);
  }
  return condition.kind === 'all' ? new CommonCursor(parts) : union(parts);
}

function union(lists: readonly RidCursor[]): RidCursor {
  const [first] = lists;
  return first !== undefined && lists.length === 1 ? first : new UnionCursor(lists);
}

/** One list for each value; undefined where a range has several values, or where there are too many. */
function postingsOf(
  reader: ItemReader,
  { path, ranges }: TermCondition,
  budget: Budget,
  stats: ExecutionStats,
): readonly RidCursor[] | undefined {
  if (ranges.length > budget.lists || !ranges.every(({ isPoint }) => isPoint)) return undefined;
  budget.lists -= ranges.length;
  const terms = reader.termsOf(path) as Uint8Array;
  return ranges.map(({ start }) => new ListCursor(reader, concatBytes(terms, start), stats));
}

async function collected(
  reader: ItemReader,
  condition: TermCondition,
  budget: Budget,
  stats: ExecutionStats,
): Promise<RidCursor | undefined> {
  const all = new Set<number>();
  for await (const rids of ridsOf(reader, condition, stats)) {
    for (let at = 0; at < rids.length; at++) all.add(rids[at] as number);
    if (all.size > budget.rids) return undefined;
  }
  budget.rids -= all.size;
  return new CollectedCursor(all);
}

/** The rids of a term in pages, those of one range after those of another. */
async function* ridsOf(
  reader: ItemReader,
  { path, ranges }: TermCondition,
  stats: ExecutionStats,
): AsyncGenerator<ArrayLike<number>> {
  const terms = reader.termsOf(path) as Uint8Array;
  for (const range of ranges) {
    const pages = range.isPoint
      ? ridsOfValue(reader, concatBytes(terms, range.start))
      : ridsOfRange(reader, terms, range);
    for await (const rids of pages) {
      stats.indexEntries += rids.length;
      yield rids;
      const rest = yieldToEventLoop();
      if (rest !== undefined) await rest;
    }
  }
}

async function* ridsOfValue(
  reader: ItemReader,
  prefix: Uint8Array,
): AsyncGenerator<ArrayLike<number>> {
  for (let from: number | undefined = 0; from !== undefined; ) {
    const found = reader.ridsFrom(prefix, from);
    const { rids, next }: Awaited<typeof found> = isPromise(found) ? await found : found;
    yield rids;
    from = next;
  }
}

function ridsOfRange(
  reader: ItemReader,
  terms: Uint8Array,
  { start, end }: ValueRange,
): AsyncGenerator<readonly number[]> {
  return ridsWithin(reader, { start: concatBytes(terms, start), end: concatBytes(terms, end) });
}

async function* ridsWithin(reader: ItemReader, all: KeyRange): AsyncGenerator<readonly number[]> {
  for (let range: KeyRange | undefined = all; range !== undefined; ) {
    const found = reader.scanIndex(range, PAGE);
    const { entries, rest }: Awaited<typeof found> = isPromise(found) ? await found : found;
    yield entries.map(reader.ridOf);
    range = rest;
  }
}
