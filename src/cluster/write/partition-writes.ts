/**
 * Writes to one partition. A write is charged by its size when it starts and corrected when its cost is known: many that
 * wait for the same commit would otherwise all be admitted on the same balance.
 */
import { DomainError, isPromise, type MaybePromise, type ResponseInfo } from '../../base/index.ts';
import {
  commandOf,
  type Effect,
  type ItemOp,
  type KeyNote,
  type Lsn,
  type Partition,
  type RangeTombstone,
  type SequenceMode,
  type StepCheck,
  sequenceOf,
  type TransactionOp,
  type TransactionOptions,
  transactionOf,
  updateOf,
  type WriteCommand,
} from '../../partition/index.ts';
import { MINIMAL_CHARGE, type RequestClass } from '../../throughput/index.ts';
import { admit } from '../admission.ts';
import { limitedCommand, stepCheck } from '../balance/key-limit.ts';
import type { ClusterContext } from '../cluster-context.ts';
import {
  responseInfoOf,
  type SequenceReply,
  type TransactionReply,
  type WriteReply,
} from '../reply.ts';
import type { Route } from '../routing/routing-map.ts';
import { effectCharge, prepaidCharge, pricedSequence, pricedTransaction } from './write-charge.ts';

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
      start: (partition) =>
        op.kind === 'update' || op.note !== undefined
          ? this.#update(route, partition, op)
          : partition.write(this.#limited(route, partition, commandOf(op))),
      finish: ({ effects, lsn }) => {
        const effect = effects[0] as Effect;
        const charge = effectCharge(effect, route.handle.options.indexing);
        route.handle.heat.add(charge, bytesOf(effect), op.key, this.#context.clock.nowMs());
        return { effect, ...responseInfoOf(route, lsn, charge) };
      },
    });
  }

  async #update(
    route: Route,
    partition: Partition,
    op: ItemOp,
  ): Promise<{ readonly effects: readonly Effect[]; readonly lsn: Lsn }> {
    const { command, effects } = updateOf(op);
    const { lsn } = await partition.write(this.#limited(route, partition, command));
    return { effects: effects as readonly Effect[], lsn };
  }

  /** All operations or none, of one physical partition. */
  transact(
    route: Route,
    ops: readonly TransactionOp[],
    requestClass: RequestClass,
    optionsOf: (partition: Partition) => TransactionOptions,
  ): Promise<TransactionReply> {
    let prepaid = 0;
    for (const op of ops) prepaid += prepaidCharge(op);
    return this.#commit(route, {
      prepaid,
      requestClass,
      start: async (partition) => {
        const { command, effects } = transactionOf(ops, optionsOf(partition));
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

  /** Writes of this partition in order, as one command. A refused write is a result. */
  sequence(
    route: Route,
    ops: readonly ItemOp[],
    mode: SequenceMode,
    requestClass: RequestClass,
    notes: readonly KeyNote[],
  ): Promise<SequenceReply> {
    let prepaid = 0;
    for (const op of ops) prepaid += prepaidCharge(op);
    return this.#commit(route, {
      prepaid,
      requestClass,
      start: async (partition) => {
        const { command, results } = sequenceOf(ops, mode, {
          newCheck: this.#stepCheck(route, partition, ops),
          notes,
        });
        const { lsn } = await partition.write(command);
        return { results, lsn };
      },
      finish: ({ results, lsn }) => {
        const { handle } = route;
        const nowMs = this.#context.clock.nowMs();
        const priced = pricedSequence(results, handle.options.indexing);
        priced.outcomes.forEach((outcome, at) => {
          if ('effect' in outcome)
            handle.heat.add(outcome.charge, bytesOf(outcome.effect), ops[at]?.key, nowMs);
        });
        const info = responseInfoOf(route, lsn, priced.charge);
        for (const outcome of priced.outcomes)
          if ('error' in outcome) outcome.error.responseInfo = { ...info, charge: MINIMAL_CHARGE };
        return { results: priced.outcomes, ...info };
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

  #stepCheck(
    route: Route,
    partition: Partition,
    ops: readonly ItemOp[],
  ): (() => StepCheck) | undefined {
    const { limits } = route.handle;
    if (limits === undefined) return undefined;
    const keys = ops.map(({ key }) => key);
    return stepCheck(keys, { route, partition, limits, ...this.#context });
  }

  /** The command, refused when it is decided where the partition is near a limit and the command would exceed it. */
  #limited(route: Route, partition: Partition, command: WriteCommand): WriteCommand {
    const { limits } = route.handle;
    if (limits === undefined) return command;
    return limitedCommand(command, { route, partition, limits, ...this.#context });
  }
}

function bytesOf({ item, previous }: Pick<Effect, 'item' | 'previous'>): number {
  return (item ?? previous)?.body.length ?? 0;
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
