/**
 * Runs a query over partitions, one page at a time, in this thread or in another. A page ends when it has the rows or
 * bytes asked for, or when it has read so many items that other requests should be served. Its position says where
 * the next page begins.
 */
import {
  assert,
  DomainError,
  EvaluationTooLong,
  isPromise,
  type MaybePromise,
  withCatch,
} from '../base/index.ts';
import type { ExecutableQuery, MovedQuery } from './executable-query.ts';
import { newStats } from './execution-stats.ts';
import { orderedPage } from './order/ordered-page.ts';
import { foldPage } from './page/fold-page.ts';
import type { PageRequest, ResultPage } from './page/page.ts';
import type { HashRange, Position } from './page/position.ts';
import { streamPage } from './page/stream-page.ts';

/** Makes one page; without a promise where the query has an order and no partition needs one. */
export function executePage(request: PageRequest): MaybePromise<ResultPage> {
  const { query, position } = request;
  if (!isPositionOf(query, position))
    throw new DomainError('invalidInput', 'Invalid Continuation Token');
  assertInOrder(request.ranges);
  request.interruption?.check();
  const page = executed(request);
  return isPromise(page) && request.interruption !== undefined
    ? request.interruption.guard(page)
    : page;
}

function executed(request: PageRequest): MaybePromise<ResultPage> {
  const { query } = request;
  if (query.mover === undefined) return runPage(request);
  if (query.mover.isDue) return movedPage(request, false);
  return withCatch(
    () => runPage(request),
    (error) => {
      if (!(error instanceof EvaluationTooLong)) throw error;
      return movedPage(request, !error.isSize);
    },
  );
}

/** Ranges that overlap would give rows twice; ranges out of order would lose rows behind a position. */
function assertInOrder(ranges: readonly HashRange[]): void {
  for (let at = 1; at < ranges.length; at++)
    assert(
      (ranges[at - 1] as HashRange).max <= (ranges[at] as HashRange).min,
      'the ranges of a query are in order, without overlaps',
    );
}

/** The same page from its beginning, with its rows made in another thread. */
async function movedPage(request: PageRequest, isSlow: boolean): Promise<ResultPage> {
  const moved: MovedQuery[] = [];
  const move = ({
    condition,
    isWithin,
    search,
    shape,
    mover,
  }: ExecutableQuery): ExecutableQuery => {
    assert(mover !== undefined, 'only a query with a mover is moved');
    const begun = mover.begin(shape, isSlow);
    moved.push(begun);
    return {
      condition,
      isWithin: isWithin === true,
      shape: begun.shape,
      ...(search?.kind === 'statistics' && { search }),
    };
  };
  // The page begins again, so that what the first attempt counted is dropped.
  Object.assign(request.stats, newStats());
  try {
    return await runPage({ ...request, query: move(request.query), move });
  } finally {
    for (const { release } of moved) release();
  }
}

function runPage(request: PageRequest): MaybePromise<ResultPage> {
  const { shape } = request.query;
  if (shape.kind === 'blocking') return foldPage(request, shape);
  return shape.order === undefined
    ? streamPage(request, shape)
    : orderedPage(request, shape, shape.order);
}

/** False where the position belongs to another kind of query. */
function isPositionOf({ shape }: ExecutableQuery, position: Position | undefined): boolean {
  if (position === undefined) return true;
  if (shape.kind === 'blocking') return position.kind === 'fold';
  if (shape.order === undefined) return position.kind === 'stream';
  if (position.kind !== 'ordered') return false;
  return position.after === undefined || position.after.keys.length === shape.order.parts.length;
}
