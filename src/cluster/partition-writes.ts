/**
 * Writes to one partition. A write is charged by its size when it starts and corrected when its cost is known: many that
 * wait for the same commit would otherwise all be admitted on the same balance.
 */
import { DomainError, isPromise, type MaybePromise, type ResponseInfo } from '../base/index.ts';
import {
  commandOf,
  type Effect,
  type ItemOp,
  type Partition,
  type RangeTombstone,
  type TransactionOp,
  type TransactionOptions,
  transactionOf,
  type WriteCommand,
} from '../partition/index.ts';
import { MINIMAL_CHARGE, type RequestClass } from '../throughput/index.ts';
import { admit } from './admission.ts';
import type { ClusterContext } from './cluster-context.ts';
import { limitedCommand } from './key-limit.ts';
import { responseInfoOf, type TransactionReply, type WriteReply } from './reply.ts';
import type { Route } from './routing-map.ts';
import { effectCharge, prepaidCharge, pricedTransaction } from './write-charge.ts';

/** A write of any kind. */
interface Commit<Done, Reply> {
  readonly prepaid: number;
  readonly requestClass: RequestClass;
  start(partition: Partition): Promise<Done>;
  /** Called when the write is durable. */
  finish(done: Done): Reply;
}

export class PartitionWrites {
  readonly #context: ClusterContext;

  constructor(context: ClusterContext) {
    this.#context = context;
  }

  write(route: Route, op: ItemOp, requestClass: RequestClass): Promise<WriteReply> {
    return this.#commit(route, {
      prepaid: prepaidCharge(op),
      requestClass,
      start: (partition) => partition.write(this.#limited(route, partition, commandOf(op))),
      finish: ({ effects, lsn }) => {
        const effect = effects[0] as Effect;
        const charge = effectCharge(effect, route.handle.options.indexing);
        const bytes = (effect.item ?? effect.previous)?.body.length ?? 0;
        route.handle.heat.add(charge, bytes, op.key, this.#context.clock.nowMs());
        return { effect, ...responseInfoOf(route, lsn, charge) };
      },
    });
  }

  /** All operations or none, of one logical partition. */
  transact(
    route: Route,
    ops: readonly TransactionOp[],
    requestClass: RequestClass,
    options: TransactionOptions,
  ): Promise<TransactionReply> {
    let prepaid = 0;
    for (const op of ops) prepaid += prepaidCharge(op);
    return this.#commit(route, {
      prepaid,
      requestClass,
      start: async (partition) => {
        const { command, effects } = transactionOf(ops, options);
        const { lsn } = await partition.write(this.#limited(route, partition, command));
        return { effects, lsn };
      },
      finish: ({ effects, lsn }) => {
        const { indexing } = route.handle.options;
        const { outcomes, bytes, charge } = pricedTransaction(effects, indexing);
        route.handle.heat.add(charge, bytes, ops[0]?.key, this.#context.clock.nowMs());
        return { outcomes, ...responseInfoOf(route, lsn, charge) };
      },
    });
  }

  /** Deletes everything that is stored under these primary keys, at once. */
  deleteRange(
    route: Route,
    range: Omit<RangeTombstone, 'lsn'>,
    requestClass: RequestClass,
  ): Promise<ResponseInfo> {
    return this.#commit(route, {
      prepaid: MINIMAL_CHARGE,
      requestClass,
      start: (partition) => partition.deleteRange(range),
      finish: (lsn) => responseInfoOf(route, lsn, MINIMAL_CHARGE),
    });
  }

  /** One promise from the commit to the reply: many writes are under way at once, and all of them keep theirs. */
  #commit<Done, Reply extends ResponseInfo>(
    route: Route,
    commit: Commit<Done, Reply>,
  ): Promise<Reply> {
    const { clock, registry, load } = this.#context;
    const { prepaid, requestClass } = commit;
    const { handle } = route;
    const { budget } = handle;
    admit(this.#context, route, requestClass);
    budget.charge(prepaid, clock.nowMs(), requestClass);
    const correct = (cost: number): void => {
      if (cost !== prepaid) budget.correct(cost - prepaid, clock.nowMs(), requestClass);
    };
    const run = (partition: Partition): Promise<Reply> =>
      started(commit, partition).then(
        (done) => {
          const reply = commit.finish(done);
          if (handle.isReviewDue(partition.itemBytes)) load.grown(route, partition.itemBytes);
          correct(reply.charge);
          return reply;
        },
        (error: unknown) => {
          correct(MINIMAL_CHARGE);
          if (error instanceof DomainError) {
            error.responseInfo = responseInfoOf(route, partition.lsn, MINIMAL_CHARGE);
            // The partition has not grown, yet a split may make room for the next write.
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

  /** The command, refused when it is decided where the partition is near a limit and the command would exceed it. */
  #limited(route: Route, partition: Partition, command: WriteCommand): WriteCommand {
    const { limits } = route.handle;
    if (limits === undefined) return command;
    return limitedCommand(command, { route, partition, limits, ...this.#context });
  }
}

/** A refusal before the write has started is a rejection, as later ones are. */
function started<Done>(
  commit: Pick<Commit<Done, unknown>, 'start'>,
  partition: Partition,
): Promise<Done> {
  try {
    return commit.start(partition);
  } catch (error) {
    return Promise.reject(error);
  }
}
