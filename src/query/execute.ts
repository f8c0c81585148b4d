/**
 * Runs a program over partitions, one page at a time. A page ends when it has as many rows or bytes as asked for, or when
 * it has looked at so many items that others should have their turn; then it says where to go on.
 */
import { DomainError, isPromise, type MaybePromise, QUERY_ITEMS_PER_PAGE } from '../base/index.ts';
import type { Value } from '../value/index.ts';
import { type Access, chooseAccess } from './access.ts';
import { bestItems, withStatistics } from './best-first.ts';
import { candidates, NOTHING_LEFT } from './candidates.ts';
import { countItems } from './count.ts';
import { MeasuredReader } from './measured-reader.ts';
import { type ItemSource, MergedItems } from './merged-items.ts';
import { orderedPage } from './ordered-page.ts';
import { type PageRequest, PageRows, type ResultPage, type Target } from './page.ts';
import { begunParts, type Part, type Position, partsLeft, type Window } from './position.ts';
import type { Folding, Program, Streaming } from './program.ts';
import type { ItemReader } from './reader.ts';
import { rowsLater } from './rows-later.ts';
import { pause } from './turn.ts';
import type { Work } from './work.ts';

/** Answers at once where every partition does and the program has an order. */
export function executePage(request: PageRequest): MaybePromise<ResultPage> {
  const { shape } = request.program;
  if (!isPositionOf(request.program, request.position))
    throw new DomainError('invalidInput', 'Invalid Continuation Token');
  if (shape.kind === 'folding') return foldPage(request, shape);
  return shape.order === undefined
    ? streamPage(request, shape)
    : orderedPage(request, shape, shape.order);
}

/** False for the position of another query. */
function isPositionOf({ shape }: Program, position: Position | undefined): boolean {
  if (position === undefined) return true;
  if (shape.kind === 'folding') return position.kind === 'fold';
  if (shape.order === undefined) return position.kind === 'stream';
  if (position.kind !== 'ordered') return false;
  return position.after === undefined || position.after.keys.length === shape.order.parts.length;
}

async function streamPage(request: PageRequest, shape: Streaming): Promise<ResultPage> {
  const { position, ranges } = request;
  const page = new PageRows(request);
  let window: Window =
    position?.kind === 'stream' ? position.window : { skip: shape.skip, take: shape.take };
  const left = partsLeft(ranges, position?.kind === 'stream' ? position.parts : []);
  let looked = 0;
  while (left.length > 0 && window.take > 0) {
    const part = left.shift() as Part;
    const target = request.targetsIn(part)[0];
    if (target === undefined) continue;
    if (target.max < part.max) left.unshift({ ...part, min: target.max });
    const here = { ...part, min: target.min, max: target.max };
    const end = await streamTarget(request, shape, target, here, { page, window, looked });
    window = end.window;
    looked = end.looked;
    if (end.stoppedAt !== undefined) {
      left.unshift(end.stoppedAt);
      break;
    }
    if (page.isFull || looked >= QUERY_ITEMS_PER_PAGE) break;
  }
  if (left.length === 0 || window.take === 0) return { rows: page.rows, position: undefined };
  return { rows: page.rows, position: { kind: 'stream', parts: begunParts(left), window } };
}

interface StreamState {
  readonly page: PageRows;
  readonly window: Window;
  readonly looked: number;
}

interface StreamEnd {
  readonly window: Window;
  readonly looked: number;
  /** Where in the target the page became full; undefined at its end. */
  readonly stoppedAt: Part | undefined;
}

