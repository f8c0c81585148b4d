/** Containers: create with their partitions, look up, list, replace policies, delete. */
import { type Clock, DomainError, SHARED_CONTAINERS_MAX } from '../../base/index.ts';
import {
  type Catalog,
  type ContainerKind,
  type ContainerRecord,
  type DatabaseRecord,
  type GlobalIndexRecord,
  type HomeName,
  type IndexingPolicy,
  LOCAL_INSTANCE,
  NO_INDEXES,
  type PartitionRecord,
  provisionedMax,
  type ThroughputRecord,
  type ThroughputSetting,
  type UniqueKey,
  withPolicyIndexes,
} from '../../catalog/index.ts';
import type { Cluster, HomeApis, PartitionHandle, Route } from '../../cluster/index.ts';
import type { KeyCount, PartitionStatistics } from '../../partition/index.ts';
import type { BudgetReport, HeatReport } from '../../throughput/index.ts';
import {
  epkToHex,
  evenEpkBoundaries,
  type PartitionKeyDefinition,
  type ValueMap,
} from '../../value/index.ts';
import type { Settings } from '../settings.ts';
import { type Distribution, distribute } from '../throughput/distribution.ts';
import { newThroughput } from '../throughput/offers.ts';
import {
  checkThroughput,
  containerKind,
  newHistory,
  partitionCount,
} from '../throughput/throughput.ts';
import { databaseNotFound, throughputNotSupported } from './databases.ts';
import { checkEtag, newEtag } from './resource-etag.ts';
import { tableOrContainer, withKeyOrder } from './tables.ts';

/** The key of containers created without one: no client writes this property, so all items have the same key. */
const SYSTEM_PARTITION_KEY: PartitionKeyDefinition = {
  paths: ['/_partitionKey'],
  kind: 'Hash',
  version: 1,
  systemKey: true,
};

/** A container as its creator specifies it. */
export interface ContainerSpec {
  readonly id: string;
  /** Undefined: a fixed container without a key. */
  readonly partitionKey: PartitionKeyDefinition | undefined;
  readonly home: HomeName;
  readonly indexingPolicy: IndexingPolicy;
  readonly defaultTtlSec?: number | undefined;
  readonly versionRetentionSec?: number | undefined;
  readonly uniqueKeys: readonly UniqueKey[];
  /** A global secondary index of another container of the database. */
  readonly globalIndex?: Omit<GlobalIndexRecord, 'sourceRid'> | undefined;
  readonly policies: ValueMap;
  readonly throughput?: ThroughputSetting | undefined;
  /** The budget per minute of the first generation of offers, beside the budget per second. */
  readonly hasMinuteReserve?: boolean | undefined;
}

/** Changes of a container; its key never changes. */
export type ContainerUpdate = Pick<
  ContainerSpec,
  'indexingPolicy' | 'defaultTtlSec' | 'versionRetentionSec' | 'policies'
>;

interface ContainersParts {
  readonly catalog: Catalog;
  readonly cluster: Cluster;
  readonly clock: Clock;
  readonly settings: Settings;
  readonly homes: HomeApis;
}

export class Containers {
  readonly #catalog: Catalog;
  readonly #cluster: Cluster;
  readonly #clock: Clock;
  readonly #settings: Settings;
  readonly #homes: HomeApis;

  constructor({ catalog, cluster, clock, settings, homes }: ContainersParts) {
    this.#catalog = catalog;
    this.#cluster = cluster;
    this.#clock = clock;
    this.#settings = settings;
    this.#homes = homes;
  }

  list(database: DatabaseRecord): readonly ContainerRecord[] {
    return this.#catalog.containers(database);
  }

  find(database: DatabaseRecord, id: string): ContainerRecord | undefined {
    return this.#catalog.container(database, id);
  }

  findByRid(databaseRid: number, rid: number): ContainerRecord | undefined {
    return this.#catalog.containerByRid(databaseRid, rid);
  }

  /** Live partitions in the order of the hash space. */
  routes(container: ContainerRecord): readonly Route[] {
    return this.#cluster.routing(container).routes;
  }

  /** Handles of the partitions that somebody asked for since the start; of all containers. Makes and opens nothing. */
  handles(): Iterable<PartitionHandle> {
    return this.#cluster.partitions.handles();
  }

