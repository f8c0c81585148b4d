/** What every operation on a partition needs. */
import type { Clock } from '../base/index.ts';
import type { LoadListener } from './load-listener.ts';
import type { PartitionRegistry } from './partition-registry.ts';

export interface ClusterContext {
  readonly registry: PartitionRegistry;
  readonly clock: Clock;
  readonly load: LoadListener;
  /** RU/s from which on a container with a key has as many partitions as it needs. */
  readonly unlimitedFrom: number;
}
