/** What exists, as plain data. One record is one entry of the catalog's store and changes as a whole. */
import type { Encoding, PartitionKeyDefinition, ValueMap } from '../value/index.ts';
import type { IndexingPolicy } from './indexing-policy.ts';

export interface DatabaseRecord {
  readonly id: string;
  /** Four bytes that name the database for life. */
  readonly rid: number;
  readonly etag: string;
  readonly timestampSec: number;
  /** Throughput that the containers of the database share. */
  readonly throughput?: ThroughputRecord;
  /** What APIs keep about all their containers together. */
  readonly policies?: ValueMap;
}

/**
 * fixed: one partition for ever. unlimited: as many as throughput and storage need.
 * A container with a key and at least UNLIMITED_THROUGHPUT_MIN RU/s is unlimited, however it was asked for.
 */
export type ContainerKind = 'fixed' | 'unlimited';

export interface ContainerRecord {
  readonly id: string;
  readonly databaseRid: number;
  /** Four bytes that name the container inside its database for life. */
  readonly rid: number;
  readonly etag: string;
  readonly timestampSec: number;
  readonly kind: ContainerKind;
  readonly partitionKey: PartitionKeyDefinition;
  /** Encoding of the API that made the container: what its records hold. */
  readonly encoding: Encoding;
  readonly indexingPolicy: IndexingPolicy;
  /** undefined: items live for ever and may not ask for less; -1: only as they ask; else seconds. */
  readonly defaultTtlSec?: number;
  /** Every version of an item is kept for so long; undefined: only the latest. */
  readonly versionRetentionSec?: number;
  readonly uniqueKeys: readonly UniqueKey[];
  /** Set where the container is a global secondary index: read-only, kept up from its source. */
  readonly globalIndex?: GlobalIndexRecord;
  /** Policies of the home API that are kept and returned as they are. */
  readonly policies: ValueMap;
  /** Undefined where the container shares its database's throughput. */
  readonly throughput?: ThroughputRecord;
  /** Live partitions in the order of the hash space: they tile it without gaps. */
  readonly partitions: readonly PartitionRecord[];
  /**
   * Partitions that were split or merged away, oldest first: clients and their continuation tokens may name them for as
   * long as the container lives. Their number is bounded by that of partition ids.
   */
  readonly formerPartitions?: readonly FormerPartition[];
  /** Ids and rid prefixes are never used twice. */
  readonly nextPartitionId: number;
  /** Grows with every change of `partitions`. */
  readonly routingVersion: number;
}

export interface GlobalIndexRecord {
  /** A container of the same database. */
  readonly sourceRid: number;
  readonly sourceId: string;
  /** From items to rows, in the language of the home API. */
  readonly definition: string;
}

export interface UniqueKey {
  readonly paths: readonly string[];
}

export interface PartitionRecord {
  /** A number as text, as clients know it. */
  readonly id: string;
  /** Hexadecimal effective partition keys, [min, max). */
  readonly min: string;
  readonly max: string;
  /** All ancestors, oldest first. */
  readonly parents: readonly string[];
  readonly ridPrefix: number;
  /** Behind this LSN times of writes grow with LSNs; set where partitions were merged, 0 otherwise. */
  readonly orderedFromLsn?: number;
  /** Share of the container's throughput. */
  readonly throughputFraction: number;
  readonly timestampSec: number;
}

/** What a partition that was replaced by others had of the hash space. */
type FormerPartition = Pick<PartitionRecord, 'id' | 'min' | 'max'>;

export interface ThroughputRecord {
  /** Three bytes that name the offer for life. */
  readonly offerRid: number;
  readonly etag: string;
  readonly timestampSec: number;
  readonly setting: ThroughputSetting;
  /** Highest value ever set: the minimum a throughput may be scaled down to follows from it. */
  readonly highestEver: number;
  /** Most bytes seen when the throughput was changed, for the same reason. */
  readonly storageBytesEver?: number;
  /** The add-on of the first generation: a budget per minute beside the one per second. */
  readonly hasMinuteReserve?: boolean;
  /** Throughput buckets 1 to 5 that are held to a share of the whole. */
  readonly bucketLimits?: readonly BucketLimitRecord[];
}

export interface BucketLimitRecord {
  readonly id: number;
  readonly maxPercent: number;
}

export type ThroughputSetting =
  | { readonly kind: 'manual'; readonly requestUnits: number }
  | {
      readonly kind: 'autoscale';
      readonly requestUnitsMax: number;
      readonly incrementPercent?: number;
    };

/** The most a resource may use per second. */
export function provisionedMax(setting: ThroughputSetting): number {
  return setting.kind === 'manual' ? setting.requestUnits : setting.requestUnitsMax;
}