  /** Does something with the live partitions, again where they were replaced meanwhile. */
  inspect<T>(
    container: ContainerRecord,
    look: (routes: readonly Route[]) => Promise<T>,
  ): Promise<T> {
    const attempt = (current: ContainerRecord) => look(this.routes(current));
    return Promise.resolve(this.#cluster.withRerouting(container, attempt));
  }

  statistics(route: Route): Promise<PartitionStatistics> {
    return this.#cluster.statistics(route);
  }

  /** How much of its budget a partition has spent. Opens nothing. */
  budget(route: Route): BudgetReport {
    return this.#cluster.budgetReport(route);
  }

  /** Which keys a partition's charges of the last minutes went to. Opens nothing. */
  heat(route: Route): HeatReport {
    return this.#cluster.heatReport(route);
  }

  /** How many logical partitions a physical one holds. */
  keyCount(route: Route): Promise<KeyCount> {
    return this.#cluster.keyCount(route);
  }

  create(databaseRid: number, spec: ContainerSpec): Promise<ContainerRecord> {
    return this.#catalog.change(() => {
      const database = this.#catalog.databaseByRid(databaseRid);
      if (database === undefined) throw databaseNotFound();
      if (this.#catalog.container(database, spec.id) !== undefined)
        throw new DomainError(
          'containerExists',
          'Resource with specified id or name already exists.',
        );
      this.#catalog.checkQuota();
      const record = this.#newContainer(database, tableOrContainer(database, spec));
      return { containers: [record], result: record };
    });
  }

