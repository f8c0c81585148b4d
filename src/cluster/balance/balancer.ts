/**
 * Decides when partitions split or merge, and when the bytes of keys are counted.
 *   split  a partition holds too many bytes, or refused requests for minutes; a container has too few for its throughput
 *   merge  throughput was lowered and needs fewer partitions
 *   count  a key may be near its limit
 * Jobs run in the background, one after the other; no request waits for them.
 */
import { type Clock, DomainError } from '../../base/index.ts';
import type { ContainerRecord } from '../../catalog/index.ts';
import type { KeySize } from '../../partition/index.ts';
import type { LoadListener } from '../cluster-context.ts';
import type { ContainerName } from '../container/container-name.ts';
import type { PartitionResizer } from '../mover/partition-resizer.ts';
import type { Route } from '../routing/routing-map.ts';
import { isWorthSplitting } from './heat-policy.ts';
import { NEAR_SHARE } from './key-limit.ts';

/** A split that failed is tried again when the partition has grown by this factor: each try reads all of it. */
const RETRY_GROWTH = 1.1;

/** Partitions are merged where the result is far below the size at which it would be split again. */
const MERGED_SHARE_MAX = 0.5;

/** Keys remembered so that each is reported once. */
const WARNINGS_MAX = 10_000;

interface BalancerOptions {
  readonly resizer: PartitionResizer;
  /** A container as it now is; undefined where it is gone. */
  readonly current: (container: ContainerName) => ContainerRecord | undefined;
  /** Partitions that the throughput of a container needs. */
  readonly partitionsNeeded: (container: ContainerRecord) => number;
  /** Bytes of items at which a partition splits. */
  readonly storageLimit: number;
  /** Bytes one partition key may hold. */
  readonly logicalLimit: number;
  /** Splits partitions that refuse requests for minutes, between the keys that share the heat. */
  readonly splitsByHeat: boolean;
  /** Merges partitions that lowered throughput no longer needs. */
  readonly mergesAfterScaleDown: boolean;
  readonly clock: Clock;
  /** Receives every key that comes near its limit, once. */
  readonly onKeyNearLimit: (warning: KeyWarning) => void;
  readonly onFailure: (failure: SplitFailure) => void;
}

export interface KeyWarning {
  readonly container: ContainerName;
  readonly partitionId: string;
  readonly key: KeySize;
  readonly bytesMax: number;
}

export interface SplitFailure {
  readonly container: ContainerName;
  readonly partitionId: string;
  readonly error: unknown;
}

export class Balancer implements LoadListener {
  readonly #options: BalancerOptions;
  /** Jobs that wait, by a name that keeps the same job from waiting twice. */
  readonly #jobs = new Map<string, () => Promise<void>>();
  /** Keys that were reported. */
  readonly #warned = new Set<string>();
  /** Keys reported since the process began. */
  warningCount = 0;
  #running: Promise<void> | undefined;
  #isClosed = false;

  constructor(options: BalancerOptions) {
    this.#options = options;
  }

  /** A write left a partition as large as its handle wants to be reviewed at. */
  grown(route: Route, itemBytes: number): void {
    const { handle } = route;
    const { storageLimit, logicalLimit } = this.#options;
    const nearBytes = NEAR_SHARE * Math.min(storageLimit, logicalLimit);
    if (itemBytes >= nearBytes && (handle.limits === undefined || handle.limits.sizes?.isDue))
      this.#beginChecks(route);
    if (itemBytes < storageLimit) {
      handle.reviewAt(itemBytes < nearBytes ? nearBytes : storageLimit);
      return;
    }
    handle.reviewAt(Number.POSITIVE_INFINITY);
    this.#enqueue(handle.storeName, () => this.#splitFull(route, itemBytes));
  }

  /**
   * The kind of a container or its throughput has changed: its partitions are reviewed now, not after the next write.
   * Partitions that were full may get no write that succeeds.
   */
  review(route: Route): void {
    const { handle, container } = route;
    handle.changeWholeMax(this.#wholeMax(container));
    handle.reviewAt(0);
    if (handle.partition !== undefined) this.grown(route, handle.partition.itemBytes);
  }

  #wholeMax({ kind }: ContainerRecord): number | undefined {
    return kind === 'fixed' ? this.#options.storageLimit : undefined;
  }

