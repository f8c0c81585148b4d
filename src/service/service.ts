/** The facade the APIs get: verbs on databases, containers, offers and items, free of any protocol. */
import { type Clock, type MaybePromise, OperationTrace, type Random } from '../base/index.ts';
import { Catalog, type ContainerRecord, provisionedMax } from '../catalog/index.ts';
import {
  type Balancer,
  type ClusterHooks,
  type ExpirySweeper,
  type HomeApi,
  HomeApis,
  openCluster,
  type PartitionResizer,
} from '../cluster/index.ts';
import type { Engine } from '../engine/index.ts';
import { QueryShapes } from '../query/index.ts';
import { Scripts } from '../script/index.ts';
import { ChangeFeed } from './change-feed/change-feed.ts';
import { Containers } from './containers/containers.ts';
import { Databases } from './containers/databases.ts';
import { DeclaredIndexes } from './containers/declared-indexes.ts';
import { Resources } from './containers/resources.ts';
import { GlobalIndexes } from './global-index/index.ts';
import { Items } from './items/items.ts';
import { Queries } from './queries.ts';
import type { Settings } from './settings.ts';
import { Offers } from './throughput/offers.ts';
import { ThrottleWait } from './throughput/throttle-wait.ts';
import { partitionCount } from './throughput/throughput.ts';
import { Transactions } from './transactions/transactions.ts';

export const CATALOG_STORE = 'catalog';

export interface ServiceOptions extends ClusterHooks {
  readonly engine: Engine;
  readonly clock: Clock;
  readonly random: Random;
  readonly settings: Settings;
  /** The APIs whose containers are served. */
  readonly homes: readonly HomeApi[];
}

export interface Service {
  readonly homes: HomeApis;
  readonly databases: Databases;
  readonly containers: Containers;
  /** Indexes that are declared one by one. */
  readonly indexes: DeclaredIndexes;
  readonly offers: Offers;
  readonly items: Items;
  /** Shows how requests ran. */
  readonly trace: OperationTrace;
  /** Which queries cost most. */
  readonly shapes: QueryShapes;
  readonly changeFeed: ChangeFeed;
  readonly globalIndexes: GlobalIndexes;
  readonly queries: Queries;
  /** Transactions that compute between reading and writing. */
  readonly transactions: Transactions;
  readonly scripts: Scripts;
  /** Scripts, users, permissions, encryption keys. */
  readonly resources: Resources;
  /** Splits and merges of partitions. */
  readonly resizer: PartitionResizer;
  /** Splits and merges partitions in the background. */
  readonly balancer: Balancer;
  /** Removes expired items in the background. */
  readonly expirySweeper: ExpirySweeper;
  readonly clock: Clock;
  readonly settings: Settings;
  /**
   * Runs an operation that changes nothing where it is refused again, while it is throttled and the wait is within this
   * bound. `bytes` of the request stay in memory meanwhile. Returns no promise where the first attempt returns none.
   */
  withThrottleWait<T>(
    waitMaxMs: number,
    operation: () => MaybePromise<T>,
    bytes?: number,
  ): MaybePromise<T>;
  /** Partitions open in this process. */
  openPartitionCount(): number;
  /** Finishes the writes under way and closes every store; who opened the engine closes it. Idempotent. */
  close(): Promise<void>;
}

export async function openService(options: ServiceOptions): Promise<Service> {
  const { engine, clock, random, settings } = options;
  const homes = new HomeApis(options.homes);
  const store = await engine.open(CATALOG_STORE);
  const catalog = await Catalog.open(store, random);
  const opened = await openCluster({
    ...options,
    homes,
    catalog,
    logStore: store,
    partitionsNeeded: (container) => partitionsNeeded(catalog, container, settings),
  });
  const { cluster, resizer, balancer, expirySweeper } = opened;
  const changeFeed = new ChangeFeed(cluster);
  const globalIndexes = new GlobalIndexes({
    catalog,
    cluster,
    changeFeed,
    store,
    clock,
    homes,
  });
  globalIndexes.start();
  const trace = new OperationTrace();
  const shapes = new QueryShapes(clock);
  const queries = new Queries(cluster, clock, { trace, shapes });
  const scripts = new Scripts(settings);
  const throttleWait = new ThrottleWait();
  return {
    homes,
    databases: new Databases(catalog, cluster, clock, settings),
    containers: new Containers({ catalog, cluster, clock, settings, homes }),
    indexes: new DeclaredIndexes(catalog, cluster, clock),
    offers: new Offers({ catalog, cluster, clock, settings, balancer }),
    items: new Items(cluster, trace),
    trace,
    shapes,
    changeFeed,
    globalIndexes,
    queries,
    transactions: new Transactions({ cluster, transactions: opened.transactions, queries }),
    scripts,
    resources: new Resources(catalog, clock),
    resizer,
    balancer,
    expirySweeper,
    clock,
    settings,
    withThrottleWait: (waitMaxMs, operation, bytes = 0) =>
      throttleWait.run(waitMaxMs, operation, bytes),
    openPartitionCount: () => cluster.partitions.openCount,
    async close() {
      await Promise.all([opened.stop(), globalIndexes.close(), scripts.close()]);
      await opened.close();
      await store.close();
    },
  };
}

/** A fixed container has one partition, whatever its throughput. */
function partitionsNeeded(
  catalog: Catalog,
  container: ContainerRecord,
  settings: Settings,
): number {
  const { kind, databaseRid } = container;
  const throughput = container.throughput ?? catalog.databaseByRid(databaseRid)?.throughput;
  if (kind === 'fixed' || throughput === undefined) return 1;
  return partitionCount(provisionedMax(throughput.setting), settings);
}