  /** @param ifMatch - the etag the container must still have. */
  replace(
    container: ContainerRecord,
    update: ContainerUpdate,
    ifMatch?: string,
  ): Promise<ContainerRecord> {
    return this.#catalog.change(() => {
      const current = this.#current(container, ifMatch);
      const { defaultTtlSec: _ttl, versionRetentionSec: _retention, ...kept } = current;
      const indexingPolicy =
        current.home === 'table' ? withKeyOrder(update.indexingPolicy) : update.indexingPolicy;
      const record: ContainerRecord = {
        ...kept,
        indexingPolicy,
        ...policyIndexes(current, indexingPolicy),
        policies: update.policies,
        ...ttlAndRetention(update),
        etag: newEtag(),
        timestampSec: this.#nowSec(),
      };
      return { containers: [record], result: record };
    });
  }

  /**
   * Gives a container another name within its database. Its rid stays, so that nothing is moved.
   * @param replaces - true: a container of that name is dropped in the same step.
   */
  async rename(
    container: ContainerRecord,
    id: string,
    replaces: boolean,
  ): Promise<ContainerRecord> {
    const { record, dropped } = await this.#catalog.change(() => {
      const current = this.#current(container, undefined);
      this.#checkUnused(current);
      const database = this.#catalog.databaseByRid(current.databaseRid);
      const target = database && this.#catalog.container(database, id);
      if (target !== undefined && !replaces)
        throw new DomainError(
          'containerExists',
          'Resource with specified id or name already exists.',
        );
      if (target !== undefined) this.#checkUnused(target);
      const renamed = { ...current, id, etag: newEtag(), timestampSec: this.#nowSec() };
      return {
        containers: [renamed],
        ...(target === undefined ? {} : { droppedContainers: [target] }),
        result: { record: renamed, dropped: target },
      };
    });
    if (dropped !== undefined) await this.#cluster.drop(dropped);
    return record;
  }

  /** Divides the throughput of the container among its partitions, effective with the next request. */
  async distribute(container: ContainerRecord, wanted: Distribution): Promise<ContainerRecord> {
    const record = await this.#catalog.change(() => {
      const current = this.#current(container, undefined);
      if (current.throughput === undefined)
        throw new DomainError('invalidInput', 'The container has no throughput of its own.');
      const bounds = {
        throughput: provisionedMax(current.throughput.setting),
        partitionLimit: this.#settings.partitionThroughputLimit,
      };
      const partitions = distribute(current.partitions, wanted, bounds);
      const changed = { ...current, partitions };
      return { containers: [changed], result: changed };
    });
    this.#cluster.provision(record);
    return record;
  }

  /** @param ifMatch - the etag the container must still have. */
  async delete(container: ContainerRecord, ifMatch?: string): Promise<void> {
    const dropped = await this.#catalog.change(() => {
      const current = this.#current(container, ifMatch);
      this.#checkUnused(current);
      return { droppedContainers: [current], result: current };
    });
    await this.#cluster.drop(dropped);
  }

  /** A source cannot be deleted before its indexes. */
  #checkUnused({ databaseRid, rid }: ContainerRecord): void {
    const database = this.#catalog.databaseByRid(databaseRid);
    const index =
      database &&
      this.#catalog.containers(database).find(({ globalIndex }) => globalIndex?.sourceRid === rid);
    if (index !== undefined)
      throw new DomainError(
        'forbidden',
        `The container is the source of the global secondary index '${index.id}': delete that first.`,
      );
  }

  #current(container: ContainerRecord, ifMatch: string | undefined): ContainerRecord {
    const current = this.#catalog.containerByRid(container.databaseRid, container.rid);
    if (current === undefined) throw containerNotFound();
    checkEtag(current.etag, ifMatch);
    return current;
  }

  #newContainer(database: DatabaseRecord, spec: ContainerSpec): ContainerRecord {
    const timestampSec = this.#nowSec();
    const { kind, partitionCount: count, throughput } = this.#provision(database, spec);
    const partitionKey = spec.partitionKey ?? SYSTEM_PARTITION_KEY;
    const isTaken = (rid: number): boolean =>
      this.#catalog.containerByRid(database.rid, rid) !== undefined;
    return {
      id: spec.id,
      databaseRid: database.rid,
      rid: this.#catalog.newRid(31, isTaken),
      etag: newEtag(),
      timestampSec,
      kind,
      partitionKey,
      home: spec.home,
      keyFormat: 2,
      encoding: this.#homes.named(spec.home).codec.encoding,
      indexingPolicy: spec.indexingPolicy,
      ...ttlAndRetention(spec),
      uniqueKeys: spec.uniqueKeys,
      ...withPolicyIndexes(NO_INDEXES, spec.indexingPolicy, spec.uniqueKeys),
      ...(spec.globalIndex && { globalIndex: this.#globalIndex(database, spec.globalIndex) }),
      policies: spec.policies,
      ...(throughput === undefined ? {} : { throughput }),
      partitions: evenPartitions(count, partitionKey, timestampSec),
      nextPartitionId: count,
      routingVersion: 1,
    };
  }

  #globalIndex(
    database: DatabaseRecord,
    { sourceId, definition }: Omit<GlobalIndexRecord, 'sourceRid'>,
  ): GlobalIndexRecord {
    const source = this.#catalog.container(database, sourceId);
    if (source === undefined)
      throw new DomainError('invalidInput', 'The source container of the index does not exist.');
    if (source.globalIndex !== undefined)
      throw new DomainError('invalidInput', 'An index cannot be the source of another.');
    return { sourceRid: source.rid, sourceId, definition };
  }

  /** The kind of a new container, its number of partitions, and its own throughput where it has any. */
  #provision(database: DatabaseRecord, spec: ContainerSpec): Provisioning {
    const hasKey = spec.partitionKey !== undefined;
    if (this.#settings.capacityMode === 'serverless') {
      if (spec.throughput !== undefined) throw throughputNotSupported('container');
      return { kind: hasKey ? 'unlimited' : 'fixed', partitionCount: 1, throughput: undefined };
    }
    if (spec.throughput === undefined && database.throughput !== undefined) {
      this.#checkSharing(database);
      if (!hasKey) return { kind: 'fixed', partitionCount: 1, throughput: undefined };
      const shared = provisionedMax(database.throughput.setting);
      const count = partitionCount(shared, this.#settings);
      return { kind: 'unlimited', partitionCount: count, throughput: undefined };
    }
    const setting = spec.throughput ?? {
      kind: 'manual',
      requestUnits: this.#settings.throughputMin,
    };
    const requestUnits = provisionedMax(setting);
    const kind = containerKind(hasKey, requestUnits, this.#settings);
    checkThroughput(setting, newHistory(kind), this.#settings);
    const record = newThroughput(this.#catalog, setting, this.#nowSec());
    return {
      kind,
      partitionCount: kind === 'fixed' ? 1 : partitionCount(requestUnits, this.#settings),
      throughput: spec.hasMinuteReserve === true ? { ...record, hasMinuteReserve: true } : record,
    };
  }

  #checkSharing(database: DatabaseRecord): void {
    const sharing = this.#catalog
      .containers(database)
      .filter(({ throughput }) => throughput === undefined);
    if (sharing.length >= SHARED_CONTAINERS_MAX)
      throw new DomainError(
        'invalidInput',
        `The containers that share the throughput of the database have reached their maximum of ${SHARED_CONTAINERS_MAX}. ` +
          'Give the container throughput of its own, or create it in another database.',
      );
  }

  #nowSec(): number {
    return Math.floor(this.#clock.nowMs() / 1000);
  }
}

/** Nothing where the container is of index format 1. */
function policyIndexes(
  { indexes, nextIndexId = 1, uniqueKeys }: ContainerRecord,
  policy: IndexingPolicy,
): Partial<ContainerRecord> {
  if (indexes === undefined) return {};
  return withPolicyIndexes({ indexes, nextIndexId }, policy, uniqueKeys);
}

/** How long items live, and how long their versions are kept. */
function ttlAndRetention({ defaultTtlSec, versionRetentionSec }: ContainerUpdate) {
  return {
    ...(defaultTtlSec === undefined ? {} : { defaultTtlSec }),
    ...(versionRetentionSec === undefined ? {} : { versionRetentionSec }),
  };
}

interface Provisioning {
  readonly kind: ContainerKind;
  readonly partitionCount: number;
  readonly throughput: ThroughputRecord | undefined;
}

function evenPartitions(
  count: number,
  definition: PartitionKeyDefinition,
  timestampSec: number,
): readonly PartitionRecord[] {
  const boundaries = evenEpkBoundaries(count, definition).map(epkToHex);
  return Array.from({ length: count }, (_, index) => ({
    id: String(index),
    min: boundaries[index] as string,
    max: boundaries[index + 1] as string,
    parents: [],
    ridPrefix: index,
    instance: LOCAL_INSTANCE,
    throughputFraction: 1 / count,
    timestampSec,
  }));
}

export function containerNotFound(): DomainError {
  return new DomainError('containerNotFound', 'Resource Not Found.');
}
