/**
 * Runs a program over partitions, one page at a time, here or in another thread. A page ends when it has as many rows or
 * bytes as asked for, or when it has looked at so many items that others should be served; then it says where to go on.
 */
import {
  assert,
  DomainError,
  EvaluationTooLong,
  type MaybePromise,
  recovering,
} from '../base/index.ts';
import type { ExecutableQuery, MovedQuery } from './executable-query.ts';
import { newStats } from './execution-stats.ts';
import { foldPage } from './fold-page.ts';
import { orderedPage } from './order/ordered-page.ts';
import type { PageRequest, ResultPage } from './page.ts';
import type { Position } from './position.ts';
import { streamPage } from './stream-page.ts';

/** Answers at once where every partition does and the program has an order. */
export function executePage(request: PageRequest): MaybePromise<ResultPage> {
  const { query, position } = request;
  if (!isPositionOf(query, position))
    throw new DomainError('invalidInput', 'Invalid Continuation Token');
  if (query.mover === undefined) return runPage(request);
  if (query.mover.isDue) return movedPage(request, false);
  return recovering(
    () => runPage(request),
    (error) => {
      if (!(error instanceof EvaluationTooLong)) throw error;
      return movedPage(request, !error.isSize);
    },
  );
}

/** The whole page, with its rows made in another thread. */
async function movedPage(request: PageRequest, isSlow: boolean): Promise<ResultPage> {
  const moved: MovedQuery[] = [];
  const move = ({
    condition,
    isWithin,
    search,
    shape,
    mover,
  }: ExecutableQuery): ExecutableQuery => {
    assert(mover !== undefined, 'only what can move is moved');
    const begun = mover.begin(shape, isSlow);
    moved.push(begun);
    return {
      condition,
      isWithin: isWithin === true,
      shape: begun.shape,
      ...(search?.kind === 'statistics' && { search }),
    };
  };
  // What was begun here counts for nothing.
  Object.assign(request.stats, newStats());
  try {
    return await runPage({ ...request, query: move(request.query), move });
  } finally {
    for (const { release } of moved) release();
  }
}

function runPage(request: PageRequest): MaybePromise<ResultPage> {
  const { shape } = request.query;
  if (shape.kind === 'folding') return foldPage(request, shape);
  return shape.order === undefined
    ? streamPage(request, shape)
    : orderedPage(request, shape, shape.order);
}

/** False for the position of another query. */
function isPositionOf({ shape }: ExecutableQuery, position: Position | undefined): boolean {
  if (position === undefined) return true;
  if (shape.kind === 'folding') return position.kind === 'fold';
  if (shape.order === undefined) return position.kind === 'stream';
  if (position.kind !== 'ordered') return false;
  return position.after === undefined || position.after.keys.length === shape.order.parts.length;
}
