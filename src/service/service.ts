/** The facade the APIs get: verbs on databases, containers, offers and items, free of any protocol. */
import type { Clock, Random } from '../base/index.ts';
import { Catalog, type ContainerRecord, provisionedMax } from '../catalog/index.ts';
import {
  Balancer,
  Budgets,
  Cluster,
  type ComputedByEncoding,
  type ContainerName,
  ExpirySweeper,
  type KeyWarning,
  type MoveStep,
  type PartitionFailure,
  PartitionRegistry,
  PartitionResizer,
  type SplitFailure,
  SWEEP_INTERVAL_MS,
  storeName,
} from '../cluster/index.ts';
import type { Engine } from '../engine/index.ts';
import { type BodyFinisher, RecordCache } from '../partition/index.ts';
import { Scripts } from '../script/index.ts';
import type { Encoding } from '../value/index.ts';
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

export interface ServiceOptions {
  readonly engine: Engine;
  readonly clock: Clock;
  readonly random: Random;
  readonly settings: Settings;
  readonly finishers: Readonly<
    Partial<Record<Encoding, (container: ContainerRecord) => BodyFinisher>>
  >;
  /** Computed properties, by the API that knows their language. */
  readonly computed?: ComputedByEncoding;
  /** Rows of global secondary indexes, by the API that knows the language of their definitions. */
  readonly projections?: ProjectionsByEncoding;
  /** How often expired items are looked for, in real time; 0: only when told. */
  readonly sweepIntervalMs?: number;
  /** Told of splits in the background that failed; they are tried again later. */
  readonly onSplitFailure?: (failure: SplitFailure) => void;
  /** Partitions open at once, where files are scarce. */
  readonly openPartitionsMax?: number | undefined;
  /** Told of partitions that failed, in a commit or in the background; the next to use one opens it again. */
  readonly onPartitionFailure?: (failure: PartitionFailure) => void;
  /** Told once of every partition key that has come near its storage limit. */
  readonly onKeyNearLimit?: (warning: KeyWarning) => void;
  /** Told of each step of a split or merge; it waits. For tests that stop it there. */
  readonly onMoveStep?: (step: MoveStep) => void | Promise<void>;
}

export interface Service {
  readonly databases: Databases;
  readonly containers: Containers;
  readonly offers: Offers;
  readonly items: Items;
  readonly changeFeed: ChangeFeed;
  readonly globalIndexes: GlobalIndexes;
  readonly queries: Queries;
  /** For scripts: transactions that think between reading and writing. */
  readonly transactions: KeyTransactions;
  readonly scripts: Scripts;
  /** Scripts, users, permissions, encryption keys. */
  readonly resources: Resources;
  /** Splits and merges of partitions. */
  readonly resizer: PartitionResizer;
  /** Splits partitions by itself, in the background. */
  readonly balancer: Balancer;
  /** Removes what has expired, in the background. */
  readonly expirySweeper: ExpirySweeper;
  readonly clock: Clock;
  readonly settings: Settings;
  /** Partitions open in this process. */
  openPartitionCount(): number;
  /** Finishes the writes under way and closes every store; the engine is its maker's to close. Idempotent. */
  close(): Promise<void>;
}

export async function openService(options: ServiceOptions): Promise<Service> {
  const { engine, clock, random, settings, finishers, onSplitFailure, onKeyNearLimit, onMoveStep } =
    options;
  const { onPartitionFailure = () => undefined } = options;
  const store = await engine.open(CATALOG_STORE);
  const catalog = await Catalog.open(store, random);
  const registry = new PartitionRegistry({
    engine,
    clock,
    random,
    cache: new RecordCache(),
    onPublished: (name) => globalIndexes.committed(name),
    onFailure: onPartitionFailure,
    openPartitionsMax: options.openPartitionsMax,
  });
  const current = ({ databaseRid, rid }: ContainerName) => catalog.containerByRid(databaseRid, rid);
  const scripts = new Scripts(settings);
  const budgets = new Budgets(settings, catalog, clock);
  const { logicalPartitionLimit: logicalLimit, partitionStorageLimit: storageLimit } = settings;
  const cluster: Cluster = new Cluster({
    registry,
    budgets,
    clock,
    finishers,
    ...(options.computed && { computed: options.computed }),
    current,
    onGrown: (route, itemBytes) => balancer.grown(route, itemBytes),
    onThrottled: (route) => balancer.throttled(route),
    onKeyNearLimit: (route, key) => balancer.keyNearLimit(route, key),
    unlimitedFrom: settings.unlimitedThroughputMin,
  });
  const steps = onMoveStep === undefined ? {} : { onStep: onMoveStep };
  const resizer = new PartitionResizer({ catalog, cluster, registry, clock, ...steps });
  const balancer = new Balancer({
    resizer,
    current,
    partitionsNeeded: (container) => partitionsNeeded(catalog, container, settings),
    storageLimit,
    logicalLimit,
    splitsByHeat: settings.splitsByHeat,
    mergesAfterScaleDown: settings.mergesAfterScaleDown,
    clock,
    onKeyNearLimit: onKeyNearLimit ?? (() => undefined),
    onFailure: onSplitFailure ?? (() => undefined),
  });
  const changeFeed = new ChangeFeed(cluster);
  const globalIndexes: GlobalIndexes = new GlobalIndexes({
    catalog,
    cluster,
    changeFeed,
    store,
    clock,
    projections: options.projections ?? {},
  });
  const containers = catalog.databases().flatMap((database) => catalog.containers(database));
  const known = new Set(
    containers.flatMap((container) =>
      container.partitions.map(({ id }) => storeName(container, id)),
    ),
  );
  await registry.dropOrphans((name) => known.has(name));
  globalIndexes.start();
  // Splits that a stop has kept from being done.
  for (const container of containers)
    if (container.partitions.length < partitionsNeeded(catalog, container, settings))
      balancer.throughputRaised(container);
  const expirySweeper = new ExpirySweeper({
    cluster,
    clock,
    intervalMs: options.sweepIntervalMs ?? SWEEP_INTERVAL_MS,
    containers: () => catalog.databases().flatMap((database) => catalog.containers(database)),
    onFailure: onPartitionFailure,
  });
  return {
    databases: new Databases(catalog, cluster, clock, settings),
    containers: new Containers(catalog, cluster, clock, settings),
    offers: new Offers({
      catalog,
      cluster,
      clock,
      settings,
      onChanged: (route) => balancer.review(route),
      onThroughputRaised: (container) => balancer.throughputRaised(container),
      onThroughputLowered: (container) => balancer.throughputLowered(container),
    }),
    items: new Items(cluster),
    changeFeed,
    globalIndexes,
    queries: new Queries(cluster),
    transactions: new KeyTransactions({ cluster, registry, clock }),
    scripts,
    resources: new Resources(catalog, clock),
    resizer,
    balancer,
    expirySweeper,
    clock,
    settings,
    openPartitionCount: () => registry.openCount,
    async close() {
      await Promise.all([
        balancer.close(),
        resizer.close(),
        globalIndexes.close(),
        scripts.close(),
        expirySweeper.close(),
      ]);
      await registry.close();
      await store.close();
    },
  };
}

/** One for a fixed container, whatever its throughput. */
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