  /** A key that is near its limit was written. */
  keyNearLimit({ container, partition }: Route, key: KeySize): void {
    const name = `${container.databaseRid}/${container.rid}/${Buffer.from(key.epk).toString('hex')}`;
    if (this.#warned.has(name)) return;
    if (this.#warned.size >= WARNINGS_MAX) this.#warned.clear();
    this.#warned.add(name);
    this.warningCount++;
    const { onKeyNearLimit, logicalLimit: bytesMax } = this.#options;
    onKeyNearLimit({ container, partitionId: partition.id, key, bytesMax });
  }

  /** From now on writes are checked against the limits of keys and of fixed containers. */
  #beginChecks(route: Route): void {
    const { handle, container } = route;
    handle.checkWrites(this.#options.logicalLimit, this.#wholeMax(container));
    this.#enqueue(`${handle.storeName} keys`, () => this.#measure(route));
  }

  async #measure(route: Route): Promise<void> {
    const { handle, container, partition } = route;
    const { resizer, logicalLimit, onFailure } = this.#options;
    const { limits } = handle;
    if (limits === undefined || handle.isGone) return;
    try {
      const sizes = await resizer.measureKeys(route, logicalLimit);
      handle.setKeySizes(limits, sizes);
      for (const key of sizes.heavy())
        if (key.bytes >= NEAR_SHARE * logicalLimit) this.keyNearLimit(route, key);
    } catch (error) {
      handle.stopChecking(limits);
      if (!this.#isObsolete(error)) onFailure({ container, partitionId: partition.id, error });
    }
  }

  /** Splits partitions of a container until there are as many as its throughput needs. */
  throughputRaised(container: ContainerName): void {
    const name = `${container.databaseRid}/${container.rid} throughput`;
    this.#enqueue(name, () => this.#splitForThroughput(container));
  }

  /** Merges partitions of a container that its throughput no longer needs, where the operator wants it. */
  throughputLowered(container: ContainerName): void {
    if (!this.#options.mergesAfterScaleDown) return;
    const name = `${container.databaseRid}/${container.rid} merge`;
    this.#enqueue(name, () => this.#mergeSpare(container));
  }

  /** A request was refused for want of request units. */
  throttled(route: Route): void {
    const { splitsByHeat, clock } = this.#options;
    const { handle } = route;
    if (splitsByHeat && handle.hotMinutes.isHotForLong(handle.budget, clock.nowMs()))
      this.#enqueue(`${handle.storeName} heat`, () => this.#splitHot(route));
  }

  /** Resolves when nothing is left to do. */
  async whenIdle(): Promise<void> {
    while (this.#running !== undefined) await this.#running;
  }

  /** Forgets the jobs that wait, and waits for the one that runs. Idempotent. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#jobs.clear();
    await this.whenIdle();
  }

  #enqueue(name: string, job: () => Promise<void>): void {
    if (this.#isClosed) return;
    this.#jobs.set(name, job);
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined;
    });
  }

  async #run(): Promise<void> {
    // The write that caused the job is answered first.
    await new Promise((resolve) => setImmediate(resolve));
    for (;;) {
      const [next] = this.#jobs;
      if (next === undefined) return;
      const [name, job] = next;
      this.#jobs.delete(name);
      await job();
    }
  }

  async #splitFull({ container, partition, handle }: Route, itemBytes: number): Promise<void> {
    const { resizer, current, onFailure } = this.#options;
    const partitionId = partition.id;
    // The container may have become unlimited since.
    if (current(container)?.kind === 'fixed') return;
    try {
      await resizer.split(container, partitionId, 'betweenKeys', 'storage');
    } catch (error) {
      // A partition of one key is no failure: from now on its writes are checked against the limit of the key.
      if (handle.onlyKey === undefined && !this.#isObsolete(error))
        onFailure({ container, partitionId, error });
    }
    handle.reviewAt(Math.max(itemBytes, handle.partition?.itemBytes ?? 0) * RETRY_GROWTH);
  }

  async #splitHot({ container: name, partition, handle }: Route): Promise<void> {
    const { resizer, current, partitionsNeeded, clock, onFailure } = this.#options;
    const container = current(name);
    if (container === undefined || handle.isGone) return;
    const rules = { partitionsNeeded: partitionsNeeded(container) };
    if (!isWorthSplitting(container, handle.heat.report(clock.nowMs()), rules)) return;
    try {
      await resizer.split(container, partition.id, 'heat', 'heat');
    } catch (error) {
      if (!this.#isObsolete(error)) onFailure({ container, partitionId: partition.id, error });
    }
  }

  async #mergeSpare(name: ContainerName): Promise<void> {
    const { resizer, current, partitionsNeeded, storageLimit, onFailure } = this.#options;
    for (;;) {
      const container = current(name);
      if (this.#isClosed || container === undefined) return;
      if (container.partitions.length <= partitionsNeeded(container)) return;
      try {
        const pair = await resizer.smallestPair(name);
        if (pair === undefined || pair.bytes > MERGED_SHARE_MAX * storageLimit) return;
        await resizer.merge(name, pair.ids, 'throughput');
      } catch (error) {
        if (this.#isObsolete(error)) continue;
        onFailure({ container: name, partitionId: container.partitions[0]?.id ?? '', error });
        return;
      }
    }
  }

  async #splitForThroughput(name: ContainerName): Promise<void> {
    const { resizer, current, partitionsNeeded, onFailure } = this.#options;
    for (;;) {
      const container = current(name);
      if (this.#isClosed || container === undefined || container.kind === 'fixed') return;
      if (container.partitions.length >= partitionsNeeded(container)) return;
      const partitionId = resizer.widest(container);
      try {
        await resizer.split(container, partitionId, 'anywhere', 'throughput');
      } catch (error) {
        if (this.#isObsolete(error)) continue;
        onFailure({ container: name, partitionId, error });
        return;
      }
    }
  }

  /** Not a failure: the server stops, or another resize replaced the partition meanwhile. */
  #isObsolete(error: unknown): boolean {
    return this.#isClosed || (error instanceof DomainError && error.code === 'partitionGone');
  }
}
