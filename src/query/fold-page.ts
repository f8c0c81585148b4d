/** Pages of rows that are known when every item was seen: groups, aggregates, distinct rows, ranks. */
import { isPromise } from '../base/index.ts';
import type { Value } from '../value/index.ts';
import { choosePath, describeAccess } from './access-path.ts';
import { pendingItems } from './async-rows.ts';
import { candidates, NOTHING_LEFT } from './candidates.ts';
import { countItems } from './count.ts';
import type { Blocking, ExecutableQuery, Row } from './executable-query.ts';
import type { ExecutionStats } from './execution-stats.ts';
import { type ItemSource, MergedItems } from './merged-items.ts';
import { bestItems, withStatistics } from './order/best-first.ts';
import { type PageRequest, PageRows, type ResultPage, type Target } from './page.ts';
import type { ItemReader } from './reader.ts';
import { type TimedReader, timed } from './timed-reader.ts';
import { yieldToEventLoop } from './yield.ts';

export async function foldPage(request: PageRequest, shape: Blocking): Promise<ResultPage> {
  const { position, stats, query, cache } = request;
  const targets = request.ranges.flatMap((range) => request.targetsIn(range));
  const from = position?.kind === 'fold' ? position : { given: 0, kept: undefined };
  const found = from.kept === undefined ? undefined : cache?.results.find(cache.owner(), from.kept);
  if (found !== undefined) {
    // Refused where the partitions would refuse the query.
    for (const target of targets) (await target.open()).release();
    return pageOf(request, found.rows, (text) => text, { ...from, isWhole: found.isWhole });
  }
  const known = await withStatistics(query, targets, stats);
  if (known !== undefined && 'shape' in known) {
    const next = request.move?.(known) ?? known;
    if (next.shape.kind === 'folding') return foldPage({ ...request, query: next }, next.shape);
  }
  const { given } = from;
  const mayKeep = cache !== undefined && !Array.isArray(known);
  const wanted = mayKeep ? rowsWanted(request, shape, given) : given + request.rowsMax + 1;
  const results = Array.isArray(known)
    ? known.map((value: Value) => ({ value }))
    : await foldAll(targets, shape, request, wanted);
  const isWhole = results.length < wanted;
  const printer = new PageRows(request);
  const print = ({ value, text }: FoldedRow) => text ?? printer.print(value);
  if (!mayKeep || results.length <= given + request.rowsMax + (isWhole ? 0 : 1))
    return pageOf(request, results, print, { given, isWhole: true });
  const rows: string[] = [];
  for (const row of results) {
    rows.push(print(row));
    const rest = yieldToEventLoop();
    if (rest !== undefined) await rest;
  }
  const name = cache.results.keep({ owner: cache.owner(), rows, isWhole });
  return pageOf(request, rows, (text) => text, { given, kept: name, isWhole });
}

/** Rows made for later pages at most, where the result could stop with this one. */
const ROWS_AHEAD_MAX = 10_000;

/**
 * One more than the page takes tells that there is a next one; distinct rows need no more items then. Whoever reads on has
 * some of the next pages made as well, the more the further he is: every page begins with the first item again.
 */
function rowsWanted({ rowsMax }: PageRequest, { needsEvery }: Blocking, given: number): number {
  if (needsEvery) return Number.POSITIVE_INFINITY;
  return given + Math.max(rowsMax, Math.min(3 * given, ROWS_AHEAD_MAX)) + 1;
}

interface FoldPlace {
  readonly given: number;
  readonly kept?: string | undefined;
  readonly isWhole: boolean;
}

/** The rows behind those given. Of rows that are not all, the last is for the next look to give. */
function pageOf<Row>(
  request: PageRequest,
  rows: readonly Row[],
  textOf: (row: Row) => string,
  { given, kept, isWhole }: FoldPlace,
): ResultPage {
  const page = new PageRows(request);
  const end = isWhole ? rows.length : rows.length - 1;
  let at = given;
  for (; at < end && !page.isFull; at++) if (!page.addText(textOf(rows[at] as Row))) break;
  if (at < end)
    return { rows: page.rows, position: { kind: 'fold', given: at, ...(kept && { kept }) } };
  if (kept !== undefined) request.cache?.results.drop(kept);
  return { rows: page.rows, position: isWhole ? undefined : { kind: 'fold', given: at } };
}

