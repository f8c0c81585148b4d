/**
 * Divides the throughput of offers among partitions.
 *
 * In a container with its own throughput each partition has its fraction. Containers that share the throughput of their
 * database share buckets: the database has one per physical partition that its throughput needs, and a partition of any
 * container draws from the bucket of its part of the hash space.
 */
import type { Clock } from '../base/index.ts';
import {
  type Catalog,
  type ContainerRecord,
  type DatabaseRecord,
  type PartitionRecord,
  provisionedMax,
  type ThroughputRecord,
} from '../catalog/index.ts';
import { type PartitionBudget, type Provision, TokenBucket } from '../throughput/index.ts';
import { epkToHex, evenEpkBoundaries, type PartitionKeyDefinition } from '../value/index.ts';

export interface BudgetSettings {
  /** enforce: 429 beyond the budget. report: charges are counted, nothing is refused. */
  readonly throughputMode: 'enforce' | 'report';
  /** serverless: no offers; every partition has the same cap. */
  readonly capacityMode: 'provisioned' | 'serverless';
  /** The most one physical partition serves, RU/s. */
  readonly partitionThroughputLimit: number;
  /** Seconds of unused throughput that are kept for bursts; 0: none. */
  readonly burstSec: number;
}

/** RU/s that a partition of a serverless account serves (documented). */
const SERVERLESS_RATE = 5000;

/** Offers are looked up whenever they are needed: a request under way may hold an older record. */
type OfferBook = Pick<Catalog, 'databaseByRid' | 'containerByRid'>;

export class Budgets {
  readonly #settings: BudgetSettings;
  readonly #offers: OfferBook;
  readonly #clock: Clock;
  /** Buckets of the databases whose containers share throughput, by rid. */
  readonly #shared = new Map<number, SharedBuckets>();

  constructor(settings: BudgetSettings, offers: OfferBook, clock: Clock) {
    this.#settings = settings;
    this.#offers = offers;
    this.#clock = clock;
  }

  /** Sets the budget of a partition to what the offers say now. */
  provision(
    budget: PartitionBudget,
    containerThen: ContainerRecord,
    partitionThen: PartitionRecord,
  ): void {
    const { databaseRid, rid } = containerThen;
    const container = this.#offers.containerByRid(databaseRid, rid) ?? containerThen;
    const partition = container.partitions.find(({ id }) => id === partitionThen.id);
    const provision = this.#provisionOf(container, partition ?? partitionThen);
    budget.provision(provision, this.#clock.nowMs());
  }

  /** Forgets the buckets of a database that was deleted. */
  forget(databaseRid: number): void {
    this.#shared.delete(databaseRid);
  }

  #provisionOf(container: ContainerRecord, partition: PartitionRecord): Provision {
    const { throughputMode, partitionThroughputLimit } = this.#settings;
    const database = this.#offers.databaseByRid(container.databaseRid);
    const { throughput } = container;
    if (throughput === undefined && database?.throughput !== undefined) {
      const bucket = this.#sharedBucket(database, database.throughput, container, partition);
      return throughputMode === 'report'
        ? { kind: 'unmetered', rate: bucket.rate }
        : { kind: 'shared', bucket };
    }
    const rate =
      throughput === undefined
        ? SERVERLESS_RATE
        : // More than a partition serves waits for the split that the offer asks for.
          Math.min(
            partitionThroughputLimit,
            provisionedMax(throughput.setting) * partition.throughputFraction,
          );
    if (throughputMode === 'report') return { kind: 'unmetered', rate };
    return {
      kind: 'dedicated',
      rate,
      burstSec: throughput === undefined ? 0 : this.#settings.burstSec,
      hasMinuteReserve: throughput?.hasMinuteReserve === true,
      limits: throughput?.bucketLimits ?? [],
    };
  }

  #sharedBucket(
    database: DatabaseRecord,
    throughput: ThroughputRecord,
    container: ContainerRecord,
    partition: PartitionRecord,
  ): TokenBucket {
    const limit = this.#settings.partitionThroughputLimit;
    // As many as the highest throughput needed: partitions stay when it is lowered.
    const count = Math.max(1, Math.ceil(throughput.highestEver / limit));
    const rates = {
      rate: Math.min(limit, provisionedMax(throughput.setting) / count),
      burstSec: this.#settings.burstSec,
      hasMinuteReserve: throughput.hasMinuteReserve === true,
    };
    const nowMs = this.#clock.nowMs();
    const present = this.#shared.get(database.rid);
    const buckets = present?.buckets ?? [];
    if (present?.offerEtag !== throughput.etag) {
      for (const bucket of buckets) bucket.change(rates, nowMs);
      while (buckets.length < count) buckets.push(new TokenBucket(rates, nowMs));
      this.#shared.set(database.rid, { offerEtag: throughput.etag, buckets });
    }
    return buckets[positionOf(partition, container.partitionKey, count)] as TokenBucket;
  }
}

interface SharedBuckets {
  /** The etag of the offer that the rates come from. */
  readonly offerEtag: string;
  readonly buckets: TokenBucket[];
}

/** Which of `count` even parts of the hash space a partition begins in. */
function positionOf(
  { min }: PartitionRecord,
  definition: PartitionKeyDefinition,
  count: number,
): number {
  const boundaries = evenEpkBoundaries(count, definition).map(epkToHex);
  let position = 0;
  while (position + 1 < count && (boundaries[position + 1] as string) <= min) position++;
  return position;
}
