/** Collects the rids that a condition names, ascending, as long as there are not too many. */
import { append, type Bytes, concatBytes, isPromise } from '../../base/index.ts';
import type { KeyRange } from '../../engine/index.ts';
import { TRUNCATED } from '../../value/index.ts';
import type { Condition, TermCondition, TextCondition } from '../condition/condition.ts';
import type { ExecutionStats } from '../execution-stats.ts';
import type { IndexEntries, ItemReader } from '../reader.ts';
import { yieldToEventLoop } from '../yield.ts';
import { ridsOfTerms } from './term-rids.ts';

/** Rids collected at most: a condition that names more is answered by a scan. */
export const COLLECT_MAX = 50_000;
/** A scan reads neighbours together: fetching one of this many items by rid costs as much as a scan of all. */
const SCAN_SHARE = 3;
const PAGE = { limit: 1000, bytesMax: 1024 * 1024 };
/** A tested page keeps few of its entries, so it may be longer: it takes about two milliseconds. */
const TESTED_PAGE = { limit: 4000, bytesMax: 1024 * 1024 };

/** The rids a condition names; undefined where there are more than `limit`. */
export async function collect(
  reader: ItemReader,
  condition: Condition,
  limit: number,
  stats: ExecutionStats,
): Promise<Set<number> | undefined> {
  switch (condition.kind) {
    case 'term':
      return collectTerm(reader, condition, limit, stats);
    case 'text':
      return collectTexts(reader, condition, stats);
    case 'any': {
      const union = new Set<number>();
      for (const part of condition.of) {
        const rids = await collect(reader, part, limit - union.size, stats);
        if (rids === undefined) return undefined;
        for (const rid of rids) union.add(rid);
        if (union.size > limit) return undefined;
      }
      return union;
    }
    case 'all': {
      let common: Set<number> | undefined;
      for (const part of condition.of) {
        const rids = await collect(reader, part, limit, stats);
        if (rids !== undefined) common = common === undefined ? rids : intersect(common, rids);
      }
      return common;
    }
    case 'nothing':
      return new Set();
    case 'declared':
    case 'anything':
      return undefined;
  }
}

async function collectTexts(
  reader: ItemReader,
  { path, phrases, needs }: TextCondition,
  stats: ExecutionStats,
): Promise<Set<number> | undefined> {
  const index = await reader.searchIndex?.({ kind: 'text', path, phrases });
  if (index === undefined) return undefined;
  const rids = new Set(index.containing(needs));
  stats.indexEntries += rids.size;
  return rids.size > COLLECT_MAX ? undefined : rids;
}

async function collectTerm(
  reader: ItemReader,
  condition: TermCondition,
  limit: number,
  stats: ExecutionStats,
): Promise<Set<number> | undefined> {
  const { path, ranges, test } = condition;
  const terms = reader.termsOf(path);
  if (terms === undefined) return undefined;
  const points = reader.ridsOf && pointsOf(reader, condition);
  if (points !== undefined && reader.ridsOf !== undefined) {
    const found = await ridsOfTerms(reader.ridsOf, points, limit);
    stats.indexEntries += found?.length ?? limit;
    return found && new Set(found);
  }
  const rids = new Set<number>();
  for (const { start, end } of ranges) {
    let range: KeyRange | undefined = {
      start: concatBytes(terms, start),
      end: concatBytes(terms, end),
    };
    while (range !== undefined) {
      const found = reader.scanIndex(range, test === undefined ? PAGE : TESTED_PAGE);
      const page: IndexEntries = isPromise(found) ? await found : found;
      stats.indexEntries += page.entries.length;
      if (test === undefined) for (const entry of page.entries) rids.add(reader.ridOf(entry));
      else addPassing(reader, page.entries, test, rids);
      if (rids.size > limit) return undefined;
      range = page.rest;
      const rest = range && yieldToEventLoop();
      if (rest !== undefined) await rest;
    }
  }
  return rids;
}

/**
 * Adds the rids of entries that pass. Entries of one value are neighbours, so each value is tested once. An entry that
 * does not hold its whole value passes: the query rechecks the item.
 */
