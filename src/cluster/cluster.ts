/**
 * The way from a container's key to the partition that owns it: routing, admission, the work itself, its charge.
 * The layers above speak to partitions only through this, so that a partition may later live in another thread or on
 * another machine.
 */
import {
  andThen,
  type Bytes,
  type Clock,
  isPromise,
  type MaybePromise,
  type ResponseInfo,
} from '../base/index.ts';
import type { ContainerRecord } from '../catalog/index.ts';
import {
  commandOf,
  type Effect,
  type EpkRange,
  type Item,
  type ItemKey,
  type ItemOp,
  type KeyCount,
  type Partition,
  type PartitionStatistics,
  type RangeTombstone,
  type Rid,
  type TransactionOp,
  type TransactionOptions,
  transactionOf,
  type WriteCommand,
} from '../partition/index.ts';
import {
  type BudgetReport,
  type HeatReport,
  MINIMAL_CHARGE,
  NORMAL_CLASS,
  pageCharge,
  type RequestClass,
  readCharge,
} from '../throughput/index.ts';
import type { Budgets } from './budgets.ts';
import { storeName } from './container-name.ts';
import { beginTransaction, type InteractiveTransaction } from './interactive-transaction.ts';
import { limitedCommand } from './key-limit.ts';
import type { LoadListener } from './load-listener.ts';
import type { PartitionRegistry } from './partition-registry.ts';
import { commitPrepaid, type PaidWork } from './prepaid-write.ts';
import { QueryReader } from './query-reader.ts';
import {
  type Charged,
  checkSession,
  keyOfScope,
  type PageReply,
  type PageRequest,
  type ReadReply,
  responseInfoOf,
  type TransactionReply,
  throttled,
  type Visited,
  type WorkShare,
  type WriteReply,
} from './reply.ts';
import type { Router } from './router.ts';
import type { Route, RoutingMap } from './routing-map.ts';
import { printSessionTokens } from './session-token.ts';
import { effectCharge, prepaidCharge, pricedTransaction } from './write-charge.ts';

export interface ClusterOptions {
  readonly registry: PartitionRegistry;
  readonly router: Router;
  readonly budgets: Budgets;
  readonly clock: Clock;
  readonly load: LoadListener;
  /** RU/s from which on a container with a key has as many partitions as it needs. */
  readonly unlimitedFrom: number;
}

export class Cluster {
  readonly #options: ClusterOptions;

  constructor(options: ClusterOptions) {
    this.#options = options;
  }

  routing(container: ContainerRecord): RoutingMap {
    return this.#options.router.routing(container);
  }

  /** Does something that finds its partitions itself, again where they were replaced meanwhile. */
  withRerouting<T>(
    container: ContainerRecord,
    attempt: (container: ContainerRecord) => MaybePromise<T>,
  ): MaybePromise<T> {
    return this.#options.router.withRerouting(container, attempt);
  }

  /** Sets the budgets of a container's partitions to what the offers say now. */
  provision(container: ContainerRecord): void {
    this.#options.router.provision(container);
  }

  /** Reports every group of writes that became durable in a store. One listener: the global secondary indexes. */
  followCommits(listener: (storeName: string) => void): void {
    this.#options.registry.onPublished = listener;
  }

  /** Partitions open in this process. */
  get openPartitionCount(): number {
    return this.#options.registry.openCount;
  }

  /** Begins a transaction that reads and writes one logical partition step by step; the caller closes it. */
  beginTransaction(
    at: { readonly route: Route; readonly prefix: Bytes },
    session: string | undefined,
    traffic: RequestClass,
  ): Promise<InteractiveTransaction> {
    const { registry, clock } = this.#options;
    return beginTransaction({ cluster: this, registry, clock }, at, session, traffic);
  }

