/**
 * The way from a container's key to the partition that owns it: routing, admission, the work itself, its charge.
 * The layers above speak to partitions only through this, so that a partition may later live in another thread or on
 * another machine.
 */
import { andThen, DomainError, isPromise, type MaybePromise, type Receipt } from '../base/index.ts';
import type { ContainerRecord, PartitionRecord } from '../catalog/index.ts';
import {
  type Effect,
  type EpkRange,
  type Erasure,
  type Indexing,
  type Item,
  type ItemKey,
  type ItemOp,
  intentOf,
  type KeyCount,
  type Partition,
  type PartitionStatistics,
  type Rid,
  type Seal,
  type TransactionOp,
  type TransactionOptions,
  transactionOf,
  type WriteIntent,
} from '../partition/index.ts';
import {
  type BudgetReport,
  type HeatReport,
  MINIMAL_CHARGE,
  NORMAL_TRAFFIC,
  pageCharge,
  readCharge,
  type Traffic,
} from '../throughput/index.ts';
import type { ClusterOptions } from './cluster-options.ts';
import { containerIndexing } from './container-indexing.ts';
import { storeName } from './container-name.ts';
import type { Slot } from './host.ts';
import { limitedIntent } from './key-limit.ts';
import { commitPrepaid, type Work } from './prepaid-write.ts';
import { QueryReader } from './query-reader.ts';
import {
  type Charged,
  checkSession,
  keyOfScope,
  type PageReply,
  type PageRequest,
  type ReadReply,
  receiptOf,
  type TransactionReply,
  throttled,
  type Visited,
  type WorkShare,
  type WriteReply,
} from './reply.ts';
import { type Route, RoutingMap } from './routing-map.ts';
import { searchSpec } from './search-spec.ts';
import { printSessionTokens } from './session-token.ts';
import { effectCharge, prepaidCharge, pricedTransaction } from './write-charge.ts';

/** A partition that is split while a request waits may be split again; not for ever. */
const REROUTES_MAX = 10;

/** Records need no seal where the home API adds nothing to what the client sent. */
const keepBody: Seal = (body) => body;

export class Cluster {
  readonly #options: ClusterOptions;
  readonly #maps = new WeakMap<ContainerRecord, RoutingMap>();

  constructor(options: ClusterOptions) {
    this.#options = options;
  }

