/**
 * Removes items that have expired or are under a range tombstone, in the background, with the throughput that requests
 * leave over. It sweeps open partitions, and now and then opens a closed one of a container whose items expire.
 */
import { type Clock, DomainError } from '../../base/index.ts';
import type { ContainerRecord, IndexDefinition } from '../../catalog/index.ts';
import type { Partition, SweepStep } from '../../partition/index.ts';
import { requestClassOf } from '../../throughput/index.ts';
import type { Cluster } from '../cluster.ts';
import type { HomeApis } from '../container/home-api.ts';
import type { PartitionHandle } from '../routing/partition-handle.ts';
import type { PartitionFailure } from '../routing/partition-registry.ts';
import { effectCharge } from '../write/write-charge.ts';
import { expireByIndex, expiringIndexes } from './index-expiry.ts';

/** Time between rounds, in real time. */
export const SWEEP_INTERVAL_MS = 1000;
/** Items of one step: one commit, so that writers hardly wait. */
const STEP_ITEMS = 100;
/** Steps of one partition in one round. */
const STEPS_MAX = 50;

/** A closed partition is opened to be swept no more often than this. */
const VISIT_INTERVAL_MS = 3_600_000;

/** Background requests are refused first when a budget runs short. */
const BACKGROUND = requestClassOf(true, 0);

interface ExpirySweeperOptions {
  readonly cluster: Cluster;
  readonly clock: Clock;
  readonly homes: HomeApis;
  readonly containers: () => Iterable<ContainerRecord>;
  /** In real time; 0: rounds run only on request. */
  readonly intervalMs: number;
  /** Receives unexpected errors of a sweep; the next round tries again. */
  readonly onFailure: (failure: PartitionFailure) => void;
}

export class ExpirySweeper {
  readonly #options: ExpirySweeperOptions;
  #timer: NodeJS.Timeout | undefined;
  #round: Promise<void> | undefined;
  #isClosed = false;
  /** When a closed partition was last opened to be swept. */
  readonly #visitedMs = new WeakMap<PartitionHandle, number>();

  constructor(options: ExpirySweeperOptions) {
    this.#options = options;
    const { intervalMs } = options;
    if (intervalMs > 0) this.#timer = setInterval(() => void this.round(), intervalMs).unref();
  }

  /** Sweeps every open partition once; joins the round under way where there is one. */
  round(): Promise<void> {
    this.#round ??= this.#sweep().finally(() => {
      this.#round = undefined;
    });
    return this.#round;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#timer);
    this.#timer = undefined;
    await this.#round;
  }

  async #sweep(): Promise<void> {
    const { cluster, containers } = this.#options;
    let visits = 0;
    for (const container of containers())
      for (const route of cluster.routing(container).routes) {
        if (this.#isClosed) return;
        const { handle } = route;
        // One in each round: opening many at once would slow requests down.
        if (visits === 0 && this.#wantsVisit(container, handle)) {
          visits++;
          // The next request for a partition that cannot be opened gets the error.
          await cluster.statistics(route).catch(() => undefined);
        }
        const { partition } = handle;
        if (partition !== undefined && handle.changing === undefined)
          for (const index of expiringIndexes(container))
            await this.#expire(handle, partition, { container, index });
        if (partition?.isSweepDue !== true || handle.changing !== undefined) continue;
        await this.#sweepPartition(handle, partition);
      }
  }

  #wantsVisit({ defaultTtlSec }: ContainerRecord, handle: PartitionHandle): boolean {
    if (defaultTtlSec === undefined || handle.partition !== undefined || handle.isGone)
      return false;
    const nowMs = this.#options.clock.nowMs();
    const visitedMs = this.#visitedMs.get(handle) ?? Number.NEGATIVE_INFINITY;
    if (nowMs - visitedMs < VISIT_INTERVAL_MS) return false;
    this.#visitedMs.set(handle, nowMs);
    return true;
  }

  /** Items that expire by a date of their own. */
  async #expire(
    handle: PartitionHandle,
    partition: Partition,
    by: { readonly container: ContainerRecord; readonly index: IndexDefinition },
  ): Promise<void> {
    const { clock, homes } = this.#options;
    const { codec } = homes.of(by.container);
    await this.#inSteps(handle, partition, async () => {
      const removed = await expireByIndex({ partition, codec, clock }, by.index, STEP_ITEMS);
      return { removed, hasMore: removed.length > 0 };
    });
  }

  #sweepPartition(handle: PartitionHandle, partition: Partition): Promise<void> {
    return this.#inSteps(handle, partition, () => partition.sweep(STEP_ITEMS));
  }

  async #inSteps(
    handle: PartitionHandle,
    partition: Partition,
    sweep: () => Promise<SweepStep>,
  ): Promise<void> {
    const { clock } = this.#options;
    const release = partition.hold();
    try {
      for (let step = 0; step < STEPS_MAX && !this.#isClosed; step++) {
        if (!handle.budget.admitsBackground(clock.nowMs())) return;
        const { removed, hasMore } = await sweep();
        let charge = 0;
        const { indexing } = handle.options;
        for (const previous of removed)
          charge += effectCharge({ item: undefined, previous }, indexing);
        handle.budget.charge(charge, clock.nowMs(), BACKGROUND);
        if (!hasMore) return;
        await new Promise((resolve) => setImmediate(resolve));
      }
    } catch (error) {
      // The partition was closed, replaced or failed meanwhile; it is swept when it is open again.
      if (error instanceof DomainError) return;
      this.#options.onFailure({ storeName: handle.storeName, error });
    } finally {
      release();
    }
  }
}