function addPassing(
  reader: ItemReader,
  entries: readonly string[],
  test: NonNullable<TermCondition['test']>,
  rids: Set<number>,
): void {
  let last = '';
  let isPassing = false;
  for (const entry of entries) {
    if (!reader.isSameTerm(last, entry)) {
      const value = reader.valueOf(entry);
      isPassing = value === TRUNCATED || test(value);
      last = entry;
    }
    if (isPassing) rids.add(reader.ridOf(entry));
  }
}

function intersect(a: ReadonlySet<number>, b: ReadonlySet<number>): Set<number> {
  const [small, large] = a.size <= b.size ? [a, b] : [b, a];
  return new Set([...small].filter((rid) => large.has(rid)));
}

/** All rids of the one partition key that a reader covers; undefined where there are too many, or where it covers more. */
export async function collectKeys(
  reader: ItemReader,
  first: ReturnType<NonNullable<ItemReader['ridsOfKey']>>,
  stats: ExecutionStats,
): Promise<readonly number[] | undefined> {
  const limit = collectedMax(reader);
  const rids: number[] = [];
  for (let found = first; ; ) {
    const page = isPromise(found) ? await found : found;
    if (page === undefined) return undefined;
    append(rids, page.rids);
    if (rids.length > limit) return undefined;
    if (page.rest === undefined) break;
    const rest = yieldToEventLoop();
    if (rest !== undefined) await rest;
    found = reader.ridsOfKey?.(page.rest);
  }
  stats.indexEntries += rids.length;
  return rids.sort((a, b) => a - b);
}

/** The rids of the entries of one value, ascending; undefined when there are more than `limit`. */
export async function collectRange(
  reader: ItemReader,
  prefix: Bytes,
  limit: number,
  stats: ExecutionStats,
): Promise<readonly number[] | undefined> {
  if (reader.ridsOf !== undefined) {
    const found = reader.ridsOf(prefix, limit, limit);
    const all = isPromise(found) ? await found : found;
    stats.indexEntries += all?.length ?? 0;
    return all && Array.from(all);
  }
  const range = { start: prefix, end: concatBytes(prefix, LAST) };
  return collectRanges(reader, [range], limit, stats);
}

/** The rids of the entries in some ranges, ascending; undefined when there are more than `limit`. */
export async function collectRanges(
  reader: ItemReader,
  ranges: readonly KeyRange[],
  limit: number,
  stats: ExecutionStats,
): Promise<readonly number[] | undefined> {
  const rids = new Set<number>();
  for (const first of ranges) {
    let range: KeyRange | undefined = first;
    while (range !== undefined) {
      const found = reader.scanIndex(range, PAGE);
      const page: IndexEntries = isPromise(found) ? await found : found;
      stats.indexEntries += page.entries.length;
      for (const entry of page.entries) rids.add(reader.ridOf(entry));
      if (rids.size > limit) return undefined;
      range = page.rest;
      const rest = range && yieldToEventLoop();
      if (rest !== undefined) await rest;
    }
  }
  return ascending(rids);
}

/** A byte behind every rid: rids begin with a zero byte. */
const LAST = Uint8Array.of(0xff);

/** The prefixes of the entries of a term whose ranges are one value each. */
export function pointsOf(
  reader: ItemReader,
  { path, ranges, test }: TermCondition,
): readonly Bytes[] | undefined {
  const terms = reader.termsOf(path);
  if (terms === undefined || test !== undefined || !ranges.every(({ isPoint }) => isPoint))
    return undefined;
  return ranges.map(({ start }) => concatBytes(terms, start));
}

/** Beyond so many rids a scan is as fast, or they take too much memory. */
export function collectedMax({ itemCount }: ItemReader): number {
  return Math.min(COLLECT_MAX, Math.floor(itemCount / SCAN_SHARE) + 10);
}

export function ascending(rids: ReadonlySet<number>): readonly number[] {
  return [...rids].sort((a, b) => a - b);
}
