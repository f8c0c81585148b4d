/**
 * What a partition may spend and what it has spent. One object per partition for as long as the process runs: the
 * throughput behind it changes in place, so that a new offer holds from the next request on.
 */
import { type BucketRates, TokenBucket } from './bucket.ts';
import type { RequestClass } from './request-class.ts';
import { type Usage, UsageSeries } from './usage.ts';

/** Requests of low priority are admitted while more than this share of the second is left. */
const LOW_PRIORITY_SHARE = 0.5;

/** Where a partition's request units come from. */
export type Provision =
  /** Charges are counted, nothing is refused. `rate` is what the partition would have. */
  | { readonly kind: 'unmetered'; readonly rate: number }
  /** A rate of its own: manual, the maximum of autoscale, or the cap of serverless. */
  | ({ readonly kind: 'dedicated'; readonly limits?: readonly BucketLimit[] } & BucketRates)
  /** A bucket that partitions of several containers draw from. */
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

/** Usage against what is provisioned. */
export interface BudgetReport extends Usage {
  /** RU/s. */
  readonly provisioned: number;
  /** The busiest second of the last minute against the provisioned rate; 100 at most. */
  readonly normalizedPercent: number;
  /** How far autoscale would have scaled: the busiest second of the last hour, 10 to 100. */
  readonly scaledPercent: number;
  /** RU kept for bursts. */
  readonly reserve: number;
}

export class PartitionBudget {
  readonly #usage: UsageSeries;
  #provisioned = 0;
  /** Undefined: nothing is refused. */
  #bucket: TokenBucket | undefined;
  #isOwnBucket = false;
  /** By id of the throughput bucket. */
  #limits: readonly (TokenBucket | undefined)[] = [];

  /** Unmetered until it is provisioned. */
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

  /** Undefined: the request may start. Nothing is allocated then. */
  admit(nowMs: number, traffic: RequestClass): Refusal | undefined {
    const bucket = this.#bucket;
    if (bucket === undefined || traffic.isUnmetered) return undefined;
    if (traffic.isLow || traffic.bucket !== 0) return this.#admitSpecial(bucket, nowMs, traffic);
    return bucket.admits(nowMs) ? undefined : this.#refuse('partition', bucket, nowMs);
  }

  charge(requestUnits: number, nowMs: number, traffic: RequestClass): void {
    this.#usage.add(requestUnits, nowMs);
    if (traffic.isUnmetered) return;
    this.#bucket?.charge(requestUnits, nowMs);
    if (traffic.bucket !== 0) this.#limits[traffic.bucket]?.charge(requestUnits, nowMs);
  }

  /** The difference between what a request was charged when it started and what it cost in truth. */
  correct(requestUnits: number, nowMs: number, traffic: RequestClass): void {
    this.#usage.add(requestUnits, nowMs);
    if (traffic.isUnmetered) return;
    this.#bucket?.correct(requestUnits, nowMs);
    if (traffic.bucket !== 0) this.#limits[traffic.bucket]?.correct(requestUnits, nowMs);
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

  #admitSpecial(bucket: TokenBucket, nowMs: number, traffic: RequestClass): Refusal | undefined {
    const limit = this.#limits[traffic.bucket];
    if (limit?.admits(nowMs) === false) return this.#refuse('throughputBucket', limit, nowMs);
    if (!traffic.isLow)
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

  /** Throughput buckets keep no reserves: their share is what they may use, not what they may save. */
  #makeLimits(
    { rate, limits = [] }: { readonly rate: number; readonly limits?: readonly BucketLimit[] },
    nowMs: number,
  ): readonly (TokenBucket | undefined)[] {
    const made: (TokenBucket | undefined)[] = [];
    for (const { id, maxPercent } of limits) {
      const rates = { rate: (rate * maxPercent) / 100, burstSec: 0, hasMinuteReserve: false };
      const known = this.#limits[id];
      known?.change(rates, nowMs);
      made[id] = known ?? new TokenBucket(rates, nowMs);
    }
    return made;
  }
}
