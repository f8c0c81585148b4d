/** Pages of blocking queries: groups, aggregates, distinct rows, ranks. */
import { isPromise } from '../../base/index.ts';
import type { Value } from '../../value/index.ts';
import { type AccessPath, choosePath, describeAccess } from '../candidates/access-path.ts';
import { candidates, NO_BATCHES } from '../candidates/candidates.ts';
import { COUNTED, countDeclared, countItems } from '../candidates/count.ts';
import { firstOfValues } from '../candidates/first-of-values.ts';
import { type ItemSource, MergedItems } from '../candidates/merged-items.ts';
import type { Blocking, ExecutableQuery, ResultRow } from '../executable-query.ts';
import type { ExecutionStats } from '../execution-stats.ts';
import { ReadItem } from '../found-item.ts';
import { bestItems, withStatistics } from '../order/best-first.ts';
import type { ItemReader } from '../reader.ts';
import { TimedReader } from '../timed-reader.ts';
import { yieldToEventLoop } from '../yield.ts';
import { pendingItems } from './async-rows.ts';
import { type PageRequest, PageRows, type ResultPage, type Target } from './page.ts';

export async function foldPage(request: PageRequest, shape: Blocking): Promise<ResultPage> {
  const { position, stats, query, cache } = request;
  const targets = request.ranges.flatMap((range) => request.targetsIn(range));
  const from = position?.kind === 'fold' ? position : { given: 0, cachedAs: undefined };
  const found =
    from.cachedAs === undefined ? undefined : cache?.results.find(cache.owner(), from.cachedAs);
  if (found !== undefined) {
    // Partitions refuse cached rows where they would refuse the query: opening them checks that.
    for (const target of targets) (await target.open()).release();
    return pageOf(request, found.rows, { ...from, isWhole: found.isWhole });
  }
  const resolved = await withStatistics(query, targets, stats);
  if (resolved !== undefined && 'shape' in resolved) {
    const next = request.move?.(resolved) ?? resolved;
    if (next.shape.kind === 'blocking') return foldPage({ ...request, query: next }, next.shape);
  }
  const { given } = from;
  const isCacheable = cache !== undefined && !Array.isArray(resolved);
  const wanted = isCacheable ? rowsWanted(request, shape, given) : given + request.rowsMax + 1;
  const results = Array.isArray(resolved)
    ? resolved.map((value: Value) => ({ value }))
    : await foldAll(targets, shape, request, wanted);
  const isWhole = results.length < wanted;
  if (!isCacheable || results.length <= given + request.rowsMax + (isWhole ? 0 : 1))
    return pageOf(request, results, { given, isWhole: true });
  const printer = new PageRows(request);
  const rows: ResultRow[] = [];
  for (const row of results) {
    rows.push(printer.printed(row));
    const rest = yieldToEventLoop();
    if (rest !== undefined) await resumed(rest, request);
  }
  const name = cache.results.keep({ owner: cache.owner(), rows, isWhole });
  return pageOf(request, rows, { given, cachedAs: name, isWhole });
}

/** Items of a batch of a scan: a read of so many takes about a millisecond. */
const SCANNED_ITEMS = 1000;

/** Rows made ahead for later pages at most, where the fold could stop after this page. */
const ROWS_AHEAD_MAX = 10_000;

/**
 * How many rows to make, those of earlier pages included. One more than the page takes shows that there is a next page.
 * A client that reads on gets later pages made ahead, more the further it is, because every fold begins with the first
 * item again.
 */
function rowsWanted({ rowsMax }: PageRequest, { needsEvery }: Blocking, given: number): number {
  if (needsEvery) return Number.POSITIVE_INFINITY;
  return given + Math.max(rowsMax, Math.min(3 * given, ROWS_AHEAD_MAX)) + 1;
}

interface FoldProgress {
  readonly given: number;
  readonly cachedAs?: string | undefined;
  readonly isWhole: boolean;
}

/** The page behind the rows given before. Where rows are not whole, the last one only shows that more follow. */
function pageOf(
  request: PageRequest,
  rows: readonly ResultRow[],
  { given, cachedAs, isWhole }: FoldProgress,
): ResultPage {
  const page = new PageRows(request);
  const end = isWhole ? rows.length : rows.length - 1;
  let at = given;
  for (; at < end && !page.isFull; at++) if (!page.add(rows[at] as ResultRow)) break;
  if (at < end)
    return {
      rows: page.rows,
      position: { kind: 'fold', given: at, ...(cachedAs && { cachedAs }) },
    };
  if (cachedAs !== undefined) request.cache?.results.drop(cachedAs);
  return { rows: page.rows, position: isWhole ? undefined : { kind: 'fold', given: at } };
}

async function foldAll(
  targets: readonly Target[],
  shape: Blocking,
  request: PageRequest,
  wanted: number,
): Promise<readonly ResultRow[]> {
  const { stats } = request;
  const fold = shape.start(wanted);
  const isOrdered =
    targets.length > 1 && shape.isUnordered !== true && dependsOnOrder(shape, request.query, fold);
  if (isOrdered) await foldMerged(targets, fold, request);
  else
    for (const target of targets)
      if (!(await foldTarget(target, fold, request, shape.needsEvery))) break;
  const rows =
    fold.async === undefined
      ? fold.finish().map((value) => ({ value }))
      : await fold.async.finish();
  stats.itemsMatched += fold.itemsMatched?.() ?? stats.itemsLoaded;
  return rows;
}

