/** The facade the APIs get: verbs on databases, containers, offers and items, free of any protocol. */
import type { Clock, Random } from '../base/index.ts';
import { Catalog, type ContainerRecord, provisionedMax } from '../catalog/index.ts';
import {
  type Balancer,
  type ClusterHooks,
  type ExpirySweeper,
  type FinishersByEncoding,
  openCluster,
  type PartitionResizer,
} from '../cluster/index.ts';
import type { Engine } from '../engine/index.ts';
import { Scripts } from '../script/index.ts';
import { ChangeFeed } from './change-feed.ts';
import { Containers } from './containers.ts';
import { Databases } from './databases.ts';
import { GlobalIndexes, type ProjectionsByEncoding } from './global-index/index.ts';
import { Items } from './items.ts';
import { KeyTransactions } from './key-transactions.ts';
import { Offers } from './offers.ts';
import { Queries } from './queries.ts';
import { Resources } from './resources.ts';
import type { Settings } from './settings.ts';
import { partitionCount } from './throughput.ts';

const CATALOG_STORE = 'catalog';

export interface ServiceOptions extends ClusterHooks {
  readonly engine: Engine;
  readonly clock: Clock;
  readonly random: Random;
  readonly settings: Settings;
  readonly finishers: FinishersByEncoding;
  /** Rows of global secondary indexes, by the API that knows the language of their definitions. */
  readonly projections?: ProjectionsByEncoding;
}

export interface Service {
  readonly databases: Databases;
  readonly containers: Containers;
  readonly offers: Offers;
  readonly items: Items;
  readonly changeFeed: ChangeFeed;
  readonly globalIndexes: GlobalIndexes;
  readonly queries: Queries;
  /** Transactions that compute between reading and writing, for scripts. */
  readonly transactions: KeyTransactions;
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
  /** Partitions open in this process. */
  openPartitionCount(): number;
  /** Finishes the writes under way and closes every store; who opened the engine closes it. Idempotent. */
  close(): Promise<void>;
}

export async function openService(options: ServiceOptions): Promise<Service> {
  const { engine, clock, random, settings, projections = {} } = options;
  const store = await engine.open(CATALOG_STORE);
  const catalog = await Catalog.open(store, random);
  const opened = await openCluster({
    ...options,
    catalog,
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
    projections,
  });
  globalIndexes.start();
  const scripts = new Scripts(settings);
  return {
    databases: new Databases(catalog, cluster, clock, settings),
    containers: new Containers(catalog, cluster, clock, settings),
    offers: new Offers({ catalog, cluster, clock, settings, balancer }),
    items: new Items(cluster),
    changeFeed,
    globalIndexes,
    queries: new Queries(cluster),
    transactions: new KeyTransactions(cluster),
    scripts,
    resources: new Resources(catalog, clock),
    resizer,
    balancer,
    expirySweeper,
    clock,
    settings,
    openPartitionCount: () => cluster.openPartitionCount,
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
