/**
 * The throughput that a partition may spend and has spent. One object per partition as long as the process runs. The
 * provision behind it changes in place, so that a new offer applies from the next request on.
 */
import { assert } from '../base/index.ts';
import { type BucketRates, TokenBucket } from './bucket.ts';
import { type RequestClass, THROUGHPUT_BUCKETS_MAX } from './request-class.ts';
import { type Usage, UsageSeries } from './usage.ts';

/** Requests of low priority are admitted while more than this share of the bucket is left. */
const LOW_PRIORITY_SHARE = 0.5;

/** The source of a partition's request units. */
export type Provision =
  /** Charges are counted, nothing is refused. `rate` is only reported. */
  | { readonly kind: 'unmetered'; readonly rate: number }
  /** A rate of its own: manual, the maximum of autoscale, or the limit of serverless. */
  | ({ readonly kind: 'dedicated'; readonly limits?: readonly BucketLimit[] } & BucketRates)
  /** A bucket that partitions of several containers share. */
  | { readonly kind: 'shared'; readonly bucket: TokenBucket };

/** A throughput bucket: requests that name it get at most this share of the partition's rate. */
interface BucketLimit {
  /** 1 to 5. */
  readonly id: number;
  readonly maxPercent: number;
}

export interface Refusal {
  readonly reason: 'partition' | 'throughputBucket';
  readonly retryAfterMs: number;
}

/** What a partition has served and refused, and what it may serve. */
export interface BudgetTotals {
  readonly requestUnits: number;
  readonly throttled: number;
  /** Requests that were charged. */
  readonly served: number;
  /** RU/s. */
  readonly provisioned: number;
}

/** Usage compared with the provision. */
export interface BudgetReport extends Usage {
  /** RU/s. */
  readonly provisioned: number;
  /** The busiest second of the last minute as a percentage of the provisioned rate; 100 at most. */
  readonly normalizedPercent: number;
  /** How far autoscale would have scaled: the busiest second of the last hour, 10 to 100. */
  readonly scaledPercent: number;
  /** RU saved for bursts. */
  readonly reserve: number;
}

export class PartitionBudget {
  readonly #usage: UsageSeries;
  #served = 0;
  #provisioned = 0;
  /** Undefined where nothing is refused. */
  #bucket: TokenBucket | undefined;
  #isOwnBucket = false;
  /** Indexed by the id of the throughput bucket. */
  #limits: readonly (TokenBucket | undefined)[] = [];

  /** A new budget is unmetered until it is provisioned. */
  constructor(nowMs: number) {
    this.#usage = new UsageSeries(nowMs);
  }

  provision(provision: Provision, nowMs: number): void {
    const own = this.#isOwnBucket ? this.#bucket : undefined;
    this.#isOwnBucket = provision.kind === 'dedicated';
    switch (provision.kind) {
      case 'unmetered':
        this.#bucket = undefined;
        this.#limits = [];
        this.#provisioned = provision.rate;
        return;
      case 'shared':
        this.#bucket = provision.bucket;
        this.#limits = [];
        this.#provisioned = provision.bucket.rate;
        return;
      case 'dedicated':
        own?.change(provision, nowMs);
        this.#bucket = own ?? new TokenBucket(provision, nowMs);
        this.#limits = this.#makeLimits(provision, nowMs);
        this.#provisioned = provision.rate;
        return;
      default:
        provision satisfies never;
    }
  }

  /** Undefined if the request may start; this path allocates nothing. */
  admit(nowMs: number, requestClass: RequestClass): Refusal | undefined {
    const bucket = this.#bucket;
    if (bucket === undefined || requestClass.isUnmetered) return undefined;
    if (requestClass.isLow || requestClass.bucket !== 0)
      return this.#admitSpecial(bucket, nowMs, requestClass);
    return bucket.admits(nowMs) ? undefined : this.#refuse('partition', bucket, nowMs);
  }

  /** Whether work of the server itself may go on, as a request of low priority might. It is no request: none is refused. */
  admitsBackground(nowMs: number): boolean {
    return this.#bucket?.admitsAbove(LOW_PRIORITY_SHARE, nowMs) !== false;
  }

  charge(requestUnits: number, nowMs: number, requestClass: RequestClass): void {
    this.#served++;
    this.#usage.add(requestUnits, nowMs);
    if (requestClass.isUnmetered) return;
    this.#bucket?.charge(requestUnits, nowMs);
    if (requestClass.bucket !== 0) this.#limits[requestClass.bucket]?.charge(requestUnits, nowMs);
  }

  /** Takes the difference between the charge at the start of a request and its true cost. */
  correct(requestUnits: number, nowMs: number, requestClass: RequestClass): void {
    this.#usage.add(requestUnits, nowMs);
    if (requestClass.isUnmetered) return;
    this.#bucket?.correct(requestUnits, nowMs);
    if (requestClass.bucket !== 0) this.#limits[requestClass.bucket]?.correct(requestUnits, nowMs);
  }

  /** Since the process began; cheap enough to be asked every second. */
  get totals(): BudgetTotals {
    return { ...this.#usage.totals, served: this.#served, provisioned: this.#provisioned };
  }

  report(nowMs: number): BudgetReport {
    const usage = this.#usage.read(nowMs);
    const provisioned = this.#provisioned;
    const percent = (peak: number): number =>
      provisioned === 0 ? 0 : Math.min(100, (100 * peak) / provisioned);
    return {
      ...usage,
      provisioned,
      normalizedPercent: percent(usage.peakLastMinute),
      scaledPercent: Math.max(10, percent(usage.peakLastHour)),
      reserve: this.#bucket?.reserve(nowMs) ?? 0,
    };
  }

  #admitSpecial(
    bucket: TokenBucket,
    nowMs: number,
    requestClass: RequestClass,
  ): Refusal | undefined {
    const limit = this.#limits[requestClass.bucket];
    if (limit?.admits(nowMs) === false) return this.#refuse('throughputBucket', limit, nowMs);
    if (!requestClass.isLow)
      return bucket.admits(nowMs) ? undefined : this.#refuse('partition', bucket, nowMs);
    if (bucket.admitsAbove(LOW_PRIORITY_SHARE, nowMs)) return undefined;
    this.#usage.refuse(nowMs);
    const retryAfterMs = bucket.retryAboveMs(LOW_PRIORITY_SHARE, nowMs);
    return { reason: 'partition', retryAfterMs };
  }

  #refuse(reason: Refusal['reason'], bucket: TokenBucket, nowMs: number): Refusal {
    this.#usage.refuse(nowMs);
    return { reason, retryAfterMs: bucket.retryAfterMs(nowMs) };
  }

  /** Throughput buckets have no reserves: their share limits use, it is not saved. */
  #makeLimits(
    { rate, limits = [] }: { readonly rate: number; readonly limits?: readonly BucketLimit[] },
    nowMs: number,
  ): readonly (TokenBucket | undefined)[] {
    const made: (TokenBucket | undefined)[] = [];
    for (const { id, maxPercent } of limits) {
      assert(id >= 1 && id <= THROUGHPUT_BUCKETS_MAX, 'budget: throughput buckets are 1 to 5');
      const rates = { rate: (rate * maxPercent) / 100, burstSec: 0, hasMinuteReserve: false };
      const current = this.#limits[id];
      current?.change(rates, nowMs);
      made[id] = current ?? new TokenBucket(rates, nowMs);
    }
    return made;
  }
}