/** False for counts and for searches, whose rows have an order of their own. */
function dependsOnOrder(
  { needsEvery }: Blocking,
  { search }: ExecutableQuery,
  fold: ReturnType<Blocking['start']>,
): boolean {
  return search === undefined && !(needsEvery && fold.addMatching !== undefined);
}

/** Folds the items of all partitions in rid order: the rows are those of one partition with all items. */
async function foldMerged(
  targets: readonly Target[],
  fold: ReturnType<Blocking['start']>,
  request: PageRequest,
): Promise<void> {
  const { query, stats } = request;
  const sources: (ItemSource & { readonly reader: TimedReader })[] = [];
  try {
    for (const target of targets) {
      const reader = new TimedReader(await target.open(), request);
      sources.push({ reader, batches: NO_BATCHES });
      const access = await choosePath(reader, query.condition, stats);
      stats.accessPaths.push(describeAccess(access));
      sources[sources.length - 1] = { reader, batches: candidates(reader, access, 0, stats) };
    }
    const merged = new MergedItems(sources);
    for (let found = await merged.next(); found !== undefined; found = await merged.next()) {
      if (fold.async !== undefined) {
        if (!(await fold.async.addMany(found))) return;
        continue;
      }
      for (const item of found) {
        const rest = yieldToEventLoop();
        if (rest !== undefined) await resumed(rest, request);
        if (!fold.add(item)) return;
      }
    }
  } finally {
    for (const { reader } of sources) reader.release();
  }
}

/** False when no further item can change the result. */
async function foldTarget(
  target: Target,
  fold: ReturnType<Blocking['start']>,
  request: PageRequest,
  needsEvery: boolean,
): Promise<boolean> {
  const { query, stats } = request;
  const opened = target.open();
  const reader = new TimedReader(isPromise(opened) ? await opened : opened, request);
  try {
    const count = await countMatching(reader, fold, query, stats);
    if (count !== undefined) {
      fold.addMatching?.(count);
      return true;
    }
    const access =
      (await valuesPath(reader, query, stats)) ??
      (await choosePath(reader, query.condition, stats));
    // Few candidates are read without the search index.
    const best = access.kind === 'rids' ? undefined : await bestItems(reader, query, stats);
    if (best !== undefined) {
      for (const item of best) {
        const rest = yieldToEventLoop();
        if (rest !== undefined) await resumed(rest, request);
        if (!fold.add(new ReadItem(reader, item))) return false;
      }
      return true;
    }
    stats.accessPaths.push(describeAccess(access));
    // A fold that needs every item has a use for large batches, which cost less to read.
    const size = access.kind === 'scan' && needsEvery ? SCANNED_ITEMS : undefined;
    const batches = candidates(reader, access, 0, stats, size);
    for (;;) {
      const found = batches.next();
      const items = isPromise(found) ? await found : found;
      if (items === undefined) return true;
      const added = fold.async?.addMany(pendingItems(reader, items));
      if (added === undefined) {
        for (const item of items) {
          // Evaluation of one item may be slow, so the fold yields within a batch too.
          const rest = yieldToEventLoop();
          if (rest !== undefined) await resumed(rest, request);
          if (!fold.add(new ReadItem(reader, item))) return false;
        }
      } else if (!(await added)) return false;
      const rest = yieldToEventLoop();
      if (rest !== undefined) await resumed(rest, request);
    }
  } finally {
    reader.release();
  }
}

/** The number of items that match; undefined where items have to be read. */
async function countMatching(
  reader: ItemReader,
  { addMatching }: ReturnType<Blocking['start']>,
  { condition, isExact, isWithin, exactLimits }: ExecutableQuery,
  stats: ExecutionStats,
): Promise<number | undefined> {
  if (addMatching === undefined || !(isExact || exactLimits)) return undefined;
  const { others, invisible } = reader.excludes;
  if (invisible || (others && !isWithin)) return undefined;
  const count = isExact
    ? await countItems(reader, condition, stats)
    : exactLimits && (await countDeclared(reader, exactLimits, stats));
  if (count !== undefined) stats.accessPaths.push(COUNTED);
  return count;
}

/** The first item of each value, where no item has to be left out and an index tells them. */
function valuesPath(
  reader: ItemReader,
  { valuesOf }: ExecutableQuery,
  stats: ExecutionStats,
): Promise<AccessPath | undefined> | undefined {
  const { others, invisible } = reader.excludes;
  if (valuesOf === undefined || others || invisible) return undefined;
  return firstOfValues(reader, valuesOf, stats);
}

/** Waits for the next slice of time, and ends there where the query shall end. */
async function resumed(rest: Promise<void>, { interruption }: PageRequest): Promise<void> {
  await rest;
  interruption?.check();
}
