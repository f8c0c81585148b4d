/** Offers: the throughput of databases and containers as resources of their own. */
import { type Clock, DomainError } from '../../base/index.ts';
import {
  type BucketLimitRecord,
  type Catalog,
  type CatalogChange,
  type ContainerKind,
  type ContainerRecord,
  type DatabaseRecord,
  provisionedMax,
  type ThroughputRecord,
  type ThroughputSetting,
} from '../../catalog/index.ts';
import type { Balancer, Cluster } from '../../cluster/index.ts';
import { checkEtag, newEtag } from '../containers/resource-etag.ts';
import type { Settings } from '../settings.ts';
import {
  checkThroughput,
  containerKind,
  migratedSetting,
  partitionCount,
  type ThroughputHistory,
  throughputBounds,
} from './throughput.ts';

export interface Offer {
  readonly throughput: ThroughputRecord;
  readonly database: DatabaseRecord;
  /** Undefined for throughput that the containers of the database share. */
  readonly container: ContainerRecord | undefined;
}

/** A change of an offer; properties that are left out stay. */
export interface OfferChange {
  readonly setting: ThroughputSetting | undefined;
  /** From manual to autoscale or back: only on request, since they are billed differently. */
  readonly migration: 'toAutoscale' | 'toManual' | undefined;
  readonly hasMinuteReserve?: boolean | undefined;
  readonly bucketLimits?: readonly BucketLimitRecord[] | undefined;
}

interface OffersOptions {
  readonly catalog: Catalog;
  readonly cluster: Cluster;
  readonly clock: Clock;
  readonly settings: Settings;
  /** Makes the number of partitions follow the throughput. */
  readonly balancer: Balancer;
}

export class Offers {
  readonly #options: OffersOptions;

  constructor(options: OffersOptions) {
    this.#options = options;
  }

