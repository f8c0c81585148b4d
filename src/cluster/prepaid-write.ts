/**
 * A write is charged by its size when it starts and corrected when its cost is known: many that wait for the same
 * commit would otherwise all be admitted on the same balance.
 */
import { DomainError, isPromise, type MaybePromise, type ResponseInfo } from '../base/index.ts';
import type { Partition } from '../partition/index.ts';
import { MINIMAL_CHARGE, type RequestClass } from '../throughput/index.ts';
import type { ClusterOptions } from './cluster.ts';
import { responseInfoOf } from './reply.ts';
import type { Route } from './routing-map.ts';

/** A write of any kind. */
export interface PaidWork<Done, Reply> {
  start(partition: Partition): Promise<Done>;
  /** When it is durable. */
  finish(done: Done): Reply;
}

interface Prepaid<Done, Reply> {
  readonly prepaid: number;
  readonly traffic: RequestClass;
  readonly work: PaidWork<Done, Reply>;
}

/** One promise from the commit to the reply: many writes are under way at once, and all of them keep theirs. */
export function commitPrepaid<Done, Reply extends ResponseInfo>(
  { clock, registry, load }: ClusterOptions,
  route: Route,
  { prepaid, traffic, work }: Prepaid<Done, Reply>,
): Promise<Reply> {
  const { handle } = route;
  const { budget } = handle;
  budget.charge(prepaid, clock.nowMs(), traffic);
  const correct = (cost: number): void => {
    if (cost !== prepaid) budget.correct(cost - prepaid, clock.nowMs(), traffic);
  };
  const run = (partition: Partition): Promise<Reply> =>
    begun(work, partition).then(
      (done) => {
        const reply = work.finish(done);
        if (handle.isReviewDue(partition.itemBytes)) load.grown(route, partition.itemBytes);
        correct(reply.charge);
        return reply;
      },
      (error: unknown) => {
        correct(MINIMAL_CHARGE);
        if (error instanceof DomainError) {
          error.responseInfo = responseInfoOf(route, partition.lsn, MINIMAL_CHARGE);
          // Nothing has grown, yet a split may make room for whoever writes next.
          if (error.code === 'partitionKeyFull' && handle.isReviewDue(partition.itemBytes))
            load.grown(route, partition.itemBytes);
        }
        throw error;
      },
    );
  const unopened = (error: unknown): never => {
    correct(0);
    throw error;
  };
  let opened: MaybePromise<Partition>;
  try {
    opened = registry.partition(handle);
  } catch (error) {
    return unopened(error);
  }
  return isPromise(opened) ? opened.then(run, unopened) : run(opened);
}

/** Refusals before anything is under way come as those do that come later. */
function begun<Done, Reply>(work: PaidWork<Done, Reply>, partition: Partition): Promise<Done> {
  try {
    return work.start(partition);
  } catch (error) {
    return Promise.reject(error);
  }
}