async function foldAll(
  targets: readonly Target[],
  shape: Blocking,
  request: PageRequest,
  wanted: number,
): Promise<readonly FoldedRow[]> {
  const { stats } = request;
  const fold = shape.start(wanted);
  const isOrdered = targets.length > 1 && dependsOnOrder(shape, request.query, fold);
  if (isOrdered) await foldMerged(targets, fold, request);
  else for (const target of targets) if (!(await foldTarget(target, fold, request))) break;
  const rows =
    fold.async === undefined
      ? fold.finish().map((value) => ({ value }))
      : await fold.async.finish();
  stats.itemsMatched += fold.itemsMatched?.() ?? stats.itemsLoaded;
  return rows;
}

type FoldedRow = Pick<Row, 'value' | 'text'>;

/** False for counts and for rows that have an order of their own. */
function dependsOnOrder(
  { needsEvery }: Blocking,
  { search }: ExecutableQuery,
  fold: ReturnType<Blocking['start']>,
): boolean {
  return search === undefined && !(needsEvery && fold.addMatching !== undefined);
}

/** The same rows in the same order as one partition with all the items would give. */
async function foldMerged(
  targets: readonly Target[],
  fold: ReturnType<Blocking['start']>,
  request: PageRequest,
): Promise<void> {
  const { query, stats } = request;
  const sources: (ItemSource & { readonly reader: TimedReader })[] = [];
  try {
    for (const target of targets) {
      const reader = timed(await target.open(), request);
      sources.push({ reader, batches: NOTHING_LEFT });
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
        if (rest !== undefined) await rest;
        if (!fold.add(item.decode())) return;
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
): Promise<boolean> {
  const { query, stats } = request;
  const opened = target.open();
  const reader = timed(isPromise(opened) ? await opened : opened, request);
  try {
    const count = await countMatching(reader, fold, query, stats);
    if (count !== undefined) {
      fold.addMatching?.(count);
      return true;
    }
    const access = await choosePath(reader, query.condition, stats);
    // Few items are looked at as they are.
    const best = access.kind === 'rids' ? undefined : await bestItems(reader, query, stats);
    if (best !== undefined) {
      for (const item of best) {
        const rest = yieldToEventLoop();
        if (rest !== undefined) await rest;
        if (!fold.add(reader.decode(item))) return false;
      }
      return true;
    }
    stats.accessPaths.push(describeAccess(access));
    const batches = candidates(reader, access, 0, stats);
    for (;;) {
      const found = batches.next();
      const items = isPromise(found) ? await found : found;
      if (items === undefined) return true;
      const later = fold.async?.addMany(pendingItems(reader, items));
      if (later === undefined) {
        for (const item of items) {
          // Not only after the batch: what a query makes of one item may take its time.
          const rest = yieldToEventLoop();
          if (rest !== undefined) await rest;
          if (!fold.add(reader.decode(item))) return false;
        }
      } else if (!(await later)) return false;
      const rest = yieldToEventLoop();
      if (rest !== undefined) await rest;
    }
  } finally {
    reader.release();
  }
}

/** Undefined where the items have to be looked at. */
async function countMatching(
  reader: ItemReader,
  { addMatching }: ReturnType<Blocking['start']>,
  { condition, isExact, isWithin }: ExecutableQuery,
  work: ExecutionStats,
): Promise<number | undefined> {
  if (addMatching === undefined || !isExact) return undefined;
  const { others, hidden } = reader.excludes;
  if (hidden || (others && !isWithin)) return undefined;
  const count = await countItems(reader, condition, work);
  if (count !== undefined) work.accessPaths.push('index, counted');
  return count;
}