  read(
    route: Route,
    key: ItemKey,
    session: string | undefined,
    traffic: RequestClass = NORMAL_CLASS,
  ): MaybePromise<ReadReply> {
    this.#admit(route, traffic);
    const partition = this.#options.registry.partition(route.handle);
    if (isPromise(partition))
      return partition.then((open) => this.#read(open, route, key, session, traffic));
    return this.#read(partition, route, key, session, traffic);
  }

  write(route: Route, op: ItemOp, traffic: RequestClass = NORMAL_CLASS): Promise<WriteReply> {
    return this.#commit(route, prepaidCharge(op), traffic, {
      start: (partition) => partition.write(this.#command(route, partition, commandOf(op))),
      finish: ({ effects, lsn }) => {
        const effect = effects[0] as Effect;
        const charge = effectCharge(effect, route.handle.options.indexing);
        const bytes = (effect.item ?? effect.previous)?.body.length ?? 0;
        route.handle.heat.add(charge, bytes, op.key, this.#options.clock.nowMs());
        return { effect, ...responseInfoOf(route, lsn, charge) };
      },
    });
  }

  /** All operations or none, of one logical partition. */
  transact(
    route: Route,
    ops: readonly TransactionOp[],
    traffic: RequestClass = NORMAL_CLASS,
    options: TransactionOptions = {},
  ): Promise<TransactionReply> {
    let prepaid = 0;
    for (const op of ops) prepaid += prepaidCharge(op);
    return this.#commit(route, prepaid, traffic, {
      start: async (partition) => {
        const { command, effects } = transactionOf(ops, options);
        const { lsn } = await partition.write(this.#command(route, partition, command));
        return { effects, lsn };
      },
      finish: ({ effects, lsn }) => {
        const { outcomes, bytes, charge } = pricedTransaction(
          effects,
          route.handle.options.indexing,
        );
        route.handle.heat.add(charge, bytes, ops[0]?.key, this.#options.clock.nowMs());
        return { outcomes, ...responseInfoOf(route, lsn, charge) };
      },
    });
  }

  /** What is stored under these primary keys is gone. */
  deleteRange(
    route: Route,
    range: Omit<RangeTombstone, 'lsn'>,
    traffic: RequestClass = NORMAL_CLASS,
  ): Promise<ResponseInfo> {
    return this.#commit(route, MINIMAL_CHARGE, traffic, {
      start: (partition) => partition.deleteRange(range),
      finish: (lsn) => responseInfoOf(route, lsn, MINIMAL_CHARGE),
    });
  }

  #commit<Done, Reply extends ResponseInfo>(
    route: Route,
    prepaid: number,
    traffic: RequestClass,
    work: PaidWork<Done, Reply>,
  ): Promise<Reply> {
    this.#admit(route, traffic);
    return commitPrepaid(this.#options, route, { prepaid, traffic, work });
  }

  async page(
    route: Route,
    request: PageRequest,
    session: string | undefined,
    traffic: RequestClass = NORMAL_CLASS,
  ): Promise<PageReply> {
    const { scope } = request;
    const { found, ...receipt } = await this.visit(route, session, traffic, async (partition) => {
      const page = await (scope.kind === 'range'
        ? partition.scanByRid(request, scope.within)
        : partition.scanByKey(request, scope.within));
      let bytes = 0;
      for (const { body } of page.items) bytes += body.length;
      const charge = pageCharge(page.items.length, bytes, traffic.readFactor);
      return { found: page, charge, bytes, key: keyOfScope(scope) };
    });
    return { page: found, ...receipt };
  }

  /** Reads of a partition whose cost is known when they are done. */
  async visit<T>(
    route: Route,
    session: string | undefined,
    traffic: RequestClass,
    look: (partition: Partition) => Promise<Visited<T>>,
  ): Promise<{ readonly found: T } & ResponseInfo> {
    this.#admit(route, traffic);
    const partition = await this.#options.registry.partition(route.handle);
    const release = partition.hold();
    try {
      checkSession(partition, route, session);
      const { found, ...charged } = await look(partition);
      this.#charge(route, charged, traffic);
      return { found, ...responseInfoOf(route, partition.lsn, charged.charge) };
    } finally {
      release();
    }
  }

  /** The item of this number, whichever partition holds it: a split leaves numbers as they were. */
  async findByRid(container: ContainerRecord, rid: Rid): Promise<Item | undefined> {
    for (const route of this.routing(container).routes) {
      const partition = await this.#options.registry.partition(route.handle);
      const item = await partition.readByRid(rid);
      if (item !== undefined) return item;
    }
    return undefined;
  }

  /** One moment of a partition, or of a part of its range, for a query. */
  reader(
    route: Route,
    within: EpkRange | undefined,
    session: string | undefined,
    traffic: RequestClass = NORMAL_CLASS,
  ): MaybePromise<QueryReader> {
    this.#admit(route, traffic);
    return andThen(this.#options.registry.partition(route.handle), (partition) => {
      checkSession(partition, route, session);
      const search = this.#options.registry.search(route.handle, partition);
      return andThen(
        partition.reader(),
        (reader) => new QueryReader(reader, within, undefined, search),
      );
    });
  }

  /**
   * Charges partitions for work that others did with their readers, each in proportion to its part. The receipt is that
   * of the first.
   */
  settle(
    shares: readonly [WorkShare, ...WorkShare[]],
    charge: number,
    traffic: RequestClass = NORMAL_CLASS,
  ): ResponseInfo {
    let all = 0;
    for (const { effort } of shares) all += effort;
    for (const { route, effort, key, bytes } of shares)
      this.#charge(route, { charge: (charge * effort) / all, bytes, key }, traffic);
    const receipts = shares.map(({ route }) =>
      responseInfoOf(route, route.handle.partition?.lsn ?? 0, charge),
    );
    return { ...(receipts[0] as ResponseInfo), sessionToken: printSessionTokens(receipts) };
  }

  /** What a partition used of what it may use. Opens nothing. */
  budgetReport({ handle }: Route): BudgetReport {
    return handle.budget.report(this.#options.clock.nowMs());
  }

  /** Which keys a partition's charges of the last minutes went to. Opens nothing. */
  heatReport({ handle }: Route): HeatReport {
    return handle.heat.report(this.#options.clock.nowMs());
  }

  /** The least progress of any partition under the container's present indexing policy, in percent. */
  async indexProgress(container: ContainerRecord): Promise<number> {
    let least = 100;
    // One after the other: a container may have more partitions than can be open at once.
    for (const { handle } of this.routing(container).routes)
      least = Math.min(
        least,
        (await this.#options.registry.partition(handle)).indexProgressPercent(),
      );
    return least;
  }

  async statistics(route: Route): Promise<PartitionStatistics> {
    return (await this.#options.registry.partition(route.handle)).statistics();
  }

  async keyCount(route: Route): Promise<KeyCount> {
    const partition = await this.#options.registry.partition(route.handle);
    const release = partition.hold();
    try {
      return await partition.keyCount();
    } finally {
      release();
    }
  }

  /** Closes and removes the partitions of a container that is no more. */
  drop(container: ContainerRecord): Promise<void> {
    return this.#options.registry.drop(
      container.partitions.map(({ id }) => storeName(container, id)),
    );
  }

  /** Forgets what the containers of a database shared; they are dropped one by one. */
  dropDatabase(databaseRid: number): void {
    this.#options.budgets.forget(databaseRid);
  }

  #read(
    partition: Partition,
    route: Route,
    key: ItemKey,
    session: string | undefined,
    traffic: RequestClass,
  ): MaybePromise<ReadReply> {
    checkSession(partition, route, session);
    const reply = (item: Item | undefined): ReadReply => {
      const bytes = item === undefined ? 0 : item.body.length;
      const { readFactor } = traffic;
      const charge =
        item === undefined ? MINIMAL_CHARGE * readFactor : readCharge(bytes, readFactor);
      const nowMs = this.#options.clock.nowMs();
      route.handle.budget.charge(charge, nowMs, traffic);
      route.handle.heat.add(charge, bytes, key, nowMs);
      return { item, ...responseInfoOf(route, partition.lsn, charge) };
    };
    const item = partition.read(key);
    return isPromise(item) ? item.then(reply) : reply(item);
  }

  #command(route: Route, partition: Partition, intent: WriteCommand): WriteCommand {
    const { limits } = route.handle;
    if (limits === undefined) return intent;
    return limitedCommand(intent, { route, partition, limits, ...this.#options });
  }

  #admit(route: Route, traffic: RequestClass): void {
    const refusal = route.handle.budget.admit(this.#options.clock.nowMs(), traffic);
    if (refusal === undefined) return;
    this.#options.load.throttled(route);
    throw throttled(route, refusal);
  }

  #charge({ handle }: Route, { charge, bytes, key }: Charged, traffic: RequestClass): void {
    const nowMs = this.#options.clock.nowMs();
    handle.budget.charge(charge, nowMs, traffic);
    handle.heat.add(charge, bytes, key, nowMs);
  }
}
