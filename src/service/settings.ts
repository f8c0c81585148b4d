/** What the operator decides; parsed once at the door. */
export interface Settings {
  /** The most one physical partition serves, RU/s. */
  readonly partitionThroughputLimit: number;
  /** A physical partition splits at this many bytes. */
  readonly partitionStorageLimit: number;
  /** A logical partition takes no more than this many bytes. */
  readonly logicalPartitionLimit: number;
  /** The most a container or database may be given, RU/s. */
  readonly throughputQuota: number;
}

const GIB = 1024 ** 3;

export const DEFAULT_SETTINGS: Settings = {
  partitionThroughputLimit: 10_000,
  partitionStorageLimit: 10 * GIB,
  logicalPartitionLimit: 10 * GIB,
  throughputQuota: 1_000_000,
};
