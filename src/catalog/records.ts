/** The records of the catalog, as plain data. One record is one entry of the catalog's store and changes as a whole. */
import type { KeyFormat } from '../partition/index.ts';
import type { Encoding, PartitionKeyDefinition, ValueMap } from '../value/index.ts';
import type { IndexDefinition } from './index-definition.ts';
import type { IndexingPolicy } from './indexing-policy.ts';

export interface DatabaseRecord {
  readonly id: string;
  /** Four bytes that name the database for life. */
  readonly rid: number;
  readonly etag: string;
  readonly timestampSec: number;
  /** Throughput that the containers of the database share. */
  readonly throughput?: ThroughputRecord;
  /** Properties that an API keeps for all its containers together. */
  readonly policies?: ValueMap;
}

/**
 * fixed: one partition for ever. unlimited: as many as throughput and storage need. A container with a key and at
 * least UNLIMITED_THROUGHPUT_MIN RU/s is always unlimited.
 */
export type ContainerKind = 'fixed' | 'unlimited';

/** The API that created a container. */
export type HomeName = 'nosql' | 'table' | 'mongo' | 'cassandra' | 'gremlin';

export interface ContainerRecord {
  readonly id: string;
  readonly databaseRid: number;
  /** Four bytes that name the container inside its database for life. */
  readonly rid: number;
  readonly etag: string;
  readonly timestampSec: number;
  readonly kind: ContainerKind;
  readonly partitionKey: PartitionKeyDefinition;
  readonly home: HomeName;
  /** The format of the primary keys (partition/item/item-keys.ts); absent in containers of the first version. */
  readonly keyFormat?: KeyFormat;
  /** The encoding of the records: that of the home API. */
  readonly encoding: Encoding;
  readonly indexingPolicy: IndexingPolicy;
  /** undefined: items never expire, whatever they say; -1: only items that say so expire; else seconds. */
  readonly defaultTtlSec?: number;
  /** How long every version of an item is kept; undefined: only the latest version. */
  readonly versionRetentionSec?: number;
  readonly uniqueKeys: readonly UniqueKey[];
  /**
   * The declared indexes, those of the policy and unique keys included. Absent in containers of index format 1, whose
   * indexes are numbered by their place in the policy and are built together.
   */
  readonly indexes?: readonly IndexDefinition[];
  /** Ids are never reused. */
  readonly nextIndexId?: number;
  /** Set if the container is a global secondary index: read-only, kept up from its source. */
  readonly globalIndex?: GlobalIndexRecord;
  /** Policies of the home API that are stored and returned unchanged. */
  readonly policies: ValueMap;
  /** Undefined if the container shares its database's throughput. */
  readonly throughput?: ThroughputRecord;
  /** Live partitions in the order of the hash space: they tile it without gaps. */
  readonly partitions: readonly PartitionRecord[];
  /**
   * Partitions that were replaced by a split or merge, oldest first. Clients and their continuation tokens may name
   * them as long as the container exists. Partition ids are bounded, so they are too.
   */
  readonly formerPartitions?: readonly FormerPartition[];
  /** Ids and rid prefixes are never reused. */
  readonly nextPartitionId: number;
  /** Grows with every change of `partitions`. */
  readonly routingVersion: number;
}

export interface GlobalIndexRecord {
  /** A container of the same database. */
  readonly sourceRid: number;
  readonly sourceId: string;
  /** The projection from items to rows, in the query language of the home API. */
  readonly definition: string;
}

export interface UniqueKey {
  readonly paths: readonly string[];
}

/** The instance of a server that has its data itself. */
export const LOCAL_INSTANCE = 'local';

export interface PartitionRecord {
  /** A number as text, as clients see it. */
  readonly id: string;
  /** Hexadecimal effective partition keys, [min, max). */
  readonly min: string;
  readonly max: string;
  /** All ancestors, oldest first. */
  readonly parents: readonly string[];
  readonly ridPrefix: number;
  /** After this LSN the times of writes grow with the LSNs; set for merged partitions, 0 otherwise. */
  readonly orderedFromLsn?: number;
  /** The instance of the engine that has the store; absent in records from before there were several. */
  readonly instance?: string;
  /** The node that serves the partition, and the number of its lease; absent where there is one node. */
  readonly owner?: string;
  readonly lease?: number;
  /** Share of the container's throughput. */
  readonly throughputFraction: number;
  readonly timestampSec: number;
}

/** The range of the hash space of a partition that was replaced by others. */
type FormerPartition = Pick<PartitionRecord, 'id' | 'min' | 'max'>;

export interface ThroughputRecord {
  /** Three bytes that name the offer for life. */
  readonly offerRid: number;
  readonly etag: string;
  readonly timestampSec: number;
  readonly setting: ThroughputSetting;
  /** The highest value ever set. It bounds how far the throughput may be scaled down. */
  readonly highestEver: number;
  /** The most bytes stored at any change of the throughput, for the same reason. */
  readonly storageBytesEver?: number;
  /** The add-on of the first generation of the service: a budget per minute beside the one per second. */
  readonly hasMinuteReserve?: boolean;
  /** Throughput buckets 1 to 5 that are limited to a share of the whole. */
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

/** The most request units per second that a resource may use. */
export function provisionedMax(setting: ThroughputSetting): number {
  return setting.kind === 'manual' ? setting.requestUnits : setting.requestUnitsMax;
}
