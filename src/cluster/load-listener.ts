/** What the cluster reports of the load on its partitions. The balancer listens. */
import type { KeySize } from '../partition/index.ts';
import type { Route } from './routing-map.ts';

export interface LoadListener {
  /** A write left a partition as large as its handle wants to be reviewed at. */
  grown(route: Route, itemBytes: number): void;
  /** A request was refused for want of request units. */
  throttled(route: Route): void;
  /** A write of a key that is near its limit. */
  keyNearLimit(route: Route, key: KeySize): void;
}
