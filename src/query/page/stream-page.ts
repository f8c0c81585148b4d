/** Pages of streaming queries without an order: rows in the order in which their items were created. */
import { assert, isPromise, QUERY_ITEMS_PER_PAGE } from '../../base/index.ts';
import { choosePath, describeAccess } from '../candidates/access-path.ts';
import { candidates } from '../candidates/candidates.ts';
import type { Row, Streaming } from '../executable-query.ts';
import { ReadItem } from '../found-item.ts';
import { TimedReader } from '../timed-reader.ts';
import { yieldToEventLoop } from '../yield.ts';
import { asyncRows } from './async-rows.ts';
import { type PageRequest, PageRows, type ResultPage, type Target } from './page.ts';
import { begunParts, type Part, partsLeft, type Window } from './position.ts';

export async function streamPage(request: PageRequest, shape: Streaming): Promise<ResultPage> {
  const { position, ranges } = request;
  const page = new PageRows(request);
  let window: Window =
    position?.kind === 'stream' ? position.window : { skip: shape.skip, take: shape.take };
  const left = partsLeft(ranges, position?.kind === 'stream' ? position.parts : []);
  let itemsRead = 0;
  while (left.length > 0 && window.take > 0) {
    const part = left.shift() as Part;
    const target = request.targetsIn(part)[0];
    if (target === undefined) continue;
    assert(target.max > part.min, 'a target covers the beginning of its part');
    if (target.max < part.max) left.unshift({ ...part, min: target.max });
    const here = { ...part, min: target.min, max: target.max };
    const end = await streamTarget(request, shape, target, here, { page, window, itemsRead });
    window = end.window;
    itemsRead = end.itemsRead;
    if (end.stoppedAt !== undefined) {
      left.unshift(end.stoppedAt);
      break;
    }
    if (page.isFull || itemsRead >= QUERY_ITEMS_PER_PAGE) break;
  }
  if (left.length === 0 || window.take === 0) return { rows: page.rows, position: undefined };
  return { rows: page.rows, position: { kind: 'stream', parts: begunParts(left), window } };
}

interface StreamState {
  readonly page: PageRows;
  readonly window: Window;
  readonly itemsRead: number;
}

interface StreamEnd {
  readonly window: Window;
  readonly itemsRead: number;
  /** Where in the target the page became full; undefined where the target was read to its end. */
  readonly stoppedAt: Part | undefined;
}

async function streamTarget(
  request: PageRequest,
  shape: Streaming,
  target: Target,
  part: Part,
  state: StreamState,
): Promise<StreamEnd> {
  const { stats, query } = request;
  const { page } = state;
  let { skip, take } = state.window;
  let { itemsRead } = state;
  const endAt = (stoppedAt: Part | undefined): StreamEnd => ({
    window: { skip, take },
    itemsRead,
    stoppedAt,
  });
  const opened = target.open();
  const reader = new TimedReader(isPromise(opened) ? await opened : opened, request);
  try {
    const chosen = choosePath(reader, query.condition, stats);
    const access = isPromise(chosen) ? await chosen : chosen;
    stats.accessPaths.push(describeAccess(access));
    // One more row than the page takes shows whether there is a next page: clients request a page for every token.
    const batch = Math.min(100, skip + Math.min(take, request.rowsMax + 1));
    const batches = candidates(reader, access, part.from, stats, batch);
    for (;;) {
      const found = batches.next();
      const items = isPromise(found) ? await found : found;
      if (items === undefined) return endAt(undefined);
      const pending = asyncRows(shape, reader, items, part);
      const made = pending && (await pending);
      let at = 0;
      for (const item of items) {
        const isLeft = made !== undefined && at >= made.rows.length;
        if (page.isFull || isLeft || itemsRead >= QUERY_ITEMS_PER_PAGE)
          return endAt({ ...part, from: item.rid, rows: 0 });
        // The first item never waits, so that a query of one item does not yield.
        const rest = itemsRead++ === 0 ? undefined : yieldToEventLoop();
        if (rest !== undefined) {
          await rest;
          request.interruption?.check();
        }
        const rows = made?.rows[at++] ?? shape.rowsOf(new ReadItem(reader, item));
        if (rows.length > 0) stats.itemsMatched++;
        for (let row = item.rid === part.from ? part.rows : 0; row < rows.length; row++) {
          if (skip > 0) {
            skip--;
            continue;
          }
          const { isLeft: isRowLeft } = rows[row] as Row;
          if (isRowLeft || !page.add(rows[row] as Row))
            return endAt({ ...part, from: item.rid, rows: row });
          take--;
          const wait = page.isYieldDue() ? yieldToEventLoop() : undefined;
          if (wait !== undefined) await wait;
          if (take === 0) return endAt(undefined);
          const hasMoreRows = row + 1 < rows.length;
          if (page.isFull && (request.endsFullPages || hasMoreRows))
            return endAt(behind(part, item.rid, hasMoreRows ? row + 1 : 0));
        }
      }
    }
  } finally {
    reader.release();
  }
}

/** The part that is left behind a row. */
function behind(part: Part, rid: number, nextRow: number): Part {
  return nextRow === 0
    ? { ...part, from: rid + 1, rows: 0 }
    : { ...part, from: rid, rows: nextRow };
}
