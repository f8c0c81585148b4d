/**
 * Operations on the partitions of containers: routing, admission, the operation itself, its charge. The layers above
 * reach partitions only through this, so that a partition may later live in another thread or on another machine.
 */
import {
  andThen,
  type Bytes,
  isPromise,
  type MaybePromise,
  type ResponseInfo,
  type SessionToken,
} from '../base/index.ts';
import type { ContainerRecord } from '../catalog/index.ts';
import type {
  EpkRange,
  IndexBuild,
  Item,
  ItemKey,
  ItemOp,
  KeyCount,
  KeyNote,
  Partition,
  PartitionStatistics,
  RangeTombstone,
  Rid,
  SequenceMode,
  TransactionOp,
  TransactionOptions,
} from '../partition/index.ts';
import type { ExecutionStats } from '../query/index.ts';
import {
  type BudgetReport,
  type HeatReport,
  MINIMAL_CHARGE,
  NORMAL_CLASS,
  pageCharge,
  type RequestClass,
  readCharge,
} from '../throughput/index.ts';
import type { Epk } from '../value/index.ts';
import { admit, chargeQuery, chargeTo } from './admission.ts';
import type { Budgets } from './budgets.ts';
import type { ClusterContext } from './cluster-context.ts';
import { storeName } from './container/container-name.ts';
import { QueryReader } from './read/query-reader.ts';
import {
  checkSession,
  keyOfScope,
  type PageReply,
  type PageRequest,
  type ReadReply,
  responseInfoOf,
  type SequenceReply,
  type TransactionReply,
  type Visited,
  type WorkShare,
  type WriteReply,
} from './reply.ts';
import type { Router } from './routing/router.ts';
import type { Route, RoutingMap } from './routing/routing-map.ts';
import {
  beginTransaction,
  type InteractiveTransaction,
} from './transaction/interactive-transaction.ts';
import { PartitionWrites } from './write/partition-writes.ts';
import { WriteSequence } from './write/write-sequence.ts';

interface ClusterOptions extends ClusterContext {
  readonly router: Router;
  readonly budgets: Budgets;
}

export class Cluster {
  readonly #options: ClusterOptions;
  readonly #writes: PartitionWrites;

  constructor(options: ClusterOptions) {
    this.#options = options;
    this.#writes = new PartitionWrites(options);
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

  /** What this process knows of partitions, of all containers: those that somebody asked for, open or not. */
  get partitions(): Pick<ClusterContext['registry'], 'openCount' | 'handles'> {
    return this.#options.registry;
  }

  /** Begins a transaction that reads and writes one logical partition step by step; the caller closes it. */
  beginTransaction(
    at: { readonly route: Route; readonly prefix: Bytes },
    session: SessionToken | undefined,
    requestClass: RequestClass,
  ): Promise<InteractiveTransaction> {
    const { registry, clock } = this.#options;
    return beginTransaction({ cluster: this, registry, clock }, at, session, requestClass);
  }

  /** Point read. Returns at once where the partition is open and its engine is local. */
  read(
    container: ContainerRecord,
    key: ItemKey,
    session: SessionToken | undefined,
    requestClass: RequestClass = NORMAL_CLASS,
  ): MaybePromise<ReadReply> {
    // No closure is made before it is needed: every point read comes through here.
    try {
      const route = this.#options.router.routing(container).forKey(key.epk);
      const reply = this.#read(route, key, session, requestClass);
      if (!isPromise(reply)) return reply;
      return reply.catch((error) => this.#readAgain(error, container, key, session, requestClass));
    } catch (error) {
      return this.#readAgain(error, container, key, session, requestClass);
    }
  }

  write(
    container: ContainerRecord,
    op: ItemOp,
    requestClass: RequestClass = NORMAL_CLASS,
  ): Promise<WriteReply> {
    return this.#onRoute(container, op.key.epk, (route) =>
      this.#writes.write(route, op, requestClass),
    );
  }

  /** All operations or none, of the logical partition with this key. */
  transact(
    container: ContainerRecord,
    epk: Epk,
    ops: readonly TransactionOp[],
    requestClass: RequestClass = NORMAL_CLASS,
    options: TransactionOptions = {},
  ): Promise<TransactionReply> {
    return this.#onRoute(container, epk, (route) =>
      this.transactOn(route, ops, requestClass, options),
    );
  }

