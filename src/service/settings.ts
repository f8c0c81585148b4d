/** The settings of the operator, parsed once at start. */
import type { ClusterSettings } from '../cluster/index.ts';
import type { ScriptSettings } from '../script/index.ts';
import type { ConsistencyLevel } from '../throughput/index.ts';

export interface Settings extends ClusterSettings, ScriptSettings {
  /** The consistency of the account: reads are at this level where they ask for no weaker one. */
  readonly consistency: ConsistencyLevel;
  /** The most a container or database may be given, RU/s. */
  readonly throughputQuota: number;
  /** The least a fixed container or a database may be given, and the throughput of a container without an offer, RU/s. */
  readonly throughputMin: number;
  /** Manual throughput is a multiple of this, autoscale one of 1,000, RU/s. */
  readonly throughputStep: number;
  /** The most a fixed container may be given, RU/s. */
  readonly fixedThroughputMax: number;
}

const GIB = 1024 ** 3;

export const DEFAULT_SETTINGS: Settings = {
  throughputMode: 'enforce',
  capacityMode: 'provisioned',
  partitionThroughputLimit: 10_000,
  burstSec: 300,
  partitionStorageLimit: 10 * GIB,
  logicalPartitionLimit: 10 * GIB,
  splitsByHeat: true,
  mergesAfterScaleDown: false,
  consistency: 'Session',
  throughputQuota: 1_000_000,
  throughputMin: 400,
  throughputStep: 100,
  unlimitedThroughputMin: 1000,
  fixedThroughputMax: 10_000,
  scriptTimeLimitMs: 5000,
  scriptMemoryLimit: 64 * 1024 ** 2,
};