async function streamTarget(
  request: PageRequest,
  shape: Streaming,
  target: Target,
  part: Part,
  state: StreamState,
): Promise<StreamEnd> {
  const { work, program } = request;
  const { page } = state;
  let { skip, take } = state.window;
  let { looked } = state;
  const opened = target.open();
  const reader = new MeasuredReader(isPromise(opened) ? await opened : opened, work);
  try {
    const chosen = chooseAccess(reader, program.condition, work);
    const access = isPromise(chosen) ? await chosen : chosen;
    work.accesses.push(describeAccess(access));
    // One more than the page takes tells whether there is a next one: clients ask for a page behind every token.
    const batch = Math.min(100, skip + Math.min(take, request.rowsMax + 1));
    const batches = candidates(reader, access, part.from, work, batch);
    for (;;) {
      const found = batches.next();
      const items = isPromise(found) ? await found : found;
      if (items === undefined) return { window: { skip, take }, looked, stoppedAt: undefined };
      const answers = rowsLater(shape, reader, items);
      const later = answers && (await answers);
      let at = 0;
      for (const item of items) {
        if (page.isFull || looked >= QUERY_ITEMS_PER_PAGE)
          return {
            window: { skip, take },
            looked,
            stoppedAt: { ...part, from: item.rid, rows: 0 },
          };
        // The first is what the request is about.
        const rest = looked++ === 0 ? undefined : pause();
        if (rest !== undefined) await rest;
        const document = later === undefined ? reader.decode(item) : later.documents[at];
        const rows = later?.rows[at++] ?? shape.rowsOf(document);
        if (rows.length > 0) work.itemsMatched++;
        for (let row = item.rid === part.from ? part.rows : 0; row < rows.length; row++) {
          if (skip > 0) {
            skip--;
            continue;
          }
          page.add((rows[row] as { value: Value }).value, document, item.body);
          take--;
          if (take === 0) return { window: { skip, take }, looked, stoppedAt: undefined };
          const hasMoreRows = row + 1 < rows.length;
          if (page.isFull && (request.endsFullPages || hasMoreRows))
            return {
              window: { skip, take },
              looked,
              stoppedAt: behind(part, item.rid, hasMoreRows ? row + 1 : 0),
            };
        }
      }
    }
  } finally {
    reader.release();
  }
}

function behind(part: Part, rid: number, nextRow: number): Part {
  return nextRow === 0
    ? { ...part, from: rid + 1, rows: 0 }
    : { ...part, from: rid, rows: nextRow };
}

function describeAccess(access: Access): string {
  return access.kind === 'rids' || access.kind === 'posting' ? access.text : access.kind;
}

async function foldPage(request: PageRequest, shape: Folding): Promise<ResultPage> {
  const { position, work, program, kept } = request;
  const targets = request.ranges.flatMap((range) => request.targetsIn(range));
  const from = position?.kind === 'fold' ? position : { given: 0, kept: undefined };
  const found = from.kept === undefined ? undefined : kept?.results.find(kept.owner(), from.kept);
  if (found !== undefined) {
    // Refused where the partitions would refuse the query.
    for (const target of targets) (await target.open()).release();
    return pageOf(request, found.rows, (text) => text, { ...from, isWhole: found.isWhole });
  }
  const known = await withStatistics(program, targets, work);
  if (known !== undefined && 'shape' in known && known.shape.kind === 'folding')
    return foldPage({ ...request, program: known }, known.shape);
  const { given } = from;
  const mayKeep = kept !== undefined && !Array.isArray(known);
  const wanted = mayKeep ? rowsWanted(request, shape, given) : given + request.rowsMax + 1;
  const results = Array.isArray(known) ? known : await foldAll(targets, shape, request, wanted);
  const isWhole = results.length < wanted;
  if (!mayKeep || results.length <= given + request.rowsMax + (isWhole ? 0 : 1))
    return pageOf(request, results, (row) => JSON.stringify(row), { given, isWhole: true });
  const rows = results.map((row) => JSON.stringify(row));
  const name = kept.results.keep({ owner: kept.owner(), rows, isWhole });
  return pageOf(request, rows, (text) => text, { given, kept: name, isWhole });
}

/** Rows made for later pages at most, where the result could stop with this one. */
const ROWS_AHEAD_MAX = 10_000;

/**
 * One more than the page takes tells that there is a next one; distinct rows need no more items then. Whoever reads on has
 * some of the next pages made as well, the more the further he is: every page begins with the first item again.
 */
function rowsWanted({ rowsMax }: PageRequest, { needsEvery }: Folding, given: number): number {
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
  for (; at < end && !page.isFull; at++) page.addText(textOf(rows[at] as Row));
  if (at < end)
    return { rows: page.rows, position: { kind: 'fold', given: at, ...(kept && { kept }) } };
  if (kept !== undefined) request.kept?.results.drop(kept);
  return { rows: page.rows, position: isWhole ? undefined : { kind: 'fold', given: at } };
}