  /** As above on this very partition, also where it is replaced meanwhile: then it throws `partitionGone`. */
  transactOn(
    route: Route,
    ops: readonly TransactionOp[],
    requestClass: RequestClass,
    options: TransactionOptions | ((partition: Partition) => TransactionOptions),
  ): Promise<TransactionReply> {
    const optionsOf = typeof options === 'function' ? options : () => options;
    return this.#writes.transact(route, ops, requestClass, optionsOf);
  }

  /** Writes in order, one command for each partition; a refused write is a result. */
  sequence(
    container: ContainerRecord,
    ops: readonly ItemOp[],
    mode: SequenceMode,
    requestClass: RequestClass = NORMAL_CLASS,
    notes: readonly KeyNote[] = [],
  ): Promise<SequenceReply> {
    const options = { container, ops, mode, requestClass, notes };
    return new WriteSequence(this.#writes, this.#options.router, options).run();
  }

  /** Deletes everything that is stored under these primary keys of a partition, at once. */
  deleteRange(
    route: Route,
    range: Omit<RangeTombstone, 'lsn'>,
    requestClass: RequestClass = NORMAL_CLASS,
  ): Promise<ResponseInfo> {
    return this.#writes.deleteRange(route, range, requestClass);
  }

  async page(
    route: Route,
    request: PageRequest,
    session: SessionToken | undefined,
    requestClass: RequestClass = NORMAL_CLASS,
  ): Promise<PageReply> {
    const { scope } = request;
    const { found, ...info } = await this.visit(route, session, requestClass, async (partition) => {
      const page = await (scope.kind === 'range'
        ? partition.scanByRid(request, scope.within)
        : partition.scanByKey(request, scope.within));
      let bytes = 0;
      for (const { body } of page.items) bytes += body.length;
      const charge = pageCharge(page.items.length, bytes, requestClass.readFactor);
      return { found: page, charge, bytes, key: keyOfScope(scope) };
    });
    return { page: found, ...info };
  }

  /** Reads of a partition whose cost is known when they are done. */
  async visit<T>(
    route: Route,
    session: SessionToken | undefined,
    requestClass: RequestClass,
    look: (partition: Partition) => Promise<Visited<T>>,
  ): Promise<{ readonly found: T } & ResponseInfo> {
    admit(this.#options, route, requestClass);
    const partition = await this.#options.registry.partition(route.handle);
    const release = partition.hold();
    try {
      checkSession(partition, route, session);
      const { found, ...charged } = await look(partition);
      chargeTo(this.#options, route, charged, requestClass);
      return { found, ...responseInfoOf(route, partition.lsn, charged.charge) };
    } finally {
      release();
    }
  }

  /** The item with this rid, in whichever partition it is: a split leaves rids as they were. */
  async findByRid(container: ContainerRecord, rid: Rid): Promise<Item | undefined> {
    for (const route of this.routing(container).routes) {
      const partition = await this.#options.registry.partition(route.handle);
      const item = await partition.readByRid(rid);
      if (item !== undefined) return item;
    }
    return undefined;
  }

  /** A note that a write left; undefined where there is none. */
  note(container: ContainerRecord, epk: Epk, owner: Bytes): Promise<Bytes | undefined> {
    return this.#onRoute(container, epk, async ({ handle }) =>
      (await this.#options.registry.partition(handle)).notes.read(epk, owner),
    );
  }

  /** A snapshot of a partition, or of a part of its hash range, for a query. */
  reader(
    route: Route,
    within: EpkRange | undefined,
    session: SessionToken | undefined,
    requestClass: RequestClass = NORMAL_CLASS,
  ): MaybePromise<QueryReader> {
    admit(this.#options, route, requestClass);
    return andThen(this.#options.registry.partition(route.handle), (partition) => {
      checkSession(partition, route, session);
      const search = this.#options.registry.search(route.handle, partition);
      return andThen(
        partition.reader(),
        (reader) => new QueryReader(reader, within, undefined, search),
      );
    });
  }

  /** Charges a query to the partitions that its readers read, by their effort. The response is that of the first. */
  chargeQuery(
    shares: readonly [WorkShare, ...WorkShare[]],
    stats: ExecutionStats,
    requestClass: RequestClass = NORMAL_CLASS,
  ): ResponseInfo {
    return chargeQuery(this.#options, shares, stats, requestClass);
  }

  /** How much of its budget a partition has spent. Opens nothing. */
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
    for (const { handle } of this.routing(container).routes) {
      const partition = await this.#options.registry.partition(handle);
      least = Math.min(least, partition.indexes.progressPercent());
    }
    return least;
  }

  /** How far each declared index is built, one list per partition. */
  async indexBuilds(container: ContainerRecord): Promise<readonly (readonly IndexBuild[])[]> {
    const builds: (readonly IndexBuild[])[] = [];
    for (const { handle } of this.routing(container).routes)
      builds.push((await this.#options.registry.partition(handle)).indexes.builds());
    return builds;
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

  /** Closes and removes the partitions of a container that was deleted. */
  drop(container: ContainerRecord): Promise<void> {
    const names = container.partitions.map(({ id }) => storeName(container, id));
    return this.#options.registry.drop(names);
  }

  /** Forgets the throughput that the containers of a database shared; they are dropped one by one. */
  dropDatabase(databaseRid: number): void {
    this.#options.budgets.forget(databaseRid);
  }

  #read(
    route: Route,
    key: ItemKey,
    session: SessionToken | undefined,
    requestClass: RequestClass,
  ): MaybePromise<ReadReply> {
    admit(this.#options, route, requestClass);
    const partition = this.#options.registry.partition(route.handle);
    if (isPromise(partition))
      return partition.then((open) => this.#readFrom(open, route, key, session, requestClass));
    return this.#readFrom(partition, route, key, session, requestClass);
  }

  #readAgain(
    error: unknown,
    container: ContainerRecord,
    key: ItemKey,
    session: SessionToken | undefined,
    requestClass: RequestClass,
  ): Promise<ReadReply> {
    return this.#options.router.retryForKey(error, container, key.epk, (route) =>
      this.#read(route, key, session, requestClass),
    );
  }

  #readFrom(
    partition: Partition,
    route: Route,
    key: ItemKey,
    session: SessionToken | undefined,
    requestClass: RequestClass,
  ): MaybePromise<ReadReply> {
    checkSession(partition, route, session);
    const item = partition.read(key);
    if (isPromise(item))
      return item.then((found) => this.#readReply(partition, route, key, requestClass, found));
    return this.#readReply(partition, route, key, requestClass, item);
  }

  #readReply(
    partition: Partition,
    route: Route,
    key: ItemKey,
    requestClass: RequestClass,
    item: Item | undefined,
  ): ReadReply {
    const bytes = item === undefined ? 0 : item.body.length;
    const { readFactor } = requestClass;
    const charge = item === undefined ? MINIMAL_CHARGE * readFactor : readCharge(bytes, readFactor);
    const nowMs = this.#options.clock.nowMs();
    route.handle.budget.charge(charge, nowMs, requestClass);
    route.handle.heat.add(charge, bytes, key, nowMs);
    return { item, ...responseInfoOf(route, partition.lsn, charge) };
  }

  /** Writes on the partition of a key, again where it was replaced meanwhile. */
  #onRoute<T>(
    container: ContainerRecord,
    epk: Epk,
    attempt: (route: Route) => Promise<T>,
  ): Promise<T> {
    const { router } = this.#options;
    const retry = (error: unknown) => router.retryForKey(error, container, epk, attempt);
    try {
      return attempt(router.routing(container).forKey(epk)).catch(retry);
    } catch (error) {
      return retry(error);
    }
  }
}
