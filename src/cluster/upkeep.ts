/**
 * Removes what has expired or was erased, in the background, with the throughput that requests leave over. It looks at
 * open partitions only: in one that nobody uses such items are in nobody's way.
 */
import { type Clock, DomainError } from '../base/index.ts';
import type { ContainerRecord } from '../catalog/index.ts';
import type { Partition } from '../partition/index.ts';
import { trafficOf } from '../throughput/index.ts';
import type { Cluster } from './cluster.ts';
import type { Slot } from './host.ts';
import { effectCharge } from './write-charge.ts';

/** How often it looks, in real time. */
const INTERVAL_MS = 1000;
/** Items of one step: one commit, so that writers hardly wait. */
const STEP_ITEMS = 100;
/** Steps of one partition in one round. */
const STEPS_MAX = 50;

/** Refused first when a partition runs short. */
const BACKGROUND = trafficOf(true, 0);

export interface UpkeepOptions {
  readonly cluster: Cluster;
  readonly clock: Clock;
  readonly containers: () => Iterable<ContainerRecord>;
}

export class Upkeep {
  readonly #options: UpkeepOptions;
  #timer: NodeJS.Timeout | undefined;
  #round: Promise<void> | undefined;
  #isClosed = false;

  constructor(options: UpkeepOptions) {
    this.#options = options;
    this.#timer = setInterval(() => void this.round(), INTERVAL_MS).unref();
  }

  /** One look at every open partition; the one under way where there is one. */
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
    for (const container of containers())
      for (const { slot } of cluster.routing(container).routes) {
        const { partition } = slot;
        if (partition?.hidden === undefined || slot.changing !== undefined) continue;
        await this.#sweepPartition(slot, partition);
        if (this.#isClosed) return;
      }
  }

  async #sweepPartition(slot: Slot, partition: Partition): Promise<void> {
    const { clock } = this.#options;
    try {
      for (let step = 0; step < STEPS_MAX && !this.#isClosed; step++) {
        if (slot.budget.admit(clock.nowMs(), BACKGROUND) !== undefined) return;
        const { removed, hasMore } = await partition.sweep(STEP_ITEMS);
        let charge = 0;
        const { indexing } = slot.options;
        for (const previous of removed)
          charge += effectCharge({ item: undefined, previous }, indexing);
        slot.budget.charge(charge, clock.nowMs(), BACKGROUND);
        if (!hasMore) return;
        await new Promise((resolve) => setImmediate(resolve));
      }
    } catch (error) {
      // Closed, replaced or failed meanwhile: whoever opens it next sweeps it.
      if (!(error instanceof DomainError)) throw error;
    }
  }
}
