/** Makes the parts of the cluster and connects them; the layer above gets verbs and one way to close everything. */
import type { Clock, Random } from '../base/index.ts';
import type { Catalog, ContainerRecord } from '../catalog/index.ts';
import type { Engine, Store } from '../engine/index.ts';
import { RecordCache } from '../partition/index.ts';
import { Balancer, type KeyWarning, type SplitFailure } from './balance/balancer.ts';
import { type BudgetSettings, Budgets } from './budgets.ts';
import { Cluster } from './cluster.ts';
import { type ContainerName, storeName } from './container/container-name.ts';
import type { HomeApis } from './container/home-api.ts';
import { ExpirySweeper, SWEEP_INTERVAL_MS } from './expiry/expiry-sweeper.ts';
import type { MoveStep } from './mover/move.ts';
import { PartitionResizer } from './mover/partition-resizer.ts';
import { ResizeLog } from './mover/resize-log.ts';
import { type PartitionFailure, PartitionRegistry } from './routing/partition-registry.ts';
import { Router } from './routing/router.ts';
import { TransactionCommitter, type TransactionStep } from './transaction/transaction-committer.ts';
import { TransactionResolver } from './transaction/transaction-resolver.ts';
import { ClusterTransactions } from './transaction/transactions.ts';

export interface ClusterSettings extends BudgetSettings {
  /** A physical partition splits at this many bytes. */
  readonly partitionStorageLimit: number;
  /** A logical partition takes no more than this many bytes. */
  readonly logicalPartitionLimit: number;
  /** Partitions that refuse requests for minutes are split between the keys that share the heat. */
  readonly splitsByHeat: boolean;
  /** Small neighbours are merged when throughput was lowered and needs fewer. */
  readonly mergesAfterScaleDown: boolean;
  /**
   * The least an unlimited container may be given, RU/s: with less a container with a key is fixed. Earlier generations
   * of the service had 2,500 and 10,100.
   */
  readonly unlimitedThroughputMin: number;
}

/** What the host of a cluster may set and hear of. */
export interface ClusterHooks {
  /** How often expired items are looked for, in real time; 0: only on request. */
  readonly sweepIntervalMs?: number;
  /** Partitions open at once, where files are scarce. */
  readonly openPartitionsMax?: number | undefined;
  /** Receives splits in the background that failed; they are tried again later. */
  readonly onSplitFailure?: (failure: SplitFailure) => void;
  /** Receives partitions that failed, in a commit or in the background; the next request opens them again. */
  readonly onPartitionFailure?: (failure: PartitionFailure) => void;
  /** Receives every partition key that has come near its storage limit, once. */
  readonly onKeyNearLimit?: (warning: KeyWarning) => void;
  /** Receives each step of a split or merge, which waits. For tests that stop it there. */
  readonly onMoveStep?: (step: MoveStep) => void | Promise<void>;
  /** The same for commits of transactions over several partitions. */
  readonly onTransactionStep?: (step: TransactionStep) => void | Promise<void>;
}

interface ClusterParts extends ClusterHooks {
  readonly engine: Engine;
  readonly catalog: Catalog;
  readonly clock: Clock;
  readonly random: Random;
  readonly settings: ClusterSettings;
  readonly homes: HomeApis;
  /** Keeps the log of splits and merges; undefined: in memory only. */
  readonly logStore?: Store | undefined;
  /** Partitions that the throughput of a container needs. */
  readonly partitionsNeeded: (container: ContainerRecord) => number;
}

interface OpenedCluster {
  readonly cluster: Cluster;
  readonly transactions: ClusterTransactions;
  readonly resizer: PartitionResizer;
  readonly balancer: Balancer;
  readonly expirySweeper: ExpirySweeper;
  /** Ends what runs in the background; requests are still served. Idempotent. */
  stop(): Promise<void>;
  /** Finishes the writes under way and closes every partition. Idempotent. */
  close(): Promise<void>;
}

/** Removes what a crash left behind and begins the splits that it kept from being done. */
export async function openCluster(parts: ClusterParts): Promise<OpenedCluster> {
  const { engine, catalog, clock, random, settings, homes } = parts;
  const ignore = (): void => undefined;
  const onFailure = parts.onPartitionFailure ?? ignore;
  const current = ({ databaseRid, rid }: ContainerName) => catalog.containerByRid(databaseRid, rid);
  const { openPartitionsMax, partitionsNeeded } = parts;
  const cache = new RecordCache();
  const registry = new PartitionRegistry({
    engine,
    clock,
    random,
    cache,
    onFailure,
    openPartitionsMax,
  });
  const budgets = new Budgets(settings, catalog, clock);
  const router = new Router({ registry, budgets, homes, current });
  const onStep = parts.onMoveStep ?? ignore;
  const log = await ResizeLog.open(clock, parts.logStore, current);
  const resizer = new PartitionResizer({ catalog, router, registry, clock, log, onStep });
  const balancer = new Balancer({
    resizer,
    current,
    partitionsNeeded,
    storageLimit: settings.partitionStorageLimit,
    logicalLimit: settings.logicalPartitionLimit,
    splitsByHeat: settings.splitsByHeat,
    mergesAfterScaleDown: settings.mergesAfterScaleDown,
    clock,
    onKeyNearLimit: parts.onKeyNearLimit ?? ignore,
    onFailure: parts.onSplitFailure ?? ignore,
  });
  const unlimitedFrom = settings.unlimitedThroughputMin;
  const context = { registry, clock, load: balancer, unlimitedFrom };
  const cluster = new Cluster({ ...context, router, budgets });
  const resolver = new TransactionResolver({ router, registry, clock, current });
  registry.recover = (partition) => resolver.recover(partition);
  const committer = new TransactionCommitter({
    cluster,
    context,
    resolver,
    random,
    onStep: parts.onTransactionStep ?? ignore,
  });
  const transactions = new ClusterTransactions({ context, router, committer, current });
  await dropOrphans(registry, catalog);
  for (const container of containersOf(catalog))
    if (container.partitions.length < partitionsNeeded(container))
      balancer.throughputRaised(container);
  const expirySweeper = new ExpirySweeper({
    cluster,
    homes,
    clock,
    intervalMs: parts.sweepIntervalMs ?? SWEEP_INTERVAL_MS,
    containers: () => containersOf(catalog),
    onFailure,
  });
  return {
    cluster,
    transactions,
    resizer,
    balancer,
    expirySweeper,
    async stop() {
      await Promise.all([balancer.close(), resizer.close(), expirySweeper.close()]);
    },
    close: () => {
      resolver.close();
      return registry.close();
    },
  };
}

/** A crash during a move or a deletion leaves stores that the catalog does not name. */
async function dropOrphans(registry: PartitionRegistry, catalog: Catalog): Promise<void> {
  const named = new Set<string>();
  for (const container of containersOf(catalog))
    for (const { id } of container.partitions) named.add(storeName(container, id));
  await registry.dropOrphans((name) => named.has(name));
}

function containersOf(catalog: Catalog): readonly ContainerRecord[] {
  return catalog.databases().flatMap((database) => catalog.containers(database));
}