  routing(container: ContainerRecord): RoutingMap {
    let map = this.#maps.get(container);
    if (map === undefined) {
      const indexing = containerIndexing(container, this.#options.computed);
      map = new RoutingMap(container, (partition) => this.#slotOf(container, partition, indexing));
      this.#maps.set(container, map);
    }
    return map;
  }

  /**
   * Does something that finds its partitions by key or range, again where they were replaced in the meantime. The
   * application notices nothing but the wait.
   */
  rerouted<T>(
    container: ContainerRecord,
    attempt: (container: ContainerRecord) => MaybePromise<T>,
  ): MaybePromise<T> {
    try {
      const result = attempt(container);
      if (!isPromise(result)) return result;
      return result.catch((error: unknown) => this.#again(error, container, attempt));
    } catch (error) {
      return this.#again(error, container, attempt);
    }
  }

  async #again<T>(
    error: unknown,
    container: ContainerRecord,
    attempt: (container: ContainerRecord) => MaybePromise<T>,
  ): Promise<T> {
    let failure = error;
    for (let tries = 0; tries < REROUTES_MAX; tries++) {
      if (!(failure instanceof DomainError && failure.code === 'partitionGone')) throw failure;
      const latest = this.#options.current(container);
      if (latest === undefined) throw failure;
      for (const { slot } of this.routing(latest).routes) await slot.cutover;
      try {
        return await attempt(this.#options.current(container) ?? latest);
      } catch (later) {
        failure = later;
      }
    }
    throw failure;
  }

  /** Sets the budgets of a container's partitions to what the offers say now. */
  provision(container: ContainerRecord): void {
    for (const { slot, partition } of this.routing(container).routes)
      this.#options.budgets.provision(slot.budget, container, partition);
  }

  read(
    route: Route,
    key: ItemKey,
    session: string | undefined,
    traffic: Traffic = NORMAL_TRAFFIC,
  ): MaybePromise<ReadReply> {
    this.#admit(route, traffic);
    const partition = this.#options.host.partition(route.slot);
    if (isPromise(partition))
      return partition.then((open) => this.#read(open, route, key, session, traffic));
    return this.#read(partition, route, key, session, traffic);
  }

  write(route: Route, op: ItemOp, traffic: Traffic = NORMAL_TRAFFIC): Promise<WriteReply> {
    return this.#commit(route, prepaidCharge(op), traffic, {
      start: (partition) => partition.write(this.#intent(route, partition, intentOf(op))),
      finish: ({ effects, lsn }) => {
        const effect = effects[0] as Effect;
        const charge = effectCharge(effect, route.slot.options.indexing);
        const bytes = (effect.item ?? effect.previous)?.body.length ?? 0;
        route.slot.heat.add(charge, bytes, op.key, this.#options.clock.nowMs());
        return { effect, ...receiptOf(route, lsn, charge) };
      },
    });
  }

  /** All operations or none, of one logical partition. */
  transact(
    route: Route,
    ops: readonly TransactionOp[],
    traffic: Traffic = NORMAL_TRAFFIC,
    options: TransactionOptions = {},
  ): Promise<TransactionReply> {
    let prepaid = 0;
    for (const op of ops) prepaid += prepaidCharge(op);
    return this.#commit(route, prepaid, traffic, {
      start: async (partition) => {
        const { intent, effects } = transactionOf(ops, options);
        const { lsn } = await partition.write(this.#intent(route, partition, intent));
        return { effects, lsn };
      },
      finish: ({ effects, lsn }) => {
        const { outcomes, bytes, charge } = pricedTransaction(effects, route.slot.options.indexing);
        route.slot.heat.add(charge, bytes, ops[0]?.key, this.#options.clock.nowMs());
        return { outcomes, ...receiptOf(route, lsn, charge) };
      },
    });
  }

  /** What is stored under these primary keys is gone. */
  erase(
    route: Route,
    range: Omit<Erasure, 'lsn'>,
    traffic: Traffic = NORMAL_TRAFFIC,
  ): Promise<Receipt> {
    return this.#commit(route, MINIMAL_CHARGE, traffic, {
      start: (partition) => partition.erase(range),
      finish: (lsn) => receiptOf(route, lsn, MINIMAL_CHARGE),
    });
  }

  #commit<Done, Reply extends Receipt>(
    route: Route,
    prepaid: number,
    traffic: Traffic,
    work: Work<Done, Reply>,
  ): Promise<Reply> {
    this.#admit(route, traffic);
    return commitPrepaid(this.#options, route, { prepaid, traffic, work });
  }

  async page(
    route: Route,
    request: PageRequest,
    session: string | undefined,
    traffic: Traffic = NORMAL_TRAFFIC,
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
    traffic: Traffic,
    look: (partition: Partition) => Promise<Visited<T>>,
  ): Promise<{ readonly found: T } & Receipt> {
    this.#admit(route, traffic);
    const partition = await this.#options.host.partition(route.slot);
    const release = partition.hold();
    try {
      checkSession(partition, route, session);
      const { found, ...charged } = await look(partition);
      this.#charge(route, charged, traffic);
      return { found, ...receiptOf(route, partition.lsn, charged.charge) };
    } finally {
      release();
    }
  }

  /** The item of this number, whichever partition holds it: a split leaves numbers as they were. */
  async findByRid(container: ContainerRecord, rid: Rid): Promise<Item | undefined> {
    for (const route of this.routing(container).routes) {
      const partition = await this.#options.host.partition(route.slot);
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
    traffic: Traffic = NORMAL_TRAFFIC,
  ): MaybePromise<QueryReader> {
    this.#admit(route, traffic);
    return andThen(this.#options.host.partition(route.slot), (partition) => {
      checkSession(partition, route, session);
      const search = this.#options.host.search(route.slot, partition);
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
    traffic: Traffic = NORMAL_TRAFFIC,
  ): Receipt {
    let all = 0;
    for (const { effort } of shares) all += effort;
    for (const { route, effort, key, bytes } of shares)
      this.#charge(route, { charge: (charge * effort) / all, bytes, key }, traffic);
    const receipts = shares.map(({ route }) =>
      receiptOf(route, route.slot.partition?.lsn ?? 0, charge),
    );
    return { ...(receipts[0] as Receipt), sessionToken: printSessionTokens(receipts) };
  }

  /** What a partition used of what it may use. Opens nothing. */
  budgetReport({ slot }: Route): BudgetReport {
    return slot.budget.report(this.#options.clock.nowMs());
  }

  /** Which keys a partition's charges of the last minutes went to. Opens nothing. */
  heatReport({ slot }: Route): HeatReport {
    return slot.heat.report(this.#options.clock.nowMs());
  }

  /** The least progress of any partition under the container's present indexing policy, in percent. */
  async indexProgress(container: ContainerRecord): Promise<number> {
    let least = 100;
    // One after the other: a container may have more partitions than can be open at once.
    for (const { slot } of this.routing(container).routes)
      least = Math.min(least, (await this.#options.host.partition(slot)).indexProgressPercent());
    return least;
  }

  async statistics(route: Route): Promise<PartitionStatistics> {
    return (await this.#options.host.partition(route.slot)).statistics();
  }

  async keyCount(route: Route): Promise<KeyCount> {
    const partition = await this.#options.host.partition(route.slot);
    const release = partition.hold();
    try {
      return await partition.keyCount();
    } finally {
      release();
    }
  }

  /** Closes and removes the partitions of a container that is no more. */
  drop(container: ContainerRecord): Promise<void> {
    return this.#options.host.drop(container.partitions.map(({ id }) => storeName(container, id)));
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
    traffic: Traffic,
  ): MaybePromise<ReadReply> {
    checkSession(partition, route, session);
    const reply = (item: Item | undefined): ReadReply => {
      const bytes = item === undefined ? 0 : item.body.length;
      const { readFactor } = traffic;
      const charge =
        item === undefined ? MINIMAL_CHARGE * readFactor : readCharge(bytes, readFactor);
      const nowMs = this.#options.clock.nowMs();
      route.slot.budget.charge(charge, nowMs, traffic);
      route.slot.heat.add(charge, bytes, key, nowMs);
      return { item, ...receiptOf(route, partition.lsn, charge) };
    };
    const item = partition.read(key);
    return isPromise(item) ? item.then(reply) : reply(item);
  }

  #intent(route: Route, partition: Partition, intent: WriteIntent): WriteIntent {
    const { limits } = route.slot;
    if (limits === undefined) return intent;
    return limitedIntent(intent, { route, partition, limits, ...this.#options });
  }

  #admit(route: Route, traffic: Traffic): void {
    const refusal = route.slot.budget.admit(this.#options.clock.nowMs(), traffic);
    if (refusal === undefined) return;
    this.#options.onThrottled(route);
    throw throttled(route, refusal);
  }

  #charge({ slot }: Route, { charge, bytes, key }: Charged, traffic: Traffic): void {
    const nowMs = this.#options.clock.nowMs();
    slot.budget.charge(charge, nowMs, traffic);
    slot.heat.add(charge, bytes, key, nowMs);
  }

  /** The place of a partition that is being built. */
  slotOf(container: ContainerRecord, partition: PartitionRecord): Slot {
    return this.#slotOf(container, partition, containerIndexing(container, this.#options.computed));
  }

  #slotOf(container: ContainerRecord, partition: PartitionRecord, indexing: Indexing): Slot {
    const slot = this.#options.host.slot(storeName(container, partition.id), {
      seal: this.#options.seals[container.encoding]?.(container) ?? keepBody,
      etagSalt: (container.rid ^ (container.rid >>> 16)) & 0xffff,
      ridPrefix: partition.ridPrefix,
      indexing,
      retentionSec: container.versionRetentionSec ?? 0,
      defaultTtlSec: container.defaultTtlSec,
      search: searchSpec(container),
    });
    this.#options.budgets.provision(slot.budget, container, partition);
    return slot;
  }
}