async function foldAll(
  targets: readonly Target[],
  shape: Folding,
  { program, work }: PageRequest,
  wanted: number,
): Promise<readonly Value[]> {
  const fold = shape.start(wanted);
  const isOrdered = targets.length > 1 && dependsOnOrder(shape, program, fold);
  if (isOrdered) await foldMerged(targets, fold, program, work);
  else for (const target of targets) if (!(await foldTarget(target, fold, program, work))) break;
  work.itemsMatched += fold.itemsMatched?.() ?? work.itemsLoaded;
  return fold.later === undefined ? fold.finish() : fold.later.finish();
}

/** False for counts and for rows that have an order of their own. */
function dependsOnOrder(
  { needsEvery }: Folding,
  { search }: Program,
  fold: ReturnType<Folding['start']>,
): boolean {
  return search === undefined && !(needsEvery && fold.addMatching !== undefined);
}

/** The same rows in the same order as one partition with all the items would give. */
async function foldMerged(
  targets: readonly Target[],
  fold: ReturnType<Folding['start']>,
  program: Program,
  work: Work,
): Promise<void> {
  const sources: (ItemSource & { readonly reader: MeasuredReader })[] = [];
  try {
    for (const target of targets) {
      const reader = new MeasuredReader(await target.open(), work);
      sources.push({ reader, batches: NOTHING_LEFT });
      const access = await chooseAccess(reader, program.condition, work);
      work.accesses.push(describeAccess(access));
      sources[sources.length - 1] = { reader, batches: candidates(reader, access, 0, work) };
    }
    const merged = new MergedItems(sources);
    for (let found = await merged.next(); found !== undefined; found = await merged.next()) {
      if (fold.later !== undefined) {
        if (!(await fold.later.addMany(found))) return;
        continue;
      }
      for (const document of found) {
        const rest = pause();
        if (rest !== undefined) await rest;
        if (!fold.add(document)) return;
      }
    }
  } finally {
    for (const { reader } of sources) reader.release();
  }
}

/** False when no further item can change the result. */
async function foldTarget(
  target: Target,
  fold: ReturnType<Folding['start']>,
  program: Program,
  work: Work,
): Promise<boolean> {
  const opened = target.open();
  const reader = new MeasuredReader(isPromise(opened) ? await opened : opened, work);
  try {
    const count = await countMatching(reader, fold, program, work);
    if (count !== undefined) {
      fold.addMatching?.(count);
      return true;
    }
    const access = await chooseAccess(reader, program.condition, work);
    // Few items are looked at as they are.
    const best = access.kind === 'rids' ? undefined : await bestItems(reader, program, work);
    if (best !== undefined) {
      for (const item of best) if (!fold.add(reader.decode(item))) return false;
      return true;
    }
    work.accesses.push(describeAccess(access));
    const batches = candidates(reader, access, 0, work);
    for (;;) {
      const found = batches.next();
      const items = isPromise(found) ? await found : found;
      if (items === undefined) return true;
      const later = fold.later?.addMany(items.map((item) => reader.decode(item)));
      if (later === undefined) {
        for (const item of items) {
          // Not only after the batch: what a query makes of one item may take its time.
          const rest = pause();
          if (rest !== undefined) await rest;
          if (!fold.add(reader.decode(item))) return false;
        }
      } else if (!(await later)) return false;
      const rest = pause();
      if (rest !== undefined) await rest;
    }
  } finally {
    reader.release();
  }
}

/** Undefined where the items have to be looked at. */
async function countMatching(
  reader: ItemReader,
  { addMatching }: ReturnType<Folding['start']>,
  { condition, isExact, isWithin }: Program,
  work: Work,
): Promise<number | undefined> {
  if (addMatching === undefined || !isExact) return undefined;
  const { others, hidden } = reader.leavesOut;
  if (hidden || (others && !isWithin)) return undefined;
  const count = await countItems(reader, condition, work);
  if (count !== undefined) work.accesses.push('index, counted');
  return count;
}
