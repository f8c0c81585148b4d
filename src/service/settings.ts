/** What the operator decides; parsed once at the door. */
import type { BudgetSettings } from '../cluster/index.ts';
import type { ScriptSettings } from '../script/index.ts';
import type { ConsistencyLevel } from '../throughput/index.ts';

export interface Settings extends BudgetSettings, ScriptSettings {
  /** A physical partition splits at this many bytes. */
  readonly partitionStorageLimit: number;
  /** A logical partition takes no more than this many bytes. */
  readonly logicalPartitionLimit: number;
  /** Partitions that refuse requests for minutes are split between the keys that share the heat. */
  readonly splitsByHeat: boolean;
  /** Small neighbours are merged when throughput was lowered and needs fewer. */
  readonly mergesAfterScaleDown: boolean;
  /** Of the account: reads are at this level where they ask for no weaker one. */
  readonly consistency: ConsistencyLevel;
  /** The most a container or database may be given, RU/s. */
  readonly throughputQuota: number;
  /** The least an unlimited container may be given, RU/s; the service's earlier generations had 2,500 and 10,100. */
  readonly unlimitedThroughputMin: number;
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
  unlimitedThroughputMin: 1000,
  scriptTimeLimitMs: 5000,
  scriptMemoryLimit: 64 * 1024 ** 2,
};
