/** What operations on a partition use, and to whom they report the load. */
import type { Clock } from '../base/index.ts';
import type { KeySize } from '../partition/index.ts';
import type { PartitionRegistry } from './routing/partition-registry.ts';
import type { Route } from './routing/routing-map.ts';

export interface ClusterContext {
  readonly registry: PartitionRegistry;
  readonly clock: Clock;
  readonly load: LoadListener;
  /** RU/s from which on a container with a key has as many partitions as it needs. */
  readonly unlimitedFrom: number;
}

/** Receives the load on partitions. The balancer listens. */
export interface LoadListener {
  /** A write left a partition as large as its handle wants to be reviewed at. */
  grown(route: Route, itemBytes: number): void;
  /** A request was refused for want of request units. */
  throttled(route: Route): void;
  /** A key that is near its limit was written. */
  keyNearLimit(route: Route, key: KeySize): void;
}