  list(): readonly Offer[] {
    return listOffers(this.#options.catalog);
  }

  findByRid(rid: number): Offer | undefined {
    return this.list().find(({ throughput }) => throughput.offerRid === rid);
  }

  /** The least the offer may be changed to, by the bytes of open partitions and the highest ever. Opens nothing. */
  minimum(offer: Offer): number {
    const history = this.#history(offer, this.#openBytes(offer));
    return throughputBounds(offer.throughput.setting.kind, history, this.#options.settings).min;
  }

  /** True while partitions are missing that the throughput needs. */
  isReplacePending(offer: Offer): boolean {
    return this.#governed(offer).some((container) => this.#lacksPartitions(offer, container));
  }

  /** RU/s that autoscale has scaled to: the busiest partition decides for all, a tenth at least. */
  scaledThroughput(offer: Offer): number {
    const { cluster } = this.#options;
    let percent = 10;
    for (const container of this.#governed(offer))
      for (const route of cluster.routing(container).routes)
        percent = Math.max(percent, cluster.budgetReport(route).scaledPercent);
    return Math.ceil((provisionedMax(offer.throughput.setting) * percent) / 100);
  }

  /**
   * The new throughput is effective with the next request; partitions that it needs are split while requests are served.
   * @param ifMatch - the etag the offer must still have.
   */
  async replace(rid: number, change: OfferChange, ifMatch?: string): Promise<Offer> {
    const { catalog, cluster, settings, balancer } = this.#options;
    const before = this.findByRid(rid);
    if (before === undefined) throw offerNotFound();
    const storageBytes = await this.#storedBytes(before);
    const offer = await catalog.change(() => {
      const current = this.findByRid(rid);
      if (current === undefined) throw offerNotFound();
      checkEtag(current.throughput.etag, ifMatch);
      return changeOf(current, this.#changed(current, change, storageBytes), settings);
    });
    const containers = this.#governed(offer);
    for (const container of containers) {
      cluster.provision(container);
      for (const route of cluster.routing(container).routes) balancer.review(route);
    }
    for (const container of containers)
      if (this.#lacksPartitions(offer, container)) balancer.throughputRaised(container);
      else balancer.throughputLowered(container);
    return offer;
  }

  #changed(offer: Offer, change: OfferChange, storageBytes: number): ThroughputRecord {
    const { settings, clock } = this.#options;
    const { throughput } = offer;
    const history = this.#history(offer, storageBytes);
    const setting = settingOf(throughput.setting, change, () =>
      migratedSetting(throughput.setting, history, settings),
    );
    const { container } = offer;
    const kind = container === undefined ? history.kind : kindAt(container, setting, settings);
    checkThroughput(setting, { ...history, kind }, settings);
    checkBucketLimits(change.bucketLimits);
    return {
      ...throughput,
      setting,
      etag: newEtag(),
      timestampSec: Math.floor(clock.nowMs() / 1000),
      highestEver: Math.max(throughput.highestEver, provisionedMax(setting)),
      storageBytesEver: history.storageBytes,
      hasMinuteReserve: change.hasMinuteReserve ?? throughput.hasMinuteReserve ?? false,
      bucketLimits: change.bucketLimits ?? throughput.bucketLimits ?? [],
    };
  }

  #history(offer: Offer, storageBytes: number): ThroughputHistory {
    const { throughput, container } = offer;
    return {
      kind: container?.kind ?? 'database',
      highestEver: throughput.highestEver,
      storageBytes: Math.max(storageBytes, throughput.storageBytesEver ?? 0),
      sharingCount: container === undefined ? this.#governed(offer).length : 0,
    };
  }

  /** The containers that spend the throughput of the offer. */
  #governed({ database, container }: Offer): readonly ContainerRecord[] {
    if (container !== undefined) return [container];
    return this.#options.catalog
      .containers(database)
      .filter(({ throughput }) => throughput === undefined);
  }

  #lacksPartitions({ throughput }: Offer, { kind, partitions }: ContainerRecord): boolean {
    const needed = partitionCount(provisionedMax(throughput.setting), this.#options.settings);
    return kind === 'unlimited' && partitions.length < needed;
  }

  #openBytes(offer: Offer): number {
    let bytes = 0;
    for (const container of this.#governed(offer))
      for (const { handle } of this.#options.cluster.routing(container).routes)
        bytes += handle.partition?.statistics().itemBytes ?? 0;
    return bytes;
  }

  async #storedBytes(offer: Offer): Promise<number> {
    const { cluster } = this.#options;
    let bytes = 0;
    for (const container of this.#governed(offer))
      bytes += await cluster.withRerouting(container, async (current) => {
        let own = 0;
        for (const route of cluster.routing(current).routes)
          own += (await cluster.statistics(route)).itemBytes;
        return own;
      });
    return bytes;
  }
}

/** The setting after the change. Throws `invalidInput` where the kinds do not fit. */
function settingOf(
  current: ThroughputSetting,
  { setting, migration }: OfferChange,
  migrated: () => ThroughputSetting,
): ThroughputSetting {
  if (migration === undefined) {
    if (setting === undefined || setting.kind === current.kind) return setting ?? current;
    throw new DomainError(
      'invalidInput',
      `The offer is ${current.kind}; changing it to ${setting.kind} needs the header x-ms-cosmos-migrate-offer-to-${
        setting.kind === 'manual' ? 'manual-throughput' : 'autopilot'
      }.`,
    );
  }
  const wanted = migration === 'toManual' ? 'manual' : 'autoscale';
  if (current.kind === wanted)
    throw new DomainError('invalidInput', `The offer is ${wanted} already.`);
  return setting?.kind === wanted ? setting : migrated();
}

function checkBucketLimits(limits: readonly BucketLimitRecord[] | undefined): void {
  if (limits === undefined) return;
  const isWhole = (value: number, max: number) =>
    Number.isSafeInteger(value) && value >= 1 && value <= max;
  const areValid = limits.every(({ id, maxPercent }) => isWhole(id, 5) && isWhole(maxPercent, 100));
  if (areValid && new Set(limits.map(({ id }) => id)).size === limits.length) return;
  throw new DomainError(
    'invalidInput',
    'Throughput buckets have ids from 1 to 5, each once, and a maximum of 1 to 100 percent.',
  );
}

/** A fixed container with a key becomes unlimited when its throughput is high enough, and stays so. */
function kindAt(
  container: ContainerRecord,
  setting: ThroughputSetting,
  settings: Settings,
): ContainerKind {
  const hasKey = container.partitionKey.systemKey !== true;
  return container.kind === 'unlimited'
    ? 'unlimited'
    : containerKind(hasKey, provisionedMax(setting), settings);
}

function changeOf(
  { database, container }: Offer,
  throughput: ThroughputRecord,
  settings: Settings,
): CatalogChange<Offer> {
  if (container !== undefined) {
    const kind = kindAt(container, throughput.setting, settings);
    const record = { ...container, kind, throughput };
    return { containers: [record], result: { throughput, database, container: record } };
  }
  const record = { ...database, throughput };
  return { databases: [record], result: { throughput, database: record, container: undefined } };
}

function listOffers(catalog: Catalog): readonly Offer[] {
  const offers: Offer[] = [];
  for (const database of catalog.databases()) {
    if (database.throughput !== undefined)
      offers.push({ throughput: database.throughput, database, container: undefined });
    for (const container of catalog.containers(database))
      if (container.throughput !== undefined)
        offers.push({ throughput: container.throughput, database, container });
  }
  return offers;
}

/** A new throughput with an unused offer id. Called inside a change of the catalog. */
export function newThroughput(
  catalog: Catalog,
  setting: ThroughputSetting,
  timestampSec: number,
): ThroughputRecord {
  const taken = new Set(listOffers(catalog).map(({ throughput }) => throughput.offerRid));
  return {
    offerRid: catalog.newRid(24, (rid) => taken.has(rid)),
    etag: newEtag(),
    timestampSec,
    setting,
    highestEver: provisionedMax(setting),
  };
}

function offerNotFound(): DomainError {
  return new DomainError('offerNotFound', 'Resource Not Found.');
}
