/** What the cluster is given by whoever makes it. */
import type { Clock } from '../base/index.ts';
import type { ContainerRecord } from '../catalog/index.ts';
import type { BodyFinisher, KeySize } from '../partition/index.ts';
import type { Encoding } from '../value/index.ts';
import type { Budgets } from './budgets.ts';
import type { ComputedByEncoding } from './container-indexing.ts';
import type { PartitionRegistry } from './partition-registry.ts';
import type { Route } from './routing-map.ts';

export interface ClusterOptions {
  /** A container as it now is; undefined where it is gone. */
  readonly current: (container: ContainerRecord) => ContainerRecord | undefined;
  readonly registry: PartitionRegistry;
  readonly budgets: Budgets;
  readonly clock: Clock;
  /** Makes the seal of a container's records; one per encoding, from the APIs. */
  readonly finishers: Readonly<
    Partial<Record<Encoding, (container: ContainerRecord) => BodyFinisher>>
  >;
  /** The computed properties of a container, from the same. */
  readonly computed?: ComputedByEncoding;
  /** Told of a write that left a partition as large as its slot wants to know. */
  readonly onGrown: (route: Route, itemBytes: number) => void;
  /** Told of every request that is refused for want of request units. */
  readonly onThrottled: (route: Route) => void;
  /** RU/s from which on a container with a key has as many partitions as it needs. */
  readonly unlimitedFrom: number;
  /** Told of a write of a key that is near its limit. */
  readonly onKeyNearLimit: (route: Route, key: KeySize) => void;
}
